import { stat, statSync, type Stats } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { CanceledError, CutroomError, errorMessage, systemCode } from '../errors.js';
import { orderedMap } from '../run/ordered-map.js';
import { ProcessPool } from '../run/process-pool.js';
import type { RowRefusal } from '../shard/utterance-row.js';
import type { RowTable } from './row-table.js';

/** What a process is given to measure: absolute paths. */
export interface MeasureJob {
  paths: readonly string[];
}

/** The length of a file, or why it has none. */
export type Measured = { seconds: number } | { reason: string; message: string };

export interface MeasureParts {
  table: RowTable;
  /** Absolute folder of relative paths. */
  base: string;
  /** Whether lengths that no row tells are to be found out; else the files are only to be there. */
  needsLengths: boolean;
  jobs: number;
  silenceSeconds: number;
  signal: AbortSignal | undefined;
  onFiles: (files: number, totalFiles: number) => void;
}

const FILES_A_JOB = 32;
const MICROS = 1e6;

/**
 * Finds out whether all files are there, and how long they are where that is needed and not told; rows of those that are of no use are spoilt.
 *
 * @throws CanceledError when the signal is aborted
 */
export async function measureFiles(parts: MeasureParts): Promise<void> {
  const { table, signal, needsLengths } = parts;
  try {
    const faults = await findMissing(parts);
    const micros = needsLengths ? await measureUnknown(parts, faults) : undefined;
    for (let row = 0; row < table.count; row += 1) {
      const fault = faults.get(table.fileOf(row));
      if (fault !== undefined) table.spoil(row, fault);
      else if (micros !== undefined && table.microsOf(row) < 0) settle(table, row, micros[table.fileOf(row)] ?? NaN);
    }
  } catch (error) {
    if (signal?.aborted !== true || error instanceof CutroomError) throw error;
    throw new CanceledError('The run was stopped before its plan was made', { cause: error });
  }
}

/** Gives a row the length of its file, from where it starts. */
function settle(table: RowTable, row: number, fileMicros: number): void {
  const start = -1 - table.microsOf(row);
  if (Number.isNaN(fileMicros)) {
    table.spoil(row, {
      reason: 'unknown_duration',
      message: 'the row does not say how long its audio is, and that of a packed member is not measured',
      hint: 'give --balance-by samples, or put the duration into the row',
    });
  } else if (start >= fileMicros) {
    const message = `the row starts at ${start / MICROS} s, but the file ends at ${fileMicros / MICROS} s`;
    table.spoil(row, { reason: 'outside_audio', message });
  } else {
    table.setMicros(row, fileMicros - start);
  }
}

/** Files looked at between two looks at the signal. */
const FILES_A_LOOK = 256;
/** Where a look takes longer, as on a network, many are made at once. */
const SLOW_LOOK_MS = 0.1;

async function findMissing({ table, base, signal, onFiles }: MeasureParts): Promise<Map<number, RowRefusal>> {
  const faults = new Map<number, RowRefusal>();
  const total = table.fileCount;
  let isSlow = false;
  for (let from = 0; from < total; from += FILES_A_LOOK) {
    signal?.throwIfAborted();
    const files = Array.from({ length: Math.min(FILES_A_LOOK, total - from) }, (_, index) => from + index);
    const startMs = performance.now();
    const look = (file: number): string => path.resolve(base, table.item(table.firstRowOf(file)).path);
    const found = isSlow
      ? await Promise.all(files.map((file) => lookFor(look(file))))
      : files.map((file) => lookForNow(look(file)));
    for (const [index, fault] of found.entries()) if (fault !== undefined) faults.set(from + index, fault);
    if (!isSlow) isSlow = (performance.now() - startMs) / files.length > SLOW_LOOK_MS;
    onFiles(from + files.length, total);
    await setImmediate();
  }
  return faults;
}

function lookForNow(place: string): RowRefusal | undefined {
  try {
    return faultOf(place, statSync(place, { throwIfNoEntry: false }));
  } catch (error) {
    return refuseUnreadable(place, error);
  }
}

async function lookFor(place: string): Promise<RowRefusal | undefined> {
  return await new Promise((resolve) => {
    stat(place, (error, stats) => resolve(error === null ? faultOf(place, stats) : refuseUnreadable(place, error)));
  });
}

function faultOf(place: string, stats: Stats | undefined): RowRefusal | undefined {
  if (stats === undefined) return refuseMissing(place);
  if (!stats.isFile()) return { reason: 'unreadable_recording', message: `"${place}" is not a regular file` };
  if (stats.size === 0) return { reason: 'empty_recording', message: `"${place}" is empty` };
  return undefined;
}

function refuseUnreadable(place: string, error: unknown): RowRefusal {
  const code = systemCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return refuseMissing(place);
  return { reason: 'unreadable_recording', message: `Cannot look at "${place}": ${errorMessage(error)}` };
}

function refuseMissing(place: string): RowRefusal {
  const hint = 'relative paths are joined to --base, which is the folder of the input unless it is given';
  return { reason: 'missing_recording', message: `there is no file "${place}"`, hint };
}

/** Microseconds of the files of rows that do not say how long they are; NaN where it is not known. */
async function measureUnknown(parts: MeasureParts, faults: Map<number, RowRefusal>): Promise<Float64Array> {
  const { table, jobs, silenceSeconds, signal, onFiles } = parts;
  const micros = new Float64Array(table.fileCount).fill(NaN);
  const files = unknownFiles(table, faults);
  const batches = Array.from({ length: Math.ceil(files.length / FILES_A_JOB) }, (_, batch) =>
    files.subarray(batch * FILES_A_JOB, (batch + 1) * FILES_A_JOB),
  );
  const pool = new ProcessPool({
    program: new URL('measure-process.js', import.meta.url),
    size: Math.max(1, Math.min(jobs, batches.length)),
    silenceMs: silenceSeconds * 1000,
  });
  const measurer = new Measurer(pool, parts);
  try {
    let done = 0;
    const work = { concurrency: jobs, window: jobs * 4, signal };
    for await (const measured of orderedMap(batches, work, (batch, stop) => measurer.measure(batch, stop))) {
      for (const [file, length] of measured) {
        if ('seconds' in length) micros[file] = Math.round(length.seconds * MICROS);
        else faults.set(file, length);
      }
      done += measured.length;
      onFiles(done, files.length);
    }
  } finally {
    await pool.close();
  }
  return micros;
}

function unknownFiles(table: RowTable, faults: ReadonlyMap<number, RowRefusal>): Uint32Array {
  const isUnknown = new Uint8Array(table.fileCount);
  let count = 0;
  for (let row = 0; row < table.count; row += 1) {
    const file = table.fileOf(row);
    if (table.microsOf(row) >= 0 || isUnknown[file] === 1 || faults.has(file)) continue;
    // The length of a member is not that of its tar.
    if (table.item(row).inside !== undefined) continue;
    isUnknown[file] = 1;
    count += 1;
  }
  const files = new Uint32Array(count);
  let at = 0;
  for (let file = 0; file < isUnknown.length; file += 1) {
    if (isUnknown[file] !== 1) continue;
    files[at] = file;
    at += 1;
  }
  return files;
}

class Measurer {
  readonly #pool: ProcessPool;
  readonly #parts: MeasureParts;

  constructor(pool: ProcessPool, parts: MeasureParts) {
    this.#pool = pool;
    this.#parts = parts;
  }

  /** Measures some files at once; where a process dies of one, each alone. */
  async measure(files: Uint32Array, signal: AbortSignal): Promise<[number, Measured][]> {
    const paths = Array.from(files, (file) => this.#placeOf(file));
    const outcome = await this.#pool.run<Measured[]>({ paths } satisfies MeasureJob, { signal });
    if (outcome.kind === 'done') return outcome.value.map((measured, index) => [files[index] ?? 0, measured]);
    if (files.length === 1) {
      const how = outcome.kind === 'died' ? outcome.how : `it said nothing for ${outcome.seconds} s`;
      const message = `Cannot measure "${paths[0]}": its decoder failed (${how})`;
      return [[files[0] ?? 0, { reason: outcome.kind === 'died' ? 'decoder_crashed' : 'decoder_hung', message }]];
    }
    const each: [number, Measured][] = [];
    for (let at = 0; at < files.length; at += 1) each.push(...(await this.measure(files.subarray(at, at + 1), signal)));
    return each;
  }

  #placeOf(file: number): string {
    const { table, base } = this.#parts;
    return path.resolve(base, table.item(table.firstRowOf(file)).path);
  }
}
