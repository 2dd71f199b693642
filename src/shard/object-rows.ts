import type { JsonObject } from '../manifest/json-object.js';
import { FIELD_NAMES, type UtteranceRow, type FieldRole, type RowRefusal } from './utterance-row.js';
import { readSpan } from './span-fields.js';

/** The utterance of a JSON object, or why there is none. The object becomes the row's further columns. */
export function rowOfObject(object: JsonObject): UtteranceRow | RowRefusal {
  const path = takeText(object, 'path');
  if (typeof path === 'object') return path;
  if (path === undefined) {
    return {
      reason: 'missing_path',
      message: 'the row does not say where its audio is',
      hint: `name the file in ${FIELD_NAMES.path.map((name) => JSON.stringify(name)).join(', ')}`,
    };
  }
  const id = takeText(object, 'id');
  if (typeof id === 'object') return id;
  const text = takeText(object, 'text');
  if (typeof text === 'object') return text;
  const start = takeNumber(object, 'start');
  const duration = takeNumber(object, 'duration');
  if (typeof start === 'object') return start;
  if (typeof duration === 'object') return duration;
  const span = readSpan(start, duration);
  if ('reason' in span) return span;
  return { id, path, text: text ?? '', ...span, extras: object };
}

/** The span that a row of a packed dataset takes of its member; its other fields are the caller's. */
export function spanOfObject(object: JsonObject): ReturnType<typeof readSpan> {
  const start = takeNumber(object, 'start');
  const duration = takeNumber(object, 'duration');
  if (typeof start === 'object') return start;
  return typeof duration === 'object' ? duration : readSpan(start, duration);
}

/** Takes the first field of a role out of the object, as text. Numbers are good ids; null is as good as nothing. */
function takeText(object: JsonObject, role: 'id' | 'path' | 'text'): string | undefined | RowRefusal {
  const name = nameIn(object, role);
  if (name === undefined) return undefined;
  const kind = object.kind(name);
  const raw = object.raw(name) ?? '';
  const value = object.value(name);
  object.delete(name);
  if (kind === 'null') return undefined;
  if (typeof value === 'string') return value;
  if (kind === 'number' && role === 'id') return raw;
  const wanted = role === 'id' ? 'no text and no number' : 'no text';
  return {
    reason: 'bad_type',
    message: `${JSON.stringify(name)} is ${kind === 'object' || kind === 'array' ? 'an' : 'a'} ${kind}, ${wanted}`,
  };
}

function takeNumber(object: JsonObject, role: 'start' | 'duration'): string | undefined | RowRefusal {
  const name = nameIn(object, role);
  if (name === undefined) return undefined;
  const kind = object.kind(name);
  const raw = object.raw(name);
  const value = object.value(name);
  object.delete(name);
  if (kind === 'null') return undefined;
  if (kind === 'number') return raw;
  if (typeof value === 'string') return value;
  return { reason: `bad_${role}`, message: `${JSON.stringify(name)} is no number`, hint: 'write seconds as a number' };
}

function nameIn(object: JsonObject, role: FieldRole): string | undefined {
  return FIELD_NAMES[role].find((name) => object.has(name));
}
