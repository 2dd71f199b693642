import { CutroomError, errorMessage, InputError, systemCode, UsageError } from '../errors.js';
import { manifestLines } from '../manifest/lines.js';
import { IdIndex } from '../shard/id-index.js';
import type { Tokenizer } from '../text/types.js';
import { isThere, resolveAudioPath } from './audio-path.js';
import { countExcerpts, placeExcerpts } from './excerpt-leaves.js';
import type { ItemTable, Leaf, RowFilters, TablePart } from './item-table.js';
import { findLeafFiles, type LeafFiles, type ManifestReading } from './leaf-parts.js';
import { leafWeights } from './leaf-shares.js';
import { LineFile } from './line-file.js';
import { LossCounter } from './loss-counter.js';
import { parsePlainRow, RowRefusal, type PlainRow } from './manifest-row.js';
import { readAudioPath } from './row-facts.js';
import { RowFilter } from './row-filter.js';
import { RowReader } from './row-reader.js';
import { flattenSources, type LeafSource } from './source-tree.js';
import type { SourceSpec } from './sources.js';
import { TableColumns } from './table-columns.js';

export interface OpenSourcesOptions {
  filters?: RowFilters | undefined;
  /** Fills `tokenCounts`: tokens of each row's text, or its characters where there is no tokenizer. */
  needsTokens?: boolean | undefined;
  tokenizer?: Tokenizer | undefined;
  /** Field with a row's text. Default `text`. */
  textField?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Called now and then while manifests are read, and at their end. */
  onProgress?: ((progress: SourceProgress) => void) | undefined;
}

/** How far the manifests are read. */
export interface SourceProgress {
  /** Lines that were looked at. */
  lines: number;
  /** Rows in the table so far. */
  rows: number;
  manifests: number;
  manifestCount: number;
}

/** Lines between two looks at the signal. */
const REPORT_LINES = 20_000;

/**
 * Reads the manifests of sources, and nothing else: their rows in order, without those that the filters leave out and those that are faulty,
 * which are counted. One pass, some 40 bytes a row.
 *
 * Of rows of one shard that name the same member (and, with `offset`, the same span of it) the first is taken; the others are faults. Rows that
 * name files may name one several times. Rows without a duration are counted as `no_duration` and left out.
 *
 * @throws {InputError} when files are not there (all of them are named), a manifest cannot be read, or no item is left.
 * @throws {UsageError} when the sources or filters cannot be meant.
 * @throws {OutputError} when there is no room to unpack a manifest in gzip.
 * @throws the signal's reason.
 */
export async function openSources(spec: SourceSpec, options: OpenSourcesOptions = {}): Promise<ItemTable> {
  const { filters = {}, needsTokens = false, tokenizer, textField = 'text', signal } = options;
  const { leaves: sources, root } = flattenSources(spec);
  if (tokenizer === undefined && new RowFilter(filters).needsTokens) {
    throw new UsageError('Cannot filter by tokens: there is no tokenizer', {
      hint: 'Name one, or filter by characters.',
    });
  }
  const parts: TablePart[] = [];
  const files = await findLeafFiles(sources, parts);
  const losses = new LossCounter();
  const columns = new TableColumns(needsTokens);
  const reader = new RowReader({ filters, needsTokens, tokenizer, textField }, losses);
  const progress = new ProgressMeter(files, columns, signal, options.onProgress);
  const leaves: Leaf[] = [];
  for (const [at, source] of sources.entries()) {
    const firstItem = columns.length;
    for (const reading of files[at]?.readings ?? []) {
      await readManifest(reading, source, parts, reader, losses, columns, progress);
    }
    const { name, bucket, tags } = source;
    leaves.push({ name, weight: undefined, firstItem, endItem: columns.length, bucket, tags, excerpts: undefined });
  }
  progress.finish();
  const rows = columns.take();
  const excerpts = await countExcerpts(sources, signal);
  const placed = placeExcerpts(leaves, excerpts, rows.rowCount);
  const left = losses.toLosses();
  if (placed.every(({ firstItem, endItem }) => firstItem === endItem)) throw nothingLeft(left);
  const counts = placed.map(({ firstItem, endItem }) => endItem - firstItem);
  const weights = leafWeights(root, sources, counts);
  const weighted = placed.map((leaf, at): Leaf => Object.assign(leaf, { weight: weights[at] }));
  return { ...rows, leaves: weighted, parts, left };
}

async function readManifest(
  reading: ManifestReading,
  source: LeafSource,
  parts: readonly TablePart[],
  reader: RowReader,
  losses: LossCounter,
  columns: TableColumns,
  progress: ProgressMeter,
): Promise<void> {
  const { manifestPath } = reading;
  const tags = Object.keys(source.tags).length === 0 ? undefined : source.tags;
  const namesMembers = typeof reading.parts !== 'number' || parts[reading.parts]?.tarPath !== undefined;
  const named = namesMembers ? new IdIndex() : undefined;
  let tarredRow: TarredRow | undefined;
  const handle = await LineFile.open(manifestPath).catch((error: unknown) => {
    if (error instanceof CutroomError) throw error;
    const reason = systemCode(error) === 'ENOENT' ? 'there is no such file' : errorMessage(error);
    throw new InputError(`Cannot read "${manifestPath}": ${reason}`, { path: manifestPath, cause: error });
  });
  try {
    for await (const line of manifestLines(handle, manifestPath)) {
      progress.countLine();
      const row = parsePlainRow(line);
      if (row instanceof RowRefusal) {
        losses.refuse(manifestPath, line.number, row);
        continue;
      }
      const { number, offsetBytes, lengthBytes } = line;
      const answer = reader.accept(row, number, reading, tags, named);
      const accepted = answer instanceof Promise ? await answer : answer;
      if (accepted === undefined) continue;
      if (!namesMembers && row['shard_id'] !== undefined) tarredRow ??= { row, number };
      const { durationMicros, tokenCount, part } = accepted;
      columns.push({
        durationMicros,
        tokenCount,
        part,
        lineOffsetBytes: offsetBytes,
        lineLengthBytes: lengthBytes,
        lineNumber: number,
      });
    }
  } finally {
    await handle.close();
  }
  progress.countManifest();
  if (tarredRow !== undefined) await refuseTarred(tarredRow, parts[reading.parts as number]!);
}

/** A row that has a `shard_id`, and is read as one that names a file. */
interface TarredRow {
  row: PlainRow;
  number: number;
}

/** Rows of a tarred dataset without its tars would all fail, one by one, hours later. */
async function refuseTarred({ row, number }: TarredRow, { manifestPath, audioFolder }: TablePart): Promise<void> {
  const audioPath = readAudioPath(row);
  if (audioPath instanceof RowRefusal || (await isThere(await resolveAudioPath(audioPath, audioFolder)))) return;
  const state = `its rows have a "shard_id", and ${JSON.stringify(audioPath)} is no file: they name members of tars`;
  throw new InputError(`Cannot take the rows of "${manifestPath}" for files: ${state}`, {
    path: manifestPath,
    line: number,
    hint: 'Name the tars, too: "tarred_audio_filepaths", or a source of type nemo_tarred.',
  });
}

class ProgressMeter {
  #lines = 0;
  #manifests = 0;
  readonly #manifestCount: number;
  readonly #columns: TableColumns;
  readonly #signal: AbortSignal | undefined;
  readonly #report: OpenSourcesOptions['onProgress'];

  constructor(
    files: readonly LeafFiles[],
    columns: TableColumns,
    signal: AbortSignal | undefined,
    report: OpenSourcesOptions['onProgress'],
  ) {
    this.#manifestCount = files.reduce((count, { readings }) => count + readings.length, 0);
    this.#columns = columns;
    this.#signal = signal;
    this.#report = report;
  }

  countLine(): void {
    this.#lines += 1;
    if (this.#lines % REPORT_LINES !== 0) return;
    this.#signal?.throwIfAborted();
    this.#tell();
  }

  countManifest(): void {
    this.#manifests += 1;
    this.#signal?.throwIfAborted();
  }

  finish(): void {
    this.#tell();
  }

  #tell(): void {
    this.#report?.({
      lines: this.#lines,
      rows: this.#columns.length,
      manifests: this.#manifests,
      manifestCount: this.#manifestCount,
    });
  }
}

function nothingLeft(left: ItemTable['left']): InputError {
  const reasons = Object.entries(left.reasons).map(([reason, { rows }]) => `${rows} ${reason}`);
  const [fault] = left.firstFaults;
  const state = reasons.length === 0 ? 'their manifests hold no row' : `no row is left (${reasons.join(', ')})`;
  const place = fault === undefined ? '' : `; the first fault: line ${fault.lineNumber}: ${fault.message}`;
  return new InputError(`Cannot open the sources: ${state}${place}`, {
    path: fault?.path,
    line: fault?.lineNumber,
    hint: fault?.hint ?? 'Loosen the filters, or name other sources.',
  });
}
