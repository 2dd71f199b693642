import { UsageError } from '../errors.js';

/** More words than this are taken for a slip of the finger. */
const MAX_WORDS = 1_000_000;

/**
 * The words that a pattern with braces stands for, in order: `{a,b}` is a choice, `{000..127}` and `{a..e}` are ranges, `{0..10..2}` has a step,
 * and they nest. A number is padded to the width of the wider end where one of the ends begins with a zero. Braces that are neither stay.
 *
 * @throws {UsageError} when there are more than a million.
 */
export function expandBraces(pattern: string): string[] {
  const group = findGroup(pattern);
  if (group === undefined) return [pattern];
  const heads = group.options.flatMap((option) => (group.isRange ? [option] : expandBraces(option)));
  const tails = expandBraces(pattern.slice(group.end));
  if (heads.length * tails.length > MAX_WORDS) throw tooMany(pattern);
  const start = pattern.slice(0, group.start);
  return heads.flatMap((head) => tails.map((tail) => `${start}${head}${tail}`));
}

interface BraceGroup {
  /** Position of the opening brace. */
  start: number;
  /** Behind the closing one. */
  end: number;
  options: string[];
  isRange: boolean;
}

/** The first pair of braces that is a choice or a range. */
function findGroup(pattern: string): BraceGroup | undefined {
  for (let start = pattern.indexOf('{'); start >= 0; start = pattern.indexOf('{', start + 1)) {
    const commas: number[] = [];
    const close = findClose(pattern, start, commas);
    if (close === undefined) continue;
    const end = close + 1;
    if (commas.length > 0) {
      const cuts = [start, ...commas, close];
      const options = cuts.slice(1).map((cut, index) => pattern.slice((cuts[index] ?? start) + 1, cut));
      return { start, end, options, isRange: false };
    }
    const options = expandRange(pattern.slice(start + 1, close));
    if (options !== undefined) return { start, end, options, isRange: true };
  }
  return undefined;
}

/** The brace that closes the one at `start`; the commas between them, those of inner braces aside, go to `commas`. */
function findClose(pattern: string, start: number, commas: number[]): number | undefined {
  let depth = 0;
  for (let at = start; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    else if (character === ',' && depth === 1) commas.push(at);
    if (depth === 0) return at;
  }
  return undefined;
}

function expandRange(text: string): string[] | undefined {
  const numbers = /^(-?\d{1,15})\.\.(-?\d{1,15})(?:\.\.(-?\d{1,15}))?$/u.exec(text);
  if (numbers !== null) {
    const [, first = '', last = '', step = '1'] = numbers;
    const isPadded = [first, last].some((end) => /^-?0\d/u.test(end));
    const width = isPadded ? Math.max(first.length, last.length) : 0;
    return listRange(Number(first), Number(last), Number(step), text).map((value) => pad(value, width));
  }
  const letters = /^([a-z])\.\.([a-z])(?:\.\.(-?\d{1,15}))?$/iu.exec(text);
  if (letters === null) return undefined;
  const [, first = '', last = '', step = '1'] = letters;
  const codes = listRange(first.charCodeAt(0), last.charCodeAt(0), Number(step), text);
  return codes.map((code) => String.fromCharCode(code));
}

function listRange(first: number, last: number, step: number, text: string): number[] {
  const stride = Math.max(1, Math.abs(step));
  const count = Math.floor(Math.abs(last - first) / stride) + 1;
  if (count > MAX_WORDS) throw tooMany(`{${text}}`);
  const direction = last < first ? -stride : stride;
  return Array.from({ length: count }, (_, index) => first + index * direction);
}

function pad(value: number, width: number): string {
  return value < 0 ? `-${String(-value).padStart(width - 1, '0')}` : String(value).padStart(width, '0');
}

function tooMany(pattern: string): UsageError {
  return new UsageError(`The pattern "${pattern}" stands for more than a million names`, {
    hint: 'Use "*" for what differs between the names.',
  });
}
