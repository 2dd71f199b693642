import { rmdir } from 'node:fs/promises';
import { hostname, availableParallelism } from 'node:os';
import path from 'node:path';
import { pid } from 'node:process';
import { systemCode } from '../errors.js';
import { checkWritable, ensureFolder, removeFile } from '../run/atomic-file.js';
import { acquireLock } from '../run/lock.js';
import { refuseForeignOutputs } from '../shard/metrics-owner.js';
import { packShards } from '../shard/pack-shards.js';
import type { OnPackProgress } from '../shard/progress.js';
import { finishExport, readFinishedExport, type ExportSummary } from './export-finish.js';
import { exportOutputs, FLAG, sizeOfExport, type ExportOptions, type ExportOutputs } from './export-options.js';
import { prepareExportPlan } from './export-plan.js';
import type { PlannedSample } from './plan-sample.js';

/** What an export is given beside its options. */
export interface ExportContext {
  /** Stops the run; what is made is kept. */
  signal?: AbortSignal | undefined;
  onProgress?: OnPackProgress | undefined;
  /** Tells whether a process of this machine lives, where there is no `/proc`. */
  isProcessAlive?: ((pid: number) => boolean) | undefined;
  /** How often what is made is made sure of on the disk, in milliseconds. Default 2,000. */
  checkpointMs?: number | undefined;
}

/** How an export ended. */
export interface ExportResult {
  /** `already_done`: an earlier run finished these very shards, and nothing was touched. */
  kind: 'exported' | 'already_done';
  outputs: ExportOutputs;
  summary: ExportSummary;
  /** Wall time of this run. */
  seconds: number;
}

const SILENCE_SECONDS = 300;

/**
 * Writes the first draws of a plan as shards: tars of excerpts, manifests, and a list of them, as `build` makes them.
 * Excerpts of files that are shorter than a window are as long as the file, and not filled up. The same call goes on
 * where an interrupted one stopped.
 *
 * @throws UsageError, InputError, OutputError, CanceledError; RangeError for an option out of its range
 */
export async function exportExcerpts(
  sample: PlannedSample,
  options: ExportOptions,
  context: ExportContext = {},
): Promise<ExportResult> {
  const startMs = performance.now();
  const size = sizeOfExport(sample, options);
  const outputs = exportOutputs(options.outputDir);
  await refuseForeignOutputs(outputs.metrics, 'sample', FLAG);
  await ensureFolder(outputs.workFolder);
  await checkWritable(outputs.plan);
  const { isProcessAlive } = context;
  const lock = await acquireLock(path.join(outputs.workFolder, 'run.lock'), {
    identity: { host: hostname(), pid },
    ...(isProcessAlive === undefined ? {} : { isProcessAlive }),
  });
  try {
    const { signal } = context;
    const plan = await prepareExportPlan({ sample, options, size, outputs, signal });
    const secondsOf = (): number => (performance.now() - startMs) / 1000;
    const finished = options.overwrite === true ? undefined : await readFinishedExport(plan, outputs);
    if (finished !== undefined) return { kind: 'already_done', outputs, summary: finished, seconds: secondsOf() };
    // Until it is finished the dataset is not whole.
    await removeFile(outputs.metrics);
    const outcomes = await packShards({
      plan,
      folder: outputs.folder,
      workFolder: outputs.workFolder,
      shards: plan.shards.map((_, shard) => shard),
      jobs: options.jobs ?? availableParallelism(),
      silenceSeconds: options.recordingTimeoutSeconds ?? SILENCE_SECONDS,
      overwrite: options.overwrite ?? false,
      signal,
      onProgress: context.onProgress,
      isProcessAlive,
      checkpointMs: context.checkpointMs,
    });
    context.onProgress?.({ stage: 'finish' });
    const summary = await finishExport(plan, outputs, outcomes);
    return { kind: 'exported', outputs, summary, seconds: secondsOf() };
  } finally {
    await lock.release();
    await removeIfEmpty(outputs.workFolder);
  }
}

async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(systemCode(error) ?? '')) throw error;
  }
}
