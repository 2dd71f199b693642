import type { Writable } from 'node:stream';
import { OutputError, errorMessage, systemCode } from '../errors.js';

/** So much may wait to be taken before more is made. */
const WAITING_BYTES = 4 * 2 ** 20;
/** What a reader that closes early leaves behind. */
const CLOSED_CODES: ReadonlySet<string> = new Set([
  ...['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END', 'ERR_STREAM_PREMATURE_CLOSE'],
]);

/** The end that reads has gone: no fault of anybody. */
export class ReaderClosed extends Error {
  override readonly name = 'ReaderClosed';
}

/** Writes bytes to a stream at the pace of its reader. */
export class StreamOutput {
  readonly #stream: Writable;
  #error: Error | undefined;
  #writtenBytes = 0;
  #wake: (() => void) | undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', (error: Error) => this.#fail(error));
    stream.on('close', () => this.#fail(new ReaderClosed('The reader has closed the stream')));
  }

  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  /** Those that have left this process. */
  get takenBytes(): number {
    return this.#writtenBytes - this.#stream.writableLength;
  }

  /**
   * Gives chunks to the stream, and waits until there is room for more. The chunks must not be changed any more.
   *
   * @throws ReaderClosed when nobody reads any more.
   * @throws OutputError when the stream cannot be written.
   * @throws the signal's reason.
   */
  async write(chunks: readonly Uint8Array[], signal: AbortSignal): Promise<void> {
    this.#throwIfFailed();
    this.#stream.cork();
    for (const [at, chunk] of chunks.entries()) {
      this.#writtenBytes += chunk.length;
      this.#stream.write(chunk, at === chunks.length - 1 ? () => this.#wake?.() : undefined);
    }
    this.#stream.uncork();
    await this.#waitUntil(() => this.#stream.writableLength <= WAITING_BYTES, signal);
  }

  /** Waits until all has left this process. @throws as `write` does. */
  async flush(signal: AbortSignal): Promise<void> {
    await this.#waitUntil(() => this.#stream.writableLength === 0, signal);
  }

  async #waitUntil(isEnough: () => boolean, signal: AbortSignal): Promise<void> {
    const wake = (): void => this.#wake?.();
    signal.addEventListener('abort', wake);
    try {
      for (;;) {
        this.#throwIfFailed();
        signal.throwIfAborted();
        if (isEnough()) return;
        await new Promise<void>((resolve) => void (this.#wake = resolve));
      }
    } finally {
      this.#wake = undefined;
      signal.removeEventListener('abort', wake);
    }
  }

  #fail(error: Error): void {
    this.#error ??= error;
    this.#wake?.();
  }

  #throwIfFailed(): void {
    if (this.#error === undefined) return;
    if (this.#error instanceof ReaderClosed) throw this.#error;
    if (CLOSED_CODES.has(systemCode(this.#error) ?? '')) {
      throw new ReaderClosed('The reader has closed the stream', { cause: this.#error });
    }
    throw new OutputError(`Cannot write the stream: ${errorMessage(this.#error)}`, { cause: this.#error });
  }
}
