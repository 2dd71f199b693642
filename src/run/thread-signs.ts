const WANTED_JOB = 0;
const STEP = 1;
const WORDS = 2;

/** What a thread and the one that started it both see at any time, between messages and after the thread has ended. */
export class ThreadSigns {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;

  /** @param memory that of the other side. */
  constructor(memory = new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#words = new Int32Array(memory);
  }

  /** Number of the job whose result is waited for; 0 is none. */
  get wantedJob(): number {
    return Atomics.load(this.#words, WANTED_JOB);
  }

  set wantedJob(job: number) {
    Atomics.store(this.#words, WANTED_JOB, job);
  }

  /** How far the job is. */
  get step(): number {
    return Atomics.load(this.#words, STEP);
  }

  set step(step: number) {
    Atomics.store(this.#words, STEP, step);
  }
}
