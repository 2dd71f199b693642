import { buildApplication, buildRouteMap, text_en } from '@stricli/core';
import { EXIT_CODES, CutroomError } from '../errors.js';
import { VERSION } from '../version.js';
import { cutCommand } from './commands/cut.js';
import { formatError, formatUsageError } from './error-text.js';
import { flagNamesOf } from './flag-names.js';

const routes = buildRouteMap({
  routes: { cut: cutCommand },
  docs: { brief: 'Turns long recordings with transcripts into training-ready audio datasets' },
});

/** The command line, without a process: `run(app, argv, context)` of @stricli/core runs it. */
export const app = buildApplication(routes, {
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
      exceptionWhileParsingArguments: (error) => formatUsageError(error, flagNamesOf([cutCommand])),
      exceptionWhileRunningCommand: (error) => formatError(error),
      exceptionWhileLoadingCommandFunction: (error) => formatError(error),
      commandErrorResult: (error) => formatError(error),
    },
  },
});
