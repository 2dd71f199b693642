import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { ThreadPool } from '../run/thread-pool.js';
import { dealGroups } from './deal-groups.js';
import { decodeGroup } from './decode-group.js';
import type { AttemptGroup, GroupAttempt } from './decode-group.js';
import type { DecodeOutcome, DecodeRequest, DivideRoom, UtteranceDecoder } from './decode-request.js';
import type { DecodeThreadJob, DecodeThreadResult } from './decode-thread.js';
import { ItemPlaces } from './item-places.js';
import { OwnDecoder } from './own-decoder.js';
import { SampleChunks } from './sample-chunks.js';

export interface ThreadDecoderOptions {
  /** How many threads. Default: one a core. */
  threads?: number | undefined;
  /** How long this thread decodes by itself, before it starts them; with 0 they start at once, and it decodes nothing. Default 100, in milliseconds; no end with one thread. */
  aloneMs?: number;
  /** What they run; tests have one of their own. */
  program?: URL;
}

const PROGRAM = new URL('./decode-thread.js', import.meta.url);
/** What the samples of a group of short items take. */
const GROUP_CHUNKS = 2;

/** Starting threads takes as long. */
const ALONE_MS = 100;
/** Larger files are left to threads from the start. */
const SMALL_BYTES = 1 << 20;

/**
 * Decodes in threads of this process. What they decode into goes over as it is, and is copied once, to where it will lie:
 *
 * ```
 * thread        | decode | decode     | decode |          into chunks, which move here with the result …
 * this one               copy|        copy|    copy|      … and go back with a later group
 * ```
 *
 * Small work is not worth their start: this thread begins, starts them once that has taken as long as their start, and goes on until they are ready.
 */
export class ThreadDecoder implements UtteranceDecoder {
  readonly #threads: number;
  readonly #aloneMs: number;
  readonly #pool: ThreadPool;
  readonly #chunks = new SampleChunks();
  readonly #own = new OwnDecoder(this.#chunks);
  /** Of groups that were read. */
  readonly #free: ArrayBuffer[] = [];
  #hasThreads = false;
  #closing: Promise<void> | undefined;

  constructor(options: ThreadDecoderOptions = {}) {
    const { threads = availableParallelism(), program = PROGRAM } = options;
    // A thread beside this one is of use where it has a core of its own.
    const { aloneMs = threads > 1 ? ALONE_MS : Infinity } = options;
    this.#threads = threads;
    this.#aloneMs = aloneMs;
    this.#pool = new ThreadPool({ program, size: threads });
    if (aloneMs === 0) this.#startThreads();
  }

  async decode(
    requests: readonly DecodeRequest[],
    signal?: AbortSignal,
    divide?: DivideRoom,
  ): Promise<DecodeOutcome[]> {
    signal?.throwIfAborted();
    this.#requireOpen();
    const places = new ItemPlaces(requests, divide);
    const first = this.#isAlone ? await this.#own.decode(requests, places, signal, this.#isOwn) : [];
    const rest = first.length === 0 ? requests : requests.slice(first.length);
    return [...first, ...(await this.#decodeInThreads(rest, places, signal))];
  }

  recycle(outcomes: readonly DecodeOutcome[]): void {
    for (const outcome of outcomes) if (outcome.kind === 'decoded') this.#chunks.giveBack(outcome.samples);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw new Error('The decoder is closed');
  }

  async #close(): Promise<void> {
    await this.#own[Symbol.asyncDispose]();
    await this.#pool.close();
  }

  #startThreads(): void {
    if (!this.#hasThreads) this.#pool.warmUp();
    this.#hasThreads = true;
  }

  /** Whether threads are of no use so far. */
  get #isAlone(): boolean {
    return this.#aloneMs > 0 && (!this.#hasThreads || this.#pool.isStarting);
  }

  readonly #isOwn = (request: DecodeRequest): boolean => {
    const isSmall = sizeOf(request) <= SMALL_BYTES;
    if (!isSmall || this.#own.spentMs > this.#aloneMs) this.#startThreads();
    return isSmall && this.#isAlone && this.#closing === undefined;
  };

  async #decodeInThreads(
    requests: readonly DecodeRequest[],
    places: ItemPlaces,
    signal: AbortSignal | undefined,
  ): Promise<DecodeOutcome[]> {
    if (requests.length === 0) return [];
    this.#requireOpen();
    const groups = dealGroups(requests, this.#threads);
    const attempt: AttemptGroup = (group) => this.#attempt(group, places, signal);
    const outcomes = await Promise.all(groups.map((group) => decodeGroup(group, attempt)));
    return outcomes.flat();
  }

  async #attempt(
    requests: readonly DecodeRequest[],
    places: ItemPlaces,
    signal: AbortSignal | undefined,
  ): Promise<GroupAttempt> {
    const outcome = await this.#pool.run<DecodeThreadResult>(() => {
      const chunks = this.#free.splice(-GROUP_CHUNKS);
      const job: DecodeThreadJob = { requests, chunks };
      return { job, moved: chunks };
    }, signal);
    this.#requireOpen();
    if (outcome.kind === 'died') {
      return { kind: 'ended', item: outcome.step, isHung: false, how: `ended its thread (${outcome.how})` };
    }
    const { outcomes, chunks } = outcome.value;
    const shared = new Set<ArrayBufferLike>(chunks);
    const value = outcomes.map((own, at) => this.#take(own, places.of(requests[at]), shared));
    const most = GROUP_CHUNKS * 2 * this.#threads;
    this.#free.push(...chunks.slice(0, most - this.#free.length));
    return { kind: 'done', value };
  }

  /** Samples that have memory of their own stay there, unless a place is meant for them. */
  #take(
    outcome: DecodeOutcome,
    place: Float32Array<ArrayBuffer> | undefined,
    shared: ReadonlySet<ArrayBufferLike>,
  ): DecodeOutcome {
    if (outcome.kind === 'failed') return outcome;
    const { samples: left } = outcome;
    const fits = place !== undefined && left.length <= place.length;
    if (!fits && !shared.has(left.buffer)) return outcome;
    const samples = fits ? place.subarray(0, left.length) : this.#chunks.take(left.length);
    samples.set(left);
    return { ...outcome, samples };
  }
}

/** Of the encoded audio. What cannot be looked at is small: to say why takes no time. */
function sizeOf({ path, inside }: DecodeRequest): number {
  if (inside !== undefined) return inside.sizeBytes;
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
