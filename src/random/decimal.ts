/** A number as its spelling says it: `digits` / 10^`places`, exactly. */
export interface Decimal {
  digits: bigint;
  places: number;
}

const SPELLING = /^([+-]?)(\d+)(?:\.(\d*))?(?:e([+-]?\d{1,4}))?$/iu;

/**
 * The decimal that a number is written as: of a `number`, the shortest that reads back as it, so 0.1 is 1/10 and not
 * the double beside it. Undefined when it is no finite decimal.
 */
export function parseDecimal(spelling: number | string): Decimal | undefined {
  const match = SPELLING.exec(String(spelling).trim());
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const places = fraction.length - Number(exponent);
  const size = BigInt(whole + fraction) * 10n ** BigInt(Math.max(0, -places));
  return { digits: sign === '-' ? -size : size, places: Math.max(0, places) };
}

/**
 * Seconds as frames at a rate: round(seconds · rate) of the decimal as it is spelled, halves up. So 0.1 s at 44,100 Hz
 * is 4,410 and never 4,409 or 4,411 by the error of a double.
 *
 * @throws {RangeError} when the seconds are no finite number, or give no whole number below 2^53.
 */
export function framesOf(seconds: number | string, sampleRate: number): number {
  const decimal = parseDecimal(seconds);
  if (decimal === undefined) throw new RangeError(`Cannot take ${seconds} as seconds: it is no decimal number`);
  const ten = 10n ** BigInt(decimal.places);
  const doubled = 2n * decimal.digits * BigInt(sampleRate) + ten;
  const frames = Number(doubled / (2n * ten));
  if (!Number.isSafeInteger(frames)) throw new RangeError(`${seconds} s at ${sampleRate} Hz is too long`);
  return frames;
}
