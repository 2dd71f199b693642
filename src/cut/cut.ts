import { rm } from 'node:fs/promises';
import { OutputError } from '../errors.js';
import { ensureFolder, sizeOf, writeFileAtomic } from '../run/atomic-file.js';
import type { Lock } from '../run/lock.js';
import { ProcessPool } from '../run/process-pool.js';
import { refuseForeignOutputs } from '../shard/metrics-owner.js';
import type { TokenizerEvent } from '../text/tokenizer.js';
import { conclude } from './conclude.js';
import type { CutPlan } from './cut-plan.js';
import { writeDryRunManifest, writeDryRunMetrics } from './dry-run.js';
import { inspectEarlierOutputs } from './earlier-outputs.js';
import { execute } from './execute.js';
import type { Executed } from './execute.js';
import { writeFailures } from './failures.js';
import type { RunIdentity } from './identity.js';
import { makePlan } from './make-plan.js';
import type { MakePlanContext } from './make-plan.js';
import type { CutMetrics } from './metrics.js';
import type { ShardSection } from './metrics-writer.js';
import { resolveCutOptions } from './options.js';
import type { CutOptions, CutOutputs, ResolvedCutOptions } from './options.js';
import { OutputsWriter } from './outputs-writer.js';
import type { OnCutProgress } from './progress.js';
import { RecordingExtractor } from './recording-extractor.js';
import { RunJournal } from './run-journal.js';
import { findListFault, hasAudio } from './shard-files.js';
import { describePlannedShards } from './shard-section.js';
import { ShardTally } from './shard-tally.js';
import { checkShardCount } from './sharding.js';
import { StaleWorkError } from './stale-work.js';
import { isWithinLimit, summarizeEarlier, summarizeMetrics } from './summary.js';
import type { CutSummary } from './summary.js';
import type { FailureRecord } from './types.js';
import { VERSION } from '../version.js';
import { clearParts, clearWork, journalPath, partsPath, workLocked } from './work-folder.js';

/** What a run is given beside its options. */
export interface CutContext {
  /** Stops the run; what is finished is kept. */
  signal?: AbortSignal | undefined;
  onProgress?: OnCutProgress | undefined;
  /** What happens while a tokenizer is fetched. */
  onTokenizerEvent?: ((event: TokenizerEvent) => void) | undefined;
  /** Takes each failure that planning finds, in the order of the manifest. */
  onFailure?: ((failure: FailureRecord) => void) | undefined;
  /** Takes what is worth knowing before the work begins. */
  onWarning?: ((message: string) => void) | undefined;
  /** Variables that say where the Hub, its cache and its token are. Default: none. */
  environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Tells whether a process of this machine lives, where there is no `/proc`. */
  isProcessAlive?: ((pid: number) => boolean) | undefined;
  /** How often the outputs are made sure of on the disk, in milliseconds. Default 2,000. */
  checkpointMs?: number | undefined;
}

/** How a run ended. */
export interface CutResult {
  /** `already_done`: an earlier run made these very outputs, and nothing was touched. */
  kind: 'cut' | 'preview' | 'salvaged' | 'already_done';
  outputs: CutOutputs;
  summary: CutSummary;
  /** False when more failed than `maxFailures` allows. */
  isWithinLimit: boolean;
  /** Wall time of this run. */
  seconds: number;
}

/**
 * Plans the cutting of a manifest without looking at any audio or output.
 *
 * @returns the plan, to be closed by the caller
 * @throws InputError when the manifest cannot be read or names clash; UsageError for a tokenizer that cannot be had
 */
export async function planCut(options: CutOptions, context: CutContext = {}): Promise<CutPlan> {
  const resolved = resolveCutOptions(options);
  return (await makePlan(resolved, planningOf(context))).plan;
}

/**
 * Cuts the recordings of a long-form manifest into snippets: a tar, a manifest, metrics and a list of failures; or shards instead of the first two. The same
 * call goes on where an interrupted one stopped.
 *
 * @throws UsageError, InputError, OutputError, CanceledError; RangeError for an option out of its range
 */
export async function cut(options: CutOptions, context: CutContext = {}): Promise<CutResult> {
  const startMs = performance.now();
  const resolved = resolveCutOptions(options);
  const { outputs } = resolved;
  const listFault = outputs.isSharded ? findListFault(outputs) : undefined;
  if (listFault !== undefined) context.onWarning?.(`no list of the shards is written: ${listFault}`);
  await refuseForeignOutputs(outputs.metrics, 'cut', 'output-dir');
  const ended = await workLocked(outputs, context, (locks, signal) => cutLocked(resolved, locks, signal, context));
  return { ...ended, seconds: (performance.now() - startMs) / 1000 };
}

async function cutLocked(
  options: ResolvedCutOptions,
  locks: readonly Lock[],
  signal: AbortSignal,
  context: CutContext,
): Promise<Omit<CutResult, 'seconds'>> {
  const failures: FailureRecord[] = [];
  const { plan, identity } = await makePlan(options, {
    ...planningOf({ ...context, signal }),
    onFailure: (failure) => {
      failures.push(failure);
      context.onFailure?.(failure);
    },
  });
  try {
    checkShardCount(options.sharding, plan);
    const run = new CutRun(options, plan, identity, failures, signal, locks, context);
    const { kind, summary } = await run.run();
    return { kind, outputs: options.outputs, summary, isWithinLimit: isWithinLimit(summary, options.maxFailures) };
  } finally {
    await plan.close();
  }
}

function planningOf({ onProgress, ...context }: CutContext): MakePlanContext {
  return { ...context, onRows: (rows) => onProgress?.({ stage: 'plan', rows }) };
}

class CutRun {
  readonly #options: ResolvedCutOptions;
  readonly #plan: CutPlan;
  readonly #identity: RunIdentity;
  readonly #planned: readonly FailureRecord[];
  readonly #signal: AbortSignal;
  readonly #locks: readonly Lock[];
  readonly #onProgress: OnCutProgress;
  readonly #checkpointMs: number;

  constructor(
    options: ResolvedCutOptions,
    plan: CutPlan,
    identity: RunIdentity,
    planned: readonly FailureRecord[],
    signal: AbortSignal,
    locks: readonly Lock[],
    context: CutContext,
  ) {
    this.#options = options;
    this.#plan = plan;
    this.#identity = identity;
    this.#planned = planned;
    this.#signal = signal;
    this.#locks = locks;
    this.#onProgress = context.onProgress ?? (() => undefined);
    this.#checkpointMs = context.checkpointMs ?? 2_000;
  }

  async run(): Promise<Pick<CutResult, 'kind' | 'summary'>> {
    const { outputs, overwrite, dryRun, salvage } = this.#options;
    const hasJournal = (await sizeOf(journalPath(outputs))) !== undefined;
    // Outputs that stand beside a journal are those of the run that it belongs to, being published.
    if (!hasJournal && !dryRun) await clearParts(outputs);
    if (!overwrite && !hasJournal) {
      const earlier = await inspectEarlierOutputs(outputs, this.#identity, dryRun);
      if (earlier.kind === 'salvaged') throw earlier.refusal;
      if (earlier.kind === 'same') return { kind: 'already_done', summary: summarizeEarlier(earlier.metrics) };
    }
    if (dryRun) return { kind: 'preview', summary: await this.#preview(hasJournal) };
    if (salvage && !hasJournal) {
      throw new OutputError(`There is no unfinished run in "${outputs.folder}" to salvage`, { path: outputs.folder });
    }
    try {
      return await this.#cut();
    } catch (error) {
      if (!overwrite || !(error instanceof StaleWorkError)) throw error;
      await clearWork(outputs);
      return await this.#cut();
    }
  }

  async #preview(hasJournal: boolean): Promise<CutSummary> {
    const { outputs, overwrite } = this.#options;
    if (hasJournal && !overwrite) {
      throw new OutputError(`An unfinished run is in "${outputs.folder}"`, {
        path: outputs.folder,
        hint: 'Preview into another --output-dir.',
      });
    }
    // A preview beside audio that is not its own would pass for it, and audio is worth more than a preview.
    if (await hasAudio(outputs)) {
      const state = outputs.isSharded ? 'there is audio' : 'it holds audio';
      throw new OutputError(`Cannot preview beside "${outputs.tar}": ${state}, which a preview does not replace`, {
        path: outputs.tar,
        hint: 'Preview into another --output-dir.',
      });
    }
    const { datasetName, sharding } = this.#options;
    const facts = { datasetName, cutroomVersion: VERSION, options: this.#identity.options };
    let metrics: CutMetrics | undefined;
    const tally = new ShardTally(sharding, this.#plan.snippetCount);
    // As always the metrics come last, and say by that that the set is whole.
    await rm(outputs.metrics, { force: true });
    await writeFileAtomic(outputs.manifest, async (write) => {
      metrics = await writeDryRunManifest(this.#plan, write, {
        signal: this.#signal,
        shards: tally,
        onProgress: (snippets) =>
          this.#onProgress({ stage: 'preview', snippets, totalSnippets: this.#plan.snippetCount }),
      });
    });
    if (metrics === undefined) throw new Error('The preview made no metrics');
    const made = metrics;
    const shards = describePlannedShards(outputs, tally);
    await writeFileAtomic(outputs.failures, (write) => writeFailures(this.#plan, this.#planned, new Map(), write));
    await writeFileAtomic(outputs.metrics, (write) => writeDryRunMetrics(made, write, { ...facts, shards }));
    return summarizeMetrics(made, shards);
  }

  async #cut(): Promise<Pick<CutResult, 'kind' | 'summary'>> {
    const { outputs, jobs, recordingTimeoutSeconds } = this.#options;
    const journal = await RunJournal.open(journalPath(outputs), this.#identity, outputs);
    const pool = new ProcessPool({
      program: new URL('extract-process.js', import.meta.url),
      size: jobs,
      silenceMs: recordingTimeoutSeconds * 1000,
    });
    let writer: OutputsWriter | undefined;
    try {
      const parts = partsPath(outputs, journal.token);
      await ensureFolder(parts);
      const extractor = new RecordingExtractor(pool, parts, this.#options);
      await extractor.scan();
      if (journal.publishing === undefined) {
        writer = await OutputsWriter.open(outputs, journal.checkpoint, journal.finished);
      }
      const salvage = journal.publishing === undefined ? this.#options.salvage : !journal.publishing.complete;
      const executed = await execute({
        plan: this.#plan,
        options: { ...this.#options, salvage },
        journal,
        writer,
        extractor,
        signal: this.#signal,
        onProgress: this.#onProgress,
        checkpointMs: this.#checkpointMs,
      });
      await pool.close();
      if (!executed.isComplete && executed.metrics.totals().outputSnippets === 0) throw nothingToSalvage(outputs);
      const shards = await this.#publish(journal, writer, executed);
      return { kind: executed.isComplete ? 'cut' : 'salvaged', summary: summarizeMetrics(executed.metrics, shards) };
    } finally {
      await pool.close();
      await writer?.close();
      await journal.close();
    }
  }

  async #publish(
    journal: RunJournal,
    writer: OutputsWriter | undefined,
    executed: Executed,
  ): Promise<ShardSection | undefined> {
    this.#onProgress({ stage: 'publish' });
    return await conclude({
      outputs: this.#options.outputs,
      datasetName: this.#options.datasetName,
      plan: this.#plan,
      identity: this.#identity,
      planned: this.#planned,
      locks: this.#locks,
      journal,
      executed,
      finish: async () => {
        if (writer === undefined) throw new Error('There is nothing to publish');
        return await writer.finish();
      },
    });
  }
}

function nothingToSalvage({ folder }: CutOutputs): OutputError {
  return new OutputError(`The unfinished run in "${folder}" has not finished any snippet that could be salvaged`, {
    path: folder,
    hint: 'Run the same command without --salvage to go on with it.',
  });
}
