import { rm, rmdir, stat } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import path from 'node:path';
import { arch, pid } from 'node:process';
import { OutputError, systemCode } from '../errors.js';
import { checkWritable, ensureFolder, partialPath, writeFileAtomic } from '../run/atomic-file.js';
import { acquireLock } from '../run/lock.js';
import type { Lock } from '../run/lock.js';
import { ProcessPool } from '../run/process-pool.js';
import { loadTokenizer } from '../text/tokenizer.js';
import type { Tokenizer, TokenizerEvent } from '../text/tokenizer.js';
import type { CutPlan } from './cut-plan.js';
import { writeDryRun } from './dry-run.js';
import { inspectEarlierOutputs } from './earlier-outputs.js';
import { execute } from './execute.js';
import type { Executed } from './execute.js';
import { writeFailures } from './failures.js';
import { describeOptions } from './identity.js';
import type { RunIdentity } from './identity.js';
import type { CutMetrics } from './metrics.js';
import { resolveCutOptions } from './options.js';
import type { CutOptions, CutOutputs, ResolvedCutOptions } from './options.js';
import { OutputsWriter } from './outputs-writer.js';
import { planCut as planManifest } from './plan.js';
import type { OnCutProgress } from './progress.js';
import { publish } from './publish.js';
import { RecordingExtractor } from './recording-extractor.js';
import { RunJournal } from './run-journal.js';
import { summarizeEarlier, summarizeMetrics } from './summary.js';
import type { CutSummary } from './summary.js';
import type { FailureRecord } from './types.js';
import { VERSION } from '../version.js';

/** What a run is given beside its options. */
export interface CutContext {
  /** Stops the run; what is finished is kept. */
  signal?: AbortSignal | undefined;
  onProgress?: OnCutProgress | undefined;
  /** What happens while a tokenizer is fetched. */
  onTokenizerEvent?: ((event: TokenizerEvent) => void) | undefined;
  /** Takes each failure that planning finds, in the order of the manifest. */
  onFailure?: ((failure: FailureRecord) => void) | undefined;
  /** Variables that say where the Hub, its cache and its token are. Default: none. */
  environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Tells whether a process of this machine lives, where there is no `/proc`. */
  isProcessAlive?: ((pid: number) => boolean) | undefined;
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
  return await makePlan(resolved, await findTokenizer(resolved, context), context, () => undefined);
}

/**
 * Cuts the recordings of a long-form manifest into snippets: a tar, a manifest, metrics and a list of failures. The same
 * call goes on where an interrupted one stopped.
 *
 * @throws UsageError, InputError, OutputError, CanceledError; RangeError for an option out of its range
 */
export async function cut(options: CutOptions, context: CutContext = {}): Promise<CutResult> {
  const startMs = performance.now();
  const resolved = resolveCutOptions(options);
  const { outputs } = resolved;
  await prepareFolders(outputs);
  const locks = await lockOutputs(outputs, context);
  try {
    const signal = AbortSignal.any([
      ...locks.map(({ lost }) => lost),
      ...(context.signal === undefined ? [] : [context.signal]),
    ]);
    const failures: FailureRecord[] = [];
    const tokenizer = await findTokenizer(resolved, { ...context, signal });
    const plan = await makePlan(resolved, tokenizer, { ...context, signal }, (failure) => failures.push(failure));
    try {
      const run = new CutRun(resolved, plan, identify(resolved, plan, tokenizer), failures, signal, locks, context);
      const { kind, summary } = await run.run();
      const isWithinLimit = isWithin(summary, resolved);
      return { kind, outputs, summary, isWithinLimit, seconds: (performance.now() - startMs) / 1000 };
    } finally {
      await plan.close();
    }
  } finally {
    for (const lock of locks.toReversed()) await lock.release();
    await removeIfEmpty(outputs.workFolder);
  }
}

class CutRun {
  readonly #options: ResolvedCutOptions;
  readonly #plan: CutPlan;
  readonly #identity: RunIdentity;
  readonly #planned: readonly FailureRecord[];
  readonly #signal: AbortSignal;
  readonly #locks: readonly Lock[];
  readonly #onProgress: OnCutProgress;

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
  }

  async run(): Promise<Pick<CutResult, 'kind' | 'summary'>> {
    const { outputs, overwrite, dryRun, salvage } = this.#options;
    const hasJournal = await exists(journalPath(outputs));
    // Outputs that stand beside a journal are those of the run that it belongs to, being published.
    if (!overwrite && !hasJournal) {
      const earlier = await inspectEarlierOutputs(outputs, this.#identity, dryRun);
      if (earlier.kind === 'same') return { kind: 'already_done', summary: summarizeEarlier(earlier.metrics) };
    }
    if (dryRun) return { kind: 'preview', summary: await this.#preview(hasJournal) };
    if (salvage && !hasJournal) {
      throw new OutputError(`There is no unfinished run in "${outputs.folder}" to salvage`, { path: outputs.folder });
    }
    return { kind: salvage ? 'salvaged' : 'cut', summary: await this.#cut() };
  }

  async #preview(hasJournal: boolean): Promise<CutSummary> {
    const { outputs, overwrite } = this.#options;
    if (hasJournal && !overwrite) {
      throw new OutputError(`An unfinished run is in "${outputs.folder}"`, {
        path: outputs.folder,
        hint: 'Preview into another --output-dir.',
      });
    }
    let metrics: CutMetrics | undefined;
    const facts = {
      datasetName: this.#options.datasetName,
      cutroomVersion: VERSION,
      options: this.#identity.options,
    };
    const pieces: string[] = [];
    await writeFileAtomic(outputs.manifest, async (writeManifest) => {
      const writeMetrics = async (chunk: string): Promise<void> => void pieces.push(chunk);
      metrics = await writeDryRun(this.#plan, { writeManifest, writeMetrics }, facts, {
        signal: this.#signal,
        onProgress: (snippets) =>
          this.#onProgress({ stage: 'preview', snippets, totalSnippets: this.#plan.snippetCount }),
      });
    });
    await writeFileAtomic(outputs.failures, (write) => writeFailures(this.#plan, this.#planned, new Map(), write));
    await writeFileAtomic(outputs.metrics, async (write) => {
      for (const piece of pieces) await write(piece);
    });
    if (metrics === undefined) throw new Error('The preview made no metrics');
    return summarizeMetrics(metrics);
  }

  async #cut(): Promise<CutSummary> {
    const { outputs, overwrite, salvage, jobs, recordingTimeoutSeconds } = this.#options;
    const parts = path.join(outputs.workFolder, 'parts');
    const journal = await this.#openJournal(overwrite);
    const pool = new ProcessPool({
      program: new URL('extract-process.js', import.meta.url),
      size: jobs,
      silenceMs: recordingTimeoutSeconds * 1000,
    });
    let writer: OutputsWriter | undefined;
    try {
      await ensureFolder(parts);
      const extractor = new RecordingExtractor(pool, parts, this.#options);
      await extractor.scan();
      if (journal.publishing === undefined) writer = await OutputsWriter.open(outputs, journal.checkpoint);
      const executed = await execute({
        plan: this.#plan,
        options: { ...this.#options, salvage: salvage || journal.publishing?.complete === false },
        journal,
        writer,
        extractor,
        signal: this.#signal,
        onProgress: this.#onProgress,
      });
      await pool.close();
      await this.#publish(journal, writer, executed);
      return summarizeMetrics(executed.metrics);
    } finally {
      await pool.close();
      await writer?.close();
      await journal.close();
    }
  }

  async #openJournal(overwrite: boolean): Promise<RunJournal> {
    const { outputs } = this.#options;
    try {
      return await RunJournal.open(journalPath(outputs), this.#identity, outputs);
    } catch (error) {
      if (!overwrite) throw error;
      await clearWork(outputs);
      return await RunJournal.open(journalPath(outputs), this.#identity, outputs);
    }
  }

  async #publish(journal: RunJournal, writer: OutputsWriter | undefined, executed: Executed): Promise<void> {
    const { outputs, datasetName, salvage } = this.#options;
    this.#onProgress({ stage: 'publish' });
    let sizes = journal.publishing;
    if (sizes === undefined) {
      if (writer === undefined) throw new Error('There is nothing to publish');
      sizes = { ...(await writer.finish()), complete: !salvage };
      await journal.notePublishing(sizes.tarBytes, sizes.manifestBytes, sizes.complete);
    }
    const { complete } = sizes;
    for (const lock of this.#locks) await lock.confirm();
    await publish(outputs, sizes, {
      writeFailures: (write) => writeFailures(this.#plan, this.#planned, executed.failed, write),
      writeMetrics: (write) =>
        executed.metrics.write(write, {
          complete,
          dryRun: false,
          datasetName,
          cutroomVersion: VERSION,
          audioArchitecture: this.#identity.audio_architecture,
          options: this.#identity.options,
        }),
    });
    await clearWork(outputs);
  }
}

async function findTokenizer(
  { settings, tokenizer }: ResolvedCutOptions,
  context: CutContext,
): Promise<Tokenizer | undefined> {
  if (!settings.repetitionFilter) return undefined;
  return await loadTokenizer({
    ...tokenizer,
    environment: context.environment ?? {},
    homeDir: homedir(),
    ...(context.signal === undefined ? {} : { signal: context.signal }),
    ...(context.onTokenizerEvent === undefined ? {} : { onEvent: context.onTokenizerEvent }),
  });
}

async function makePlan(
  { settings }: ResolvedCutOptions,
  tokenizer: Tokenizer | undefined,
  { signal, onProgress, onFailure }: CutContext,
  collect: (failure: FailureRecord) => void,
): Promise<CutPlan> {
  return await planManifest(settings, {
    tokenizer,
    signal,
    onFailure: (failure) => {
      collect(failure);
      onFailure?.(failure);
    },
    onProgress: (rows) => onProgress?.({ stage: 'plan', rows }),
  });
}

function identify(options: ResolvedCutOptions, plan: CutPlan, tokenizer: Tokenizer | undefined): RunIdentity {
  return {
    cutroom_version: VERSION,
    audio_architecture: arch,
    input_sha256: plan.inputSha256,
    plan_hash: plan.hash,
    options: describeOptions(options, tokenizer?.fingerprint),
  };
}

function isWithin(summary: CutSummary, { maxFailures }: ResolvedCutOptions): boolean {
  const rows = sum(summary.skippedRows);
  const snippets = sum(summary.failedSnippets);
  if ('count' in maxFailures) return rows + snippets <= maxFailures.count;
  const share = maxFailures.percent / 100;
  const plannedSnippets = summary.outputSnippets + snippets;
  return rows <= share * (summary.inputRecordings + rows) && snippets <= share * plannedSnippets;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function journalPath({ workFolder }: CutOutputs): string {
  return path.join(workFolder, 'journal');
}

async function prepareFolders(outputs: CutOutputs): Promise<void> {
  const finals = [outputs.manifest, outputs.tar, outputs.metrics, outputs.failures];
  for (const folder of new Set([outputs.folder, ...finals.map((file) => path.dirname(file))]))
    await ensureFolder(folder);
  for (const file of finals) await checkWritable(file);
  await ensureFolder(outputs.workFolder);
}

/** One lock for the folder, and one beside each output that lies elsewhere. */
async function lockOutputs(outputs: CutOutputs, context: CutContext): Promise<Lock[]> {
  const elsewhere = [outputs.manifest, outputs.tar, outputs.metrics].filter(
    (file) => path.dirname(file) !== outputs.folder,
  );
  const locks: Lock[] = [];
  try {
    for (const file of [path.join(outputs.workFolder, 'lock'), ...elsewhere.toSorted().map((name) => `${name}.lock`)]) {
      const { signal, isProcessAlive } = context;
      locks.push(
        await acquireLock(file, {
          identity: { host: hostname(), pid },
          ...(signal === undefined ? {} : { signal }),
          ...(isProcessAlive === undefined ? {} : { isProcessAlive }),
        }),
      );
    }
    return locks;
  } catch (error) {
    for (const lock of locks) await lock.release();
    throw error;
  }
}

/** Removes what belongs to the work in progress, but for the lock. */
async function clearWork(outputs: CutOutputs): Promise<void> {
  await rm(journalPath(outputs), { force: true });
  await rm(path.join(outputs.workFolder, 'parts'), { recursive: true, force: true });
  for (const file of [outputs.tar, outputs.manifest]) await rm(partialPath(file), { force: true });
}

async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT') throw error;
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}
