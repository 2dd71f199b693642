import { parseJsonObject, type JsonObject } from './json-object.js';
import type { ManifestLine } from './lines.js';
import { decodeUtf8 } from './utf8.js';

/** Why a line holds no row. */
export interface RowFault {
  reason: 'invalid_json' | 'invalid_utf8' | 'not_an_object';
  message: string;
  hint?: string | undefined;
  /** 1-based, in characters. */
  column?: number | undefined;
}

/** The row on a line, or why there is none. */
export function parseRowLine(line: Pick<ManifestLine, 'bytes'>): JsonObject | RowFault {
  if (line.bytes === undefined)
    return { reason: 'invalid_json', message: 'the line is too long for a row', hint: 'write one object a line' };
  const text = decodeUtf8(line.bytes);
  if (typeof text === 'number') {
    const message = 'the line holds a byte that is not UTF-8';
    return { reason: 'invalid_utf8', message, column: text, hint: 'convert the manifest to UTF-8' };
  }
  return parseJsonObject(text);
}
