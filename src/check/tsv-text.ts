import { CutroomError, InputError, errorMessage } from '../errors.js';
import { manifestLines } from '../manifest/lines.js';
import { decodeUtf8 } from '../manifest/utf8.js';
import type { CheckContext } from './finding.js';
import { ReturnsNote } from './line-breaks.js';
import { throwIfCanceled } from './manifest-entries.js';
import type { ManifestReport } from './manifest-report.js';
import { openManifest, readHead } from './open-manifest.js';

/** Between two looks at the signal. */
const LINES_A_LOOK = 2000;

/** A line of a TSV. */
export interface TsvLine {
  number: number;
  /** Undefined where it is not UTF-8, which has been reported. */
  text: string | undefined;
  bytes: Buffer;
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
      if (line.number % LINES_A_LOOK === 0) throwIfCanceled(context);
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
