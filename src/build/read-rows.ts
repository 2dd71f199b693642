import { open } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, InputError } from '../errors.js';
import { manifestLines } from '../manifest/lines.js';
import { parseRowLine } from '../manifest/row-line.js';
import { JsonObject } from '../manifest/json-object.js';
import { decodeUtf8 } from '../manifest/utf8.js';
import type { ReadLine, RowRefusal } from '../shard/utterance-row.js';
import { csvRecords } from '../shard/csv-records.js';
import { columnsOfHeader, rowOfFields, type Columns } from '../shard/field-rows.js';
import { readFirstLine, type InputFile } from './input-file.js';
import { rowOfObject } from '../shard/object-rows.js';
import type { InputFormat } from './options.js';

type InputKind = Exclude<InputFormat, 'auto'>;

/** A line of a TSV is no novel. */
const MAX_LINE_BYTES = 16 << 20;

/**
 * The utterances of an input, line by line; of what cannot be read the reason is given, and reading goes on.
 *
 * @throws InputError when the file cannot be read, or a CSV file has no header
 */
export async function* readRows(input: InputFile, format: InputFormat): AsyncGenerator<ReadLine> {
  const kind = format === 'auto' ? await detectKind(input) : format;
  if (kind === 'jsonl') yield* readObjects(input);
  else if (kind === 'csv') yield* readCsv(input);
  else yield* readTsv(input);
}

const KIND_BY_EXTENSION: ReadonlyMap<string, InputKind> = new Map([
  ['.tsv', 'tsv'],
  ['.csv', 'csv'],
  ['.jsonl', 'jsonl'],
  ['.json', 'jsonl'],
  ['.ndjson', 'jsonl'],
]);

/** The kind by the name, and where that does not tell by the first line. */
export async function detectKind(input: InputFile): Promise<InputKind> {
  const byName = KIND_BY_EXTENSION.get(path.extname(input.name.replace(/\.gz$/iu, '')).toLowerCase());
  if (byName !== undefined) return byName;
  const first = await readFirstLine(input);
  if (first.startsWith('{')) return 'jsonl';
  if (first.includes('\t')) return 'tsv';
  const fields = first.split(',').map((field) => field.replace(/^"(?<inner>.*)"$/u, '$<inner>'));
  return columnsOfHeader(fields) === undefined ? 'tsv' : 'csv';
}

async function* readObjects(input: InputFile): AsyncGenerator<ReadLine> {
  for await (const { number: line, bytes } of linesOf(input, undefined)) {
    const object = parseRowLine({ bytes });
    if (!(object instanceof JsonObject)) yield { line, refusal: object };
    else yield { line, ...asOutcome(rowOfObject(object)) };
  }
}

async function* readTsv(input: InputFile): AsyncGenerator<ReadLine> {
  let columns: Columns | undefined;
  let isFirst = true;
  for await (const { number: line, bytes } of linesOf(input, MAX_LINE_BYTES)) {
    const text = bytes === undefined ? TOO_LONG : decodeUtf8(bytes);
    if (typeof text !== 'string') {
      yield { line, refusal: typeof text === 'number' ? refuseBytes(text) : text };
    } else {
      const fields = text.split('\t');
      if (isFirst) columns = columnsOfHeader(fields);
      if (!isFirst || columns === undefined) yield { line, ...asOutcome(rowOfFields(fields, columns)) };
    }
    isFirst = false;
  }
}

async function* readCsv(input: InputFile): AsyncGenerator<ReadLine> {
  let columns: Columns | undefined;
  for await (const record of recordsOf(input)) {
    if ('refusal' in record) {
      yield record;
      continue;
    }
    const { line, fields } = record;
    if (columns !== undefined) {
      yield { line, ...asOutcome(rowOfFields(fields, columns)) };
      continue;
    }
    columns = columnsOfHeader(fields);
    if (columns === undefined) {
      throw new InputError(`Cannot read "${input.name}": its first line does not name the columns`, {
        path: input.name,
        line,
        hint: 'A CSV file begins with a header such as id,audio_path,text,start,duration; for tabs give --input-format tsv.',
      });
    }
  }
}

const TOO_LONG: RowRefusal = { reason: 'line_too_long', message: 'the line is too long for a row' };

function refuseBytes(column: number): RowRefusal {
  const message = 'the line holds a byte that is not UTF-8';
  return { reason: 'invalid_utf8', message, column, hint: 'convert the manifest to UTF-8' };
}

function asOutcome<R extends object>(read: R | RowRefusal): { row: Exclude<R, RowRefusal> } | { refusal: RowRefusal } {
  return 'reason' in read ? { refusal: read } : { row: read as Exclude<R, RowRefusal> };
}

async function* linesOf(
  { path: file, name }: InputFile,
  maxLineBytes: number | undefined,
): AsyncGenerator<{ number: number; bytes: Buffer | undefined }> {
  const handle = await open(file).catch((error: unknown) => {
    throw unreadable(name, error);
  });
  try {
    yield* manifestLines(handle, name, maxLineBytes === undefined ? {} : { maxLineBytes });
  } finally {
    await handle.close();
  }
}

async function* recordsOf({ path: file, name }: InputFile): ReturnType<typeof csvRecords> {
  try {
    const handle = await open(file);
    try {
      yield* csvRecords(handle);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw unreadable(name, error);
  }
}

function unreadable(name: string, error: unknown): unknown {
  if (error instanceof InputError) return error;
  return new InputError(`Cannot read "${name}": ${errorMessage(error)}`, { path: name, cause: error });
}
