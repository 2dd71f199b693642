import { CutroomError } from '../errors.js';

/** What happens where a file cannot be read: it is thrown, passed over, or passed over with a word to `onWarning`. */
export type OnReadError = 'raise' | 'skip' | 'warn';

export interface ReadErrorOptions {
  /** Default `raise`. */
  onReadError?: OnReadError | undefined;
  /** Takes what `warn` passes over. */
  onWarning?: ((error: CutroomError) => void) | undefined;
}

/**
 * The value, or undefined for a file that cannot be read and is to be passed over.
 *
 * @throws what is no fault of a file, and what is to be raised.
 */
export async function withReadErrors<T>(read: () => Promise<T>, options: ReadErrorOptions): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    const { onReadError = 'raise', onWarning } = options;
    if (onReadError === 'raise' || !(error instanceof CutroomError) || error.code !== 'input') throw error;
    if (onReadError === 'warn') onWarning?.(error);
    return undefined;
  }
}

/** @throws {RangeError} when it is none of the three. */
export function checkOnReadError({ onReadError = 'raise' }: ReadErrorOptions): void {
  if (onReadError === 'raise' || onReadError === 'skip' || onReadError === 'warn') return;
  throw new RangeError(`onReadError must be raise, skip or warn, not ${JSON.stringify(onReadError)}`);
}
