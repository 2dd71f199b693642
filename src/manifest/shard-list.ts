/** One line of a `.lst` file: a shard and what it holds. */
export interface ShardListEntry {
  /** Path of the tar; absolute in lists that are written here. */
  tarPath: string;
  /** Path of the manifest of its members. */
  manifestPath: string;
  /** Of the audio; undefined where the line does not say. */
  hours: number | undefined;
  /** How many rows the manifest has; undefined where the line does not say. */
  sampleCount: number | undefined;
}

/** Whitespace as Python's `str.split` takes it: what stands between columns, and cannot stand inside one. */
// oxlint-disable-next-line no-control-regex -- Python counts the separators U+001C to U+001F as whitespace
const WHITE_SPACE = /[\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;

const MAX_HOURS = 1e9;
const MICRO_HOURS = 1_000_000;
const DECIMALS = 6;
const SECONDS_AN_HOUR = 3600n;

/**
 * Reads a line of a `.lst` file as ATdataset's loader does: columns between whitespace, those after the fourth passed over.
 *
 * @returns the entry, or what is wrong with the line
 */
export function parseShardLine(line: string): ShardListEntry | string {
  const [tarPath, manifestPath, hoursText, countText] = line.split(WHITE_SPACE).filter((column) => column !== '');
  if (tarPath === undefined) return 'the line is blank';
  if (manifestPath === undefined) return 'the line has one column: a tar and a manifest are needed';
  const hours = hoursText === undefined ? undefined : parseNumber(hoursText);
  if (hours !== undefined && !(hours >= 0 && hours <= MAX_HOURS)) {
    return `the third column, ${JSON.stringify(hoursText)}, is no number of hours`;
  }
  const sampleCount = countText === undefined ? undefined : parseNumber(countText);
  if (sampleCount !== undefined && !(Number.isSafeInteger(sampleCount) && /^\d+$/u.test(countText ?? ''))) {
    return `the fourth column, ${JSON.stringify(countText)}, is no number of samples`;
  }
  return { tarPath, manifestPath, hours, sampleCount };
}

/**
 * Makes a line of a `.lst` file, without a line break: columns with one space between, hours with six decimals. `hours` must be there where
 * `sampleCount` is.
 *
 * @throws {RangeError} when a path or a number cannot stand on the line.
 */
export function formatShardLine({ tarPath, manifestPath, hours, sampleCount }: ShardListEntry): string {
  for (const path of [tarPath, manifestPath]) {
    const fault = shardPathFault(path);
    if (fault !== undefined) throw new RangeError(`Cannot list ${JSON.stringify(path)}: ${fault}`);
  }
  if (hours === undefined && sampleCount === undefined) return `${tarPath} ${manifestPath}`;
  if (hours === undefined || !(hours >= 0 && hours <= MAX_HOURS)) {
    throw new RangeError(`Cannot list ${JSON.stringify(tarPath)} with ${hours} hours`);
  }
  const columns = `${tarPath} ${manifestPath} ${hours.toFixed(DECIMALS)}`;
  if (sampleCount === undefined) return columns;
  if (!Number.isSafeInteger(sampleCount) || sampleCount < 0) {
    throw new RangeError(`Cannot list ${JSON.stringify(tarPath)} with ${sampleCount} samples`);
  }
  return `${columns} ${sampleCount}`;
}

/** Why a path cannot be a column of a `.lst` file, or undefined when it can. */
export function shardPathFault(path: string): string | undefined {
  if (path === '') return 'it is empty';
  const found = WHITE_SPACE.exec(path)?.[0];
  if (found === undefined) return undefined;
  const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `it holds white space (U+${code}), at which the columns of a list are split`;
}

/** Whole microseconds in hours, rounded to six decimals, ties up: the double next to the exact value. */
export function hoursOfMicros(micros: bigint): number {
  return Number((2n * micros + SECONDS_AN_HOUR) / (2n * SECONDS_AN_HOUR)) / MICRO_HOURS;
}

/** Hours to six decimals, as lists and metrics have them. */
export function roundHours(hours: number): number {
  return Math.round(hours * MICRO_HOURS) / MICRO_HOURS;
}

/** A decimal number, or NaN. */
function parseNumber(text: string): number {
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/iu.test(text) ? Number(text) : Number.NaN;
}
