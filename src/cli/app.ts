import {
  buildApplication,
  buildRouteMap,
  run,
  text_en,
  type Application,
  type Command,
  type RouteMap,
} from '@stricli/core';
import { EXIT_CODES, CutroomError } from '../errors.js';
import { VERSION } from '../version.js';
import { batchesCommand } from './commands/batches.js';
import { binsCommand } from './commands/bins.js';
import { buildShardsCommand } from './commands/build.js';
import { cancelCommand } from './commands/cancel.js';
import { checkCommand } from './commands/check.js';
import { cutCommand } from './commands/cut.js';
import { finishCommand } from './commands/finish.js';
import { genLstCommand } from './commands/gen-lst.js';
import { PLAN_COMMANDS, planRoutes } from './commands/plan.js';
import { runCommand } from './commands/run.js';
import { sampleCommand } from './commands/sample.js';
import { scanCommand } from './commands/scan.js';
import { streamCommand } from './commands/stream.js';
import { statusCommand } from './commands/status.js';
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
  run: runCommand,
  status: statusCommand,
  finish: finishCommand,
  cancel: cancelCommand,
  scan: scanCommand,
  sample: sampleCommand,
  bins: binsCommand,
  batches: batchesCommand,
  stream: streamCommand,
};

/** Commands of more than one word, by the first. */
export const COMMAND_GROUPS: Readonly<Record<string, Readonly<Record<string, Command<CliContext>>>>> = {
  plan: PLAN_COMMANDS,
};

/** Other names that commands answer to. */
const ALIASES = { gen_lst: 'gen-lst' } as const;

/** Runs a command line without a process: `argv` is what follows the program's name. */
export async function runApp(argv: readonly string[], context: CliContext): Promise<void> {
  const words = Object.hasOwn(COMMAND_GROUPS, argv[0] ?? '') ? argv.slice(0, 2) : argv.slice(0, 1);
  await run(buildApp(words), words.at(-1) === 'tar' ? argv.map(withDashes) : argv, context);
}

/** @param typed the words that name the command that is run: what is said about its flags depends on it, and the parser does not tell */
function buildApp(typed: readonly string[]): Application<CliContext> {
  const words = typed.map((word) => (word in ALIASES ? ALIASES[word as keyof typeof ALIASES] : word));
  const command = findCommand(words);
  const formatArguments = (error: unknown): string =>
    formatUsageError(error, command === undefined ? [] : flagNamesOf([command]), ['cutroom', ...words].join(' '));
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

function findCommand([first = '', second]: readonly string[]): Command<CliContext> | undefined {
  const commands = second === undefined ? COMMANDS : (COMMAND_GROUPS[first] ?? {});
  const name = second ?? first;
  return Object.hasOwn(commands, name) ? commands[name] : undefined;
}

const groups: Readonly<Record<string, RouteMap<CliContext>>> = { plan: planRoutes };

const routes = buildRouteMap({
  routes: { ...COMMANDS, ...groups },
  aliases: ALIASES,
  docs: { brief: 'Turns long recordings with transcripts into training-ready audio datasets' },
});
