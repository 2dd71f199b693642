import { decodeJson, kindOfJson, type JsonKind } from '../manifest/json-object.js';
import { JsonScanner } from '../manifest/json-scanner.js';

/** Where an entry of the object stands in the line, in UTF-16 units. */
export interface EntryBounds {
  keyStart: number;
  keyEnd: number;
  valueStart: number;
  valueEnd: number;
}

const BOUNDS = 4;

/**
 * A JSON object on one line, with the places of all its entries: unlike `JsonObject` it keeps keys that occur twice apart, so that a check can
 * tell of them and a correction can replace a value and leave every other character as it is. Of keys that occur twice the last value counts.
 */
export class ScannedRow {
  readonly text: string;
  /** NaN, Infinity or -Infinity stands somewhere. */
  readonly holdsNonFinite: boolean;
  /** Decoded, in the order of the line. */
  readonly keys: readonly string[];
  /** Some key occurs twice. */
  readonly hasDuplicates: boolean;
  readonly #bounds: readonly number[];

  private constructor(
    text: string,
    keys: readonly string[],
    bounds: readonly number[],
    facts: { holdsNonFinite: boolean; hasDuplicates: boolean },
  ) {
    this.text = text;
    this.keys = keys;
    this.#bounds = bounds;
    this.holdsNonFinite = facts.holdsNonFinite;
    this.hasDuplicates = facts.hasDuplicates;
  }

  /** Undefined where the text is anything but one JSON object. */
  static scan(text: string): ScannedRow | undefined {
    const scanner = new JsonScanner(text);
    const keys: string[] = [];
    const bounds: number[] = [];
    const at = scanner.skipSpace(0);
    if (text.charCodeAt(at) !== 0x7b) return undefined;
    const end = scanEntries(scanner, scanner.skipSpace(at + 1), keys, bounds);
    if (end < 0 || scanner.skipSpace(end) < text.length) return undefined;
    return new ScannedRow(text, keys, bounds, {
      holdsNonFinite: scanner.sawNonFinite,
      hasDuplicates: hasDuplicates(keys),
    });
  }

  has(key: string): boolean {
    return this.keys.includes(key);
  }

  /** The source text of a value, undefined where the key is absent. */
  raw(key: string): string | undefined {
    const place = this.keys.lastIndexOf(key);
    return place < 0 ? undefined : this.rawAt(place);
  }

  /** The source text of the value of one entry. */
  rawAt(place: number): string {
    return this.text.slice(this.#bounds[place * BOUNDS + 2], this.#bounds[place * BOUNDS + 3]);
  }

  boundsAt(place: number): EntryBounds {
    const at = place * BOUNDS;
    return {
      keyStart: this.#bounds[at] ?? 0,
      keyEnd: this.#bounds[at + 1] ?? 0,
      valueStart: this.#bounds[at + 2] ?? 0,
      valueEnd: this.#bounds[at + 3] ?? 0,
    };
  }

  kind(key: string): JsonKind | undefined {
    const raw = this.raw(key);
    return raw === undefined ? undefined : kindOfJson(raw);
  }

  /** The decoded value, undefined where the key is absent. */
  value(key: string): unknown {
    const raw = this.raw(key);
    return raw === undefined ? undefined : decodeJson(raw);
  }

  /** The value where it is a string. */
  string(key: string): string | undefined {
    const raw = this.raw(key);
    return raw?.charCodeAt(0) === 0x22 ? (decodeJson(raw) as string) : undefined;
  }

  /** The value where it is a number; NaN and infinities included. */
  number(key: string): number | undefined {
    const raw = this.raw(key);
    return raw !== undefined && kindOfJson(raw) === 'number' ? Number(raw) : undefined;
  }
}

/** Returns the position behind the object, or -1. */
function scanEntries(scanner: JsonScanner, start: number, keys: string[], bounds: number[]): number {
  const { text } = scanner;
  let at = start;
  if (text.charCodeAt(at) === 0x7d) return at + 1;
  for (;;) {
    if (text.charCodeAt(at) !== 0x22) return -1;
    const keyStart = at;
    const keyEnd = scanner.skipString(at);
    if (keyEnd < 0) return -1;
    const valueStart = scanner.skipColon(keyEnd);
    if (valueStart < 0) return -1;
    const valueEnd = scanner.skipValue(valueStart, 1);
    if (valueEnd < 0) return -1;
    const inner = text.slice(keyStart + 1, keyEnd - 1);
    keys.push(inner.includes('\\') ? (decodeJson(text.slice(keyStart, keyEnd)) as string) : inner);
    bounds.push(keyStart, keyEnd, valueStart, valueEnd);
    at = scanner.skipSpace(valueEnd);
    const code = text.charCodeAt(at);
    if (code === 0x7d) return at + 1;
    if (code !== 0x2c) return -1;
    at = scanner.skipSpace(at + 1);
  }
}

/** From this many keys on a set finds what occurs twice. */
const MANY_KEYS = 24;

function hasDuplicates(keys: readonly string[]): boolean {
  if (keys.length > MANY_KEYS) return new Set(keys).size < keys.length;
  for (let place = 1; place < keys.length; place += 1) {
    if (keys.indexOf(keys[place] ?? '') < place) return true;
  }
  return false;
}
