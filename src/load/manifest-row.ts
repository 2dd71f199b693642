import { JsonObject } from '../manifest/json-object.js';
import type { ManifestLine } from '../manifest/lines.js';
import { parseRowLine, type RowFault } from '../manifest/row-line.js';
import { decodeUtf8 } from '../manifest/utf8.js';

/** A row as plain values: what trainers take. */
export type PlainRow = Record<string, unknown>;

/**
 * The row on a line, or why there is none. Numbers are doubles here; what JSON has no word for (`NaN`, which Python writes) is taken as Python
 * does.
 */
export function parsePlainRow(line: Pick<ManifestLine, 'bytes'>): PlainRow | RowRefusal {
  const text = line.bytes === undefined ? 0 : decodeUtf8(line.bytes);
  if (typeof text === 'string') {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as PlainRow;
    } catch {
      // The scanner takes more than JSON.parse does, and says better what is wrong.
    }
  }
  const row = parseRowLine(line);
  return row instanceof JsonObject
    ? Object.fromEntries(row.keys().map((key) => [key, row.value(key)]))
    : new RowRefusal(row.reason, row.message, row.hint);
}

/** Why a row cannot be used. */
export class RowRefusal {
  readonly reason:
    | RowFault['reason']
    | 'missing_audio_filepath'
    | 'several_files'
    | 'not_a_file'
    | 'no_duration'
    | 'bad_duration'
    | 'bad_offset'
    | 'bad_text'
    | 'bad_shard_id'
    | 'duplicate_row';
  readonly message: string;
  readonly hint: string | undefined;

  constructor(reason: RowRefusal['reason'], message: string, hint?: string) {
    this.reason = reason;
    this.message = message;
    this.hint = hint;
  }
}
