import path from 'node:path';
import { ensureFolder, removeFolder, writeFileAtomic } from '../run/atomic-file.js';
import { mapPath } from '../run/path-map.js';
import { ProcessPool } from '../run/process-pool.js';
import type { TaskContext, TaskExtent, TaskOutcome } from '../run/task.js';
import type { CutPlan } from './cut-plan.js';
import { execute } from './execute.js';
import type { CutOutputs, ResolvedCutOptions } from './options.js';
import { OutputsWriter } from './outputs-writer.js';
import type { CutProgress } from './progress.js';
import { publishOnce } from './publish.js';
import { RecordingExtractor } from './recording-extractor.js';
import { RunJournal } from './run-journal.js';
import type { ShardSizes } from './run-journal.js';
import { StaleWorkError } from './stale-work.js';
import { formatEnd, formatHead, formatOutcome, readTaskOutcome, TASK_FILES } from './task-outcomes.js';
import type { OutcomesHead } from './task-outcomes.js';
import { openTaskPlan, readTaskPlan } from './task-plan.js';
import type { TaskPlanFacts } from './task-plan.js';
import { clearWork, journalPath, partsPath } from './work-folder.js';

/** What a task is given beside its plan. */
export interface CutTaskContext extends TaskContext {
  /** SHA-256, in hex, of the plan. */
  hash: string;
  /** A recording whose decoder is silent for so long fails. */
  recordingTimeoutSeconds: number;
  /** How often the outputs are made sure of on the disk, in milliseconds. Default 2,000. */
  checkpointMs?: number | undefined;
}

/**
 * Cuts the recordings of one task into a tar and a manifest of its own, beside what came of each: three files in `outputFolder`. What an earlier
 * try has finished is not done again. A recording that cannot be cut does not fail the task.
 *
 * @param folder of the plan
 * @param outputFolder the task's own; made where it is not there
 * @throws {InputError} when the plan is damaged or another one; OutputError when the outputs cannot be written; CanceledError
 */
export async function runCutTask(
  folder: string,
  extent: TaskExtent,
  outputFolder: string,
  context: CutTaskContext,
): Promise<TaskOutcome> {
  const facts = await readTaskPlan(folder, context.hash);
  const { first, end } = extent;
  const head = { hash: context.hash, first, end };
  const outputs = outputsOf(path.resolve(outputFolder));
  const done = await readTaskOutcome(outputs.folder, head);
  if (done === undefined) await ensureFolder(outputs.workFolder);
  const outcome = done ?? (await runTask(folder, facts, { extent, head, outputs, context }));
  await removeFolder(outputs.workFolder);
  return outcome;
}

interface TaskParts {
  extent: TaskExtent;
  head: OutcomesHead;
  outputs: CutOutputs;
  context: CutTaskContext;
}

async function runTask(folder: string, facts: TaskPlanFacts, parts: TaskParts): Promise<TaskOutcome> {
  const plan = await openTaskPlan(folder, facts, parts.extent.task);
  try {
    const task = new CutTask(facts, plan, parts);
    try {
      return await task.run();
    } catch (error) {
      if (!(error instanceof StaleWorkError)) throw error;
      // The work of a task is nobody else's: what cannot be gone on with is done anew.
      await clearWork(parts.outputs);
      return await task.run();
    }
  } finally {
    await plan.close();
  }
}

class CutTask {
  readonly #facts: TaskPlanFacts;
  readonly #plan: CutPlan;
  readonly #parts: TaskParts;

  constructor(facts: TaskPlanFacts, plan: CutPlan, parts: TaskParts) {
    this.#facts = facts;
    this.#plan = plan;
    this.#parts = parts;
  }

  async run(): Promise<TaskOutcome> {
    const { outputs, context } = this.#parts;
    const journal = await this.#openJournal();
    const pool = new ProcessPool({
      program: new URL('extract-process.js', import.meta.url),
      size: context.jobs,
      silenceMs: context.recordingTimeoutSeconds * 1000,
    });
    let writer: OutputsWriter | undefined;
    try {
      const parts = partsPath(outputs, journal.token);
      await ensureFolder(parts);
      const extractor = new RecordingExtractor(pool, parts, this.#options(), (audioPath) => this.#locate(audioPath));
      await extractor.scan();
      if (journal.publishing === undefined) {
        writer = await OutputsWriter.open(outputs, journal.checkpoint, journal.finished);
      }
      const outcome = await this.#cut(journal, extractor, writer);
      await pool.close();
      await clearWork(outputs);
      return outcome;
    } finally {
      await pool.close();
      await writer?.close();
      await journal.close();
    }
  }

  /** All is done again in the order of the plan, from the journal where it has it: so the outcomes come in that order too. */
  async #cut(
    journal: RunJournal,
    extractor: RecordingExtractor,
    writer: OutputsWriter | undefined,
  ): Promise<TaskOutcome> {
    const { outputs, context, head, extent } = this.#parts;
    let outcome: TaskOutcome | undefined;
    await writeFileAtomic(outputs.metrics, async (write) => {
      await write(formatHead(head));
      const { metrics } = await execute({
        plan: this.#plan,
        options: this.#options(),
        journal,
        writer,
        extractor,
        signal: context.signal,
        onProgress: (progress) => this.#report(progress, writer),
        checkpointMs: context.checkpointMs ?? 2_000,
        onRecording: async (_index, came) => {
          if (came === undefined) throw new Error('A recording of the task has no outcome');
          await write(formatOutcome(came));
        },
      });
      const { tarBytes, manifestBytes } = await finishTar(journal, writer);
      await publishOnce(outputs.tar, tarBytes);
      await publishOnce(outputs.manifest, manifestBytes);
      outcome = {
        units: extent.end - extent.first,
        audioSeconds: (extent.micros ?? 0) / 1e6,
        bytes: tarBytes,
        failures: { ...metrics.totals().failedSnippets },
      };
      await write(formatEnd(head, outcome));
    });
    if (outcome === undefined) throw new Error('The task ended without an outcome');
    return outcome;
  }

  async #openJournal(): Promise<RunJournal> {
    const { outputs, head } = this.#parts;
    const { identity } = this.#facts;
    const stretch = { ...identity, plan_hash: `${identity.plan_hash}:${head.first}-${head.end}` };
    // By names alone: another machine may have the folder elsewhere.
    const { tar, manifest, outcomes: metrics } = TASK_FILES;
    return await RunJournal.open(journalPath(outputs), stretch, { ...outputs, tar, manifest, metrics });
  }

  /** Where this machine has a recording. */
  #locate(audioPath: string): string {
    const { base } = this.#facts;
    const planned = path.isAbsolute(audioPath) ? audioPath : `${base}/${audioPath}`;
    const mapped = mapPath(planned, this.#parts.context.mappings);
    return mapped === planned && base === path.resolve('') ? audioPath : mapped;
  }

  #report(progress: CutProgress, writer: OutputsWriter | undefined): void {
    if (progress.stage !== 'cut') return;
    const { extent, context } = this.#parts;
    const { recordings, totalRecordings, hours, totalHours } = progress;
    const share = totalHours > 0 ? hours / totalHours : recordings / Math.max(1, totalRecordings);
    context.onProgress?.({
      units: recordings,
      audioSeconds: Math.round(share * (extent.micros ?? 0)) / 1e6,
      bytes: writer?.tarBytes ?? 0,
    });
  }

  #options(): ResolvedCutOptions {
    const { context, outputs } = this.#parts;
    const { jobs, recordingTimeoutSeconds } = context;
    return { ...optionsOf(this.#facts), sharding: undefined, outputs, jobs, recordingTimeoutSeconds };
  }
}

/** What a plan says about the options of a run. */
export function optionsOf(facts: TaskPlanFacts): Omit<ResolvedCutOptions, 'outputs'> {
  return {
    settings: facts.settings,
    sharding: facts.sharding ?? undefined,
    tokenizer: { path: undefined, cacheDir: undefined, token: undefined, tokenFile: undefined },
    datasetName: facts.datasetName,
    channel: facts.channel,
    dryRun: false,
    jobs: 1,
    overwrite: false,
    salvage: false,
    maxFailures: { count: 0 },
    recordingTimeoutSeconds: 300,
  };
}

async function finishTar(journal: RunJournal, writer: OutputsWriter | undefined): Promise<ShardSizes> {
  const sizes = journal.publishing?.shards ?? (await writer?.finish());
  const [own] = sizes ?? [];
  if (sizes === undefined || own === undefined) throw new Error('There is no tar to finish');
  if (journal.publishing === undefined) await journal.notePublishing(sizes, true);
  return own;
}

function outputsOf(folder: string): CutOutputs {
  const place = (name: string): string => path.join(folder, name);
  return {
    folder,
    isSharded: false,
    manifest: place(TASK_FILES.manifest),
    tar: place(TASK_FILES.tar),
    list: undefined,
    metrics: place(TASK_FILES.outcomes),
    failures: place('failures.jsonl'),
    workFolder: place('work'),
  };
}
