import path from 'node:path';
import { removeOtherIndexes } from '../audio/index-folder.js';
import { CanceledError, CutroomError, InputError } from '../errors.js';
import { ensureFolder, removeFile, removeFolder, writeFileAtomic } from '../run/atomic-file.js';
import { BagWriter } from './bagz.js';
import { EarlierScan } from './earlier-scan.js';
import { BAG_NAME, MANIFEST_NAME, writeManifest } from './lufs-cache.js';
import type { CachedFile } from './lufs-cache.js';
import { findNames, identityOf } from './scan-inputs.js';
import { clearWork, finishPublishing, lockScan, movePublished } from './scan-places.js';
import { FAILURES_NAME, METRICS_NAME, placesOf, SCAN_NAME } from './scan-files.js';
import type { ScanPlaces } from './scan-files.js';
import type { FileOutcome } from './scan-job.js';
import { ScanJournal, type JournalRow } from './scan-journal.js';
import { formatMetrics } from './scan-metrics.js';
import type { ScanIdentity, ScanSummary } from './scan-metrics.js';
import { resolveScanOptions } from './scan-options.js';
import type { ResolvedScanOptions, ScanOptions } from './scan-options.js';
import { readFiles } from './scan-reading.js';
import { factsOfRow, rowOf } from './scan-row.js';
import { ScanTable } from './scan-table.js';
import type { ScanFailure } from './scan-types.js';
import { Spool } from './spool.js';
import { summarize } from './summarize.js';

/** How far a scan is. */
export type ScanProgress =
  | { stage: 'find'; files: number }
  | { stage: 'read'; files: number; totalFiles: number; failed: number; hours: number; seconds: number }
  | { stage: 'publish' };

/** What `scan` is given beside its options. */
export interface ScanContext {
  /** Stops the work; what was read is kept, and the same scan goes on from there. */
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: ScanProgress) => void) | undefined;
  /** Takes each file that cannot be read, as it is met. */
  onFailure?: ((failure: ScanFailure) => void) | undefined;
  /** Takes what is to be said of kept indexes: that one is of no use and made anew, or that they cannot be kept. */
  onNotice?: ((message: string) => void) | undefined;
  isProcessAlive?: ((pid: number) => boolean) | undefined;
}

/** What came of a scan. */
export interface ScanResult {
  /** `unchanged`: all is as an earlier scan found it, and nothing was written. */
  kind: 'scanned' | 'unchanged';
  summary: ScanSummary;
  /** Files read by this run. */
  readFiles: number;
  /** Of them, those that an earlier scan knew otherwise. */
  changedFiles: number;
  /** Files that an earlier scan, or an earlier try, had read and that are as they were. */
  keptFiles: number;
  /** Whether there was one to compare with. */
  hasEarlier: boolean;
  /** Files of an earlier scan that are no longer there. */
  removedFiles: number;
  /** Long compressed files whose index was made by this run. */
  indexedFiles: number;
  /** Absolute paths. */
  outputs: { folder: string; scan: string; failures: string; metrics: string };
  /** The first of each reason, in the order of the paths. */
  firstFailures: readonly ScanFailure[];
  /** Wall time. */
  seconds: number;
}

/**
 * Finds audio files and reads what they are: exact length, rate, channels, size and, where asked for, loudness by windows. A scan that was
 * stopped goes on where it was, and a later one reads only what has changed since.
 *
 * @throws UsageError, InputError, OutputError, CanceledError; RangeError for an option out of its range
 */
export async function scan(options: ScanOptions, context: ScanContext = {}): Promise<ScanResult> {
  const startMs = performance.now();
  const resolved = resolveScanOptions(options);
  const { signal } = context;
  try {
    const onFiles = (files: number): void => context.onProgress?.({ stage: 'find', files });
    const names = await findNames(resolved, { signal, onFiles });
    return await runScan(resolved, { identity: identityOf(resolved), names, take: undefined }, context, startMs);
  } catch (error) {
    if (signal?.aborted !== true || error instanceof CutroomError) throw error;
    throw new CanceledError('The scan was stopped; the same command goes on from there', { cause: error });
  }
}

/** Takes what others read of the files of a scan. */
export interface ScanSink {
  row(row: JournalRow): void;
  fail(failure: ScanFailure): void;
}

/** A scan whose files were read elsewhere. */
export interface ReadScan {
  identity: ScanIdentity;
  /** All files, as the scan holds them. */
  names: readonly string[];
  /** Hands over what was read. What it does not tell of is as an earlier scan in the folder has it. */
  take(sink: ScanSink): Promise<void>;
}

/**
 * Writes the results of a scan whose files were read elsewhere: the same as `scan` does.
 *
 * @throws InputError when something is missing; as `scan`
 */
export async function writeScan(
  options: ResolvedScanOptions,
  parts: ReadScan,
  context: ScanContext,
): Promise<ScanResult> {
  return await runScan(options, parts, context, performance.now());
}

type ScanParts = Omit<ReadScan, 'take'> & { take: ReadScan['take'] | undefined };

async function runScan(
  options: ResolvedScanOptions,
  parts: ScanParts,
  context: ScanContext,
  startMs: number,
): Promise<ScanResult> {
  const run = await ScanRun.prepare(options, parts, context);
  try {
    const result = await run.execute(startMs);
    return { ...result, seconds: (performance.now() - startMs) / 1000 };
  } finally {
    await run.close();
  }
}

class ScanRun {
  readonly #options: ResolvedScanOptions;
  readonly #context: ScanContext;
  readonly #places: ScanPlaces;
  readonly #identity: ScanIdentity;
  readonly #table: ScanTable;
  readonly #take: ReadScan['take'] | undefined;
  readonly #release: () => Promise<void>;
  #readFiles = 0;
  #changedFiles = 0;
  #keptFiles = 0;
  #doneFiles = 0;
  #indexedFiles = 0;
  /** Rows that an earlier scan does not have, or has otherwise. */
  #newRows = 0;
  #readSeconds = 0;

  private constructor(
    options: ResolvedScanOptions,
    { identity, names, take }: ScanParts,
    context: ScanContext,
    release: () => Promise<void>,
  ) {
    this.#options = options;
    this.#context = context;
    this.#places = placesOf(options.out);
    this.#identity = identity;
    this.#table = new ScanTable(names);
    this.#take = take;
    this.#release = release;
  }

  /** Takes the lock of the results' folder. */
  static async prepare(options: ResolvedScanOptions, parts: ScanParts, context: ScanContext): Promise<ScanRun> {
    const { workFolder } = placesOf(options.out);
    const release = await lockScan(workFolder, context);
    return new ScanRun(options, parts, context, release);
  }

  async execute(startMs: number): Promise<Omit<ScanResult, 'seconds'>> {
    const { journal: journalPath, spool: spoolPath } = this.#places;
    await finishPublishing(this.#places);
    const earlier = await EarlierScan.open(this.#places, this.#identity, this.#options.overwrite);
    if (this.#options.overwrite) await removeFile(journalPath);
    using spool = new Spool(spoolPath);
    const removedFiles = (await earlier?.load(this.#table, spool)) ?? 0;
    const { base, loudness } = this.#identity;
    const journal = await ScanJournal.open(journalPath, { base, loudness }, ({ row, windows }) => {
      const index = this.#table.find(row.path);
      if (index === undefined) return;
      const facts = factsOfRow(row);
      this.#newRows += 1;
      this.#table.set(index, facts, facts.loudness, windows === undefined ? undefined : spool.add(windows));
    });
    try {
      if (this.#take === undefined) await this.#read(spool, journal, startMs);
      else await this.#takeRead(this.#take, spool);
      const summary = summarize(this.#table, this.#options.loudness !== undefined);
      const isSame = this.#newRows === 0 && removedFiles === 0;
      const unreadable = failuresInOrder(this.#table);
      const isUnchanged = isSame && ((await earlier?.isSame(this.#identity, this.#keptFiles, unreadable)) ?? false);
      if (!isUnchanged) await this.#publish(spool, journal, summary);
      removeOtherIndexes(this.#places.indexes, filepathsOf(this.#table, this.#options.base));
      const { folder, scan: scanFile, failures, metrics } = this.#places;
      await journal.close();
      await clearWork(this.#places);
      return {
        kind: isUnchanged ? 'unchanged' : 'scanned',
        summary,
        readFiles: this.#readFiles,
        changedFiles: this.#changedFiles,
        keptFiles: this.#keptFiles,
        hasEarlier: earlier !== undefined,
        removedFiles,
        indexedFiles: this.#indexedFiles,
        outputs: { folder, scan: scanFile, failures, metrics },
        firstFailures: firstOfEachReason(this.#table),
      };
    } finally {
      await journal.close();
    }
  }

  async close(): Promise<void> {
    await this.#release();
  }

  async #read(spool: Spool, journal: ScanJournal, startMs: number): Promise<void> {
    const { jobs, silenceMs, loudness } = this.#options;
    const table = this.#table;
    await readFiles({
      table,
      base: this.#options.base ?? '/',
      loudness,
      indexFolder: this.#places.indexes,
      jobs,
      silenceMs,
      signal: this.#context.signal,
      onOutcome: async (index, outcome) => {
        await this.#note(index, outcome, spool, journal);
        this.#doneFiles += 1;
        this.#context.onProgress?.({
          stage: 'read',
          files: this.#doneFiles,
          totalFiles: table.count,
          failed: table.failures.size,
          hours: this.#readSeconds / 3600,
          seconds: (performance.now() - startMs) / 1000,
        });
      },
    });
  }

  /** Takes what others read in place of reading it. */
  async #takeRead(take: ReadScan['take'], spool: Spool): Promise<void> {
    const table = this.#table;
    const isNew = new Uint8Array(table.count);
    const indexOf = (name: string): number => {
      const index = table.find(name);
      if (index === undefined) throw new InputError(`Cannot take "${name}": it is no file of the scan`, { path: name });
      return index;
    };
    await take({
      row: ({ row, windows }) => {
        const index = indexOf(row.path);
        const known = table.factsOf(index);
        this.#readFiles += 1;
        const before = known === undefined ? undefined : rowOf(row.path, known, table.loudnessOf(index));
        if (JSON.stringify(before) === JSON.stringify(row)) return;
        if (before !== undefined) this.#changedFiles += 1;
        isNew[index] = 1;
        const facts = factsOfRow(row);
        table.set(index, facts, facts.loudness, windows === undefined ? undefined : spool.add(windows));
      },
      fail: (failure) => {
        this.#readFiles += 1;
        table.fail(indexOf(failure.path), failure);
        this.#context.onFailure?.(failure);
      },
    });
    for (let index = 0; index < table.count; index += 1) {
      if (table.factsOf(index) !== undefined) {
        if (isNew[index] === 1) this.#newRows += 1;
        else this.#keptFiles += 1;
      } else if (!table.failures.has(index)) {
        throw new InputError(`Cannot end the scan: nothing is known of "${table.pathOf(index)}"`, {
          path: table.pathOf(index),
          hint: 'An earlier scan that knew it is gone from the folder of the results: plan anew in another folder.',
        });
      }
    }
  }

  async #note(index: number, outcome: FileOutcome, spool: Spool, journal: ScanJournal): Promise<void> {
    const table = this.#table;
    if (outcome.kind !== 'failed') {
      if (outcome.index?.isMade === true) this.#indexedFiles += 1;
      for (const message of outcome.index?.notices ?? []) this.#context.onNotice?.(message);
    }
    if (outcome.kind === 'unchanged') {
      this.#keptFiles += 1;
      return;
    }
    this.#readFiles += 1;
    if (table.factsOf(index) !== undefined) this.#changedFiles += 1;
    const name = table.pathOf(index);
    if (outcome.kind === 'failed') {
      const { reason, message, hint } = outcome;
      const failure = { path: name, reason, message, ...(hint === undefined ? {} : { hint }) };
      table.fail(index, failure);
      this.#context.onFailure?.(failure);
      return;
    }
    const { facts, loudness, windows } = outcome;
    this.#readSeconds += facts.frames / facts.sampleRate;
    this.#newRows += 1;
    table.set(index, facts, loudness, windows === undefined ? undefined : spool.add(windows));
    await journal.add({ row: rowOf(name, facts, loudness), windows });
  }

  /** Writes all new files whole, then moves them to their places, the metrics last. */
  async #publish(spool: Spool, journal: ScanJournal, summary: ScanSummary): Promise<void> {
    this.#context.onProgress?.({ stage: 'publish' });
    const { newFolder } = this.#places;
    const { loudness } = this.#options;
    const table = this.#table;
    await removeFolder(newFolder);
    await ensureFolder(newFolder);
    await writeFileAtomic(path.join(newFolder, SCAN_NAME), async (write) => {
      for (let index = 0; index < table.count; index += 1) {
        const facts = table.factsOf(index);
        if (facts === undefined) continue;
        await write(`${JSON.stringify(rowOf(table.pathOf(index), facts, table.loudnessOf(index)))}\n`);
      }
    });
    await writeFileAtomic(path.join(newFolder, FAILURES_NAME), async (write) => {
      for (const failure of failuresInOrder(table)) await write(`${JSON.stringify(failure)}\n`);
    });
    if (loudness !== undefined) {
      await writeFileAtomic(path.join(newFolder, BAG_NAME), async (write) => {
        const bag = new BagWriter(write);
        for (let index = 0; index < table.count; index += 1) {
          const place = table.spoolPlaceOf(index);
          if (table.factsOf(index) !== undefined && place !== undefined) await bag.add(spool.read(place));
        }
        await bag.finish();
      });
      await writeFileAtomic(path.join(newFolder, MANIFEST_NAME), (write) =>
        writeManifest(write, loudness, () => cachedFiles(table)),
      );
    }
    await writeFileAtomic(path.join(newFolder, METRICS_NAME), (write) =>
      write(formatMetrics({ identity: this.#identity, summary })),
    );
    await journal.markPublishing();
    await movePublished(this.#places);
  }
}

function* filepathsOf(table: ScanTable, base: string | undefined): Generator<string> {
  for (let index = 0; index < table.count; index += 1) yield path.resolve(base ?? '/', table.pathOf(index));
}

function* cachedFiles(table: ScanTable): Generator<CachedFile> {
  for (let index = 0; index < table.count; index += 1) {
    const facts = table.factsOf(index);
    if (facts === undefined) continue;
    const { frames, sampleRate, sizeBytes } = facts;
    yield { path: table.pathOf(index), durationSeconds: frames / sampleRate, sizeBytes };
  }
}

function failuresInOrder(table: ScanTable): ScanFailure[] {
  return [...table.failures].toSorted(([a], [b]) => a - b).map(([, failure]) => failure);
}

function firstOfEachReason(table: ScanTable): ScanFailure[] {
  const first = new Map<string, ScanFailure>();
  for (const failure of failuresInOrder(table)) if (!first.has(failure.reason)) first.set(failure.reason, failure);
  return [...first.values()];
}
