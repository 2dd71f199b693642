import { UsageError } from '../errors.js';
import { parseDecimal, type Decimal } from './decimal.js';

/** Whole numbers that are to each other as the weights are. */
export interface WholeWeights {
  /** Of each group, 1 or more. */
  weights: number[];
  /** Their sum, at most `MAX_WEIGHT_SUM`. */
  sum: number;
  /** False when the weights are spelled too finely: then each share is within 1 / 2^22 of what it should be. */
  isExact: boolean;
}

/** Decimals of six places and a sum of up to 4 stay exact. */
export const MAX_WEIGHT_SUM = 2 ** 22;

/**
 * The weight of each group, by its name; 1 where none is given.
 *
 * @throws {UsageError} when no group is named, one is named twice, a weight is of no group, or is no finite number
 * above 0.
 */
export function weightsOf(
  groups: readonly string[],
  weights: Readonly<Record<string, number | string>> = {},
): (number | string)[] {
  if (groups.length === 0) throw new UsageError('There is no group to mix');
  const twice = groups.find((group, at) => groups.indexOf(group) !== at);
  if (twice !== undefined) {
    throw new UsageError(`Group "${twice}" is named twice`, { hint: 'Give each group a name of its own.' });
  }
  for (const [group, weight] of Object.entries(weights)) {
    if (!groups.includes(group)) {
      throw new UsageError(`A weight is given for "${group}", which is no group`, {
        hint: `The groups are ${groups.join(', ')}.`,
      });
    }
    if ((parseDecimal(weight)?.digits ?? 0n) <= 0n) {
      throw new UsageError(`The weight of "${group}" is ${weight}: it must be a finite number above 0`);
    }
  }
  return groups.map((group) => (Object.hasOwn(weights, group) ? weights[group]! : 1));
}

/**
 * Weights as whole numbers without a common divisor: exactly those of their decimal spelling (0.7 and 0.3 are 7 and 3)
 * where their sum is at most `MAX_WEIGHT_SUM`. Finer weights become parts of that sum, each rounded down or up so that
 * it comes out, those with the largest remainders up (Hamilton's method), and none to 0.
 *
 * @param spellings finite numbers above 0, as `weightsOf` gives them
 */
export function toWholeWeights(spellings: readonly (number | string)[]): WholeWeights {
  const decimals = spellings.map((spelling): Decimal => {
    const decimal = parseDecimal(spelling);
    if (decimal === undefined || decimal.digits <= 0n) throw new RangeError(`${spelling} is no weight above 0`);
    return decimal;
  });
  const places = Math.max(...decimals.map((decimal) => decimal.places));
  const scaled = decimals.map((decimal) => decimal.digits * 10n ** BigInt(places - decimal.places));
  const divisor = scaled.reduce(greatestCommonDivisor);
  const whole = scaled.map((weight) => weight / divisor);
  const sum = whole.reduce((total, weight) => total + weight, 0n);
  if (sum <= BigInt(MAX_WEIGHT_SUM)) return { weights: whole.map(Number), sum: Number(sum), isExact: true };
  return { weights: roundedTo(MAX_WEIGHT_SUM, whole, sum), sum: MAX_WEIGHT_SUM, isExact: false };
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestCommonDivisor(b, a % b);
}

function roundedTo(total: number, whole: readonly bigint[], sum: bigint): number[] {
  if (whole.length > total / 4) throw new RangeError(`Cannot mix ${whole.length} groups of such fine weights`);
  const quotas = whole.map((weight) => weight * BigInt(total));
  const weights = quotas.map((quota) => Math.max(1, Number(quota / sum)));
  const remainder = (at: number): bigint => quotas[at]! % sum;
  const order = whole
    .map((_, at) => at)
    .toSorted((a, b) => Number(remainder(b) > remainder(a)) || -Number(remainder(b) < remainder(a)) || a - b);
  let missing = total - weights.reduce((all, weight) => all + weight, 0);
  for (const at of order) {
    if (missing <= 0) break;
    weights[at]! += 1;
    missing -= 1;
  }
  // Groups that were raised to 1 are paid for by the largest.
  if (missing < 0) weights[weights.indexOf(Math.max(...weights))]! += missing;
  return weights;
}
