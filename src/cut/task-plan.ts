import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, InputError, systemCode } from '../errors.js';
import { Column } from './column.js';
import { CutPlan } from './cut-plan.js';
import type { RunIdentity } from './identity.js';
import { PlanTable } from './plan-table.js';
import { zeroCounts } from './plan-recording.js';
import { ListedRecordings } from './recording-names.js';
import type { Sharding } from './sharding.js';
import { recordsBetween } from './task-lines.js';
import { DROP_REASONS } from './types.js';
import type { ChannelChoice, DropCounts, FailureRecord, PlanSettings, SkipReason } from './types.js';

/** What a folder holds of a cut that is divided into tasks: all that tasks and their end need beside the audio. */
export const TASK_PLAN_FILES = {
  facts: 'cut.json',
  /** A line for each recording: those with snippets in the order of members, then the others in that of the manifest. */
  recordings: 'recordings.jsonl',
  /** The rows of the recordings with snippets as they stand in the manifest, in the same order. */
  rows: 'rows.jsonl',
  /** What planning found. */
  failures: 'failures.jsonl',
} as const;

export const TASK_PLAN_FORMAT = 'cutroom-cut-tasks-1';

/** Facts of the whole plan. */
export interface TaskPlanFacts {
  format: typeof TASK_PLAN_FORMAT;
  /** SHA-256, in hex, of all that decides the outputs. */
  hash: string;
  identity: RunIdentity;
  /** The outputs were there when it was planned: there are no tasks then. */
  isFinished: boolean;
  settings: PlanSettings;
  sharding: Sharding | null;
  channel: ChannelChoice;
  datasetName: string;
  /** The folder that relative paths start from. */
  base: string;
  rowCount: number;
  skippedRows: Partial<Record<SkipReason, number>>;
  repetitionExamples: readonly string[];
  recordings: number;
  /** The unit at which each task begins, and at last the number of units: recordings with snippets, in the order of members. */
  starts: readonly number[];
  /** Where the lines of each task begin among those of the recordings, and at last those of recordings without snippets. */
  offsets: readonly number[];
  /** Size of the lines of all recordings. */
  recordingsBytes: number;
}

/** A recording as it is laid down. */
export type RecordingLine = [
  index: number,
  line: number,
  id: string,
  /** As in the row; its last part alone where these are unique. */
  audioPath: string,
  rowOffset: number,
  rowLength: number,
  rowChecksum: number,
  inSegments: number,
  inDurationSeconds: number,
  snippetCount: number,
  segmentCount: number,
  plannedMicros: number,
  decodedMicros: number,
  firstMember: string,
  hasMinus: 0 | 1,
  repetitive: readonly number[],
  /** Counts above 0, by place among the reasons. */
  dropped: readonly (readonly [place: number, count: number])[],
  droppedSegments: readonly (readonly [place: number, count: number])[],
  /** By ordinal. */
  suffixes: readonly (readonly [ordinal: number, suffix: string])[],
];

const HINT = 'The plan is damaged: plan again, in another folder.';

/**
 * Reads the facts of a plan.
 *
 * @throws {InputError} when they cannot be read, or are those of another plan.
 */
export async function readTaskPlan(folder: string, hash: string): Promise<TaskPlanFacts> {
  const file = path.join(folder, TASK_PLAN_FILES.facts);
  let facts: Partial<TaskPlanFacts>;
  try {
    facts = JSON.parse(await readFile(file, 'utf8')) as Partial<TaskPlanFacts>;
  } catch (error) {
    const state = systemCode(error) === 'ENOENT' ? 'there is no such file' : errorMessage(error);
    throw new InputError(`Cannot read the plan "${file}": ${state}`, { path: file, hint: HINT, cause: error });
  }
  if (facts.format !== TASK_PLAN_FORMAT || facts.hash !== hash) {
    throw new InputError(`Cannot work by the plan "${file}": it is another one than the folder's`, {
      path: file,
      hint: HINT,
    });
  }
  return facts as TaskPlanFacts;
}

/**
 * Makes the plan again that was laid down, without manifest and tokenizer; all positions are those it had.
 *
 * @returns the plan, to be closed by the caller
 * @throws {InputError} when the folder is damaged
 */
export async function openWholePlan(folder: string, facts: TaskPlanFacts): Promise<CutPlan> {
  return await openPlan(folder, facts, undefined);
}

/**
 * Makes the plan of one task: its recordings alone, by their position in the task.
 *
 * @returns the plan, to be closed by the caller
 * @throws {InputError} when the folder is damaged
 */
export async function openTaskPlan(folder: string, facts: TaskPlanFacts, task: number): Promise<CutPlan> {
  return await openPlan(folder, facts, task);
}

/** What planning found, in the order of the manifest. */
export async function readPlannedFailures(folder: string): Promise<FailureRecord[]> {
  const file = { path: path.join(folder, TASK_PLAN_FILES.failures), hint: HINT };
  const failures: FailureRecord[] = [];
  for await (const record of recordsBetween(file)) failures.push(record as FailureRecord);
  return failures;
}

async function openPlan(folder: string, facts: TaskPlanFacts, task: number | undefined): Promise<CutPlan> {
  const { starts, offsets, recordingsBytes } = facts;
  const unit = starts[task ?? 0] ?? 0;
  const units = (task === undefined ? starts.at(-1) : starts[task + 1]) ?? 0;
  const length = task === undefined ? facts.recordings : units - unit;
  const table = new PlanTable(length);
  const known = new ListedRecordings(length);
  const rowChecksums = new Column('uint32');
  const order = new Uint32Array(units - unit);
  const suffixes = new Map<number, Map<number, string>>();
  const lines = { path: path.join(folder, TASK_PLAN_FILES.recordings), hint: HINT };
  const from = task === undefined ? 0 : offsets[task];
  const end = task === undefined ? recordingsBytes : offsets[task + 1];
  let at = 0;
  for await (const value of recordsBetween(lines, from, end)) {
    const line = value as RecordingLine;
    const index = task === undefined ? line[0] : at;
    if (at < order.length) order[at] = index;
    at += 1;
    putRecording(index, line, { table, known, rowChecksums, suffixes });
  }
  if (at !== length) {
    const state = `it has ${at} recordings instead of ${length}`;
    throw new InputError(`Cannot read "${lines.path}": ${state}`, lines);
  }
  const rowsPath = path.join(folder, TASK_PLAN_FILES.rows);
  return new CutPlan({
    settings: facts.settings,
    handle: await openRows(rowsPath),
    rowsPath,
    rowChecksums,
    known,
    table,
    order,
    inputSha256: facts.identity.input_sha256,
    hash: facts.identity.plan_hash,
    rowCount: facts.rowCount,
    skippedRows: facts.skippedRows,
    repetitionExamples: facts.repetitionExamples,
    suffixes,
  });
}

interface OpenTables {
  table: PlanTable;
  known: ListedRecordings;
  rowChecksums: Column;
  suffixes: Map<number, Map<number, string>>;
}

function putRecording(index: number, line: RecordingLine, { table, known, rowChecksums, suffixes }: OpenTables): void {
  const [, number, id, audioPath, offsetBytes, lengthBytes, checksum, inSegments, inDurationSeconds, ...rest] = line;
  const [snippetCount, segmentCount, plannedMicros, decodedMicros, firstMember, hasMinus, repetitive, ...counts] = rest;
  const [dropped, droppedSegments, ofRecording] = counts;
  known.put(index, id, audioPath, number);
  rowChecksums.set(index, checksum);
  table.put(index, {
    offsetBytes,
    lengthBytes,
    inSegments,
    inDurationSeconds,
    dropped: spreadCounts(dropped),
    droppedSegments: spreadCounts(droppedSegments),
    snippetCount,
    segmentCount,
    plannedMicros,
    decodedMicros,
    firstMember,
    hasMinus: hasMinus === 1,
    repetitive,
  });
  if (ofRecording.length > 0) suffixes.set(index, new Map(ofRecording));
}

function spreadCounts(sparse: RecordingLine[16]): DropCounts {
  const counts = zeroCounts();
  for (const [place, count] of sparse) {
    const reason = DROP_REASONS[place];
    if (reason !== undefined) counts[reason] = count;
  }
  return counts;
}

async function openRows(file: string): ReturnType<typeof open> {
  try {
    return await open(file);
  } catch (error) {
    const state = systemCode(error) === 'ENOENT' ? 'there is no such file' : errorMessage(error);
    throw new InputError(`Cannot read "${file}": ${state}`, { path: file, hint: HINT, cause: error });
  }
}
