import { UsageError } from '../errors.js';
import { nearest } from '../text/nearest.js';
import type { SourceSpec } from './sources.js';

/** Of each type of sources: what it cannot be without, and whether that is a text, a list of texts, one of sources, or an object. */
const NEEDED: Readonly<Record<SourceSpec['type'], Readonly<Record<string, 'text' | 'texts' | 'sources' | 'object'>>>> =
  {
    path: { path: 'text' },
    nemo: { manifests: 'texts' },
    nemo_tarred: { manifests: 'texts', tars: 'texts' },
    buckets: { buckets: 'sources' },
    excerpts: { dataset: 'object' },
    group: { sources: 'sources' },
  };

const KINDS = { text: 'a text', texts: 'a list of texts', sources: 'a list of sources', object: 'a dataset' };

/**
 * Looks at the fields of a source and of all sources in it, which programs without types make, too.
 *
 * @throws {TypeError} for what is no source, or a field of another type.
 * @throws {UsageError} for a type that does not exist.
 */
export function checkSource(source: unknown): void {
  if (typeof source !== 'object' || source === null) {
    throw new TypeError(`A source is a path, or an object with a "type", and not ${String(source)}`);
  }
  const fields = source as Readonly<Record<string, unknown>>;
  const { type } = fields;
  const types = Object.keys(NEEDED);
  if (!isType(type)) {
    const near = typeof type === 'string' ? nearest(type, types) : undefined;
    throw new UsageError(`There is no type ${JSON.stringify(type) ?? 'undefined'} of sources`, {
      hint: near === undefined ? `Types are ${types.join(', ')}.` : `Did you mean ${near}?`,
    });
  }
  for (const [name, kind] of Object.entries(NEEDED[type])) {
    const value = fields[name];
    if (!isOf(kind, value)) throw new TypeError(`"${name}" of a source of type ${type} must be ${KINDS[kind]}`);
    if (kind === 'sources') for (const inner of value as readonly unknown[]) checkSource(inner);
  }
}

function isType(type: unknown): type is SourceSpec['type'] {
  return typeof type === 'string' && Object.hasOwn(NEEDED, type);
}

function isOf(kind: keyof typeof KINDS, value: unknown): boolean {
  if (kind === 'text') return typeof value === 'string';
  if (kind === 'object') return typeof value === 'object' && value !== null;
  return Array.isArray(value) && (kind === 'sources' || value.every((item) => typeof item === 'string'));
}
