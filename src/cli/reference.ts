import { COMMAND_GROUPS, COMMANDS, runApp } from './app.js';
import type { CliContext } from './context.js';

/** The reference of the command line in Markdown: the help of each command as it is shown. */
export async function cliReference(): Promise<string> {
  let text = '# Command line\n\nGenerated from the help by `npm run docs`.\n';
  for (const command of listCommands()) {
    const help = await helpOf([...command, '--help']);
    text += `\n## ${['cutroom', ...command].join(' ')}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\`\n`;
  }
  return `${text}\n${EXIT_CODES_TEXT}`;
}

/** The words of all commands: none for the program itself. */
function listCommands(): string[][] {
  const grouped = Object.entries(COMMAND_GROUPS).flatMap(([group, commands]) => [
    [group],
    ...Object.keys(commands).map((name) => [group, name]),
  ]);
  return [[], ...Object.keys(COMMANDS).map((name) => [name]), ...grouped];
}

const EXIT_CODES_TEXT = `## Exit codes

| code | meaning |
| --- | --- |
| 0 | done, or done already |
| 1 | the data is at fault: a manifest cannot be read, more rows or snippets failed than \`--max-failures\` allows, or \`--strict\` met a problem |
| 2 | the run could not be done: a wrong flag, an output that cannot be written or would be damaged |
| 130 | stopped by a signal; the same command goes on |
| 143 | \`cutroom run\` was stopped by SIGTERM, as clusters do it; what is finished is kept |

Standard output carries nothing but what \`--json\` prints, and what \`cutroom status\` and \`cutroom stream\` write; progress, summaries and errors go to standard error.
`;

async function helpOf(argv: string[]): Promise<string> {
  let text = '';
  const context: CliContext = {
    process: {
      stdout: { write: (part) => void (text += part), isTerminal: false },
      stderr: { write: () => undefined, isTerminal: false },
      env: {},
    },
    signal: new AbortController().signal,
    isProcessAlive: () => false,
  };
  await runApp(argv, context);
  return text;
}
