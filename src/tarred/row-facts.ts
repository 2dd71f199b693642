import type { JsonObject } from '../manifest/json-object.js';
import { memberNameFault } from '../tar/member-name.js';

/** The span of a row in its audio. */
export interface RowTimes {
  /** NaN for null: all of the audio. */
  durationSeconds: number;
  /** NaN where the row says nothing. */
  offsetSeconds: number;
}

/** Why a row cannot be used. */
export interface RowRefusal {
  reason:
    | 'missing_audio_filepath'
    | 'several_files'
    | 'bad_audio_filepath'
    | 'missing_duration'
    | 'bad_duration'
    | 'bad_offset';
  message: string;
  hint?: string;
}

/** Names of the field with the path, as NeMo's loaders and converters take them, the first one that is there. */
const PATH_KEYS = ['audio_filepath', 'audio_filename', 'audio_file', 'context'] as const;

/** 31 years: more is a slip. */
const MAX_SECONDS = 1e9;

/** The field that holds a row's path; undefined where there is none. */
export function pathKeyOf(row: JsonObject): string | undefined {
  return PATH_KEYS.find((key) => row.has(key));
}

/** The path of a row of a NeMo manifest, or why it has none. */
export function readAudioPath(row: JsonObject): string | RowRefusal {
  const key = pathKeyOf(row);
  if (key === undefined) {
    const message = 'the row has no "audio_filepath"';
    return { reason: 'missing_audio_filepath', message, hint: 'write {"audio_filepath": …, "duration": …, "text": …}' };
  }
  const kind = row.kind(key);
  if (kind === 'array') {
    const message = `"${key}" is a list: a row of a tarred dataset has one file`;
    return { reason: 'several_files', message, hint: 'mix the channels into one file first' };
  }
  const audioPath = kind === 'string' ? (row.value(key) as string) : '';
  if (audioPath.trim() === '') return { reason: 'missing_audio_filepath', message: `"${key}" names no file` };
  return audioPath;
}

/** Why a path cannot be that of a file that becomes a member, or undefined where it can. */
export function checkAudioPath(audioPath: string): RowRefusal | undefined {
  const fault = audioPath.endsWith('/') ? 'it ends in "/"' : memberNameFault(audioPath.replaceAll(/[/.]/gu, '_'));
  if (fault === undefined) return undefined;
  return { reason: 'bad_audio_filepath', message: `${JSON.stringify(audioPath)} is no path of a file: ${fault}` };
}

/** Duration and offset of a row, or what is wrong with them. */
export function readRowTimes(row: JsonObject): RowTimes | RowRefusal {
  const durationSeconds = readDuration(row);
  if (typeof durationSeconds !== 'number') return durationSeconds;
  const offsetSeconds = readOffset(row);
  return typeof offsetSeconds === 'number' ? { durationSeconds, offsetSeconds } : offsetSeconds;
}

function readDuration(row: JsonObject): number | RowRefusal {
  const raw = row.raw('duration');
  if (raw === undefined) {
    const hint = 'give its seconds, or null for all of the audio';
    return { reason: 'missing_duration', message: 'the row has no "duration"', hint };
  }
  if (raw === 'null') return Number.NaN;
  const seconds = row.kind('duration') === 'number' ? Number(raw) : Number.NaN;
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds;
  return { reason: 'bad_duration', message: `"duration" is ${shorten(raw)}, and must be seconds above 0` };
}

function readOffset(row: JsonObject): number | RowRefusal {
  const raw = row.raw('offset');
  if (raw === undefined || raw === 'null') return Number.NaN;
  const seconds = row.kind('offset') === 'number' ? Number(raw) : Number.NaN;
  // Adding 0 makes 0 of -0, which would be part of a name.
  if (seconds >= 0 && seconds <= MAX_SECONDS) return seconds + 0;
  return { reason: 'bad_offset', message: `"offset" is ${shorten(raw)}, and must be seconds from 0 on` };
}

function shorten(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}
