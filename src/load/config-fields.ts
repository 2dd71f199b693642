import { nearest } from '../text/nearest.js';
import { MEANT_KEYS } from './config-keys.js';
import { configError, toPlainValue, type ConfigMap, type ConfigNode } from './config-node.js';

/** The keys of a configuration, or of an entry of one; each is taken once, and what is left is refused. */
export class ConfigFields {
  readonly node: ConfigNode;
  readonly #fields: ConfigMap;
  readonly #taken = new Set<string>();

  /** @throws {UsageError} when it has no keys. */
  constructor(node: ConfigNode, what: string) {
    this.node = node;
    if (!(node.value instanceof Map)) {
      throw configError(`${what} must have keys and values, and is ${describe(node)}`, node);
    }
    this.#fields = node.value;
  }

  has(key: string): boolean {
    const value = this.#fields.get(key)?.value;
    return value !== undefined && value !== null;
  }

  /** Undefined where the key is not there or null. */
  take(key: string): ConfigNode | undefined {
    this.#taken.add(key);
    return this.has(key) ? this.#fields.get(key) : undefined;
  }

  takeText(key: string): string | undefined {
    const node = this.take(key);
    if (node === undefined) return undefined;
    if (typeof node.value === 'string' && node.value.trim() !== '') return node.value;
    throw configError(`"${key}" is ${describe(node)}, and must be a text`, node);
  }

  takeFlag(key: string): boolean | undefined {
    const node = this.take(key);
    if (node === undefined) return undefined;
    if (typeof node.value === 'boolean') return node.value;
    throw configError(`"${key}" is ${describe(node)}, and must be true or false`, node);
  }

  takeNumber(key: string): number | undefined {
    const node = this.take(key);
    return node === undefined ? undefined : numberOf(node, `"${key}"`);
  }

  /** A whole number from `least` on. */
  takeCount(key: string, least: number): number | undefined {
    const node = this.take(key);
    return node === undefined ? undefined : countOf(node, `"${key}"`, least);
  }

  takeChoice<Choice extends string>(key: string, choices: readonly Choice[]): Choice | undefined {
    const node = this.take(key);
    if (node === undefined) return undefined;
    const found = choices.find((choice) => choice === node.value);
    if (found !== undefined) return found;
    const near = typeof node.value === 'string' ? nearest(node.value, choices) : undefined;
    const hint = near === undefined ? undefined : `Did you mean ${near}?`;
    throw configError(`"${key}" is ${describe(node)}, and must be one of ${choices.join(', ')}`, node, hint);
  }

  /** Keys that nobody took, and that have a value. */
  rest(): [string, ConfigNode][] {
    return [...this.#fields].filter(([key, { value }]) => !this.#taken.has(key) && value !== null);
  }

  /** Keys that nobody took and that have no value: they must be known, too. */
  emptyRest(): [string, ConfigNode][] {
    return [...this.#fields].filter(([key, { value }]) => !this.#taken.has(key) && value === null);
  }
}

/** @throws {UsageError} for what is no number, or `.nan`; `.inf` passes. */
export function numberOf(node: ConfigNode, what: string): number {
  const { value } = node;
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  throw configError(`${what} is ${describe(node)}, and must be a number`, node);
}

/** @throws {UsageError} for what is no whole number from `least` on. */
export function countOf(node: ConfigNode, what: string, least: number): number {
  const { value } = node;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
  throw configError(`${what} is ${describe(node)}, and must be a whole number from ${least} on`, node);
}

/** @throws {UsageError} for what is no list, or an empty one. */
export function listOf(node: ConfigNode, what: string): ConfigNode[] {
  if (Array.isArray(node.value) && node.value.length > 0) return node.value;
  throw configError(`${what} is ${describe(node)}, and must be a list that holds something`, node);
}

/** @throws {UsageError} for what is no number above 0. */
export function readWeight(node: ConfigNode | undefined): number | string | undefined {
  if (node === undefined) return undefined;
  const { value } = node;
  if (typeof value === 'number' && value > 0 && Number.isFinite(value)) return value;
  if (typeof value === 'string' && /^\d*\.?\d+$/u.test(value.trim()) && Number(value) > 0) return value.trim();
  throw configError(`a weight is ${describe(node)}, and must be a number above 0`, node);
}

/** Refuses a key that is none, and says which one was meant. */
export function refuseUnknown(key: string, node: ConfigNode, known: readonly string[], what: string): never {
  const meant = Object.hasOwn(MEANT_KEYS, key) ? MEANT_KEYS[key] : nearest(key, known);
  const hint =
    meant !== undefined && known.includes(meant) ? `Did you mean ${meant}?` : `Keys are ${known.join(', ')}.`;
  throw configError(`${what} has no key "${key}"`, node, hint);
}

/** A value as messages show it. */
export function describe(node: ConfigNode): string {
  if (Array.isArray(node.value)) return node.value.length === 0 ? 'an empty list' : 'a list';
  if (node.value instanceof Map) return 'a list of keys';
  if (node.value === null) return 'empty';
  if (typeof node.value === 'number') return String(node.value);
  return JSON.stringify(toPlainValue(node)) ?? String(node.value);
}
