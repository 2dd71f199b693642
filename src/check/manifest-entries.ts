import { CanceledError, CutroomError, InputError, errorMessage } from '../errors.js';
import { manifestLines, type ManifestLine } from '../manifest/lines.js';
import { parseRowLine } from '../manifest/row-line.js';
import { decodeUtf8 } from '../manifest/utf8.js';
import type { CheckContext } from './finding.js';
import { jsonObjects, splitObjects, type JsonPiece } from './json-objects.js';
import { ReturnsNote } from './line-breaks.js';
import type { ManifestReport } from './manifest-report.js';
import { openManifest, readHead, type ManifestHead, type OpenManifest } from './open-manifest.js';
import { ScannedRow } from './scanned-row.js';

/** One row of a manifest, or what stands in the place of one. */
export interface ManifestEntry {
  /** 1-based. */
  line: number;
  /** The row; undefined where it is none. What is wrong with it has been reported. */
  row: ScannedRow | undefined;
  /** What stands in the file, without line break; valid until the next entry is asked for. */
  bytes: Buffer;
}

export interface EntryOptions {
  context: CheckContext;
  /** Where faults are told; left out where they were told before. */
  report?: ManifestReport | undefined;
  /** A blank line between rows is a fault. */
  reportsBlankLines?: boolean;
}

/** How many rows are read between two looks at the signal. */
const ROWS_A_LOOK = 1024;

/**
 * The rows of a JSONL manifest, and of files that should be one: a JSON array, pretty-printed JSON, several objects on a line. Reports what
 * is wrong with the text of the file.
 *
 * @throws InputError when the file cannot be read to its end
 */
export async function* manifestEntries(path: string, options: EntryOptions): AsyncGenerator<ManifestEntry> {
  const { context, report } = options;
  const head = await readHead(path);
  if (head.hasByteOrderMark) {
    report?.add('byte_order_mark', 1, 'a byte order mark stands before the first row: JSON readers refuse the row');
  }
  const layout = layoutOf(head);
  const manifest = await openManifest(path);
  try {
    if (layout === 'lines') {
      const entries = lineEntries(manifestLines(manifest.handle, path), manifest, options);
      for await (const entry of entries) {
        if (entry.line % ROWS_A_LOOK === 0) throwIfCanceled(context);
        yield entry;
      }
      return;
    }
    if (layout === 'array') report?.add('json_array', 1, 'the file is one JSON array: readers want one object a line');
    else report?.add('pretty_printed', 1, 'the JSON is pretty-printed: readers want one object a line');
    for await (const piece of jsonObjects(manifest.handle, path)) {
      if (piece.line % ROWS_A_LOOK === 0) throwIfCanceled(context);
      yield entryOfPiece(piece, report);
    }
  } catch (error) {
    if (error instanceof CutroomError) throw error;
    throw new InputError(`Cannot read "${path}": ${errorMessage(error)}`, { path, cause: error });
  } finally {
    await manifest.close();
  }
}

/** How rows are laid out over lines. */
export type ManifestLayout = 'lines' | 'array' | 'pretty';

/** Tells it by the first bytes. */
export function layoutOf({ bytes, hasByteOrderMark }: ManifestHead): ManifestLayout {
  const text = bytes
    .subarray(hasByteOrderMark ? 3 : 0)
    .toString('utf8')
    .trimStart();
  const firstLine = text.split('\n', 1)[0] ?? '';
  if (text.startsWith('[')) return /^\[\s*(?:\{|\]|$)/u.test(firstLine.trimEnd()) ? 'array' : 'lines';
  if (!text.startsWith('{') || firstLine.length === text.length) return 'lines';
  if (ScannedRow.scan(firstLine) !== undefined) return 'lines';
  // The first line breaks off where a value, a key or an element follows, and one does.
  const lastMark = firstLine.trimEnd().at(-1) ?? '';
  const next = text
    .slice(firstLine.length + 1)
    .trimStart()
    .charAt(0);
  const goesOn = '[:'.includes(lastMark) ? /["{}[\]\dtfn-]/u.test(next) : '{,'.includes(lastMark) && /["}]/u.test(next);
  return goesOn ? 'pretty' : 'lines';
}

async function* lineEntries(
  lines: AsyncIterable<ManifestLine>,
  { sizeBytes, isCompressed }: Pick<OpenManifest, 'sizeBytes' | 'isCompressed'>,
  { report, reportsBlankLines = false }: EntryOptions,
): AsyncGenerator<ManifestEntry> {
  const returns = new ReturnsNote(report);
  let lastNumber: number | undefined;
  for await (const line of lines) {
    returns.next(line);
    if (reportsBlankLines && lastNumber !== undefined && line.number > lastNumber + 1) {
      const message = "a blank line stands between rows: NeMo's converter of 2025 ends there";
      report?.add('blank_line', lastNumber + 1, message);
    }
    lastNumber = line.number;
    yield* entriesOfLine(line, report);
  }
  if (!isCompressed) returns.end(sizeBytes);
}

function* entriesOfLine(line: ManifestLine, report: ManifestReport | undefined): Generator<ManifestEntry> {
  const { number, bytes } = line;
  if (bytes === undefined) {
    throw new InputError(`Line ${number} of the manifest is too long for a row`, { line: number });
  }
  const text = decodeUtf8(bytes);
  const row = typeof text === 'string' ? ScannedRow.scan(text) : undefined;
  if (row !== undefined) {
    yield { line: number, row, bytes };
    return;
  }
  const pieces = typeof text === 'string' && /[}\]]\s*,?\s*\{/u.test(text) ? splitObjects(bytes, number) : [];
  const entries = pieces.map((piece) => entryOfPiece(piece, undefined));
  if (entries.length > 1 && entries.every(({ row: part }) => part !== undefined)) {
    report?.add(
      'several_objects',
      number,
      `${entries.length} objects stand on one line: readers want one object a line`,
    );
    yield* entries;
    return;
  }
  reportFault(bytes, number, report);
  yield { line: number, row: undefined, bytes };
}

function entryOfPiece(piece: JsonPiece, report: ManifestReport | undefined): ManifestEntry {
  const { line, bytes } = piece;
  const text = piece.kind === 'object' ? decodeUtf8(bytes) : undefined;
  const row = typeof text === 'string' ? ScannedRow.scan(text) : undefined;
  if (row === undefined) reportFault(bytes, line, report);
  return { line, row, bytes };
}

function reportFault(bytes: Buffer, line: number, report: ManifestReport | undefined): void {
  if (report === undefined) return;
  const fault = parseRowLine({ bytes });
  if (!('reason' in fault)) throw new TypeError(`line ${line} was refused and is a row`);
  report.add(fault.reason, line, fault.message, { column: fault.column, hint: fault.hint });
}

/** @throws CanceledError when the caller wants an end */
export function throwIfCanceled({ signal }: Pick<CheckContext, 'signal'>): void {
  if (signal.aborted) throw new CanceledError('The check was stopped', { cause: signal.reason });
}
