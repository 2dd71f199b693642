import path from 'node:path';
import { CutroomError, InputError, errorMessage } from '../errors.js';
import { manifestLines } from '../manifest/lines.js';
import { decodeUtf8 } from '../manifest/utf8.js';
import { AudioFiles, spanOf } from './audio-files.js';
import { resolvePlainPath } from './audio-path-rules.js';
import type { AudioSpan, CheckContext, PathFacts } from './finding.js';
import { ReturnsNote } from './line-breaks.js';
import { throwIfCanceled } from './manifest-entries.js';
import { ManifestReport } from './manifest-report.js';
import { openManifest, readHead } from './open-manifest.js';
import { isHeaderLine, TsvLines } from './tsv-lines.js';

const SECONDS_AN_HOUR = 3600;
const ROWS_A_NOTE = 2000;

/** A line of a TSV. */
export interface TsvLine {
  number: number;
  /** Undefined where it is not UTF-8, which has been reported. */
  text: string | undefined;
  bytes: Buffer;
}

/** Checks a TSV of utterances. */
export async function checkTsv(filePath: string, context: CheckContext): Promise<PathFacts> {
  const report = new ManifestReport(filePath, context);
  const checker = new TsvLines(report);
  const files = filesOf(filePath, report, context);
  let rows = 0;
  for await (const { text, number } of tsvLines(filePath, context, report)) {
    if (rows === 0 && text !== undefined && isHeaderLine(text.split('\t'))) {
      report.add('header_line', number, 'the first line names columns');
      continue;
    }
    rows += 1;
    if (rows % ROWS_A_NOTE === 0) context.onProgress({ path: filePath, stage: 'read', items: rows });
    const use = text === undefined ? undefined : checker.check(text, number);
    if (use !== undefined) files.check(use);
  }
  return {
    kind: 'tsv',
    rows,
    hours: checker.seconds / SECONDS_AN_HOUR,
    notes: context.settings.deep ? [] : files.notes(),
  };
}

/** The spans of audio that a TSV names, for checks that decode. */
export async function* tsvSpans(filePath: string, context: CheckContext): AsyncGenerator<AudioSpan> {
  const silent: CheckContext = { ...context, report: () => undefined };
  const report = new ManifestReport(filePath, silent);
  const checker = new TsvLines(report);
  const files = filesOf(filePath, report, silent);
  for await (const { text, number } of tsvLines(filePath, silent)) {
    if (text === undefined || (number === 1 && isHeaderLine(text.split('\t')))) continue;
    const use = checker.check(text, number);
    const audioPath = use === undefined ? undefined : files.check(use);
    if (use !== undefined && audioPath !== undefined) yield spanOf(use, audioPath, filePath);
  }
}

/** The lines of a TSV that are not blank. Reports what is wrong with the text of the file. */
export async function* tsvLines(
  filePath: string,
  context: CheckContext,
  report?: ManifestReport,
): AsyncGenerator<TsvLine> {
  const { hasByteOrderMark } = await readHead(filePath);
  if (hasByteOrderMark) {
    report?.add(
      'byte_order_mark',
      1,
      'a byte order mark stands before the first id: programs take it for a part of it',
    );
  }
  const manifest = await openManifest(filePath);
  try {
    const crlf = new ReturnsNote(report);
    for await (const line of manifestLines(manifest.handle, filePath)) {
      if (line.number % ROWS_A_NOTE === 0) throwIfCanceled(context);
      crlf.next(line);
      if (line.bytes === undefined) throw new InputError(`Line ${line.number} of "${filePath}" is too long for a row`);
      const text = decodeUtf8(line.bytes);
      if (typeof text === 'number') {
        report?.add('invalid_utf8', line.number, 'the line holds a byte that is not UTF-8', { column: text });
      }
      yield { number: line.number, text: typeof text === 'string' ? text : undefined, bytes: line.bytes };
    }
    if (!manifest.isCompressed) crlf.end(manifest.sizeBytes);
  } catch (error) {
    if (error instanceof CutroomError) throw error;
    throw new InputError(`Cannot read "${filePath}": ${errorMessage(error)}`, { path: filePath, cause: error });
  } finally {
    await manifest.close();
  }
}

function filesOf(filePath: string, report: ManifestReport, { settings }: CheckContext): AudioFiles {
  const folder = settings.base ?? path.dirname(filePath);
  return new AudioFiles({ report, resolve: (audioPath) => resolvePlainPath(audioPath, folder) });
}
