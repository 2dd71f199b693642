import { UsageError } from '../errors.js';
import type { SourceSpec } from './sources.js';

/** Sources as callers name them: paths, or spelt out. */
export type GivenSource = string | SourceSpec | readonly (string | SourceSpec)[];

/** One source of what was given: several are a group without weights. */
export function toSourceSpec(given: GivenSource): SourceSpec {
  if (typeof given === 'string') return { type: 'path', path: given };
  if (!isList(given)) return given;
  const sources = given.map((source) => toSourceSpec(source));
  const [first] = sources;
  if (first === undefined) throw new UsageError('There is no source', { hint: 'Name a list, a manifest or a folder.' });
  return sources.length === 1 ? first : { type: 'group', sources };
}

function isList(given: SourceSpec | readonly (string | SourceSpec)[]): given is readonly (string | SourceSpec)[] {
  return Array.isArray(given);
}
