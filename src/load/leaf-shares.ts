import { InputError, UsageError } from '../errors.js';
import { parseDecimal } from '../random/decimal.js';
import type { LeafSource, ShareNode } from './source-tree.js';

/** A share as a fraction. */
interface Fraction {
  over: bigint;
  under: bigint;
}

/**
 * The weight of each leaf as whole numbers that are to each other exactly as the products of the shares of all levels: at each level weights are
 * taken as the decimals they are spelled, to the power of the group's temperature, and made to sum to 1.
 *
 * Sources of a group without weights have equal items: each gets as much of the group's share as it has of its items. So do static buckets, of
 * which a weight repeats a bucket, as NeMo's `bucketing_weights` do.
 *
 * @param itemCounts of each leaf; Infinity for one without end
 * @returns undefined for all where no source has a weight
 * @throws {InputError} when a source of weight has no item.
 * @throws {UsageError} when a source without end stands in a group without weights, below or beside others with weights.
 */
export function leafWeights(
  root: ShareNode,
  leaves: readonly LeafSource[],
  itemCounts: readonly number[],
): (number | string | undefined)[] {
  if (!hasWeights(root)) return leaves.map(() => undefined);
  const shares = leaves.map((): Fraction => ({ over: 0n, under: 1n }));
  share(root, { over: 1n, under: 1n });
  return toWhole(shares);

  function share(node: ShareNode, all: Fraction): void {
    if (node.kind === 'leaf') {
      const { name } = leaves[node.leaf]!;
      if (itemCounts[node.leaf] === 0) {
        throw new InputError(`Cannot draw from the source "${name}": no row of it is left, and it has a share`, {
          hint: 'Leave the source out, or loosen the filters.',
        });
      }
      shares[node.leaf] = all;
      return;
    }
    const parts = partsOf(node);
    const sum = parts.reduce((total, part) => total + part, 0n);
    for (const [at, child] of node.children.entries()) {
      const part = parts[at]!;
      if (part > 0n) share(child, reduce({ over: all.over * part, under: all.under * sum }));
    }
  }

  /** What the children of a group are to each other. */
  function partsOf(node: Exclude<ShareNode, { kind: 'leaf' }>): bigint[] {
    const { children, weights, temperature } = node;
    if (children.length === 1) return [1n];
    const own = weights === undefined ? undefined : toParts(weights, temperature);
    if (node.kind === 'group' && own !== undefined) return own;
    const counts = children.map(countItems);
    if (counts.includes(Number.POSITIVE_INFINITY)) {
      throw new UsageError(`${node.name} has a source without end, and its sources have no weights`, {
        hint: 'Give each of them a weight.',
      });
    }
    if (counts.every((count) => count === 0)) {
      throw new InputError(`Cannot draw from ${lowerFirst(node.name)}: no row of it is left, and it has a share`, {
        hint: 'Leave it out, or loosen the filters.',
      });
    }
    return counts.map((count, at) => BigInt(count) * (own?.[at] ?? 1n));
  }

  function countItems(node: ShareNode): number {
    if (node.kind === 'leaf') return itemCounts[node.leaf]!;
    return node.children.reduce((total, child) => total + countItems(child), 0);
  }
}

function hasWeights(node: ShareNode): boolean {
  if (node.kind === 'leaf') return false;
  return (node.weights !== undefined && node.children.length > 1) || node.children.some(hasWeights);
}

/** Whole numbers that are to each other as the weights to the power of a temperature. */
function toParts(weights: readonly (number | string)[], temperature: number): bigint[] {
  const spellings = temperature === 1 ? weights : weights.map((weight) => raise(Number(weight), temperature));
  const decimals = spellings.map((spelling, at) => {
    const decimal = parseDecimal(spelling);
    if (decimal !== undefined && decimal.digits > 0n) return decimal;
    throw new UsageError(
      `The weight ${weights[at]} to the power of the temperature ${temperature} is no number above 0`,
      {
        hint: 'Use a smaller temperature.',
      },
    );
  });
  const places = Math.max(...decimals.map((decimal) => decimal.places));
  return decimals.map((decimal) => decimal.digits * 10n ** BigInt(places - decimal.places));
}

/** A power to 12 digits: the last bits of one may differ between machines. */
function raise(weight: number, temperature: number): string {
  return (weight ** temperature).toPrecision(12);
}

/** Fractions as whole numbers that have no common divisor. */
function toWhole(shares: readonly Fraction[]): (number | string)[] {
  const under = shares.reduce((common, share) => (common / greatestDivisor(common, share.under)) * share.under, 1n);
  const whole = shares.map((share) => (share.over * under) / share.under);
  const divisor = whole.reduce(greatestDivisor, 0n);
  return whole.map((weight) => {
    const reduced = weight / divisor;
    return reduced <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(reduced) : String(reduced);
  });
}

function reduce({ over, under }: Fraction): Fraction {
  const divisor = greatestDivisor(over, under);
  return { over: over / divisor, under: under / divisor };
}

function greatestDivisor(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
