/** Two rates whose quotient is that of resampling, as whole numbers without a common divisor but that of the rates themselves. */
export interface SpeedRatio {
  source: number;
  target: number;
}

/** What the codec library takes for a rate. */
const MAX_RATE = 2 ** 31 - 1;

/**
 * The rates to resample between, so that a recording is played so much faster: as if its own rate were so much higher. The speed counts as the
 * decimal that it is spelled as, so that 1.1 is 11/10.
 *
 * @param sampleRate of the recording, Hz.
 * @param targetRate of what is made of it, Hz.
 * @throws {RangeError} where the speed is not above 0, or has too many digits.
 */
export function speedRatio(sampleRate: number, targetRate: number, speed: number): SpeedRatio {
  if (speed === 1) return { source: sampleRate, target: targetRate };
  if (!(speed > 0 && Number.isFinite(speed))) throw new RangeError(`A speed must be above 0, not ${speed}`);
  const { numerator, denominator } = decimalOf(speed);
  const source = BigInt(sampleRate) * numerator;
  const target = BigInt(targetRate) * denominator;
  const divisor = greatestCommonDivisor(source, target);
  // Rates of the usual size: of two small numbers the codec library would take the one for no rate.
  const scale = smallScale(target / divisor);
  const ratio = { source: Number(source / divisor) * scale, target: Number(target / divisor) * scale };
  if (Math.max(ratio.source, ratio.target) > MAX_RATE) {
    throw new RangeError(`A speed of ${speed} has too many digits for ${sampleRate} Hz: round it`);
  }
  return ratio;
}

function smallScale(target: bigint): number {
  return target >= 8000n ? 1 : Math.ceil(8000 / Number(target));
}

function decimalOf(value: number): { numerator: bigint; denominator: bigint } {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', part = ''] = mantissa.split('.');
  const shift = Number(exponent) - part.length;
  const digits = BigInt(whole + part);
  return shift >= 0
    ? { numerator: digits * 10n ** BigInt(shift), denominator: 1n }
    : { numerator: digits, denominator: 10n ** BigInt(-shift) };
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestCommonDivisor(b, a % b);
}
