import { parseJsonObject, JsonObject } from '../manifest/json-object.js';

/** The fields of a row as JSON: those that stand on its line as they are spelt there, so that numbers keep all of their digits. */
export class SpelledRow {
  readonly #row: Readonly<Record<string, unknown>>;
  readonly #line: JsonObject | undefined;

  /** @param line undefined for what is no row of a manifest. */
  constructor(row: Readonly<Record<string, unknown>>, line: string | undefined) {
    this.#row = row;
    const parsed = line === undefined ? undefined : parseJsonObject(line);
    this.#line = parsed instanceof JsonObject ? parsed : undefined;
  }

  /** One field. */
  json(name: string): string | undefined {
    return this.#line?.strictRaw(name) ?? toJson(this.#row[name]);
  }

  /** All fields, by name, in the order of the row. */
  fields(): Record<string, string | undefined> {
    return Object.fromEntries(Object.keys(this.#row).map((name) => [name, this.json(name)]));
  }
}

/** JSON of a value, undefined where it has none. */
export function toJson(value: unknown): string | undefined {
  return JSON.stringify(value);
}

/** A JSON object of fields that are JSON; those that are undefined are left out. */
export function joinFields(fields: Readonly<Record<string, string | undefined>>): string {
  const pieces = Object.entries(fields).flatMap(([name, json]) =>
    json === undefined ? [] : [`${JSON.stringify(name)}:${json}`],
  );
  return `{${pieces.join(',')}}`;
}
