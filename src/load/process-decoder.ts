import { OutputError } from '../errors.js';
import { ProcessPool } from '../run/process-pool.js';
import type { JobOutcome } from '../run/process-pool.js';
import { dealGroups } from './deal-groups.js';
import { decodeGroup } from './decode-group.js';
import type { GroupAttempt } from './decode-group.js';
import type { DecodeJob, DecodeResult, SlotFault } from './decode-job.js';
import type { DecodeOutcome, DecodeRequest, DivideRoom, EncodedFormat, UtteranceDecoder } from './decode-request.js';
import { DecodeSlots } from './decode-slots.js';
import { ItemPlaces } from './item-places.js';
import { SampleChunks } from './sample-chunks.js';

export interface ProcessDecoderOptions {
  /** How many processes. */
  jobs: number;
  /** A process that says nothing for so long counts as hung. */
  silenceMs: number;
  /** What they run; tests have one of their own. */
  program?: URL;
  /** What they encode samples as; by default they hand them over. */
  encodeAs?: EncodedFormat | undefined;
}

const PROGRAM = new URL('./decode-process.js', import.meta.url);
/** Decodes in other processes, so that a crash in the codec library costs one item. They are started at once, and stay. */
export class ProcessDecoder implements UtteranceDecoder {
  readonly #jobs: number;
  readonly #encodeAs: EncodedFormat | undefined;
  readonly #slots: DecodeSlots;
  readonly #pool: ProcessPool;
  readonly #chunks = new SampleChunks();
  #closing: Promise<void> | undefined;

  constructor({ jobs, silenceMs, program = PROGRAM, encodeAs }: ProcessDecoderOptions) {
    this.#jobs = jobs;
    this.#encodeAs = encodeAs;
    // One more for each process, so that none waits until what it left was read.
    this.#slots = new DecodeSlots(2 * jobs);
    this.#pool = new ProcessPool({ program, size: jobs, silenceMs, inheritedFiles: this.#slots.files });
    // What fails here fails in the first call of `decode`, too, which says so.
    for (let job = 0; job < jobs; job += 1) this.#pool.run({ slot: 0, requests: [] }).catch(() => undefined);
  }

  async decode(
    requests: readonly DecodeRequest[],
    signal?: AbortSignal,
    divide?: DivideRoom,
  ): Promise<DecodeOutcome[]> {
    signal?.throwIfAborted();
    this.#requireOpen();
    const places = new ItemPlaces(requests, divide);
    const attempt = (group: readonly DecodeRequest[]): Promise<GroupAttempt> => this.#attempt(group, places, signal);
    const groups = dealGroups(requests, this.#jobs);
    const outcomes = await Promise.all(groups.map((group) => decodeGroup(group, attempt)));
    return outcomes.flat();
  }

  recycle(outcomes: readonly DecodeOutcome[]): void {
    for (const outcome of outcomes) if (outcome.kind === 'decoded') this.#chunks.giveBack(outcome.samples);
  }

  recycleBytes(bytes: readonly (Uint8Array | undefined)[]): void {
    for (const encoded of bytes) if (encoded !== undefined) this.#chunks.giveBack(encoded);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The numbers of closed files are given to other files. */
  #requireOpen(): void {
    if (this.#closing !== undefined) throw new Error('The decoder is closed');
  }

  async #close(): Promise<void> {
    await this.#pool.close();
    this.#slots[Symbol.dispose]();
  }

  async #attempt(
    requests: readonly DecodeRequest[],
    places: ItemPlaces,
    signal: AbortSignal | undefined,
  ): Promise<GroupAttempt> {
    const slot = await this.#slots.take();
    try {
      this.#requireOpen();
      this.#slots.clearProgress(slot);
      const job: DecodeJob = { slot, requests, encodeAs: this.#encodeAs };
      const outcome = await this.#pool.run<DecodeResult[] | SlotFault>(job, { signal });
      this.#requireOpen();
      if (outcome.kind === 'done') {
        if ('kind' in outcome.value) throw new OutputError(outcome.value.message, { hint: outcome.value.hint });
        const value = outcome.value.map((result, at) => this.#takeResult(slot, result, requests[at], places));
        return { kind: 'done', value };
      }
      const isHung = outcome.kind === 'hung';
      return { kind: 'ended', item: this.#slots.progress(slot), isHung, how: describeEnd(outcome) };
    } finally {
      this.#slots.giveBack(slot);
    }
  }

  #takeResult(
    slot: number,
    result: DecodeResult,
    request: DecodeRequest | undefined,
    places: ItemPlaces,
  ): DecodeOutcome {
    if (result.kind === 'failed') return result;
    if (result.kind === 'encoded') return this.#takeEncoded(slot, result);
    const { sampleRate, samples: left, bytes: bytesPlace } = result;
    const place = places.of(request);
    const count = left.lengthBytes / Float32Array.BYTES_PER_ELEMENT;
    const samples = place !== undefined && count <= place.length ? place.subarray(0, count) : this.#chunks.take(count);
    this.#slots.read(slot, left.offsetBytes, new Uint8Array(samples.buffer, samples.byteOffset, left.lengthBytes));
    const bytes = bytesPlace && new Uint8Array(bytesPlace.lengthBytes);
    if (bytes !== undefined && bytesPlace !== undefined) this.#slots.read(slot, bytesPlace.offsetBytes, bytes);
    return { kind: 'decoded', samples, sampleRate, bytes };
  }

  #takeEncoded(slot: number, { samples, sampleRate, bytes: place }: DecodeResult & { kind: 'encoded' }): DecodeOutcome {
    const room = this.#chunks.take(Math.ceil(place.lengthBytes / Float32Array.BYTES_PER_ELEMENT));
    const bytes = new Uint8Array(room.buffer, room.byteOffset, place.lengthBytes);
    this.#slots.read(slot, place.offsetBytes, bytes);
    return { kind: 'decoded', samples: NO_SAMPLES, encodedSamples: samples, sampleRate, bytes };
  }
}

const NO_SAMPLES = new Float32Array(0);

function describeEnd(outcome: Exclude<JobOutcome<unknown>, { kind: 'done' }>): string {
  return outcome.kind === 'died' ? `crashed (${outcome.how})` : `hung for ${outcome.seconds} s`;
}
