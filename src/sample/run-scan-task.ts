import { CanceledError, CutroomError } from '../errors.js';
import { ensureFolder, sizeOf } from '../run/atomic-file.js';
import { mapPath } from '../run/path-map.js';
import type { TaskContext, TaskExtent, TaskOutcome, TaskProgress } from '../run/task.js';
import { placesOf } from './scan-files.js';
import type { FileOutcome } from './scan-job.js';
import { ScanJournal } from './scan-journal.js';
import { readFiles } from './scan-reading.js';
import { factsOfRow, rowOf } from './scan-row.js';
import { ScanTable } from './scan-table.js';
import { readScanFacts, readScanList, taskJournalPath, writeTaskEnd, type ListedFile } from './scan-task-files.js';
import type { ScanFailure } from './scan-types.js';

/**
 * Reads the files of a task. What was read is noted as it comes, and not read again by a later try unless it has changed. Indexes of long files go
 * to the folder of the results.
 *
 * @param taskFolder is made where it is not there
 * @throws InputError when the plan is damaged; OutputError, CanceledError
 */
export async function runScanTask(
  folder: string,
  task: TaskExtent,
  taskFolder: string,
  context: TaskContext,
): Promise<TaskOutcome> {
  const { jobs, signal, mappings, onProgress } = context;
  const facts = await readScanFacts(folder);
  const { options, identity } = facts;
  const files: ListedFile[] = [];
  await readScanList(folder, facts, [task], (file) => files.push(file));
  const table = new ScanTable(files.map((file) => file.path));
  const take = (row: ListedFile['row']): void => {
    const index = row === undefined ? undefined : table.find(row.path);
    if (row === undefined || index === undefined) return;
    const known = factsOfRow(row);
    table.set(index, known, known.loudness, undefined);
  };
  for (const { row } of files) take(row);
  await ensureFolder(taskFolder);
  const journalPath = taskJournalPath(taskFolder);
  const { base, loudness } = identity;
  const journal = await ScanJournal.open(journalPath, { base, loudness }, ({ row }) => take(row));
  const progress: TaskProgress = { units: 0, audioSeconds: 0, bytes: 0 };
  try {
    await readFiles({
      table,
      base: options.base ?? '/',
      mappings,
      loudness: options.loudness,
      indexFolder: mapPath(placesOf(options.out).indexes, mappings),
      jobs,
      silenceMs: options.silenceMs,
      signal,
      onOutcome: async (index, outcome) => {
        await note(table, index, outcome, journal);
        const read = table.factsOf(index);
        progress.units += 1;
        progress.audioSeconds += read === undefined ? 0 : read.frames / read.sampleRate;
        progress.bytes += read?.sizeBytes ?? 0;
        onProgress?.({ ...progress });
      },
    });
    await journal.sync();
    await writeTaskEnd(taskFolder, { records: journal.recordCount }, failuresOf(table));
  } catch (error) {
    if (!signal.aborted || error instanceof CutroomError) throw error;
    throw new CanceledError('The task was stopped; what it has read is kept', { cause: error });
  } finally {
    await journal.close();
  }
  const failures: Record<string, number> = {};
  for (const { reason } of table.failures.values()) failures[reason] = (failures[reason] ?? 0) + 1;
  const bytes = (await sizeOf(journalPath)) ?? 0;
  return { units: table.count, audioSeconds: progress.audioSeconds, bytes, failures };
}

async function note(table: ScanTable, index: number, outcome: FileOutcome, journal: ScanJournal): Promise<void> {
  const name = table.pathOf(index);
  if (outcome.kind === 'unchanged') return;
  if (outcome.kind === 'failed') {
    const { reason, message, hint } = outcome;
    table.fail(index, { path: name, reason, message, ...(hint === undefined ? {} : { hint }) });
    return;
  }
  const { facts, loudness, windows } = outcome;
  table.set(index, facts, loudness, undefined);
  await journal.add({ row: rowOf(name, facts, loudness), windows });
}

function* failuresOf(table: ScanTable): Generator<ScanFailure> {
  for (const [, failure] of [...table.failures].toSorted(([a], [b]) => a - b)) yield failure;
}
