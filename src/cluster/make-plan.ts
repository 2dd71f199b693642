import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { pid } from 'node:process';
import { InputError, OutputError, systemCode } from '../errors.js';
import { ensureFolder, removeFolder } from '../run/atomic-file.js';
import { acquireLock } from '../run/lock.js';
import { writeFailure } from '../tar/write-failure.js';
import { loadKind } from './kinds.js';
import { normalizeMapping, type PathMapping } from '../run/path-map.js';
import type { TaskDivision } from '../run/task.js';
import {
  openPlanFolder,
  readPlanRecord,
  workFolderOf,
  writePlanFolder,
  type PlanFolder,
  type PlanRecord,
} from './plan-folder.js';
import { describeInputs, listChangedInputs, listMovedInputs } from './plan-inputs.js';
import type { KindName, PlanningContext } from './task-kind.js';

/** What a plan is asked for. */
export interface MakePlanOptions extends Omit<PlanningContext, 'signal' | 'environment'> {
  kind: KindName;
  /** The options of the command, as its function takes them: `CutOptions`, `BuildOptions`, `TarOptions` or `ScanOptions`. */
  request: unknown;
  /** The folder of the plan; made where it is not there. */
  folder: string;
  /** Folders that workers have elsewhere. */
  map?: readonly PathMapping[] | undefined;
  signal?: AbortSignal | undefined;
  /** Variables that say where the Hub, its cache and its token are. Default: none. */
  environment?: PlanningContext['environment'] | undefined;
  isProcessAlive?: ((pid: number) => boolean) | undefined;
}

/**
 * Plans work for many machines: everything that tasks need but the audio is in the folder then. Where the same plan is there already, it is
 * opened.
 *
 * @throws {OutputError} when another plan, or something else, is in the folder.
 * @throws {UsageError} when a mapping has a relative path.
 * @throws {InputError} when the plan is there, and the files that it was made from have changed.
 */
export async function makePlan(options: MakePlanOptions): Promise<{ plan: PlanFolder; isNew: boolean }> {
  const { kind: name, isProcessAlive } = options;
  const { division, signal = new AbortController().signal } = options;
  const map = (options.map ?? []).map(normalizeMapping);
  const { request, environment } = withoutToken(options);
  const folder = path.resolve(options.folder);
  await refuseOtherContent(folder);
  await ensureFolder(folder);
  const lock = await acquireLock(path.join(folder, 'plan.lock'), {
    identity: { host: hostname(), pid },
    signal,
    ...(isProcessAlive === undefined ? {} : { isProcessAlive }),
  });
  try {
    const earlier = await readPlanRecord(folder);
    const kind = await loadKind(name);
    if (earlier !== undefined) {
      await refuseOtherPlan(folder, earlier, { kind: name, request, division, map, signal });
      return { plan: await openPlanFolder(folder), isNew: false };
    }
    const work = workFolderOf(folder);
    // What a plan that was never finished left.
    await removeFolder(work);
    await ensureFolder(work);
    // Before it is read: what changes meanwhile is another content later.
    const inputs = await describeInputs(name, request, signal);
    const planned = await kind.plan(request, work, { ...options, signal, environment });
    await lock.confirm();
    await writePlanFolder(folder, name, request, planned, { division, map, inputs });
    return { plan: await openPlanFolder(folder), isNew: true };
  } finally {
    await lock.release();
  }
}

/** A token is for planning alone, and nothing writes the environment down. */
function withoutToken({ request, environment = {} }: MakePlanOptions): {
  request: unknown;
  environment: PlanningContext['environment'];
} {
  const { hfToken, ...others } = (request ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof hfToken !== 'string') return { request, environment };
  return { request: others, environment: { ...environment, HF_TOKEN: hfToken } };
}

async function refuseOtherPlan(
  folder: string,
  earlier: PlanRecord,
  {
    kind,
    request,
    division,
    map,
    signal,
  }: Pick<PlanRecord, 'kind' | 'request' | 'division' | 'map'> & { signal: AbortSignal },
): Promise<void> {
  const differences =
    earlier.kind === kind
      ? differencesOf(
          { ...(earlier.request as object), division: earlier.division, map: earlier.map },
          { ...(request as object), division: isSameDivision(earlier, division) ? earlier.division : division, map },
        )
      : [`it is one of ${earlier.kind}`];
  if (differences.length === 0) {
    const moved = listMovedInputs(kind, request, earlier.inputs);
    const changes = moved.length > 0 ? moved : await listChangedInputs(earlier.inputs, signal);
    if (changes.length === 0) return;
    throw new InputError(`The input of the plan in "${folder}" has changed: ${changes.join('; ')}`, {
      path: folder,
      hint: 'Plan in another folder; or put the input back as it was, to go on with this one.',
    });
  }
  throw new OutputError(`Another plan is in "${folder}": ${differences.join('; ')}`, {
    path: folder,
    hint: 'Plan in another folder, or give the options of that plan to go on with it.',
  });
}

/** Units are divided no further than each alone, so that other numbers may give the same tasks. */
function isSameDivision({ tasks, units }: PlanRecord, division: TaskDivision): boolean {
  return 'count' in division && Math.min(division.count, units.count) === tasks;
}

function differencesOf(earlier: unknown, now: unknown): string[] {
  const before = (earlier ?? {}) as Record<string, unknown>;
  const after = JSON.parse(JSON.stringify(now ?? {})) as Record<string, unknown>;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => `${name} was ${spell(before[name])}, now ${spell(after[name])}`);
}

function spell(value: unknown): string {
  return value === undefined ? 'unset' : JSON.stringify(value);
}

const OWN_NAMES =
  /^(?:plan\.json|plan\.lock.*|tasks\.jsonl|work|states|logs|engine\.json|.*\.(?:partial|sbatch)|finish\.lock.*)$/u;

async function refuseOtherContent(folder: string): Promise<void> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw writeFailure(error, { action: 'Cannot plan in', path: folder });
  }
  const foreign = names.find((name) => !OWN_NAMES.test(name));
  if (foreign === undefined || (await readPlanRecord(folder)) !== undefined) return;
  throw new OutputError(`Cannot plan in "${folder}": it holds "${foreign}", which is not of a plan`, {
    path: folder,
    hint: 'Name a folder that is empty or not there yet.',
  });
}
