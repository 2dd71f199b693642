import { buildApplication, buildRouteMap, run, text_en, type Application, type Command } from '@stricli/core';
import { EXIT_CODES, CutroomError } from '../errors.js';
import { VERSION } from '../version.js';
import { batchesCommand } from './commands/batches.js';
import { binsCommand } from './commands/bins.js';
import { buildShardsCommand } from './commands/build.js';
import { checkCommand } from './commands/check.js';
import { cutCommand } from './commands/cut.js';
import { genLstCommand } from './commands/gen-lst.js';
import { sampleCommand } from './commands/sample.js';
import { scanCommand } from './commands/scan.js';
import { tarCommand } from './commands/tar.js';
import type { CliContext } from './context.js';
import { formatError, formatUsageError } from './error-text.js';
import { flagNamesOf, withDashes } from './flag-names.js';

/** Every command, by the name that it is shown with. */
export const COMMANDS: Readonly<Record<string, Command<CliContext>>> = {
  cut: cutCommand,
  build: buildShardsCommand,
  'gen-lst': genLstCommand,
  tar: tarCommand,
  check: checkCommand,
  scan: scanCommand,
  sample: sampleCommand,
  bins: binsCommand,
  batches: batchesCommand,
};

/** Other names that commands answer to. */
const ALIASES = { gen_lst: 'gen-lst' } as const;

/** Runs a command line without a process: `argv` is what follows the program's name. */
export async function runApp(argv: readonly string[], context: CliContext): Promise<void> {
  await run(buildApp(argv[0] ?? ''), argv[0] === 'tar' ? argv.map(withDashes) : argv, context);
}

/** @param typed the name of the command that is run: what is said about its flags depends on it, and the parser does not tell */
function buildApp(typed: string): Application<CliContext> {
  const name = typed in ALIASES ? ALIASES[typed as keyof typeof ALIASES] : typed;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const formatArguments = (error: unknown): string =>
    formatUsageError(error, command === undefined ? [] : flagNamesOf([command]), `cutroom ${name}`);
  return buildApplication(routes, {
    name: 'cutroom',
    versionInfo: { currentVersion: VERSION },
    scanner: { caseStyle: 'allow-kebab-for-camel' },
    documentation: {
      caseStyle: 'convert-camel-to-kebab',
      onlyRequiredInUsageLine: true,
      useAliasInUsageLine: false,
      disableAnsiColor: true,
    },
    determineExitCode: (error) => (error instanceof CutroomError ? EXIT_CODES[error.code] : EXIT_CODES.output),
    localization: {
      text: {
        ...text_en,
        exceptionWhileParsingArguments: formatArguments,
        exceptionWhileRunningCommand: (error) => formatError(error),
        exceptionWhileLoadingCommandFunction: (error) => formatError(error),
        commandErrorResult: (error) => formatError(error),
      },
    },
  });
}

const routes = buildRouteMap({
  routes: COMMANDS,
  aliases: ALIASES,
  docs: { brief: 'Turns long recordings with transcripts into training-ready audio datasets' },
});
