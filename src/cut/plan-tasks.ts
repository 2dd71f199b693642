import { createHash } from 'node:crypto';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { CanceledError, UsageError } from '../errors.js';
import { writeFileAtomic } from '../run/atomic-file.js';
import type { ChunkWriter } from '../run/atomic-file.js';
import { formatJournalLine } from '../run/journal-reader.js';
import { divideEvenly } from '../run/task.js';
import type { PlannedTasks, TaskDivision, TaskExtent } from '../run/task.js';
import { refuseForeignOutputs } from '../shard/metrics-owner.js';
import type { CutPlan } from './cut-plan.js';
import { inspectEarlierOutputs } from './earlier-outputs.js';
import type { RunIdentity } from './identity.js';
import { makePlan } from './make-plan.js';
import type { MakePlanContext } from './make-plan.js';
import { resolveCutOptions } from './options.js';
import type { CutOptions, ResolvedCutOptions } from './options.js';
import { rowsInOrder } from './rows-in-order.js';
import { findListFault } from './shard-files.js';
import { checkShardCount } from './sharding.js';
import { TASK_PLAN_FILES, TASK_PLAN_FORMAT } from './task-plan.js';
import type { RecordingLine, TaskPlanFacts } from './task-plan.js';
import { DROP_REASONS } from './types.js';
import type { DropCounts, FailureRecord } from './types.js';

/** What planning for many machines is given beside the options. */
export interface PlanTasksContext extends Omit<MakePlanContext, 'onFailure'> {
  division: TaskDivision;
  /** Takes what is worth knowing before the work begins. */
  onWarning?: ((message: string) => void) | undefined;
}

const MICROS_AN_HOUR = 3_600_000_000;

/**
 * Plans a cut for many machines: what tasks and their end need beside the audio is in the folder then, in four files. Recordings are divided
 * by the audio that is decoded for them: up to the end of the last snippet.
 *
 * ```
 * rows of the folder   a1 a2 a3 | b1 b2 | c1 …     in the order of members
 * task                    0        1      2
 * ```
 *
 * @param folder exists and is empty
 * @throws InputError when the manifest cannot be read or names clash; UsageError for options that make no sense here; OutputError when the outputs of
 * another run are where the finals go
 */
export async function planCutTasks(
  options: CutOptions,
  folder: string,
  context: PlanTasksContext,
): Promise<PlannedTasks> {
  const resolved = resolveCutOptions(options);
  if (resolved.dryRun) {
    throw new UsageError('A preview is not divided into tasks', {
      hint: 'Leave --dry-run out, or run it on this machine.',
    });
  }
  await refuseForeignOutputs(resolved.outputs.metrics, 'cut', 'output-dir');
  const listFault = resolved.outputs.isSharded ? findListFault(resolved.outputs) : undefined;
  if (listFault !== undefined) context.onWarning?.(`no list of the shards is written: ${listFault}`);
  const failures: FailureRecord[] = [];
  const { plan, identity } = await makePlan(resolved, { ...context, onFailure: (failure) => failures.push(failure) });
  try {
    checkShardCount(resolved.sharding, plan);
    // Told now, and not when all tasks are done.
    const earlier = resolved.overwrite ? undefined : await inspectEarlierOutputs(resolved.outputs, identity, false);
    // Nothing is left to be done of a cut that is finished.
    const isFinished = earlier?.kind === 'same';
    const starts = isFinished ? [0] : divide(plan, context.division);
    const extents = describeExtents(plan, starts);
    const hash = createHash('sha256').update(JSON.stringify(identity)).digest('hex');
    await writeFileAtomic(path.join(folder, TASK_PLAN_FILES.failures), async (write) => {
      for (const failure of failures) await write(formatJournalLine(failure));
    });
    const { offsets, recordingsBytes } = await writeRecordings(plan, folder, starts, context.signal);
    const facts = describePlan(resolved, plan, identity, { hash, isFinished, starts, offsets, recordingsBytes });
    // Last, as the sign that the folder is whole.
    await writeFileAtomic(path.join(folder, TASK_PLAN_FILES.facts), (write) => write(`${JSON.stringify(facts)}\n`));
    return {
      extents,
      hash,
      options: identity.options,
      units: { count: plan.recordingsInOrder().length, name: 'recordings' },
      failedRows: Object.values(plan.skippedRows).reduce((sum, count) => sum + count, 0),
    };
  } finally {
    await plan.close();
  }
}

function divide(plan: CutPlan, division: TaskDivision): number[] {
  const { table } = plan.parts;
  const micros = Float64Array.from(plan.recordingsInOrder(), (index) => table.decodedMicrosAt(index));
  if ('count' in division) return divideEvenly(micros, division.count);
  const { hours } = division;
  if (!(Number.isFinite(hours) && hours > 0)) throw new RangeError(`Cannot divide into tasks of ${hours} hours`);
  const total = micros.reduce((sum, value) => sum + value, 0);
  return divideEvenly(micros, Math.max(1, Math.min(micros.length, Math.ceil(total / (hours * MICROS_AN_HOUR)))));
}

function describeExtents(plan: CutPlan, starts: readonly number[]): TaskExtent[] {
  const { table } = plan.parts;
  const order = plan.recordingsInOrder();
  return starts.slice(0, -1).map((first, task) => {
    const end = starts[task + 1] ?? first;
    let micros = 0;
    for (let unit = first; unit < end; unit += 1) micros += table.decodedMicrosAt(order[unit]!);
    return { task, first, end, micros, bytes: undefined };
  });
}

function describePlan(
  { settings, sharding, channel, datasetName }: ResolvedCutOptions,
  plan: CutPlan,
  identity: RunIdentity,
  places: Pick<TaskPlanFacts, 'hash' | 'isFinished' | 'starts' | 'offsets' | 'recordingsBytes'>,
): TaskPlanFacts {
  return {
    format: TASK_PLAN_FORMAT,
    identity,
    settings,
    sharding: sharding ?? null,
    channel,
    datasetName,
    base: path.resolve(''),
    rowCount: plan.rowCount,
    skippedRows: plan.skippedRows,
    repetitionExamples: plan.repetitionExamples,
    recordings: plan.recordingCount,
    ...places,
  };
}

/** Lays down the rows and what is known of each recording. */
async function writeRecordings(
  plan: CutPlan,
  folder: string,
  starts: readonly number[],
  signal: AbortSignal | undefined,
): Promise<Pick<TaskPlanFacts, 'offsets' | 'recordingsBytes'>> {
  const order = plan.recordingsInOrder();
  const isStart = new Set(starts);
  const offsets: number[] = [];
  let recordingsBytes = 0;
  await writeFileAtomic(path.join(folder, TASK_PLAN_FILES.recordings), async (write) => {
    const put = async (index: number, row: KeptRow): Promise<void> => {
      const line = formatJournalLine(describeRecording(plan, index, row));
      recordingsBytes += line.length;
      await write(line);
    };
    await writeFileAtomic(path.join(folder, TASK_PLAN_FILES.rows), async (writeRow) => {
      let unit = 0;
      let offset = 0;
      for (const row of rowsInOrder(plan)) {
        if (signal?.aborted === true) throw new CanceledError('Planning was canceled', { cause: signal.reason });
        if (isStart.has(unit)) offsets.push(recordingsBytes);
        await put(order[unit]!, { offset, length: row.length, checksum: crc32(row) });
        await writeLine(writeRow, row);
        offset += row.length + 1;
        unit += 1;
      }
    });
    offsets.push(recordingsBytes);
    const hasSnippets = new Uint8Array(plan.recordingCount);
    for (const index of order) hasSnippets[index] = 1;
    for (const [index, has] of hasSnippets.entries()) {
      if (has === 0) await put(index, { offset: 0, length: 0, checksum: 0 });
    }
  });
  return { offsets, recordingsBytes };
}

interface KeptRow {
  offset: number;
  length: number;
  checksum: number;
}

const NEWLINE = Buffer.from('\n');

async function writeLine(write: ChunkWriter, row: Buffer): Promise<void> {
  await write(row);
  await write(NEWLINE);
}

function describeRecording(plan: CutPlan, index: number, { offset, length, checksum }: KeptRow): RecordingLine {
  const { table, known, suffixes } = plan.parts;
  const row = table.at(index);
  return [
    index,
    known.lineOf(index),
    known.idOf(index),
    known.pathOf(index),
    offset,
    length,
    checksum,
    row.inSegments,
    row.inDurationSeconds,
    row.snippetCount,
    row.segmentCount,
    row.plannedMicros,
    row.decodedMicros,
    row.firstMember,
    row.hasMinus ? 1 : 0,
    row.repetitive,
    sparseCounts(row.dropped),
    sparseCounts(row.droppedSegments),
    [...(suffixes.get(index) ?? [])],
  ];
}

function sparseCounts(counts: DropCounts): [number, number][] {
  return DROP_REASONS.flatMap((reason, place): [number, number][] =>
    counts[reason] === 0 ? [] : [[place, counts[reason]]],
  );
}
