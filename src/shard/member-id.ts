import { isLoaderMeta, loaderGroup, sampleKey } from './sample-key.js';
import { memberNameFault } from '../tar/member-name.js';
import type { UtteranceRow } from './utterance-row.js';

/**
 * Why a loader would not find the audio of an id again, as the end of a sentence, or undefined where it does.
 *
 * @param extension of the member, with its dot
 */
export function idFault(id: string, extension: string): string | undefined {
  const name = id + extension;
  const fault = memberNameFault(name);
  if (fault !== undefined) return fault;
  if (/\p{Cc}/u.test(id)) return 'it holds a control character';
  if (id.split('/').some((part) => part === '' || part === '.')) return 'a part of it between slashes is empty or "."';
  if (id.startsWith('._') || id.includes('/._')) return 'it starts with "._", as what macOS leaves in tars does';
  if (isLoaderMeta(name)) return 'WebDataset takes members between double underscores for notes about the tar';
  if (loaderGroup(name) === undefined) return 'WebDataset passes over members that start with a dot';
  if (loaderGroup(name) !== id)
    return 'WebDataset takes all before the first dot for the id, and joins neighbours that share it';
  return undefined;
}

/**
 * An id that loaders find again: dots, backslashes and control characters become `_`, parts of a path that lead elsewhere go, and
 * underscores at the start go where they make a note of it.
 */
export function flattenId(id: string): string {
  const parts = id
    .split('/')
    .filter((part) => part !== '' && part !== '.' && part !== '..')
    .map((part) => part.replaceAll(/[.\\\p{Cc}]/gu, '_').replaceAll(/\p{Surrogate}/gu, '\ufffd'));
  const flat = parts.join('/');
  const noted = isLoaderMeta(`${flat}.x`) ? flat.replace(/^_+/u, '') : flat;
  return noted === '' ? '_' : noted;
}

/**
 * The id of a row that has none: the path without extension, its folders joined by `_`, and for a part of a file its start and end in
 * milliseconds: `de/a.b.wav` from 1.5 s to 3 s is `de_a_b-1500-3000`.
 */
export function idOfPath({ path, span }: Pick<UtteranceRow, 'path' | 'span'>): string {
  const flat = flattenId(sampleKey(path)).replaceAll('/', '_');
  if (span === undefined) return flat;
  const millis = (micros: number): string => String(Math.round(micros / 1000));
  return `${flat}-${millis(span.start)}-${span.end === null ? 'end' : millis(span.end)}`;
}
