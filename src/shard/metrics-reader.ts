import { open } from 'node:fs/promises';

/** What stands before the entries of the recordings. */
export const PER_ORIGINAL_START = '\n  "per_original": [';
/** What stands behind them. */
export const PER_ORIGINAL_END = '],\n  "dropped_segments"';

const CHUNK_BYTES = 1 << 20;

/**
 * Reads the metrics of a command; of those of `cut` without the entries of `per_original`, which may be millions.
 *
 * @throws SyntaxError when it is no JSON; what the system says when it cannot be read
 */
export async function readMetrics(path: string): Promise<unknown> {
  const skipper = new Skipper();
  const handle = await open(path);
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES);
      if (bytesRead === 0) break;
      skipper.add(chunk.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
  return JSON.parse(skipper.text()) as unknown;
}

/** Keeps what stands before the entries and behind them. Neither mark can stand inside a string: line breaks are escaped there. */
class Skipper {
  #place: 'before' | 'inside' | 'behind' = 'before';
  readonly #kept: Buffer[] = [];
  /** What may be the beginning of a mark. */
  #pending = Buffer.alloc(0);

  add(chunk: Uint8Array): void {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    if (this.#place === 'before') this.#pass(PER_ORIGINAL_START, 'inside');
    if (this.#place === 'inside') this.#pass(PER_ORIGINAL_END, 'behind');
    if (this.#place === 'behind') this.#take(this.#pending.length, true);
  }

  text(): string {
    this.#take(this.#pending.length, true);
    return Buffer.concat(this.#kept).toString();
  }

  /** Goes on to the mark, which is kept, or as far as it may yet begin. */
  #pass(mark: string, next: 'inside' | 'behind'): void {
    const at = this.#pending.indexOf(mark);
    const isKept = this.#place === 'before';
    this.#take(at >= 0 ? at : Math.max(0, this.#pending.length - mark.length), isKept);
    if (at < 0) return;
    this.#take(mark.length, true);
    this.#place = next;
  }

  #take(bytes: number, isKept: boolean): void {
    if (isKept) this.#kept.push(Buffer.from(this.#pending.subarray(0, bytes)));
    this.#pending = this.#pending.subarray(bytes);
  }
}
