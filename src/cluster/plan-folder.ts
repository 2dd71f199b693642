import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { audioArchitecture } from '../audio/architecture.js';
import { errorMessage, InputError, OutputError, systemCode } from '../errors.js';
import { manifestLines } from '../manifest/lines.js';
import { ensureFolder, writeFileAtomic } from '../run/atomic-file.js';
import type { PlannedTasks, TaskDivision, TaskExtent } from '../run/task.js';
import { VERSION } from '../version.js';
import type { PathMapping } from '../run/path-map.js';
import type { PlanInput } from './plan-inputs.js';
import type { KindName, KindPlan } from './task-kind.js';

const FORMAT = 'cutroom-plan-folder-1';

/** What `plan.json` of a plan's folder says. */
export interface PlanRecord {
  format: typeof FORMAT;
  kind: KindName;
  cutroom_version: string;
  /** The CPU architecture that planned: another one may round audio differently. */
  audio_architecture: string;
  /** SHA-256, in hex, of all that decides the outputs. */
  hash: string;
  options: Readonly<Record<string, unknown>>;
  /** What the command was asked for. */
  request: unknown;
  /** How the work was to be divided. */
  division: TaskDivision;
  tasks: number;
  units: { count: number; name: string };
  /** Hours of audio, as far as durations are known; else bytes of files. */
  hours: number | null;
  bytes: number | null;
  failed_rows: number;
  /** Folders that workers name otherwise. */
  map: readonly PathMapping[];
  /** The files that the plan was made from. */
  inputs: readonly PlanInput[];
}

/** A plan in its folder, read. */
export interface PlanFolder {
  /** Absolute. */
  folder: string;
  record: PlanRecord;
  plan: KindPlan;
}

/** What lies where in the folder of a plan. */
export const PLAN_FILES = {
  plan: 'plan.json',
  tasks: 'tasks.jsonl',
  /** What the kind laid down, and its outputs. */
  work: 'work',
  states: 'states',
  logs: 'logs',
  engine: 'engine.json',
} as const;

/** The folder of the kind. */
export function workFolderOf(folder: string): string {
  return path.join(folder, PLAN_FILES.work);
}

/**
 * Writes the tasks and, as the sign that the plan is whole, the plan.
 *
 * @throws {OutputError} when they cannot be written.
 */
export async function writePlanFolder(
  folder: string,
  kind: KindName,
  request: unknown,
  planned: PlannedTasks,
  { division, map, inputs }: Pick<PlanRecord, 'division' | 'map' | 'inputs'>,
): Promise<void> {
  await ensureFolder(path.join(folder, PLAN_FILES.states));
  await ensureFolder(path.join(folder, PLAN_FILES.logs));
  await writeFileAtomic(path.join(folder, PLAN_FILES.tasks), async (write) => {
    for (const extent of planned.extents) await write(`${JSON.stringify(extent)}\n`);
  });
  const record: PlanRecord = {
    format: FORMAT,
    kind,
    cutroom_version: VERSION,
    audio_architecture: audioArchitecture(),
    hash: planned.hash,
    options: planned.options,
    request,
    division,
    tasks: planned.extents.length,
    units: planned.units,
    hours: sumOf(planned.extents, ({ micros }) => micros, 3600e6),
    bytes: sumOf(planned.extents, ({ bytes }) => bytes, 1),
    failed_rows: planned.failedRows,
    map,
    inputs,
  };
  await writeFileAtomic(path.join(folder, PLAN_FILES.plan), (write) => write(`${JSON.stringify(record, null, 2)}\n`));
}

/**
 * Reads a plan, or undefined where the folder has none.
 *
 * @throws {InputError} when it cannot be read or is none of this format.
 */
export async function readPlanRecord(folder: string): Promise<PlanRecord | undefined> {
  const file = path.join(folder, PLAN_FILES.plan);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return undefined;
    throw new InputError(`Cannot read the plan "${file}": ${errorMessage(error)}`, { path: file, cause: error });
  }
  const record = parseRecord(text);
  if (record?.format === FORMAT) return record as PlanRecord;
  throw new InputError(`Cannot read the plan "${file}": it is not one of "cutroom plan"`, {
    path: file,
    hint: 'Plan anew in another folder.',
  });
}

/**
 * Opens a plan to work on it.
 *
 * @throws {InputError} when there is none, it is damaged, or another version made it.
 */
export async function openPlanFolder(folder: string): Promise<PlanFolder> {
  const place = path.resolve(folder);
  const record = await readPlanRecord(place);
  if (record === undefined) {
    throw new InputError(`There is no plan in "${folder}"`, {
      path: folder,
      hint: 'Make one: cutroom plan cut … --tasks 100 --plan DIR.',
    });
  }
  if (record.cutroom_version !== VERSION) {
    throw new InputError(
      `The plan in "${folder}" was made by cutroom ${record.cutroom_version}, and this is ${VERSION}`,
      {
        path: folder,
        hint: `Run it with cutroom ${record.cutroom_version} on every machine, or plan anew in another folder.`,
      },
    );
  }
  const architecture = audioArchitecture();
  if (record.audio_architecture !== architecture) {
    throw new OutputError(
      `The plan in "${folder}" was made for ${record.audio_architecture}, and this machine is ${architecture}: audio may be rounded differently`,
      { path: folder, hint: 'Plan on a machine like the workers, and use workers of one kind.' },
    );
  }
  const extents = await readExtents(path.join(place, PLAN_FILES.tasks), record.tasks);
  const { hash, request } = record;
  return { folder: place, record, plan: { folder: workFolderOf(place), extents, hash, request } };
}

async function readExtents(file: string, count: number): Promise<TaskExtent[]> {
  const extents: TaskExtent[] = [];
  let handle;
  try {
    handle = await open(file);
  } catch (error) {
    throw new InputError(`Cannot read the tasks "${file}": ${errorMessage(error)}`, { path: file, cause: error });
  }
  try {
    for await (const { bytes } of manifestLines(handle, file)) {
      if (bytes !== undefined) extents.push(JSON.parse(bytes.toString('utf8')) as TaskExtent);
    }
  } catch (error) {
    throw new InputError(`Cannot read the tasks "${file}": ${errorMessage(error)}`, { path: file, cause: error });
  } finally {
    await handle.close();
  }
  if (extents.length === count) return extents;
  throw new InputError(`Cannot read the tasks "${file}": there are ${extents.length}, and the plan has ${count}`, {
    path: file,
    hint: 'Plan anew in another folder.',
  });
}

function parseRecord(text: string): { format?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function sumOf(
  extents: readonly TaskExtent[],
  valueOf: (extent: TaskExtent) => number | undefined,
  unit: number,
): number | null {
  let sum = 0;
  for (const extent of extents) {
    const value = valueOf(extent);
    if (value === undefined) return null;
    sum += value;
  }
  return sum / unit;
}
