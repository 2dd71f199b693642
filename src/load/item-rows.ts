import { InputError } from '../errors.js';
import { JsonObject } from '../manifest/json-object.js';
import { parseRowLine } from '../manifest/row-line.js';
import { sampleKey } from '../shard/sample-key.js';
import { resolveAudioPath } from './audio-path.js';
import type { ItemTable, TablePart } from './item-table.js';
import { LineFetcher, type LinePlace } from './line-fetcher.js';
import { parsePlainRow, RowRefusal, type PlainRow } from './manifest-row.js';
import { readAudioPath, readDurationMicros, readOffsetMicros, readText } from './row-facts.js';
import { addTags } from './row-reader.js';

/** A row of the table as its manifest has it. */
export interface ItemRow {
  item: number;
  leaf: number;
  part: number;
  /** All fields; those of the source's tags that the row has not itself are added. */
  row: PlainRow;
  /** The row's `snippet_id` (of rows that `cut` made, whose `id` is that of the recording), else `id`, else its audio's name without its last extension. */
  id: string;
  text: string;
  /** The row's line, where lines are kept. */
  line: string | undefined;
  /** 1-based, in the manifest of the part. */
  lineNumber: number;
  audio: RowAudio;
  /** Of a row with `offset`: the span of its audio, whole microseconds. Undefined where it is all of it. */
  span: { startMicros: number; endMicros: number } | undefined;
}

/** Where a row says that its audio is. */
export interface RowAudio {
  /** As the row spells it. */
  audioFilepath: string;
  /** The file; undefined for members of tars. It need not be there. */
  resolvedPath: string | undefined;
  /** Name of the member, as the row spells it; undefined for files. */
  memberName: string | undefined;
}

export interface ItemRowsOptions {
  /** Field with a row's text. Default `text`. */
  textField?: string | undefined;
  /** Whether rows have their lines. Default false. */
  keepLines?: boolean | undefined;
  /** Manifests that are held open. Default 64. */
  maxOpenFiles?: number | undefined;
}

/** Reads rows of a table again, from their places in the manifests. May be asked several times at once. */
export class ItemRows implements AsyncDisposable {
  readonly #table: ItemTable;
  readonly #textField: string;
  readonly #keepLines: boolean;
  readonly #lines: LineFetcher;

  constructor(table: ItemTable, { textField = 'text', keepLines = false, maxOpenFiles = 64 }: ItemRowsOptions = {}) {
    this.#table = table;
    this.#textField = textField;
    this.#keepLines = keepLines;
    this.#lines = new LineFetcher(maxOpenFiles);
  }

  /**
   * The rows of items, in the order of the items. Lines near each other are read together.
   *
   * @throws {InputError} when a manifest cannot be read, or its lines are no longer those that the table was made of (`changed_manifest`).
   * @throws {RangeError} for an item that is no row.
   */
  async read(items: ArrayLike<number>): Promise<ItemRow[]> {
    const places = Array.from(items, (item) => this.#placeOf(item));
    const lines = await this.#lines.read(places);
    const rows = Array.from(items, (item, at) => this.#toRow(item, lines[at]!));
    return await Promise.all(rows.map(async (row) => await this.#resolve(row)));
  }

  /** Closes the manifests; rows that are being read come to their end first. */
  async close(): Promise<void> {
    await this.#lines.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #placeOf(item: number): LinePlace {
    const { rowCount, rowParts, lineOffsetsBytes, lineLengthsBytes } = this.#table;
    if (!(Number.isSafeInteger(item) && item >= 0 && item < rowCount)) {
      throw new RangeError(`Item ${item} is no row: the table has ${rowCount}`);
    }
    const { manifestPath } = this.#partOf(rowParts[item]!);
    return { path: manifestPath, offsetBytes: lineOffsetsBytes[item]!, lengthBytes: lineLengthsBytes[item]! };
  }

  #partOf(part: number): TablePart {
    return this.#table.parts[part]!;
  }

  #toRow(item: number, bytes: Buffer): ItemRow {
    const { rowParts, lineNumbers, durationsMicros, leaves } = this.#table;
    const part = rowParts[item]!;
    const { leaf, manifestPath, tarPath } = this.#partOf(part);
    const lineNumber = lineNumbers[item]!;
    const row = parsePlainRow({ bytes });
    if (row instanceof RowRefusal) throw changedManifest(manifestPath, lineNumber, row.message);
    const audioFilepath = readAudioPath(row);
    const duration = readDurationMicros(row);
    const offset = readOffsetMicros(row);
    const text = readText(row, this.#textField);
    for (const value of [audioFilepath, duration, offset, text]) {
      if (value instanceof RowRefusal) throw changedManifest(manifestPath, lineNumber, value.message);
    }
    if (duration !== durationsMicros[item]) {
      throw changedManifest(manifestPath, lineNumber, 'its "duration" is another one');
    }
    const start = offset as number | undefined;
    return {
      ...{ item, leaf, part, lineNumber, text: text as string },
      line: this.#keepLines ? bytes.toString('utf8') : undefined,
      row: addTags(row, leaves[leaf]!.tags),
      id: idOf(row, bytes, audioFilepath as string),
      audio: {
        audioFilepath: audioFilepath as string,
        resolvedPath: undefined,
        memberName: tarPath === undefined ? undefined : (audioFilepath as string),
      },
      span: start === undefined ? undefined : { startMicros: start, endMicros: start + duration },
    };
  }

  async #resolve(row: ItemRow): Promise<ItemRow> {
    const { audio, part } = row;
    if (audio.memberName === undefined) {
      audio.resolvedPath = await resolveAudioPath(audio.audioFilepath, this.#partOf(part).audioFolder);
    }
    return row;
  }
}

function idOf(row: PlainRow, bytes: Buffer, audioFilepath: string): string {
  const name = row['snippet_id'] === undefined || row['snippet_id'] === null ? 'id' : 'snippet_id';
  const id = row[name];
  if (typeof id === 'string' && id !== '') return id;
  if (typeof id !== 'number') return sampleKey(audioFilepath);
  if (Number.isSafeInteger(id) || !Number.isInteger(id)) return String(id);
  // A double has not all of its digits, and would take neighbours for one.
  const spelled = parseRowLine({ bytes });
  return (spelled instanceof JsonObject ? spelled.raw(name) : undefined) ?? String(id);
}

function changedManifest(manifest: string, line: number, what: string): InputError {
  return new InputError(`Cannot read line ${line} of "${manifest}" again (changed_manifest): ${what}`, {
    path: manifest,
    line,
    hint: 'Leave manifests as they are while they are being read, and begin again.',
  });
}
