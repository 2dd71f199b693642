import { kindOfJson, parseJsonObject, type JsonObject } from '../manifest/json-object.js';
import { quote } from './manifest-report.js';

/** A segment with times that can be used. */
export interface CheckedSegment {
  /** 0-based, in the row's list. */
  position: number;
  startSeconds: number;
  endSeconds: number;
  hasText: boolean;
}

/** What is wrong with segments of a row: the first of each kind, and how many there are. */
export type SegmentFaults = Map<SegmentFaultKind, SegmentFault>;

export interface SegmentFault {
  /** How many segments have it. */
  count: number;
  /** 0-based, of the first. */
  position: number;
  /** What is wrong with the first. */
  message: string;
  /** Of the last so far: a segment counts once, however many of its words are at fault. */
  lastPosition: number;
}

export type SegmentFaultKind =
  | 'bad_segment'
  | 'bad_times'
  | 'empty_segment'
  | 'segment_text_type'
  | 'wordy_segment'
  | 'negative_start'
  | 'missing_speaker'
  | 'bad_words'
  | 'word_outside_segment';

/** Aligners put words a little outside their segments; so far outside, one of the two is wrong. */
const WORD_TOLERANCE_SECONDS = 1;

/** Reads the segments of a row, as JSON text. Returns those with times that can be used. */
export function readSegmentList(segmentsJson: string, faults: SegmentFaults): CheckedSegment[] {
  const holder = parseJsonObject(`{"segments":${segmentsJson}}`);
  const items = 'reason' in holder ? [] : (holder.items('segments') ?? []);
  const usable: CheckedSegment[] = [];
  for (const [position, item] of items.entries()) {
    const note = (kind: SegmentFaultKind, message: string): void => {
      const known = faults.get(kind);
      if (known === undefined) faults.set(kind, { count: 1, position, message, lastPosition: position });
      else if (known.lastPosition !== position) {
        known.count += 1;
        known.lastPosition = position;
      }
    };
    if (typeof item === 'string') {
      note('bad_segment', `it is ${quote(item)}, not an object`);
      continue;
    }
    const start = readTime(item, 'start');
    const end = readTime(item, 'end');
    if (typeof start === 'string' || typeof end === 'string') {
      note('bad_times', typeof start === 'string' ? start : String(end));
      continue;
    }
    if (end < start || end <= 0) {
      note(
        'bad_times',
        end < start ? `the end ${end} lies before the start ${start}` : `the end ${end} is not above 0`,
      );
      continue;
    }
    if (start < 0) note('negative_start', `the start is ${start}`);
    const hasText = checkSegmentText(item, note);
    const speaker = item.raw('speaker');
    if (speaker === undefined || speaker === 'null' || speaker === '""') note('missing_speaker', 'it has no speaker');
    checkWords(item, start, end, note);
    usable.push({ position, startSeconds: start, endSeconds: end, hasText });
  }
  return usable;
}

type Note = (kind: SegmentFaultKind, message: string) => void;

function checkSegmentText(item: JsonObject, note: Note): boolean {
  const raw = item.raw('text');
  const kind = raw === undefined ? 'null' : kindOfJson(raw);
  if (kind !== 'string' && kind !== 'null') note('segment_text_type', `the text is ${quote(raw ?? '')}, not a string`);
  const text = kind === 'string' ? (item.value('text') as string).trim() : '';
  if (text !== '') return true;
  const hasWords = (item.items('words') ?? []).length > 0;
  if (hasWords) note('wordy_segment', 'it has words and no text');
  else note('empty_segment', 'it has neither text nor words');
  return false;
}

function checkWords(item: JsonObject, start: number, end: number, note: Note): void {
  const raw = item.raw('words');
  if (raw === undefined || raw === 'null') return;
  const words = item.items('words');
  if (words === undefined) {
    note('bad_words', `words is ${quote(raw)}, not a list`);
    return;
  }
  for (const word of words) {
    if (typeof word === 'string') {
      note('bad_words', `a word is ${quote(word)}, not an object`);
      continue;
    }
    const [from, to] = [readWordTime(word, 'start', note), readWordTime(word, 'end', note)];
    if (from !== undefined && to !== undefined && to < from) {
      note('bad_words', `a word ends at ${to}, before it starts at ${from}`);
    } else if (
      (from !== undefined && from < start - WORD_TOLERANCE_SECONDS) ||
      (to !== undefined && to > end + WORD_TOLERANCE_SECONDS)
    ) {
      note(
        'word_outside_segment',
        `a word from ${nameTime(from)} to ${nameTime(to)} lies outside ${nameTime(start)} to ${nameTime(end)}`,
      );
    }
  }
}

/** Three decimals are enough to find it. */
export function nameTime(seconds: number | undefined): string {
  return seconds === undefined ? 'an unknown time' : String(Number(seconds.toFixed(3)));
}

/** Null and absent times are passed on as they are. */
function readWordTime(word: JsonObject, key: 'start' | 'end', note: Note): number | undefined {
  const raw = word.raw(key);
  if (raw === undefined || raw === 'null') return undefined;
  const seconds = kindOfJson(raw) === 'number' ? Number(raw) : Number.NaN;
  if (Number.isFinite(seconds)) return seconds;
  note('bad_words', `the ${key} of a word is ${quote(raw)}, not a number`);
  return undefined;
}

function readTime(item: JsonObject, key: 'start' | 'end'): number | string {
  const raw = item.raw(key);
  if (raw === undefined) return `the ${key} is missing`;
  if (kindOfJson(raw) !== 'number') return `the ${key} is ${quote(raw)}, not a number`;
  const seconds = Number(raw);
  return Number.isFinite(seconds) ? seconds : `the ${key} is ${quote(raw)}, not finite`;
}

/** Segments that overlap by so much are both dropped, by default. */
const MIN_OVERLAP_MICROS = 500_000;

/**
 * How many segments `cutroom cut` drops with its defaults because they overlap or contain one another, and the first two that do.
 */
export function countOverlaps(segments: readonly CheckedSegment[]): {
  count: number;
  first: [CheckedSegment, CheckedSegment] | undefined;
} {
  const micros = (seconds: number): number => Math.round(seconds * 1e6);
  const sorted = segments
    .map((segment) => ({ segment, start: micros(segment.startSeconds), end: micros(segment.endSeconds) }))
    .sort((a, b) => a.start - b.start || a.end - b.end);
  const dropped = new Set<CheckedSegment>();
  let first: [CheckedSegment, CheckedSegment] | undefined;
  let active: typeof sorted = [];
  for (const next of sorted) {
    active = active.filter(({ end }) => end > next.start);
    for (const earlier of active) {
      const overlap = Math.min(earlier.end, next.end) - next.start;
      const contains = earlier.end >= next.end || (next.start <= earlier.start && next.end >= earlier.end);
      if (overlap < MIN_OVERLAP_MICROS && !contains) continue;
      first ??= [earlier.segment, next.segment];
      dropped.add(earlier.segment).add(next.segment);
    }
    active.push(next);
  }
  return { count: dropped.size, first };
}
