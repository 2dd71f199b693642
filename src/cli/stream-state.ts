import { readFile } from 'node:fs/promises';
import { InputError, errorMessage, systemCode } from '../errors.js';
import type { LoaderState } from '../load/epoch-plan.js';
import { writeFileAtomic } from '../run/atomic-file.js';

/** A pipe holds no more than this, unless the system was told otherwise: what lies so far back was taken out of it. */
const PIPE_BYTES = 2 ** 20;
/** How often the file is written. */
const PERIOD_MS = 1000;

/**
 * The state in a file; undefined where there is none yet.
 *
 * @throws InputError when the file cannot be read, or is no state.
 */
export async function readState(path: string): Promise<LoaderState | undefined> {
  const refuse = (what: string, cause?: unknown): InputError =>
    new InputError(`Cannot go on from "${path}": ${what}`, {
      path,
      hint: 'Give a file that cutroom stream has written, or one that is not there yet.',
      cause,
    });
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw refuse(errorMessage(error), error);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refuse('it is no JSON', error);
  }
  const fields = ['seed', 'epoch', 'batch', 'ranks'];
  const isState =
    typeof value === 'object' &&
    value !== null &&
    fields.every((name) => name in value && Number.isSafeInteger(value[name as keyof typeof value]));
  if (!isState) throw refuse('it is no state, which is {seed, epoch, batch, ranks}');
  return value as LoaderState;
}

/** Keeps a file at the last batch that has surely been taken: of what lies in the pipe nothing is known. */
export class StateFile {
  readonly #path: string;
  readonly #waiting: { endBytes: number; state: LoaderState }[] = [];
  #due: LoaderState | undefined;
  #savedMs = performance.now();

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * @param endBytes of the stream, where the batch ends
   * @param takenBytes of the stream, that have left this process
   * @throws OutputError when the file cannot be written.
   */
  async note(state: LoaderState, endBytes: number, takenBytes: number): Promise<void> {
    this.#waiting.push({ endBytes, state });
    while (this.#waiting[0] !== undefined && this.#waiting[0].endBytes + PIPE_BYTES <= takenBytes) {
      this.#due = this.#waiting.shift()?.state;
    }
    if (performance.now() - this.#savedMs >= PERIOD_MS) await this.save();
  }

  /** All was taken. */
  async finish(state: LoaderState): Promise<void> {
    this.#due = state;
    await this.save();
  }

  /** Writes what is not in the file yet. */
  async save(): Promise<void> {
    if (this.#due === undefined) return;
    const text = `${JSON.stringify(this.#due)}\n`;
    this.#due = undefined;
    await writeFileAtomic(this.#path, (write) => write(text));
    this.#savedMs = performance.now();
  }
}
