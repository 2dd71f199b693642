/** What kind of thing went wrong; decides the exit code of the command line. */
export type ErrorCode = 'usage' | 'input' | 'output' | 'canceled';

/** Exit codes of the command line, by the code of the error that ended it. */
export const EXIT_CODES: Readonly<Record<ErrorCode, number>> = { usage: 2, input: 1, output: 2, canceled: 130 };

export interface ErrorOptionsWithHint {
  /** What the user can do about it, one sentence. */
  hint?: string | undefined;
  cause?: unknown;
}

/** An error whose message names the action and the state that was met; the remedy is in `hint`. */
export class CutroomError extends Error {
  override readonly name: string = 'CutroomError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptionsWithHint = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
  }
}

/** The command or its options are wrong: nothing was done. Exit code 2. */
export class UsageError extends CutroomError {
  override readonly name = 'UsageError';

  constructor(message: string, options: ErrorOptionsWithHint = {}) {
    super('usage', message, options);
  }
}

export interface InputPlace {
  /** The file at fault. */
  path?: string | undefined;
  /** 1-based line in `path`. */
  line?: number | undefined;
  /** Byte offset in `path`. */
  offsetBytes?: number | undefined;
}

/** The data is at fault. Exit code 1. */
export class InputError extends CutroomError {
  override readonly name = 'InputError';
  readonly path: string | undefined;
  readonly line: number | undefined;
  readonly offsetBytes: number | undefined;

  constructor(message: string, options: ErrorOptionsWithHint & InputPlace = {}) {
    super('input', message, options);
    this.path = options.path;
    this.line = options.line;
    this.offsetBytes = options.offsetBytes;
  }
}

/** The result cannot be written, or would damage what is there. Exit code 2. */
export class OutputError extends CutroomError {
  override readonly name = 'OutputError';
  readonly path: string | undefined;

  constructor(message: string, options: ErrorOptionsWithHint & { path?: string | undefined } = {}) {
    super('output', message, options);
    this.path = options.path;
  }
}

/** The caller's signal stopped the work; what was finished is kept. Exit code 130. */
export class CanceledError extends CutroomError {
  override readonly name = 'CanceledError';

  constructor(message: string, options: ErrorOptionsWithHint = {}) {
    super('canceled', message, options);
  }
}

/** The message of anything thrown; of a file operation that failed what the system met, as the sentence around it names the file. */
export function errorMessage(error: unknown): string {
  const message = wholeMessage(error);
  return systemCode(error) === undefined ? message : (SYSTEM_MESSAGE.exec(message)?.[1] ?? message);
}

/** The message of anything thrown, for a sentence that names no file. */
export function wholeMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** As Node.js writes them: `EACCES: permission denied, open 'a.wav'`. */
const SYSTEM_MESSAGE = /^E[A-Z0-9]+: (.+?), [a-z]+(?: '.*)?$/su;

/** The system's error code (`ENOENT`, `ENOSPC`, …) of a failed file operation, or undefined. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
