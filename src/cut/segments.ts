import { JsonObject, kindOfJson } from '../manifest/json-object.js';
import { stripText } from './segment-text.js';
import { toMicros } from '../audio/times.js';

/** A segment of a row with times that can be used. */
export interface Segment {
  /** 0-based position in the row's `segments`. */
  position: number;
  object: JsonObject;
  /** As in the manifest; names are made of them. */
  startSeconds: number;
  endSeconds: number;
  /** What times are compared by. */
  startMicros: number;
  endMicros: number;
  /** Stripped; empty where the segment has none. */
  text: string;
  /** False where `words` is absent, null, empty, zero or false. */
  hasWords: boolean;
}

/** What is wrong with one segment. */
export interface SegmentFault {
  reason: 'bad_segment' | 'bad_times' | 'bad_text';
  /** 0-based position in the row's `segments`. */
  position: number;
  message: string;
}

/** The `segments` of one row. */
export interface SegmentList {
  /** How many elements there are, usable or not. */
  inSegments: number;
  /**
   * From the earliest start to the latest end of all segments with finite times; 0 where there are none. A figure to report, not to compare:
   * taken from the times as they are written, so that it is the reference's to the last digit.
   */
  inDurationSeconds: number;
  /** Those with usable times, in the order of the row. */
  segments: Segment[];
  /** How many were left out for their times, or for not being an object. */
  badTimes: number;
}

/**
 * Reads the segments of a row. A segment whose times cannot be used is left out and reported; one whose text cannot be used counts as
 * one without text and is reported.
 *
 * @returns undefined where the row's `segments` is missing or of a type that holds none
 */
export function readSegments(row: JsonObject, onFault?: (fault: SegmentFault) => void): SegmentList | undefined {
  const items = listSegments(row);
  if (items === undefined) return undefined;
  const list: SegmentList = { inSegments: items.length, inDurationSeconds: 0, segments: [], badTimes: 0 };
  let earliest = Infinity;
  let latest = -Infinity;
  for (const [position, item] of items.entries()) {
    if (typeof item === 'string') {
      onFault?.({ reason: 'bad_segment', position, message: `the segment is ${nameKind(item)}, not an object` });
      continue;
    }
    const start = readTime(item, 'start');
    const end = readTime(item, 'end');
    if (typeof start === 'string' || typeof end === 'string') {
      onFault?.({ reason: 'bad_times', position, message: typeof start === 'string' ? start : String(end) });
      continue;
    }
    const startMicros = toMicros(start);
    const endMicros = toMicros(end);
    earliest = Math.min(earliest, start);
    latest = Math.max(latest, end);
    if (endMicros < startMicros) {
      onFault?.({ reason: 'bad_times', position, message: `the end ${end} lies before the start ${start}` });
      continue;
    }
    if (endMicros <= 0) {
      onFault?.({ reason: 'bad_times', position, message: `the end ${end} does not lie after the recording's start` });
      continue;
    }
    const text = readText(item);
    if (text === undefined) {
      const kind = nameKind(item.raw('text') ?? '');
      onFault?.({ reason: 'bad_text', position, message: `the text is ${kind}, not a string; it counts as empty` });
    }
    list.segments.push({
      position,
      object: item,
      startSeconds: start,
      endSeconds: end,
      startMicros,
      endMicros,
      text: text ?? '',
      hasWords: hasWords(item),
    });
  }
  list.badTimes = items.length - list.segments.length;
  list.inDurationSeconds = latest === -Infinity ? 0 : latest - earliest;
  return list;
}

/** The elements of `segments`; null and an empty object hold none. */
function listSegments(row: JsonObject): (JsonObject | string)[] | undefined {
  const items = row.items('segments');
  if (items !== undefined) return items;
  const raw = row.raw('segments');
  return raw === 'null' || (raw !== undefined && /^\{\s*\}$/.test(raw)) ? [] : undefined;
}

/** The time in seconds, or what is wrong with it. */
function readTime(segment: JsonObject, key: 'start' | 'end'): number | string {
  const raw = segment.raw(key);
  if (raw === undefined) return `the ${key} is missing`;
  const kind = kindOfJson(raw);
  if (kind !== 'number') return `the ${key} is ${nameKind(raw)}, not a number`;
  const seconds = Number(raw);
  if (Number.isSafeInteger(toMicros(seconds))) return seconds;
  return `the ${key} ${raw} is ${Number.isFinite(seconds) ? 'beyond any recording' : 'not finite'}`;
}

/** The stripped text, empty where there is none, undefined where it is not a string. */
function readText(segment: JsonObject): string | undefined {
  const kind = segment.kind('text');
  if (kind === undefined || kind === 'null') return '';
  return kind === 'string' ? stripText(segment.value('text') as string) : undefined;
}

/** Whether Python would take the words for true. */
function hasWords(segment: JsonObject): boolean {
  const raw = segment.raw('words');
  if (raw === undefined) return false;
  const kind = kindOfJson(raw);
  if (kind === 'number') return Number(raw) !== 0;
  if (kind === 'array' || kind === 'object') return !/^[[{]\s*[\]}]$/.test(raw);
  return raw !== 'null' && raw !== 'false' && raw !== '""';
}

function nameKind(raw: string): string {
  const kind = kindOfJson(raw);
  return kind === 'null' ? 'null' : `${kind === 'array' || kind === 'object' ? 'an' : 'a'} ${kind}`;
}
