import { CanceledError, OutputError } from '../errors.js';
import { orderedMap } from '../run/ordered-map.js';
import type { CutPlan, PlannedMember, PlannedRecording } from './cut-plan.js';
import { CutMetrics } from './metrics.js';
import type { ResolvedCutOptions } from './options.js';
import type { OutputsWriter } from './outputs-writer.js';
import type { StoredSnippet } from './part.js';
import type { OnCutProgress } from './progress.js';
import { factsOf } from './recording-extractor.js';
import { buildRow } from './row.js';
import type { RecordingOutcome, SnippetFacts } from './run-journal.js';
import { ShardTally } from './shard-tally.js';
import type { RunLog, SnippetSource } from './snippet-source.js';
import type { SourceFacts } from './source-facts.js';
import { StaleWorkError } from './stale-work.js';
import type { PlannedSnippet } from './types.js';

/** How far ahead of the tar recordings are worked on, per job; bounds the space that waiting parts take. */
const WINDOW_PER_JOB = 4;
const CHECKPOINT_BYTES = 256 << 20;

export interface ExecuteParts {
  plan: CutPlan;
  options: ResolvedCutOptions;
  journal: RunLog;
  /** Undefined when the outputs are written already and only the figures are wanted. */
  writer: OutputsWriter | undefined;
  extractor: SnippetSource;
  signal: AbortSignal;
  onProgress: OnCutProgress;
  /** How often the outputs are made sure of on the disk. */
  checkpointMs: number;
  /** Counts the shards. Default: those that the options ask for. */
  shards?: ShardTally | undefined;
  /** Takes what came of each recording, or that nothing is known of it, in the order of the plan. */
  onRecording?: ((index: number, outcome: RecordingOutcome | undefined) => Promise<void>) | undefined;
}

/** What came of a plan. */
export interface Executed {
  metrics: CutMetrics;
  shards: ShardTally;
  /** The recordings of which snippets failed, by position in the plan. */
  failed: Map<number, RecordingOutcome>;
  /** False when recordings of the plan were not worked on, or not to their end. */
  isComplete: boolean;
}

/**
 * Cuts what the journal does not know as done, and appends all members in the order of their names:
 *
 * ```
 * recordings in order   a  b  c  d  e …         started up to 4·jobs ahead, each into a part file of its own
 * members in order      a1 a2 | b1 c1 b2 …      appended as soon as their recording is done, then its parts are removed
 * ```
 *
 * @throws CanceledError when the signal is aborted; OutputError when the outputs cannot be written. Either way the run can be resumed.
 */
export async function execute(parts: ExecuteParts): Promise<Executed> {
  return await new Execution(parts).run();
}

/** A recording whose members are being appended. */
interface OpenRecording {
  outcome: RecordingOutcome | undefined;
  facts: ReadonlyMap<number, SnippetFacts>;
  stored: Map<number, StoredSnippet>;
  /** Members that are not dealt with yet. */
  remaining: number;
}

class Execution {
  readonly #parts: ExecuteParts;
  readonly #metrics: CutMetrics;
  readonly #shards: ShardTally;
  readonly #failed = new Map<number, RecordingOutcome>();
  #isComplete = true;
  readonly #open = new Map<number, OpenRecording>();
  /** Recordings that are in the tar, to be removed from the work folder once that is on the disk. */
  #finished: number[] = [];
  #members = 0;
  #lastCheckpointMs = performance.now();
  #lastCheckpointBytes = 0;
  readonly #startMs = performance.now();
  readonly #inFlight = new Map<number, number>();
  #recordings = 0;
  #doneSeconds = 0;
  #resumedSeconds = 0;

  constructor(parts: ExecuteParts) {
    this.#parts = parts;
    this.#metrics = new CutMetrics(parts.plan);
    this.#shards = parts.shards ?? new ShardTally(parts.options.sharding, parts.plan.snippetCount);
  }

  async run(): Promise<Executed> {
    const { plan, options, signal, onRecording } = this.#parts;
    const recordings = orderedMap(
      plan.recordingsInOrder(),
      { concurrency: options.jobs, window: options.jobs * WINDOW_PER_JOB, signal },
      (index, itemSignal) => this.#prepare(index, itemSignal),
    );
    try {
      for await (const member of plan.membersInOrder()) {
        const { index } = member.recording;
        let open = this.#open.get(index);
        if (open === undefined) {
          const next = await recordings.next();
          if (next.done === true || next.value.index !== index) throw new Error(`Recording ${index} is out of order`);
          open = next.value.open;
          this.#open.set(index, open);
          await onRecording?.(index, open.outcome);
        }
        await this.#add(member, open);
        await this.#checkpointIfDue();
      }
      await this.#checkpoint();
    } catch (error) {
      if (!signal.aborted) throw error;
      if (signal.reason instanceof OutputError) throw signal.reason;
      throw new CanceledError('The run was stopped', {
        cause: error,
        hint: 'What is finished is kept: run the same command again to go on.',
      });
    } finally {
      await recordings.return();
    }
    const isComplete = this.#isComplete;
    return { metrics: this.#metrics, shards: this.#shards, failed: this.#failed, isComplete };
  }

  /** Makes a recording's snippets, or finds them. */
  async #prepare(index: number, signal: AbortSignal): Promise<{ index: number; open: OpenRecording }> {
    const { plan, journal, writer, extractor, options } = this.#parts;
    const { audioPath, snippetCount, plannedSeconds } = plan.summary(index);
    let outcome = await journal.takeOutcome(index);
    let stored: Map<number, StoredSnippet>;
    if (outcome !== undefined || options.salvage) {
      // Where nothing more is cut, the outputs are of one mind.
      if (outcome !== undefined && writer !== undefined && !options.salvage) {
        refuseChanged(audioPath, outcome, extractor.sourceOf(audioPath));
      }
      stored = (await extractor.stored(index, outcome?.source)).snippets;
      this.#resumedSeconds += plannedSeconds;
    } else {
      const recording = await plan.recording(index);
      const lastMicros = Math.max(...recording.snippets.map(({ endMicros }) => endMicros));
      ({ outcome, stored } = await extractor.extract(recording, signal, (seconds) => {
        this.#inFlight.set(index, plannedSeconds * Math.min(1, (seconds * 1e6) / lastMicros));
        this.#report();
      }));
      await journal.noteRecording(outcome);
    }
    this.#inFlight.delete(index);
    this.#recordings += 1;
    this.#doneSeconds += plannedSeconds;
    this.#report();
    if (outcome === undefined) this.#isComplete = false;
    for (const warning of outcome?.warnings ?? []) this.#metrics.addWarning(index, warning);
    if (outcome !== undefined && outcome.snippets.length < snippetCount) this.#failed.set(index, outcome);
    const known = outcome?.snippets ?? [...stored.values()].map(factsOf);
    const facts = new Map(known.map((fact) => [fact[0], fact]));
    return { index, open: { outcome, facts, stored, remaining: snippetCount } };
  }

  /** Counts a member of the plan under what came of it, and appends it unless an earlier run did. */
  async #add({ recording, snippet }: PlannedMember, open: OpenRecording): Promise<void> {
    const { plan, journal, writer, extractor } = this.#parts;
    const { index } = recording;
    const shard = this.#shards.place(snippet, index);
    const isNew = this.#members >= journal.checkpoint.members;
    const fact = open.facts.get(snippet.ordinal);
    if (fact !== undefined) {
      const [, samples, clippedSamples, audioEndSeconds] = fact;
      const durationSeconds = samples / plan.settings.targetSampleRate;
      const end = audioEndSeconds === null ? {} : { audioEndSeconds };
      const row =
        samples === 0
          ? { dropped: 'past_end' as const, segmentCount: snippet.segmentCount }
          : buildRow(recording, snippet, { durationSeconds, settings: plan.settings, ...end });
      if ('dropped' in row) {
        this.#metrics.addDropped(index, row.dropped, row.segmentCount, true);
      } else {
        const { segmentCount, pastEndSegmentCount } = row;
        if (pastEndSegmentCount > 0) this.#metrics.addDropped(index, 'past_end', pastEndSegmentCount, false);
        this.#metrics.addSnippet(index, { segmentCount, durationSeconds, clippedSamples });
        this.#shards.add(shard, durationSeconds);
        if (isNew && writer !== undefined) {
          const stored = await this.#storedSnippet(recording, snippet, open);
          await writer.append(shard, snippet.member, stored, row.line);
        }
      }
    } else if (open.outcome !== undefined) {
      this.#metrics.addFailedSnippet(index, open.outcome.failure?.reason ?? 'decoder_crashed', snippet.segmentCount);
    }
    this.#members += 1;
    open.remaining -= 1;
    if (open.remaining > 0) return;
    this.#open.delete(index);
    const released = extractor.listReleased(index, open.stored.values());
    await writer?.release(released);
    this.#finished.push(index);
  }

  /** Where a snippet's bytes are; made anew when a crash of the machine took them although the journal has them. */
  async #storedSnippet(
    recording: PlannedRecording,
    snippet: PlannedSnippet,
    open: OpenRecording,
  ): Promise<StoredSnippet> {
    const { extractor, signal } = this.#parts;
    const { audioPath } = recording;
    if (!open.stored.has(snippet.ordinal)) {
      if (open.outcome !== undefined) refuseChanged(audioPath, open.outcome, extractor.sourceOf(audioPath));
      for (const [key, found] of await extractor.findAgain(recording, snippet, signal)) open.stored.set(key, found);
    }
    const found = open.stored.get(snippet.ordinal);
    if (found !== undefined) return found;
    throw new StaleWorkError(`Snippets of "${audioPath}" were lost from the work folder and cannot be made again`, {
      path: audioPath,
    });
  }

  async #checkpointIfDue(): Promise<void> {
    const { writer, journal, checkpointMs } = this.#parts;
    const bytes = (writer?.tarBytes ?? 0) - this.#lastCheckpointBytes;
    const isDue = performance.now() - this.#lastCheckpointMs > checkpointMs || bytes > CHECKPOINT_BYTES;
    if (isDue && this.#members > journal.checkpoint.members) await this.#checkpoint();
  }

  async #checkpoint(): Promise<void> {
    const { writer, journal, extractor, options } = this.#parts;
    this.#lastCheckpointMs = performance.now();
    if (writer === undefined) return;
    this.#lastCheckpointBytes = writer.tarBytes;
    const checkpoint = await writer.sync(this.#members);
    // A salvage leaves gaps: nothing may be resumed behind them, and the parts are needed until it is published.
    if (options.salvage) return;
    await journal.noteCheckpoint(checkpoint);
    for (const index of this.#finished) await extractor.discard(index);
    this.#finished = [];
  }

  #report(): void {
    const { plan, onProgress } = this.#parts;
    let seconds = this.#doneSeconds;
    for (const inFlight of this.#inFlight.values()) seconds += inFlight;
    onProgress({
      stage: 'cut',
      recordings: this.#recordings,
      totalRecordings: plan.recordingsInOrder().length,
      hours: seconds / 3600,
      totalHours: plan.plannedSeconds / 3600,
      resumedHours: this.#resumedSeconds / 3600,
      seconds: (performance.now() - this.#startMs) / 1000,
    });
  }
}

/** A recording that was replaced since its snippets were cut would make outputs of two minds. */
function refuseChanged(audioPath: string, { source }: RecordingOutcome, now: SourceFacts | undefined): void {
  if (source === undefined || now === undefined) return;
  if (now.sizeBytes === source.sizeBytes && now.modifiedMs === source.modifiedMs) return;
  throw new StaleWorkError(`"${audioPath}" has changed since it was cut`, { path: audioPath });
}
