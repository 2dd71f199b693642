import { decodeJson, kindOfJson } from '../manifest/json-object.js';
import { quote, type ManifestReport } from './manifest-report.js';
import type { ScannedRow } from './scanned-row.js';

/** Text that is a number of JSON in quotes. */
export const NUMBER_AS_TEXT = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u;

export interface DurationLimits {
  shortest: number;
  longest: number;
}

/** The duration in seconds where it is a finite number. Reports one that is missing, null, no number, not positive, or out of the ordinary. */
export function readDuration(
  row: ScannedRow,
  line: number,
  report: ManifestReport,
  { shortest, longest }: DurationLimits,
): number | undefined {
  const raw = row.raw('duration');
  if (raw === undefined) {
    if (!row.has('context_duration')) report.add('missing_duration', line, 'the row has no duration');
    return undefined;
  }
  const kind = kindOfJson(raw);
  if (kind === 'null') {
    report.add('null_duration', line, 'duration is null');
    return undefined;
  }
  const seconds = readNumber(raw, 'duration', line, report);
  if (seconds === undefined) return undefined;
  if (seconds <= 0) {
    const consequence = seconds === 0 ? "NeMo's older loader reads the whole file, Lhotse fails" : 'no loader reads it';
    report.add('non_positive_duration', line, `duration is ${raw}: ${consequence}`);
  } else if (seconds < shortest) report.add('short_duration', line, `duration is ${raw} s, less than ${shortest} s`);
  else if (seconds > longest) report.add('long_duration', line, `duration is ${raw} s, more than ${longest} s`);
  return seconds;
}

/** The offset in seconds, 0 where there is none. Reports one that is no number, or negative; undefined then. */
export function readOffset(row: ScannedRow, line: number, report: ManifestReport): number | undefined {
  const raw = row.raw('offset');
  if (raw === undefined || raw === 'null') return 0;
  const seconds = readNumber(raw, 'offset', line, report);
  if (seconds !== undefined && seconds < 0) {
    report.add('negative_offset', line, `offset is ${raw}`);
    return undefined;
  }
  return seconds;
}

function readNumber(raw: string, key: 'duration' | 'offset', line: number, report: ManifestReport): number | undefined {
  const kind = kindOfJson(raw);
  if (kind === 'string' && NUMBER_AS_TEXT.test(decodeJson(raw) as string)) {
    report.add('number_as_text', line, `${key} is ${quote(raw)}, a string`);
    return Number(decodeJson(raw));
  }
  const bad = key === 'duration' ? 'bad_duration' : 'bad_offset';
  if (kind !== 'number') {
    report.add(bad, line, `${key} is ${quote(raw)}, not a number`);
    return undefined;
  }
  const seconds = Number(raw);
  if (Number.isFinite(seconds)) return seconds;
  report.add(bad, line, `${key} is ${quote(raw)}, not a finite number`);
  return undefined;
}
