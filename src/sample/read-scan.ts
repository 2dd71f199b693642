import { open, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, InputError, systemCode } from '../errors.js';
import { manifestLines } from '../manifest/lines.js';
import type { StaleFile } from './lufs-cache.js';
import { placesOf } from './scan-files.js';
import type { ScanPlaces } from './scan-files.js';
import { mtimeMicrosOf } from './scan-job.js';
import { readMetrics } from './scan-metrics.js';
import type { ScanMetrics } from './scan-metrics.js';
import { factsOfRow, isScanRow } from './scan-row.js';
import type { ScanFailure, ScannedFile } from './scan-types.js';

/** A finished scan. Its loudness by windows is read by `openLufsCache` of the same folder, whose files are those of the scan, in its order. */
export class Scan {
  readonly folder: string;
  readonly metrics: ScanMetrics;
  /** What relative paths of the scan are joined to; undefined where paths are absolute. */
  readonly base: string | undefined;
  readonly #places: ScanPlaces;

  /** @see openScan */
  constructor(places: ScanPlaces, metrics: ScanMetrics, base: string | undefined) {
    this.folder = places.folder;
    this.metrics = metrics;
    this.base = base;
    this.#places = places;
  }

  /** How many files there are. */
  get count(): number {
    return this.metrics.summary.files;
  }

  /**
   * The files, in the order of their paths by code points.
   *
   * @throws InputError with the line of a row that is none, or where rows are missing.
   */
  async *files(): AsyncGenerator<ScannedFile> {
    const file = this.#places.scan;
    const handle = await open(file).catch((error: unknown) => {
      throw new InputError(`Cannot open "${file}": ${errorMessage(error)}`, {
        path: file,
        cause: error,
        hint: 'Scan again with --overwrite.',
      });
    });
    let count = 0;
    try {
      for await (const { bytes, number } of manifestLines(handle, file)) {
        const row = parseRow(bytes?.toString('utf8') ?? '');
        if (row === undefined) {
          const hint = 'Scan again with --overwrite.';
          throw new InputError(`Cannot read "${file}": line ${number} is no row of a scan`, {
            path: file,
            line: number,
            hint,
          });
        }
        count += 1;
        yield { ...row, filepath: path.resolve(this.base ?? '/', row.path) };
      }
    } finally {
      await handle.close();
    }
    if (count === this.count) return;
    throw new InputError(`Cannot read "${file}": it has ${count} rows, and its metrics say ${this.count}`, {
      path: file,
      hint: 'Scan again with --overwrite.',
    });
  }

  /** The files that are gone, or have changed since they were scanned, by size or time of change. */
  async *staleFiles(): AsyncGenerator<StaleFile> {
    for await (const file of this.files()) {
      const message = await findChange(file);
      if (message !== undefined) yield { path: file.path, message };
    }
  }
}

export interface OpenScanOptions {
  /** What relative paths are joined to, where the files have moved. Default: the base that the scan was made with. */
  base?: string | undefined;
}

/**
 * Opens the folder of a finished scan.
 *
 * @throws InputError where there is none, or one that is not whole.
 */
export async function openScan(folder: string, options: OpenScanOptions = {}): Promise<Scan> {
  const places = placesOf(path.resolve(folder));
  const metrics = await readMetrics(places.metrics);
  if (metrics === undefined) {
    throw new InputError(`There is no finished scan in "${folder}"`, {
      path: folder,
      hint: `Make it, or finish it, with: cutroom scan PATH --out ${folder}`,
    });
  }
  const ownBase = metrics.identity.base === null ? undefined : path.resolve(places.folder, metrics.identity.base);
  return new Scan(places, metrics, options.base === undefined ? ownBase : path.resolve(options.base));
}

/**
 * The files that a finished scan could not read, in its order.
 *
 * @throws InputError where their list cannot be read.
 */
export async function readFailures(folder: string): Promise<ScanFailure[]> {
  const file = placesOf(path.resolve(folder)).failures;
  try {
    const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as ScanFailure);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw new InputError(`Cannot read "${file}"`, { path: file, cause: error, hint: 'Scan again with --overwrite.' });
  }
}

/** How a file differs from what a scan found; undefined where it does not. */
export async function findChange({ filepath, sizeBytes, mtimeMicros }: ScannedFile): Promise<string | undefined> {
  try {
    const now = await stat(filepath);
    if (now.size !== sizeBytes) return `its size was ${sizeBytes} bytes, and is ${now.size} now`;
    if (mtimeMicrosOf(now) === mtimeMicros) return undefined;
    return `it was changed at ${timeText(mtimeMicrosOf(now))}, after the scan of what it was at ${timeText(mtimeMicros)}`;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'it is gone';
    return `it cannot be looked at: ${errorMessage(error)}`;
  }
}

function timeText(micros: number): string {
  return new Date(micros / 1000).toISOString();
}

function parseRow(text: string): Omit<ScannedFile, 'filepath'> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return isScanRow(value) ? factsOfRow(value) : undefined;
  } catch {
    // The caller tells the line.
    return undefined;
  }
}
