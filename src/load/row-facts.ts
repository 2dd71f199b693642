import { toMicros } from '../audio/times.js';
import { RowRefusal, type PlainRow } from './manifest-row.js';
import { findForeignPlace } from './foreign-place.js';

/** Names of the field with the path, as NeMo's loaders and converters take them: the first one that is there. */
const PATH_KEYS = ['audio_filepath', 'audio_filename', 'audio_file', 'context'] as const;

/** 31 years: more is a slip. */
const MAX_SECONDS = 1e9;

/** Path of the audio of a row, or name of its member, as the row spells it. */
export function readAudioPath(row: PlainRow): string | RowRefusal {
  const key = PATH_KEYS.find((name) => row[name] !== undefined);
  if (key === undefined) {
    const hint = 'write {"audio_filepath": …, "duration": …, "text": …}';
    return new RowRefusal('missing_audio_filepath', 'the row has no "audio_filepath"', hint);
  }
  const value = row[key];
  if (Array.isArray(value)) {
    const hint = 'mix the channels into one file first';
    return new RowRefusal('several_files', `"${key}" is a list: an item has one file`, hint);
  }
  if (typeof value !== 'string' || value.trim() === '') {
    return new RowRefusal('missing_audio_filepath', `"${key}" names no file`);
  }
  const foreign = findForeignPlace(value);
  if (foreign === undefined) return value;
  return new RowRefusal('not_a_file', `"${key}" is ${foreign.what}: ${foreign.refusal}`, foreign.hint);
}

/** Of a row, whole microseconds. */
export function readDurationMicros(row: PlainRow): number | RowRefusal {
  const { duration } = row;
  if (duration === undefined || duration === null) {
    const hint = 'give it its seconds; "cutroom build" measures rows that have none';
    return new RowRefusal('no_duration', 'the row has no "duration"', hint);
  }
  if (typeof duration === 'number' && duration > 0 && duration <= MAX_SECONDS) {
    const micros = toMicros(duration);
    if (micros > 0) return micros;
  }
  return new RowRefusal('bad_duration', `"duration" is ${shorten(duration)}, and must be seconds above 0`);
}

/** Where a row begins in its audio, whole microseconds; undefined where it says nothing: then it means all of the audio. */
export function readOffsetMicros(row: PlainRow): number | undefined | RowRefusal {
  const { offset } = row;
  if (offset === undefined || offset === null) return undefined;
  if (typeof offset === 'number' && offset >= 0 && offset <= MAX_SECONDS) return toMicros(offset);
  return new RowRefusal('bad_offset', `"offset" is ${shorten(offset)}, and must be seconds from 0 on`);
}

/** The text of a row: its field, else that of its segments as `cut` writes them, else `normalized_text`, else none. */
export function readText(row: PlainRow, field: string): string | RowRefusal {
  const value = row[field];
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value !== undefined && value !== null) {
    return new RowRefusal('bad_text', `"${field}" is ${shorten(value)}, and must be a text`);
  }
  const ofSegments = Array.isArray(row['segments']) ? joinSegments(row['segments']) : '';
  if (ofSegments !== '') return ofSegments;
  if (typeof row['normalized_text'] === 'string') return row['normalized_text'];
  if (row['text_filepath'] === undefined || row['text_filepath'] === null) return '';
  const hint = `put the text into "${field}"`;
  return new RowRefusal('bad_text', 'the text stands in a file of its own ("text_filepath")', hint);
}

function joinSegments(segments: readonly unknown[]): string {
  const texts = segments.map((segment) => {
    const text: unknown = typeof segment === 'object' && segment !== null && 'text' in segment ? segment.text : '';
    return typeof text === 'string' ? text.trim() : '';
  });
  return texts.filter((text) => text !== '').join(' ');
}

/** Whether NeMo passes over a row: `_skipme` is there and true in the sense of Python. */
export function isSkipped(row: PlainRow): boolean {
  const mark = row['_skipme'];
  if (mark === undefined || mark === null) return false;
  if (Array.isArray(mark)) return mark.length > 0;
  return typeof mark === 'object' ? Object.keys(mark).length > 0 : Boolean(mark);
}

/** Code points of a text. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at += 1) {
    const isHigh = (text.charCodeAt(at) & 0xfc00) === 0xd800;
    if (isHigh && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      count -= 1;
      at += 1;
    }
  }
  return count;
}

function shorten(value: unknown): string {
  // JSON has no word for NaN and Infinity, which Python writes into rows.
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}
