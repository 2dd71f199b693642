import { decodeJson, JsonObject, kindOfJson } from '../manifest/json-object.js';

/**
 * Gives a row without `text` that of its `segments`: each without the whitespace at its ends, those that are not empty, with one space between.
 * `cut` writes such rows where its input has texts in segments alone. A row whose segments have no text stays as it is.
 */
export function fillText(row: JsonObject): void {
  if (row.has('text') && row.kind('text') !== 'null') return;
  const texts = (row.items('segments') ?? []).map(textOf).filter((text) => text !== '');
  if (texts.length > 0) row.set('text', JSON.stringify(texts.join(' ')));
}

function textOf(segment: JsonObject | string): string {
  const raw = segment instanceof JsonObject ? segment.raw('text') : undefined;
  return raw !== undefined && kindOfJson(raw) === 'string' ? (decodeJson(raw) as string).trim() : '';
}
