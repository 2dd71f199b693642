import type { CutPlan } from './cut-plan.js';
import { writeMetrics, type MetricsFacts } from './metrics-writer.js';
import { zeroCounts } from './plan-recording.js';
import { roundMillis } from './snippet-name.js';
import { DROP_REASONS, type DropCounts, type DropReason, type SkipReason } from './types.js';

/** Counts by reasons that are not known beforehand. */
export type ReasonCounts = Record<string, number>;

/** A snippet that is in the output. */
export interface FinishedSnippet {
  /** Segments in its row. */
  segmentCount: number;
  durationSeconds: number;
  /** Samples that were beyond full scale and were clipped. */
  clippedSamples: number;
}

/** Sums over all recordings. Each segment of the input is counted once: in `outputSegments`, `droppedSegments`, `failedSegments` or `unfinishedSegments`. */
export interface MetricsTotals {
  inputRecordings: number;
  inputSegments: number;
  /** Rounded to three decimals. */
  inputDurationSeconds: number;
  outputSnippets: number;
  outputSegments: number;
  /** Rounded to three decimals. */
  outputDurationSeconds: number;
  dropped: DropCounts;
  droppedSegments: DropCounts;
  skippedRows: Readonly<Partial<Record<SkipReason, number>>>;
  failedSnippets: ReasonCounts;
  failedSegments: number;
  /** Planned, but neither in the output nor counted under a reason. */
  unfinishedSnippets: number;
  unfinishedSegments: number;
  clippedSamples: number;
  /** Snippets by duration, in bins of 30 s from 0 on; a duration on a border belongs to the higher bin. */
  histogram: number[];
}

/** What came of one recording. */
export interface RecordingMetrics {
  id: string;
  inSegments: number;
  inDurationSeconds: number;
  dropped: DropCounts;
  outSnippets: number;
  outSegments: number;
  outDurationSeconds: number;
  failedSnippets: ReasonCounts;
}

export interface Warning {
  id: string;
  message: string;
}

const NANOS = 1_000_000_000;
const BIN_SECONDS = 30;

/**
 * Counts what comes of a plan. The result does not hang on the order in which things are added: durations are summed as whole
 * nanoseconds, which is exact.
 */
export class CutMetrics {
  readonly plan: CutPlan;
  readonly #outSnippets: Uint32Array;
  readonly #outSegments: Uint32Array;
  readonly #outNanos: Float64Array;
  readonly #failed = new Map<number, ReasonCounts>();
  /** What was dropped after planning, by recording. */
  readonly #lateDrops = new Map<number, DropCounts>();
  readonly #warnings: { index: number; message: string }[] = [];
  readonly #bins: number[] = [];
  readonly #droppedSegments: DropCounts;
  #lateCandidates = 0;
  #failedSegments = 0;
  #clippedSamples = 0;

  constructor(plan: CutPlan) {
    this.plan = plan;
    this.#outSnippets = new Uint32Array(plan.recordingCount);
    this.#outSegments = new Uint32Array(plan.recordingCount);
    this.#outNanos = new Float64Array(plan.recordingCount);
    this.#droppedSegments = { ...plan.counts.droppedSegments };
  }

  /** Counts a snippet that is in the output. */
  addSnippet(recordingIndex: number, snippet: FinishedSnippet): void {
    this.#check(recordingIndex);
    this.#outSnippets[recordingIndex]! += 1;
    this.#outSegments[recordingIndex]! += snippet.segmentCount;
    this.#outNanos[recordingIndex]! += Math.round(snippet.durationSeconds * NANOS);
    this.#clippedSamples += snippet.clippedSamples;
    const bin = Math.floor(snippet.durationSeconds / BIN_SECONDS);
    while (this.#bins.length <= bin) this.#bins.push(0);
    this.#bins[bin]! += 1;
  }

  /** Counts a snippet that could not be made. */
  addFailedSnippet(recordingIndex: number, reason: string, segmentCount: number): void {
    this.#check(recordingIndex);
    const counts = this.#failed.get(recordingIndex) ?? newCounts();
    counts[reason] = (counts[reason] ?? 0) + 1;
    this.#failed.set(recordingIndex, counts);
    this.#failedSegments += segmentCount;
  }

  /**
   * Counts segments that were dropped after planning.
   *
   * @param isCandidate true when a whole snippet is lost with them, false when it lives on without them
   */
  addDropped(recordingIndex: number, reason: DropReason, segmentCount: number, isCandidate: boolean): void {
    this.#check(recordingIndex);
    this.#droppedSegments[reason] += segmentCount;
    if (!isCandidate) return;
    const drops = this.#lateDrops.get(recordingIndex) ?? zeroCounts();
    drops[reason] += 1;
    this.#lateDrops.set(recordingIndex, drops);
    this.#lateCandidates += 1;
  }

  addWarning(recordingIndex: number, message: string): void {
    this.#check(recordingIndex);
    this.#warnings.push({ index: recordingIndex, message });
  }

  /** In the order of the manifest; those of one recording by text. */
  warnings(): Warning[] {
    return this.#warnings
      .toSorted((a, b) => a.index - b.index || (a.message < b.message ? -1 : 1))
      .map(({ index, message }) => ({ id: this.plan.summary(index).id, message }));
  }

  totals(): MetricsTotals {
    const { plan } = this;
    const dropped = { ...plan.counts.dropped };
    for (const drops of this.#lateDrops.values()) {
      for (const reason of DROP_REASONS) dropped[reason] += drops[reason];
    }
    const failedSnippets = newCounts();
    let failedCount = 0;
    for (const counts of this.#failed.values()) {
      for (const [reason, count] of Object.entries(counts)) {
        failedSnippets[reason] = (failedSnippets[reason] ?? 0) + count;
        failedCount += count;
      }
    }
    const outputSnippets = this.#outSnippets.reduce((sum, count) => sum + count, 0);
    const outputSegments = this.#outSegments.reduce((sum, count) => sum + count, 0);
    const outputNanos = this.#outNanos.reduce((sum, nanos) => sum + BigInt(nanos), 0n);
    const lostSegments = DROP_REASONS.reduce(
      (sum, reason) => sum + this.#droppedSegments[reason],
      this.#failedSegments,
    );
    return {
      inputRecordings: plan.recordingCount,
      inputSegments: plan.counts.inSegments,
      inputDurationSeconds: roundMillis(plan.counts.inDurationSeconds),
      outputSnippets,
      outputSegments,
      outputDurationSeconds: roundMillis(Number(outputNanos) / NANOS),
      dropped,
      droppedSegments: { ...this.#droppedSegments },
      skippedRows: plan.skippedRows,
      failedSnippets,
      failedSegments: this.#failedSegments,
      unfinishedSnippets: plan.snippetCount - outputSnippets - failedCount - this.#lateCandidates,
      unfinishedSegments: plan.counts.inSegments - outputSegments - lostSegments,
      clippedSamples: this.#clippedSamples,
      histogram: [...this.#bins],
    };
  }

  /** @throws RangeError where there is no such recording */
  recording(index: number): RecordingMetrics {
    const { id, inSegments, inDurationSeconds, dropped } = this.plan.summary(index);
    const drops = this.#lateDrops.get(index);
    if (drops !== undefined) for (const reason of DROP_REASONS) dropped[reason] += drops[reason];
    return {
      id,
      inSegments,
      inDurationSeconds,
      dropped,
      outSnippets: this.#outSnippets[index]!,
      outSegments: this.#outSegments[index]!,
      outDurationSeconds: this.#outNanos[index]! / NANOS,
      failedSnippets: { ...this.#failed.get(index) },
    };
  }

  /** Writes `metrics.json` piece by piece. */
  async write(sink: (chunk: string) => Promise<void>, facts: MetricsFacts): Promise<void> {
    await writeMetrics(this, sink, facts);
  }

  #check(recordingIndex: number): void {
    if (!(recordingIndex >= 0 && recordingIndex < this.plan.recordingCount)) {
      throw new RangeError(`no recording ${recordingIndex} among ${this.plan.recordingCount}`);
    }
  }
}

/** Without prototype: a reason may have any name. */
function newCounts(): ReasonCounts {
  return Object.create(null) as ReasonCounts;
}
