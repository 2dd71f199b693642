import { OutputError } from '../errors.js';

/** What an interrupted run left cannot be gone on with; with `overwrite` it is dropped. */
export class StaleWorkError extends OutputError {
  /** @param hint says what else than `--overwrite` helps. */
  constructor(message: string, options: { path: string; hint?: string; cause?: unknown }) {
    super(message, { hint: 'Start again with --overwrite.', ...options });
  }
}
