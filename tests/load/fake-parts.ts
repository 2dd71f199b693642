import { AudioReader } from '#cutroom/load/audio-reader.js';
import { Augmenter } from '#cutroom/load/augment.js';
import type { AugmentOptions } from '#cutroom/load/augment-options.js';
import { BatchMaker } from '#cutroom/load/batch-maker.js';
import type { OnItemError } from '#cutroom/load/batch-maker.js';
import type { DecodeOutcome, DecodeRequest, DivideRoom, UtteranceDecoder } from '#cutroom/load/decode-request.js';
import type { DescribedItem, ItemDescriber } from '#cutroom/load/described-item.js';
import type { EpochPlan, LoaderState, PlanReport } from '#cutroom/load/epoch-plan.js';
import type { ItemTable } from '#cutroom/load/item-table.js';
import { Loader } from '#cutroom/load/loader.js';
import type { EpochPlanner } from '#cutroom/load/loader.js';
import { NoiseMixer } from '#cutroom/load/noise-mixer.js';
import type { NoiseSource } from '#cutroom/load/noise-source.js';
import type { DurationLimit } from '#cutroom/load/overlong.js';
import { Replacements } from '#cutroom/load/replacements.js';
import { createSpeedOf } from '#cutroom/load/speed-of.js';

/** Rows of one leaf, with durations in seconds. */
export function tableOf(durations: readonly number[]): ItemTable {
  const rowCount = durations.length;
  const leaf = { name: 'rows', weight: undefined, firstItem: 0, endItem: rowCount, bucket: undefined, tags: {} };
  return {
    rowCount,
    durationsMicros: Float64Array.from(durations, (seconds) => seconds * 1e6),
    tokenCounts: undefined,
    leaves: [{ ...leaf, excerpts: undefined }],
    parts: [{ leaf: 0, manifestPath: 'rows.jsonl', tarPath: undefined, audioFolder: '' }],
    rowParts: new Uint32Array(rowCount),
    lineOffsetsBytes: new Float64Array(rowCount),
    lineLengthsBytes: new Uint32Array(rowCount),
    lineNumbers: Uint32Array.from({ length: rowCount }, (_, item) => item + 1),
    left: { reasons: {}, firstFaults: [] },
  };
}

/** Items that are called by their numbers. */
export const FAKE_DESCRIBER: ItemDescriber = {
  describe: (items) => Promise.resolve(items.map((item) => describeFake(item))),
};

function describeFake(item: number): DescribedItem {
  return {
    item,
    id: `item-${item}`,
    text: `text ${item}`,
    row: { item },
    source: 'rows',
    path: `${item}.wav`,
    manifestPath: 'rows.jsonl',
    lineNumber: item + 1,
    audio: { kind: 'encoded', place: { path: `${item}.wav`, inside: undefined, span: undefined } },
  };
}

/** Gives item k `samplesOf(k)` samples of the value k + 1, and fails for those that are bad. */
export class FakeDecoder implements UtteranceDecoder {
  readonly requests: DecodeRequest[] = [];
  running = 0;
  mostRunning = 0;
  isClosed = false;
  /** Answers without waiting. */
  isInstant = false;
  /** Puts samples where they will lie in their batch, as far as they fit. */
  usesPlaces = false;
  placedCount = 0;
  readonly #bad: ReadonlySet<number>;
  readonly #samplesOf: (item: number) => number;

  constructor(bad: readonly number[] = [], samplesOf: (item: number) => number = (item) => (item % 5) + 1) {
    this.#bad = new Set(bad);
    this.#samplesOf = samplesOf;
  }

  async decode(
    requests: readonly DecodeRequest[],
    signal?: AbortSignal,
    divide?: DivideRoom,
  ): Promise<DecodeOutcome[]> {
    this.requests.push(...requests);
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    if (!this.isInstant) await new Promise((resolve) => setTimeout(resolve, this.requests.length % 3));
    this.running -= 1;
    signal?.throwIfAborted();
    const places = this.usesPlaces ? divide?.() : undefined;
    return requests.map((request, at) => this.#place(this.#outcome(request), places?.[at]));
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #place(outcome: DecodeOutcome, place: Float32Array<ArrayBuffer> | undefined): DecodeOutcome {
    if (outcome.kind === 'failed' || place === undefined || place.length < outcome.samples.length) return outcome;
    place.fill(9);
    place.set(outcome.samples);
    this.placedCount += 1;
    return { ...outcome, samples: place.subarray(0, outcome.samples.length) };
  }

  #outcome({ path, span, sampleRate, speed, wantsBytes }: DecodeRequest): DecodeOutcome {
    const item = Number.parseInt(path, 10);
    if (this.#bad.has(item)) return { kind: 'failed', reason: 'corrupt_recording', message: 'torn', hint: 'mend it' };
    const rate = sampleRate ?? 8000;
    const spanMicros = span === undefined || span.endMicros === null ? undefined : span.endMicros - span.startMicros;
    const count = spanMicros === undefined ? this.#samplesOf(item) : Math.round((spanMicros * rate) / 1e6);
    const samples = new Float32Array(Math.ceil(count / speed)).fill((item + 1) / 1024);
    return { kind: 'decoded', samples, sampleRate: rate, bytes: wantsBytes ? Uint8Array.of(item) : undefined };
  }
}

/** Batches of `size` items in order, as they come to the ranks in turn. */
export function fakePlanner(table: ItemTable, size: number, rank = 0, ranks = 1): EpochPlanner {
  const total = Math.ceil(table.rowCount / size);
  const plan = (epoch: number, first: number): EpochPlan => {
    const stepCount = Math.ceil((total - first) / ranks);
    return {
      epoch,
      worldSize: ranks,
      stepCount,
      batchAt: (askedRank, step) => {
        if (askedRank !== rank || step < 0 || step >= stepCount) throw new RangeError('no such step');
        const at = (first + step * ranks + rank) * size;
        const count = Math.max(0, Math.min(size, table.rowCount - at));
        const items = Float64Array.from({ length: count }, (_, place) => at + place);
        const passes = new Float64Array(count).fill(epoch);
        return { epoch, step, rank, bucket: undefined, items, passes, padCount: 0 };
      },
      stateAt: (step) => {
        const batch = first + step * ranks;
        return batch >= total ? { seed: 0, epoch: epoch + 1, batch: 0, ranks } : { seed: 0, epoch, batch, ranks };
      },
      report: () => ({ stepCount }) as PlanReport,
    };
  };
  return {
    seed: 0,
    planEpoch: (epoch) => plan(epoch, 0),
    resume: ({ epoch, batch }: LoaderState) => plan(epoch, batch),
  };
}

export interface FakeLoaderOptions {
  size?: number;
  rank?: number;
  ranks?: number;
  worker?: number;
  workers?: number;
  prefetch?: number;
  maxFailures?: number;
  copies?: number;
  speeds?: readonly number[];
  augment?: AugmentOptions;
  noises?: NoiseSource;
  wantsBytes?: boolean;
  onItemError?: OnItemError;
  limit?: DurationLimit;
  planner?: EpochPlanner;
  signal?: AbortSignal;
}

/** A loader over a table that decodes nothing. */
export function fakeLoader(table: ItemTable, decoder: FakeDecoder, options: FakeLoaderOptions = {}): Loader {
  const { size = 3, rank = 0, ranks = 1, worker = 0, workers = 1, prefetch = 2, copies = 1, augment } = options;
  const { noises, wantsBytes = false, maxFailures = Number.POSITIVE_INFINITY, onItemError = 'replace' } = options;
  const audio = new AudioReader(decoder, 1000, wantsBytes);
  const maker = new BatchMaker({
    describer: FAKE_DESCRIBER,
    audio,
    speedOf: createSpeedOf(0, options.speeds),
    durationMicrosOf: (item) => table.durationsMicros[item] ?? 0,
    limit: options.limit,
    replacements: new Replacements(table, 0),
    augmenter: augment === undefined ? undefined : new Augmenter(0, augment),
    noises: noises === undefined ? undefined : new NoiseMixer(noises, new AudioReader(decoder, 1000, false), 1000),
    ...{ onItemError, copies, wantsBytes, wantsLines: false, sampleRate: 1000 },
  });
  const closing = new AbortController();
  return new Loader({
    table,
    planner: options.planner ?? fakePlanner(table, size, rank, ranks),
    maker,
    settings: { rank, worldSize: ranks, worker, workers, prefetch, maxFailures },
    warnings: { all: [], add: () => undefined },
    closing,
    signal: options.signal === undefined ? closing.signal : AbortSignal.any([options.signal, closing.signal]),
    release: async () => {
      await decoder.close();
    },
  });
}
