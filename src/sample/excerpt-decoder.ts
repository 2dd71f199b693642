import { setImmediate } from 'node:timers/promises';
import { AudioError } from '../audio/audio-error.js';
import { CanceledError } from '../errors.js';
import { WindowReader } from '../audio/window-reader.js';
import type { WindowReaderOptions } from '../audio/window-reader.js';
import { ProcessPool } from '../run/process-pool.js';
import { tryExcerpt } from './excerpt-job.js';
import type { DecodedExcerpt, ExcerptJob, ExcerptOutcome } from './excerpt-job.js';
import type { WindowJob } from './window-process.js';

export interface ExcerptDecoderOptions extends WindowReaderOptions {
  /** Processes that decode; 0 or 1 decodes in this one, which blocks it for the time of each excerpt. */
  jobs: number;
  /** Stops a first pass that is under way, and all that waits: these reject with its reason. */
  signal?: AbortSignal | undefined;
  /** Takes what is to be said of kept indexes. */
  onNotice?: ((message: string) => void) | undefined;
}

/** Longer than the first pass over a recording of many hours. */
const SILENCE_MS = 300_000;
/** Jobs that wait for the process that has a recording open, before another one is asked to open it too. */
const QUEUE_AHEAD = 2;

/** Decodes excerpts: in this process, or in several others, so that a crash of the codec library costs one excerpt. */
export class ExcerptDecoder implements AsyncDisposable {
  readonly #options: WindowReaderOptions;
  readonly #lanes: readonly Lane[];
  readonly #closing = new AbortController();
  readonly #signal: AbortSignal;
  readonly #onNotice: ((message: string) => void) | undefined;
  readonly #running = new Set<Promise<ExcerptOutcome>>();
  #reader: WindowReader | undefined;

  /** @throws {RangeError} when the number of jobs is no whole number from 0 on. */
  constructor({ jobs, signal, onNotice, ...options }: ExcerptDecoderOptions) {
    if (!Number.isSafeInteger(jobs) || jobs < 0) {
      throw new RangeError(`jobs must be a whole number from 0 on, not ${jobs}`);
    }
    this.#options = options;
    this.#onNotice = onNotice;
    this.#signal = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    this.#lanes = jobs <= 1 ? [] : Array.from({ length: jobs }, () => new Lane());
  }

  /** @throws AudioError where the audio is not to be had. */
  async decode(job: ExcerptJob): Promise<DecodedExcerpt> {
    const run = this.#run(job);
    this.#running.add(run);
    const outcome = await run.finally(() => this.#running.delete(run));
    if (outcome.kind === 'decoded') return outcome.excerpt;
    const { reason, state, hint } = outcome;
    throw new AudioError(reason, job.path, state, hint === undefined ? {} : { hint });
  }

  /** Takes the waveform of an excerpt that nobody looks at any more; those of other processes come as messages, and are not made here. */
  recycle(waveform: Float32Array<ArrayBuffer>): void {
    this.#reader?.recycle(waveform);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new CanceledError('The dataset was closed'));
    // Until they have noticed, they use the reader.
    await Promise.allSettled(this.#running);
    this.#reader?.[Symbol.dispose]();
    this.#reader = undefined;
    await Promise.all(this.#lanes.map((lane) => lane.pool.close()));
  }

  async #run(job: ExcerptJob): Promise<ExcerptOutcome> {
    if (this.#lanes.length === 0) {
      // The codec library gives memory back only when the event loop turns.
      await setImmediate();
      this.#signal.throwIfAborted();
      this.#reader ??= new WindowReader(this.#options, this.#onNotice);
      const outcome = await tryExcerpt(this.#reader, job, this.#takeTurn);
      this.#signal.throwIfAborted();
      return outcome;
    }
    const lane = this.#laneOf(job.path);
    lane.waiting += 1;
    try {
      const task: WindowJob = { options: this.#options, job };
      const outcome = await lane.pool.run<ExcerptOutcome>(task, {
        signal: this.#signal,
        onReport: (notices) => {
          for (const message of notices as readonly string[]) this.#onNotice?.(message);
        },
      });
      if (outcome.kind === 'done') return outcome.value;
      const how = outcome.kind === 'died' ? `crashed (${outcome.how})` : `hung for ${outcome.seconds} s`;
      return { kind: 'failed', reason: 'corrupt_recording', state: `decoding it ${how}`, hint: undefined };
    } finally {
      lane.waiting -= 1;
    }
  }

  readonly #takeTurn = async (): Promise<void> => {
    await setImmediate();
    this.#signal.throwIfAborted();
  };

  /** The process that has the recording open, if any has, unless others have much less to do. */
  #laneOf(path: string): Lane {
    const own = this.#lanes[hashOf(path) % this.#lanes.length] ?? new Lane();
    const least = this.#lanes.reduce((a, b) => (b.waiting < a.waiting ? b : a), own);
    return own.waiting > least.waiting + QUEUE_AHEAD ? least : own;
  }
}

class Lane {
  readonly pool = new ProcessPool({
    program: new URL('./window-process.js', import.meta.url),
    size: 1,
    silenceMs: SILENCE_MS,
  });
  waiting = 0;
}

/** FNV-1a of the text's code units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
