import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, InputError } from '../errors.js';
import { writeFileAtomic } from '../run/atomic-file.js';
import { formatJournalLine, parseJournalLine } from '../run/journal-reader.js';
import type { TaskExtent } from '../run/task.js';
import { readScanJournal, type JournalRow } from './scan-journal.js';
import type { ScanIdentity } from './scan-metrics.js';
import type { ResolvedScanOptions } from './scan-options.js';
import type { ScanRow } from './scan-row.js';
import type { ScanFailure } from './scan-types.js';

/** What a plan of a scan knows beside its files. */
export interface ScanTaskFacts {
  format: typeof FORMAT;
  /** Paths are absolute, as the machine that planned spells them. */
  options: ResolvedScanOptions;
  identity: ScanIdentity;
  /** Where the files of each task begin in the list, in bytes, and at last its length. */
  offsets: readonly number[];
}

/** A file that is to be scanned. */
export interface ListedFile {
  /** As the scan holds it. */
  path: string;
  /** What an earlier scan knows of it: where it is as it was, it is not read again. */
  row?: ScanRow | undefined;
}

/** How a task ended, in front of its failures. */
interface TaskEnd {
  /** Records of its journal. */
  records: number;
}

const FORMAT = 'cutroom-scan-tasks-1';
const FACTS_FILE = 'scan.json';
const LIST_FILE = 'files';
const JOURNAL_FILE = 'journal';
const FAILURES_FILE = 'failures';
const NEWLINE = 0x0a;
const LINES_A_WRITE = 1024;

/** The journal of a task: the rows of what it read. */
export function taskJournalPath(taskFolder: string): string {
  return path.join(taskFolder, JOURNAL_FILE);
}

/** Lays down the files of a scan, in its order, and last what tells that they are whole. */
export async function writeScanPlan(
  folder: string,
  files: Iterable<ListedFile>,
  starts: readonly number[],
  facts: Omit<ScanTaskFacts, 'format' | 'offsets'>,
): Promise<void> {
  const isStart = new Set(starts);
  const offsets: number[] = [];
  let offset = 0;
  await writeFileAtomic(path.join(folder, LIST_FILE), async (write) => {
    let lines: Buffer[] = [];
    let unit = 0;
    for (const file of files) {
      if (isStart.has(unit)) offsets.push(offset);
      const line = formatJournalLine(file);
      offset += line.length;
      unit += 1;
      lines.push(line);
      if (lines.length < LINES_A_WRITE) continue;
      await write(Buffer.concat(lines));
      lines = [];
    }
    await write(Buffer.concat(lines));
  });
  offsets.push(offset);
  const whole: ScanTaskFacts = { format: FORMAT, ...facts, offsets };
  await writeFileAtomic(path.join(folder, FACTS_FILE), (write) => write(`${JSON.stringify(whole)}\n`));
}

/**
 * Reads what a plan knows beside its files.
 *
 * @throws {InputError} when it is not there or damaged.
 */
export async function readScanFacts(folder: string): Promise<ScanTaskFacts> {
  const file = path.join(folder, FACTS_FILE);
  let facts: Partial<ScanTaskFacts> | null;
  try {
    facts = JSON.parse(await readFile(file, 'utf8')) as typeof facts;
  } catch (error) {
    throw unreadable(file, error);
  }
  if (facts?.format === FORMAT) return facts as ScanTaskFacts;
  throw damaged(file);
}

/**
 * Reads the files of tasks, in the order of the scan.
 *
 * @param extents neighbours
 * @throws {InputError} when the list is damaged.
 */
export async function readScanList(
  folder: string,
  { offsets }: ScanTaskFacts,
  extents: readonly TaskExtent[],
  onFile: (file: ListedFile) => void,
): Promise<void> {
  const place = path.join(folder, LIST_FILE);
  const [first, last] = [extents[0], extents.at(-1)];
  if (first === undefined || last === undefined) return;
  let count = 0;
  for await (const line of linesOf(place, offsets[first.task] ?? 0, offsets[last.task + 1] ?? 0)) {
    const parsed = parseJournalLine(line);
    if (parsed === undefined) throw damaged(place);
    onFile(parsed.value as ListedFile);
    count += 1;
  }
  if (count !== last.end - first.first) throw damaged(place);
}

/** Notes, last of all, that a task is done: what it failed at, and how much its journal holds. */
export async function writeTaskEnd(taskFolder: string, end: TaskEnd, failures: Iterable<ScanFailure>): Promise<void> {
  await writeFileAtomic(path.join(taskFolder, FAILURES_FILE), async (write) => {
    await write(formatJournalLine(end));
    for (const failure of failures) await write(formatJournalLine(failure));
  });
}

/**
 * Reads what a task that is done found.
 *
 * @throws {InputError} when it is not there or damaged.
 */
export async function readTaskResults(
  taskFolder: string,
  onRow: (row: JournalRow) => void,
  onFailure: (failure: ScanFailure) => void,
): Promise<void> {
  const file = path.join(taskFolder, FAILURES_FILE);
  const journal = taskJournalPath(taskFolder);
  let records: number | undefined;
  const failures: ScanFailure[] = [];
  for await (const line of linesOf(file, 0, Infinity)) {
    const parsed = parseJournalLine(line);
    if (parsed === undefined) throw damaged(file);
    if (records === undefined) ({ records } = parsed.value as TaskEnd);
    else failures.push(parsed.value as ScanFailure);
  }
  let found: number;
  try {
    found = await readScanJournal(journal, onRow);
  } catch (error) {
    throw error instanceof InputError ? error : unreadable(journal, error);
  }
  if (found !== records) throw damaged(journal);
  failures.forEach(onFailure);
}

/** Lines of a part of a file, with their newlines; the last one may lack it. */
async function* linesOf(file: string, start: number, end: number): AsyncGenerator<Buffer> {
  if (end <= start) return;
  let rest: Buffer = Buffer.alloc(0);
  try {
    const stream = createReadStream(file, { start, ...(end < Infinity && { end: end - 1 }) });
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let at = 0;
      for (let next = bytes.indexOf(NEWLINE); next >= 0; next = bytes.indexOf(NEWLINE, at)) {
        yield bytes.subarray(at, next + 1);
        at = next + 1;
      }
      rest = bytes.subarray(at);
    }
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw unreadable(file, error);
    throw error;
  }
  if (rest.length > 0) yield rest;
}

function unreadable(file: string, error: unknown): InputError {
  return new InputError(`Cannot read "${file}": ${errorMessage(error)}`, { path: file, cause: error });
}

function damaged(file: string): InputError {
  return new InputError(`Cannot read "${file}": it is damaged`, { path: file, hint: 'Plan anew in another folder.' });
}
