import { parseDecimal } from '../random/decimal.js';
import { UsageError } from '../errors.js';

/** A number greater than 0 as it is spelled: 0.1 is a tenth, and not the double beside it. */
export function positiveDecimal(text: string): string {
  const digits = parseDecimal(text)?.digits ?? 0n;
  if (digits > 0n) return text.trim();
  throw new SyntaxError('must be a number greater than 0');
}

/** A rate, or `native`. */
export function rateChoice(text: string): number | 'native' {
  if (text === 'native') return text;
  const rate = Number(text);
  if (/^\d+$/u.test(text) && rate > 0) return rate;
  throw new SyntaxError('must be a whole number of Hz, or "native"');
}

/** A number of epochs; null for `forever`. */
export function epochCount(text: string): number | 'forever' {
  if (text === 'forever') return text;
  const epochs = Number(text);
  if (/^\d+$/u.test(text) && epochs > 0 && Number.isSafeInteger(epochs)) return epochs;
  throw new SyntaxError('must be a whole number of 1 or more, or "forever"');
}

/** A draw by its number, or by epoch and place in it. */
export interface DrawPlace {
  /** Undefined where the number counts all draws. */
  epoch: number | undefined;
  index: number;
}

/** `3:17`, or `17`. */
export function drawPlace(text: string): DrawPlace {
  const match = /^(?:(\d{1,15}):)?(\d{1,15})$/u.exec(text.trim());
  if (match === null) throw new SyntaxError('must be EPOCH:INDEX, both from 0, or the number of a draw');
  const [, epoch, index] = match;
  return { epoch: epoch === undefined ? undefined : Number(epoch), index: Number(index) };
}

/** What `--group` says once. */
export interface GroupFlag {
  name: string;
  source: string;
  /** As it is spelled. */
  weight: string | undefined;
}

/** `speech=/data/speech:0.7`; without a number behind the last colon the colon is part of the path. */
export function groupFlag(text: string): GroupFlag {
  const match = /^([^=]+)=(.+?)(?::([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?))?$/iu.exec(text);
  const [, name = '', source = '', weight] = match ?? [];
  if (name.trim() === '' || source.trim() === '') throw new SyntaxError('must be NAME=PATH or NAME=PATH:WEIGHT');
  return { name, source, weight };
}

/** What `--weight` says once. */
export interface WeightFlag {
  name: string;
  weight: string;
}

/** `speech=0.7`. */
export function weightFlag(text: string): WeightFlag {
  const at = text.lastIndexOf('=');
  const [name, weight] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)];
  if (name.trim() === '' || parseDecimal(weight) === undefined) throw new SyntaxError('must be NAME=NUMBER');
  return { name, weight };
}

/**
 * The files of each group, and its weight where one is given.
 *
 * @throws {UsageError} when a group has two different weights.
 */
export function collectGroups(
  groups: readonly GroupFlag[],
  weights: readonly WeightFlag[],
): { sources: Record<string, string[]>; weights: Record<string, string> } {
  // Groups may have any name, also one that every object has.
  const sources = new Map<string, string[]>();
  const given = new Map<string, string>();
  const setWeight = ({ name, weight }: WeightFlag): void => {
    const known = given.get(name);
    if (known !== undefined && Number(known) !== Number(weight)) {
      throw new UsageError(`Group "${name}" has two weights, ${known} and ${weight}`, { hint: 'Give one of them.' });
    }
    given.set(name, weight);
  };
  for (const { name, source, weight } of groups) {
    const known = sources.get(name);
    if (known === undefined) sources.set(name, [source]);
    else known.push(source);
    if (weight !== undefined) setWeight({ name, weight });
  }
  for (const weight of weights) setWeight(weight);
  return { sources: Object.fromEntries(sources), weights: Object.fromEntries(given) };
}
