import { describeOtherValue, describeScanFault, describeTrailingText, JsonFault } from './json-fault.js';
import { JsonScanner } from './json-scanner.js';

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** Where one entry stands in the source: four numbers an entry. */
const KEY_START = 0;
const KEY_END = 1;
const VALUE_START = 2;
const VALUE_END = 3;
const BOUNDS = 4;

/** From this many keys on, a map finds duplicates. */
const MANY_KEYS = 24;

/**
 * Parses one line into an object that keeps the source text of its values.
 *
 * @returns the object, or what is wrong with the line
 */
export function parseJsonObject(text: string): JsonObject | JsonFault {
  const scanner = new JsonScanner(text);
  const start = scanner.skipSpace(0);
  if (text.charCodeAt(start) !== 0x7b) {
    const end = scanner.skipValue(start, 0);
    if (end < 0) return describeScanFault(scanner);
    const rest = scanner.skipSpace(end);
    return rest < text.length ? describeTrailingText(text, rest) : describeOtherValue(text, start);
  }
  // Outside strings a line break is a space, inside them it is a fault: without any, what is passed on stays on one line for every reader.
  const hasBreak = text.includes('\n') || text.includes('\r');
  const object = new JsonObject(hasBreak ? text.replaceAll(/[\r\n]/g, ' ') : text);
  const end = object.scan(scanner, start, 0);
  if (end < 0) return describeScanFault(scanner);
  const rest = scanner.skipSpace(end);
  if (rest < text.length) return describeTrailingText(text, rest);
  object.holdsNonFinite = scanner.sawNonFinite;
  return object;
}

/**
 * A JSON object whose values keep their source text, so that what is not touched passes through byte for byte: number spelling, digits of
 * big integers, the order of keys. Of keys that occur twice the last value counts, at the first one's place, as in Python and JavaScript.
 */
export class JsonObject {
  /** True when a value may contain NaN, Infinity or -Infinity, which `stringify` turns into null. */
  holdsNonFinite = false;
  readonly #text: string;
  #names: string[] = [];
  #bounds: number[] = [];
  /** Values that were set, by place; the others are in the source. */
  #set: (string | undefined)[] | undefined;

  /** An object without entries over `text`; `parseJsonObject` fills it. */
  constructor(text = '') {
    this.#text = text;
  }

  /** Reads the entries of the object that begins at `at`. Returns the position after it, or -1 with the scanner's problem set. */
  scan(scanner: JsonScanner, at: number, depth: number): number {
    const { text } = scanner;
    let byName: Map<string, number> | undefined;
    at = scanner.skipSpace(at + 1);
    if (text.charCodeAt(at) === 0x7d) return at + 1;
    for (;;) {
      const keyStart = at;
      at = text.charCodeAt(at) === 0x22 ? scanner.skipString(at) : scanner.skipKey(at);
      if (at < 0) return at;
      const keyEnd = at;
      const valueStart = scanner.skipColon(at);
      if (valueStart < 0) return valueStart;
      at = scanner.skipValue(valueStart, depth + 1);
      if (at < 0) return at;
      const name = decodeString(text, keyStart, keyEnd);
      if (this.#names.length === MANY_KEYS) byName = new Map(this.#names.map((known, place) => [known, place]));
      const place = byName === undefined ? this.#names.indexOf(name) : (byName.get(name) ?? -1);
      if (place < 0) {
        byName?.set(name, this.#names.length);
        this.#names.push(name);
        this.#bounds.push(keyStart, keyEnd, valueStart, at);
      } else {
        this.#bounds[place * BOUNDS + VALUE_START] = valueStart;
        this.#bounds[place * BOUNDS + VALUE_END] = at;
      }
      at = scanner.skipSpace(at);
      const code = text.charCodeAt(at);
      if (code === 0x7d) return at + 1;
      if (code !== 0x2c) {
        scanner.problem = 'comma_or_brace';
        scanner.problemAt = at;
        return -1;
      }
      at = scanner.skipSpace(at + 1);
    }
  }

  /** The decoded keys, in order. */
  keys(): readonly string[] {
    return this.#names;
  }

  has(key: string): boolean {
    return this.#names.includes(key);
  }

  /** The source text of a value, undefined where the key is absent. */
  raw(key: string): string | undefined {
    const place = this.#names.indexOf(key);
    return place < 0 ? undefined : this.#rawAt(place);
  }

  /** The same in strict JSON, as `stringify` writes it. */
  strictRaw(key: string): string | undefined {
    const raw = this.raw(key);
    return raw !== undefined && this.holdsNonFinite ? withoutNonFinite(raw) : raw;
  }

  kind(key: string): JsonKind | undefined {
    const raw = this.raw(key);
    return raw === undefined ? undefined : kindOfJson(raw);
  }

  /** The decoded value, undefined where the key is absent. NaN and infinities inside an array or object read as null. */
  value(key: string): unknown {
    const raw = this.raw(key);
    return raw === undefined ? undefined : decodeJson(raw);
  }

  /** The elements of an array: objects as `JsonObject`, others as source text. Undefined where the value is not an array. */
  items(key: string): (JsonObject | string)[] | undefined {
    const place = this.#names.indexOf(key);
    if (place < 0) return undefined;
    const set = this.#set?.[place];
    const text = set ?? this.#text;
    const start = set === undefined ? (this.#bounds[place * BOUNDS + VALUE_START] ?? 0) : 0;
    return text.charCodeAt(start) === 0x5b ? listItems(text, start, this.holdsNonFinite) : undefined;
  }

  /** Gives a key a value as JSON text: in its place if it is there, else at the end. */
  set(key: string, rawJson: string): void {
    let place = this.#names.indexOf(key);
    if (place < 0) {
      place = this.#names.length;
      this.#names.push(key);
      this.#bounds.push(-1, -1, -1, -1);
    }
    this.#set ??= [];
    this.#set[place] = rawJson;
  }

  delete(key: string): void {
    const place = this.#names.indexOf(key);
    if (place < 0) return;
    this.#names.splice(place, 1);
    this.#bounds.splice(place * BOUNDS, BOUNDS);
    if (this.#set === undefined) return;
    this.#set.length = Math.max(this.#set.length, place + 1);
    this.#set.splice(place, 1);
  }

  /** A copy that can be changed without changing this. */
  clone(): JsonObject {
    const copy = new JsonObject(this.#text);
    copy.holdsNonFinite = this.holdsNonFinite;
    copy.#names = [...this.#names];
    copy.#bounds = [...this.#bounds];
    copy.#set = this.#set === undefined ? undefined : [...this.#set];
    return copy;
  }

  /** Strict JSON on one line. */
  stringify(): string {
    const pieces: string[] = [];
    this.appendTo(pieces);
    return pieces.join('');
  }

  /** Adds the pieces of what `stringify` gives: of many objects they are joined faster at once. */
  appendTo(pieces: string[]): void {
    pieces.push('{');
    for (let place = 0; place < this.#names.length;) {
      if (place > 0) pieces.push(',');
      const end = this.#endOfCompact(place);
      const keyStart = this.#bounds[place * BOUNDS + KEY_START] ?? -1;
      if (end > place) {
        pieces.push(this.#text.slice(keyStart, this.#bounds[(end - 1) * BOUNDS + VALUE_END]));
        place = end;
        continue;
      }
      const raw = this.#rawAt(place);
      pieces.push(
        keyStart < 0
          ? JSON.stringify(this.#names[place])
          : this.#text.slice(keyStart, this.#bounds[place * BOUNDS + KEY_END]),
        ':',
        this.holdsNonFinite ? withoutNonFinite(raw) : raw,
      );
      place += 1;
    }
    pieces.push('}');
  }

  /** The place after the entries, from this one on, that stand in the source as they are to be written: without space, side by side. */
  #endOfCompact(place: number): number {
    const bounds = this.#bounds;
    let lastEnd = -1;
    for (let at = place * BOUNDS; !this.holdsNonFinite && at < bounds.length; at += BOUNDS, place += 1) {
      const keyStart = bounds[at + KEY_START] ?? -1;
      if (keyStart < 0 || this.#set?.[place] !== undefined) break;
      if ((bounds[at + KEY_END] ?? 0) + 1 !== bounds[at + VALUE_START]) break;
      if (lastEnd >= 0 && lastEnd + 1 !== keyStart) break;
      lastEnd = bounds[at + VALUE_END] ?? 0;
    }
    return place;
  }

  #rawAt(place: number): string {
    const at = place * BOUNDS;
    return this.#set?.[place] ?? this.#text.slice(this.#bounds[at + VALUE_START], this.#bounds[at + VALUE_END]);
  }
}

/** What a JSON text holds, by its first character. NaN and infinities are numbers. */
export function kindOfJson(raw: string): JsonKind {
  switch (raw.charAt(0)) {
    case '{':
      return 'object';
    case '[':
      return 'array';
    case '"':
      return 'string';
    case 't':
    case 'f':
      return 'boolean';
    case 'n':
      return 'null';
    default:
      return 'number';
  }
}

/** Decodes JSON text that the scanner took. */
export function decodeJson(raw: string): unknown {
  const kind = kindOfJson(raw);
  if (kind === 'string') return decodeString(raw, 0, raw.length);
  if (kind === 'number') return Number(raw);
  return JSON.parse(withoutNonFinite(raw));
}

function decodeString(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : inner;
}

/** The elements of the array that begins at `at`, in text that was scanned before. */
function listItems(text: string, at: number, holdsNonFinite: boolean): (JsonObject | string)[] {
  const scanner = new JsonScanner(text);
  const items: (JsonObject | string)[] = [];
  at = scanner.skipSpace(at + 1);
  if (text.charCodeAt(at) === 0x5d) return items;
  for (;;) {
    const start = at;
    if (text.charCodeAt(at) === 0x7b) {
      const item = new JsonObject(text);
      item.holdsNonFinite = holdsNonFinite;
      at = item.scan(scanner, start, 0);
      items.push(item);
    } else {
      at = scanner.skipValue(start, 0);
      if (at >= 0) items.push(text.slice(start, at));
    }
    if (at < 0) throw new TypeError('set() was given text that is not JSON');
    at = scanner.skipSpace(at);
    if (text.charCodeAt(at) !== 0x2c) return items;
    at = scanner.skipSpace(at + 1);
  }
}

/** JSON text with null for every NaN, Infinity and -Infinity outside strings. */
function withoutNonFinite(raw: string): string {
  if (!raw.includes('NaN') && !raw.includes('Infinity')) return raw;
  const scanner = new JsonScanner(raw);
  let strict = '';
  let copied = 0;
  for (let at = 0; at < raw.length;) {
    const code = raw.charCodeAt(at);
    if (code === 0x22) {
      at = scanner.skipString(at);
      if (at < 0) throw new TypeError('set() was given text that is not JSON');
    } else if (code === 0x4e || code === 0x49) {
      const start = code === 0x49 && raw.charCodeAt(at - 1) === 0x2d ? at - 1 : at;
      strict += `${raw.slice(copied, start)}null`;
      at += code === 0x4e ? 'NaN'.length : 'Infinity'.length;
      copied = at;
    } else {
      at += 1;
    }
  }
  return strict + raw.slice(copied);
}
