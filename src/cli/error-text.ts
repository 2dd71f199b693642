import { ArgumentParseError, ArgumentScannerError, FlagNotFoundError, UnsatisfiedFlagError } from '@stricli/core';
import { formatMessageForArgumentScannerError } from '@stricli/core';
import { CutroomError, errorMessage } from '../errors.js';
import { nearest } from '../text/nearest.js';

/** What the user sees of an error: what went wrong, then the remedy on a line of its own. A defect of cutroom shows its stack. */
export function formatError(error: unknown): string {
  if (error instanceof CutroomError) return withHint(error.message, error.hint);
  if (error instanceof RangeError) return withHint(error.message, undefined);
  const stack = error instanceof Error ? error.stack : undefined;
  return withHint(
    `cutroom met a defect of its own: ${stack ?? errorMessage(error)}`,
    'Please report it with the command that you ran.',
  );
}

/**
 * The same for a command line that cannot be understood.
 *
 * @param flagNames those of the command that was typed
 * @param command as it is typed, with the program's name
 */
export function formatUsageError(error: unknown, flagNames: readonly string[], command: string): string {
  if (error instanceof FlagNotFoundError) {
    const suggestion = nearest(error.input.replace(/^-+/u, ''), flagNames);
    const hint = suggestion === undefined ? `${command} --help lists all flags.` : `Did you mean --${suggestion}?`;
    return withHint(`There is no flag --${error.input.replace(/^-+/u, '')}`, hint);
  }
  if (error instanceof UnsatisfiedFlagError)
    return withHint(`--${error.externalFlagName} is missing, or has no value`, undefined);
  if (error instanceof ArgumentParseError) {
    const { externalFlagNameOrPlaceholder: name, input, exception } = error;
    return withHint(`--${name} ${errorMessage(exception)}, but is "${input}"`, undefined);
  }
  if (error instanceof ArgumentScannerError)
    return withHint(formatMessageForArgumentScannerError(error, {}), undefined);
  return formatError(error);
}

function withHint(message: string, hint: string | undefined): string {
  return hint === undefined ? `error: ${message}` : `error: ${message}\nhint: ${hint}`;
}
