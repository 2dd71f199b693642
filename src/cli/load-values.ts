import type { BucketBins } from '../load/batch-options.js';

/** What `--source` says once. */
export interface SourceFlag {
  name: string | undefined;
  path: string;
  /** As it is spelled. */
  weight: string | undefined;
}

/**
 * `data.lst`, `speech=data.lst` or `speech=data.lst:0.7`. A slash before the equals sign makes it part of the path; without a number behind the
 * last colon the colon is part of it, too.
 */
export function sourceFlag(text: string): SourceFlag {
  const [, name, rest = text] = /^([^=/]+)=(.*)$/u.exec(text) ?? [];
  const [, path = rest, weight] = /^(.+?):([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)$/iu.exec(rest) ?? [];
  if (path.trim() === '' || name?.trim() === '') throw new SyntaxError('must be PATH, NAME=PATH or NAME=PATH:WEIGHT');
  // A decimal needs a digit before its point to be one everywhere else.
  return { name, path, weight: weight?.replace(/^([+-]?)\./u, '$10.') };
}

/** Bins, or the path of a file that has them. */
export type BinsFlag = { bins: BucketBins } | { path: string };

const BINS_WANTED = 'must be 2.5,5,10 or [[2.5,20],[2.5,40]], ascending, or a file that cutroom bins wrote';

/** `2.5,5,10`, `[2.5, 5, 10]`, `[[2.5, 20], [2.5, 40]]`, or a path. */
export function binsFlag(text: string): BinsFlag {
  const trimmed = text.trim();
  if (trimmed === '') throw new SyntaxError(BINS_WANTED);
  const list = trimmed.startsWith('[') ? trimmed : `[${trimmed}]`;
  let value: unknown;
  try {
    value = JSON.parse(list);
  } catch {
    // A list that is cut short is no path; neither is one with a slip in it.
    if (/^[\d[\].,\s]+$/u.test(trimmed) || trimmed.startsWith('[')) throw new SyntaxError(BINS_WANTED);
    return { path: text };
  }
  const bins = readBins(value);
  if (bins === undefined) throw new SyntaxError(BINS_WANTED);
  return { bins };
}

/** Bins out of parsed JSON or YAML: upper bounds above 0 that ascend, or pairs of them with tokens. Undefined for anything else. */
export function readBins(value: unknown): BucketBins | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const list: readonly unknown[] = value;
  if (list.every(isPositive)) return isAscending(list, (a, b) => a < b) ? list : undefined;
  if (!list.every(isPair)) return undefined;
  const fits = (a: readonly [number, number], b: readonly [number, number]): boolean =>
    a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
  return isAscending(list, fits) ? list : undefined;
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

function isPair(value: unknown): value is readonly [number, number] {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    isPositive(value[0]) &&
    Number.isSafeInteger(value[1]) &&
    value[1] >= 0
  );
}

function isAscending<Item>(list: readonly Item[], isBelow: (a: Item, b: Item) => boolean): boolean {
  return list.every((item, at) => at === 0 || isBelow(list[at - 1]!, item));
}

/** `32,16,8`, with or without brackets: one a bucket; a number alone is NeMo's base of adaptive sizes. */
export function batchSizes(text: string): readonly number[] | number {
  const isList = text.trim().startsWith('[');
  const sizes = text
    .trim()
    .replace(/^\[(.*)\]$/u, '$1')
    .split(',')
    .map((part) => (/^\s*\d+\s*$/u.test(part) ? Number(part) : 0));
  if (!sizes.every((size) => Number.isSafeInteger(size) && size >= 1)) {
    throw new SyntaxError('must be whole numbers of 1 or more, such as 32,16,8, or one of them');
  }
  return sizes.length === 1 && !isList ? sizes[0]! : sizes;
}

/** `0.9,1,1.1`. */
export function speedList(text: string): readonly number[] {
  const speeds = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (speeds.every((speed) => Number.isFinite(speed) && speed > 0)) return speeds;
  throw new SyntaxError('must be numbers greater than 0, such as 0.9,1,1.1');
}

/** `5,10,15`. */
export function decibelList(text: string): readonly number[] {
  const list = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (list.every((value) => Number.isFinite(value))) return list;
  throw new SyntaxError('must be numbers of dB, such as 5,10,15');
}

/** `-6,6`. */
export function decibelRange(text: string): readonly [number, number] {
  const [lowest, highest, ...rest] = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  const isRange = lowest !== undefined && highest !== undefined && rest.length === 0;
  if (isRange && Number.isFinite(lowest) && Number.isFinite(highest) && lowest <= highest) return [lowest, highest];
  throw new SyntaxError('must be two numbers of dB, the lower one first, such as -6,6');
}

/** Seconds, or `auto`. */
export function secondsOrAuto(text: string): number | 'auto' {
  if (text === 'auto') return text;
  const seconds = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new SyntaxError('must be a number greater than 0, or "auto"');
}
