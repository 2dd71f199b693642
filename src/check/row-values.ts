import { kindOfJson } from '../manifest/json-object.js';
import { quote, type ManifestReport } from './manifest-report.js';
import type { ScannedRow } from './scanned-row.js';

/** From so many characters on a whole number may be more than a double holds. */
const MIN_BIG_DIGITS = 16;

/** Reports what readers make of values of any key: keys twice, NaN, integers that doubles do not hold, half characters. */
export function checkValues(row: ScannedRow, line: number, report: ManifestReport): void {
  if (row.hasDuplicates) {
    const key = row.keys.find((name, place) => row.keys.indexOf(name) < place) ?? '';
    report.add('duplicate_key', line, `the key ${JSON.stringify(key)} stands twice: the last value counts`);
  }
  if (row.holdsNonFinite) {
    report.add('nonfinite_number', line, `${keyOfNonFinite(row)} is no JSON`);
  }
  for (let place = 0; place < row.keys.length; place += 1) {
    const raw = row.rawAt(place);
    if (raw.length >= MIN_BIG_DIGITS && isBigInteger(raw)) {
      report.add('big_integer', line, `${JSON.stringify(row.keys[place])} is ${quote(raw)}, more than a double holds`);
    }
  }
  if (/\\u[dD][89a-fA-F]/u.test(row.text)) checkSurrogates(row, line, report);
}

function keyOfNonFinite(row: ScannedRow): string {
  for (let place = 0; place < row.keys.length; place += 1) {
    const found = nonFiniteToken(row.rawAt(place));
    if (found !== undefined) return `${found} in ${JSON.stringify(row.keys[place])}`;
  }
  return 'a value';
}

/** NaN, Infinity or -Infinity as it stands outside strings. */
function nonFiniteToken(raw: string): string | undefined {
  return /-?(?:NaN|Infinity)/u.exec(raw.replaceAll(/"(?:[^"\\]|\\.)*"/gu, '""'))?.[0];
}

function isBigInteger(raw: string): boolean {
  return /^-?\d+$/u.test(raw) && !Number.isSafeInteger(Number(raw));
}

function checkSurrogates(row: ScannedRow, line: number, report: ManifestReport): void {
  for (const [place, key] of row.keys.entries()) {
    const raw = row.rawAt(place);
    const strings = kindOfJson(raw) === 'string' ? [raw] : (raw.match(/"(?:[^"\\]|\\.)*"/gu) ?? []);
    const isBroken = [JSON.stringify(key), ...strings].some((text) =>
      /\p{Surrogate}/u.test(JSON.parse(text) as string),
    );
    if (isBroken) report.add('lone_surrogate', line, `${JSON.stringify(key)} holds half of a character`);
  }
}
