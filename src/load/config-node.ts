import { Alias, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml';
import { UsageError } from '../errors.js';

/** Deeper nesting is taken for an alias that holds itself. */
const MAX_DEPTH = 64;
/** Aliases of aliases may stand for more values than there is memory for. */
const MAX_VALUES = 200_000;

/** A value of a configuration, and where it stands. */
export interface ConfigNode {
  value: ConfigScalar | ConfigNode[] | ConfigMap;
  /** The file; undefined where the configuration is an object. */
  file: string | undefined;
  /** 1-based; 0 where the configuration is an object. */
  line: number;
}

export type ConfigScalar = string | number | boolean | null;
export type ConfigMap = Map<string, ConfigNode>;

/**
 * Reads YAML.
 *
 * @param file names the text in errors
 * @throws {UsageError} with the line for text that is no YAML, or uses what stands for commands and other values.
 */
export function parseYamlNode(text: string, file: string | undefined): ConfigNode {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineOf = (offset: number | undefined): number => (offset === undefined ? 0 : lines.linePos(offset).line);
  const [fault] = document.errors;
  if (fault !== undefined) {
    throw configError(`the text is no YAML: ${fault.message}`, { value: null, file, line: lineOf(fault.pos[0]) });
  }
  return new YamlReader(document, file, lineOf).read(document.contents, 0);
}

/**
 * Takes values of a program as a configuration.
 *
 * @throws {TypeError} for values that JSON cannot hold.
 */
export function toConfigNode(value: unknown, depth = 0): ConfigNode {
  const place = { file: undefined, line: 0 };
  if (value === null || value === undefined) return { value: null, ...place };
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return { value, ...place };
  if (typeof value !== 'object' || depth > MAX_DEPTH) throw new TypeError('A configuration holds plain values alone');
  if (Array.isArray(value)) return { value: value.map((item) => toConfigNode(item, depth + 1)), ...place };
  const entries = Object.entries(value).map(([key, item]) => [key, toConfigNode(item, depth + 1)] as const);
  return { value: new Map(entries), ...place };
}

/** The value without its places. */
export function toPlainValue(node: ConfigNode): unknown {
  const { value } = node;
  if (Array.isArray(value)) return value.map(toPlainValue);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, toPlainValue(item)]));
  return value;
}

/** An error that names where it is. */
export function configError(state: string, place: ConfigNode, hint?: string): UsageError {
  const { file, line } = place;
  const source = file === undefined ? 'the configuration' : `"${file}"`;
  const where = line > 0 ? `line ${line} of ${source}` : source;
  return new UsageError(`Cannot take ${where}: ${state}`, { hint });
}

class YamlReader {
  readonly #document: Document.Parsed;
  readonly #file: string | undefined;
  readonly #lineOf: (offset: number | undefined) => number;
  readonly #meant = new Map<Alias, Node>();
  #values = 0;

  constructor(document: Document.Parsed, file: string | undefined, lineOf: (offset: number | undefined) => number) {
    this.#document = document;
    this.#file = file;
    this.#lineOf = lineOf;
  }

  read(node: Node | null | undefined, depth: number): ConfigNode {
    const place = { file: this.#file, line: this.#lineOf(node?.range?.[0]) };
    if (depth > MAX_DEPTH) throw configError('it is nested too deep', { value: null, ...place });
    this.#values += 1;
    if (this.#values > MAX_VALUES) {
      throw configError(`it holds more than ${MAX_VALUES.toLocaleString('en-US')} values`, { value: null, ...place });
    }
    if (isAlias(node)) return this.read(this.#resolve(node), depth + 1);
    if (isSeq(node)) return { value: node.items.map((item) => this.read(item as Node, depth + 1)), ...place };
    if (isMap(node)) {
      const map: ConfigMap = new Map();
      for (const { key, value } of node.items) {
        const item = this.read(value as Node | null, depth + 1);
        const name = isScalar(key) ? String(key.value) : '';
        // An empty value has no place of its own.
        const line = this.#lineOf((key as Node).range?.[0]);
        if (name === '<<') mergeInto(map, item);
        else map.set(name, item.line === 0 ? { ...item, line } : item);
      }
      return { value: map, ...place };
    }
    const value = isScalar(node) ? node.value : null;
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null) {
      const found: ConfigNode = { value, ...place };
      if (typeof value === 'string') checkText(value, found);
      return found;
    }
    throw configError(`it holds a ${typeof value}, which no configuration has`, { value: null, ...place });
  }

  /** Each once: it goes through the whole document. */
  #resolve(alias: Alias): Node | undefined {
    const known = this.#meant.get(alias);
    if (known !== undefined) return known;
    const meant = alias.resolve(this.#document);
    if (meant !== undefined) this.#meant.set(alias, meant);
    return meant;
  }
}

/** What YAML 1.1 merges (`<<: *base`): keys that are there already stay. */
function mergeInto(map: ConfigMap, { value }: ConfigNode): void {
  for (const source of Array.isArray(value) ? value : [{ value }]) {
    if (!(source.value instanceof Map)) continue;
    for (const [name, item] of source.value) if (!map.has(name)) map.set(name, item);
  }
}

function checkText(text: string, place: ConfigNode): void {
  if (text === '???') {
    throw configError('"???" stands for a value that is still missing', place, 'Write the value.');
  }
  if (!text.includes('${')) return;
  const hint = 'Write the value itself; variables of OmegaConf and of shells are not resolved.';
  throw configError(`${JSON.stringify(text)} holds a variable`, place, hint);
}
