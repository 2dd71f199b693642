import { createHash } from 'node:crypto';
import { stat } from 'node:fs';
import path from 'node:path';
import { CanceledError, CutroomError, OutputError, UsageError } from '../errors.js';
import { removeFile } from '../run/atomic-file.js';
import { mapPath, type PathMapping } from '../run/path-map.js';
import { divideEvenly, type PlannedTasks, type TaskDivision, type TaskExtent } from '../run/task.js';
import { VERSION } from '../version.js';
import { EarlierScan } from './earlier-scan.js';
import { placesOf, type ScanPlaces } from './scan-files.js';
import { findNames, identityOf } from './scan-inputs.js';
import { ScanJournal } from './scan-journal.js';
import { resolveScanOptions, type ScanOptions } from './scan-options.js';
import { finishPublishing, lockScan } from './scan-places.js';
import { factsOfRow, rowOf } from './scan-row.js';
import { ScanTable } from './scan-table.js';
import { readScanFacts, readScanList, readTaskResults, writeScanPlan, type ScanTaskFacts } from './scan-task-files.js';
import { writeScan, type ReadScan, type ScanResult } from './scan.js';
import { Spool } from './spool.js';

/** What planning a scan is given beside its options. */
export interface PlanScanContext {
  division: TaskDivision;
  signal: AbortSignal;
  onFiles?: ((files: number) => void) | undefined;
}

/** So many files are looked at at once. */
const LOOKS = 1024;

/**
 * Plans a scan for many machines: finds the files, once, and lays their list down. Files are divided by their bytes; of those that an earlier scan
 * knows it says what, so that they are not read again.
 *
 * @param folder exists and is empty
 * @throws as `scan`, and UsageError for options that make no sense here
 */
export async function planScanTasks(
  options: ScanOptions,
  folder: string,
  context: PlanScanContext,
): Promise<PlannedTasks> {
  return await stoppable(context.signal, 'The scan was not planned: it was stopped', () =>
    planFiles(options, folder, context),
  );
}

async function planFiles(
  options: ScanOptions,
  folder: string,
  { division, signal, onFiles }: PlanScanContext,
): Promise<PlannedTasks> {
  if (!('count' in division)) {
    throw new UsageError('Cannot divide a scan into tasks of so many hours: how long files are is what it finds out', {
      hint: 'Say how many tasks there are to be: --tasks N.',
    });
  }
  const resolved = resolveScanOptions(options);
  const identity = identityOf(resolved);
  const table = new ScanTable(await findNames(resolved, { signal, onFiles }));
  const places = placesOf(resolved.out);
  const release = await lockScan(places.workFolder, {});
  try {
    await loadEarlier(table, places, identity, resolved.overwrite);
  } finally {
    await release();
  }
  const sizes = await sizesOf(table, resolved.base ?? '/', signal);
  const starts = divideEvenly(sizes, division.count);
  const hash = createHash('sha256').update(JSON.stringify([VERSION, identity]));
  const files = function* (): Generator<{ path: string; row?: ReturnType<typeof rowOf> }> {
    for (const [index, name] of table.paths.entries()) {
      const facts = table.factsOf(index);
      hash.update(`${name}\n`);
      yield { path: name, ...(facts !== undefined && { row: rowOf(name, facts, undefined) }) };
    }
  };
  await writeScanPlan(folder, files(), starts, { options: resolved, identity });
  const extents = starts.slice(0, -1).map((first, task): TaskExtent => {
    const end = starts[task + 1] ?? first;
    const bytes = sizes.subarray(first, end).reduce((sum, size) => sum + size, 0);
    return { task, first, end, micros: undefined, bytes };
  });
  return {
    extents,
    hash: hash.digest('hex'),
    options: { ...identity },
    units: { count: table.count, name: 'files' },
    failedRows: 0,
  };
}

async function loadEarlier(
  table: ScanTable,
  places: ScanPlaces,
  identity: ScanTaskFacts['identity'],
  overwrite: boolean,
): Promise<void> {
  await finishPublishing(places);
  const earlier = await EarlierScan.open(places, identity, overwrite);
  if (earlier === undefined) return;
  {
    using spool = new Spool(places.spool);
    await earlier.load(table, spool);
  }
  await removeFile(places.spool);
}

/** Files that are not there are left to the task, which tells of them. */
async function sizesOf(table: ScanTable, base: string, signal: AbortSignal): Promise<Float64Array> {
  const sizes = new Float64Array(table.count);
  const look = async (index: number): Promise<void> => {
    const known = table.factsOf(index);
    sizes[index] = known?.sizeBytes ?? (await sizeOfFile(path.resolve(base, table.pathOf(index))));
  };
  for (let first = 0; first < table.count; first += LOOKS) {
    signal.throwIfAborted();
    const count = Math.min(LOOKS, table.count - first);
    await Promise.all(Array.from({ length: count }, (_, at) => look(first + at)));
  }
  return sizes;
}

/** 0 where there is none. Promises of the file system cost twice as much, which counts with a million files. */
async function sizeOfFile(file: string): Promise<number> {
  return await new Promise((resolve) => {
    stat(file, (error, stats) => resolve(error === null ? stats.size : 0));
  });
}

/** What ending a scan is given beside the plan. */
export interface FinishScanContext {
  extents: readonly TaskExtent[];
  signal: AbortSignal;
  mappings: readonly PathMapping[];
  /** The tasks that are done, where others are not; undefined where all are. */
  salvage: readonly number[] | undefined;
  folderOf: (task: number) => string;
}

/** What was kept of a scan that is not whole. */
export interface SalvagedScan {
  /** The journal that a scan goes on from. */
  journal: string;
}

/**
 * Ends a scan whose tasks are done, byte for byte as one run does. A scan that is not whole must not pass for one: where tasks are missing, what the
 * others have read can be salvaged as the journal of an interrupted scan, which the same `cutroom scan` then goes on from.
 *
 * @throws InputError when the plan or a task's output is damaged; OutputError, CanceledError
 */
export async function finishScanTasks(folder: string, context: FinishScanContext): Promise<ScanResult | SalvagedScan> {
  const { extents, signal, mappings, salvage, folderOf } = context;
  const facts = await readScanFacts(folder);
  const { identity } = facts;
  const names: string[] = [];
  await readScanList(folder, facts, extents, (file) => names.push(file.path));
  const out = mapPath(facts.options.out, mappings);
  if (salvage !== undefined) return await salvageScan(facts, out, names, salvage.map(folderOf));
  const overwrite = facts.options.overwrite && !(await isUsable(placesOf(out), identity));
  const take: ReadScan['take'] = async (sink) => {
    for (const { task } of extents) {
      signal.throwIfAborted();
      await readTaskResults(
        folderOf(task),
        (row) => sink.row(row),
        (failure) => sink.fail(failure),
      );
    }
  };
  return await stoppable(signal, 'The scan was not ended: it was stopped', () =>
    writeScan({ ...facts.options, out, overwrite }, { identity, names, take }, { signal }),
  );
}

/** Does something that a signal ends. */
async function stoppable<T>(signal: AbortSignal, message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!signal.aborted || error instanceof CutroomError) throw error;
    throw new CanceledError(message, { cause: error, hint: 'Run the same command again to go on.' });
  }
}

/** Whether what is in the folder may be the end of this very plan: it is then looked at, and not replaced unseen. */
async function isUsable(places: ScanPlaces, identity: ScanTaskFacts['identity']): Promise<boolean> {
  try {
    return (await EarlierScan.open(places, identity, false)) !== undefined;
  } catch (error) {
    // Another scan, which is to be replaced; what must not be is told of again.
    if (error instanceof OutputError) return false;
    throw error;
  }
}

async function salvageScan(
  { identity: { base, loudness } }: ScanTaskFacts,
  out: string,
  names: readonly string[],
  taskFolders: readonly string[],
): Promise<SalvagedScan> {
  const places = placesOf(out);
  const table = new ScanTable(names);
  const release = await lockScan(places.workFolder, {});
  try {
    await finishPublishing(places);
    const note = (index: number | undefined, { row }: { row: ReturnType<typeof rowOf> }): void => {
      const facts = factsOfRow(row);
      if (index !== undefined) table.set(index, facts, facts.loudness, undefined);
    };
    const journal = await ScanJournal.open(places.journal, { base, loudness }, (read) => {
      note(table.find(read.row.path), read);
    });
    try {
      for (const taskFolder of taskFolders) {
        const pending: Promise<void>[] = [];
        await readTaskResults(
          taskFolder,
          (read) => {
            const index = table.find(read.row.path);
            const known = index === undefined ? undefined : table.factsOf(index);
            const before = known && rowOf(read.row.path, known, table.loudnessOf(index ?? 0));
            if (JSON.stringify(before) === JSON.stringify(read.row)) return;
            note(index, read);
            pending.push(journal.add(read));
          },
          () => undefined,
        );
        await Promise.all(pending);
      }
      await journal.sync();
    } finally {
      await journal.close();
    }
  } finally {
    await release();
  }
  return { journal: places.journal };
}
