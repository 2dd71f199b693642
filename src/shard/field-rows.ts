import { JsonFault } from '../manifest/json-fault.js';
import { JsonObject, parseJsonObject } from '../manifest/json-object.js';
import { fieldsOf, type UtteranceRow, type FieldRole, type RowRefusal } from './utterance-row.js';
import { readSpan } from './span-fields.js';

/** Which field of a line is what. */
export interface Columns {
  /** By role: the place of the field. */
  places: Partial<Record<FieldRole, number>>;
  /** The fields that go into the rows under their names. */
  extras: readonly { name: string; place: number }[];
  count: number;
}

/** The fields of a TSV without a header: `id, audio_path, text[, start, duration[, json]]`. */
const PLAIN: readonly FieldRole[] = ['id', 'path', 'text', 'start', 'duration', 'extras'];
const PLAIN_COUNTS = [3, 5, 6];

/**
 * The columns that a first line names, or undefined when it is no header: one names the audio, and the id or the text, and no name twice.
 */
export function columnsOfHeader(fields: readonly string[]): Columns | undefined {
  const names = fields.map((field) => field.trim());
  const roles = fieldsOf(names);
  if (roles.path === undefined || (roles.id === undefined && roles.text === undefined)) return undefined;
  if (names.includes('') || new Set(names).size !== names.length) return undefined;
  const places: Columns['places'] = {};
  for (const [role, name] of Object.entries(roles) as [FieldRole, string][]) places[role] = names.indexOf(name);
  const taken = new Set(Object.values(places));
  const extras = names.map((name, place) => ({ name, place })).filter(({ place }) => !taken.has(place));
  return { places, extras, count: names.length };
}

/** The utterance of a line's fields, or why there is none. */
export function rowOfFields(fields: readonly string[], columns: Columns | undefined): UtteranceRow | RowRefusal {
  if (columns === undefined ? !PLAIN_COUNTS.includes(fields.length) : fields.length !== columns.count) {
    return refuseCount(fields.length, columns);
  }
  const at = (role: FieldRole): string | undefined => {
    const place = columns === undefined ? PLAIN.indexOf(role) : columns.places[role];
    return place === undefined ? undefined : fields[place];
  };
  for (const role of columns === undefined && fields.length > 3 ? (['start', 'duration'] as const) : []) {
    if (at(role)?.trim() === '') return { reason: `bad_${role}`, message: `the ${role} is blank` };
  }
  const span = readSpan(at('start'), at('duration'));
  if ('reason' in span) return span;
  const extras = readExtras(at('extras'));
  if (extras !== undefined && !(extras instanceof JsonObject)) return extras;
  let all = extras;
  for (const { name, place } of columns?.extras ?? []) {
    all ??= new JsonObject();
    all.set(name, JSON.stringify(fields[place]));
  }
  return { id: at('id'), path: at('path') ?? '', text: at('text') ?? '', ...span, extras: all };
}

function refuseCount(count: number, columns: Columns | undefined): RowRefusal {
  const wanted = columns === undefined ? '3, 5 or 6 are expected' : `the header names ${columns.count}`;
  const hint =
    columns === undefined
      ? 'id, audio_path and text, then start and duration, then a JSON object, with one tab between; a text holds no tab'
      : 'every line has a field for each column of the header; a field holds no separator';
  return { reason: 'field_count', message: `the line has ${count} field${count === 1 ? '' : 's'}; ${wanted}`, hint };
}

function readExtras(text: string | undefined): JsonObject | RowRefusal | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const parsed = parseJsonObject(text);
  if (!(parsed instanceof JsonFault)) return parsed;
  const message = `the JSON field is no object: ${parsed.message}`;
  return { reason: 'bad_extras', message, hint: parsed.hint };
}
