import { toMicros } from '../audio/times.js';
import { JsonObject, kindOfJson } from '../manifest/json-object.js';
import type { PlannedItem } from '../shard/plan.js';
import { FileCache } from './file-cache.js';
import type { MemberPlan, MemberPlans } from './member-plan.js';
import { pathKeyOf } from './row-facts.js';
import type { RowTable } from './row-table.js';

/** How rows are written. */
export interface RowStyle {
  /** Rows that repeat a file of their shard get names with `-subN`. */
  subRows: boolean;
  /** Rows say where their audio lies on the disk. */
  onlyManifests: boolean;
  /** Folder that paths in the plan are relative to where they can be. */
  base: string;
}

/** Takes the place of a row's duration until it is known: no JSON text holds it. */
const DURATION = '\u0001';

/** More of them lie too far apart in memory to be joined fast. */
const LINES_A_STRING = 64;

/** Makes rows and items of a shard. */
export class ShardItems {
  readonly #table: RowTable;
  readonly #members: MemberPlans;
  readonly #style: RowStyle;
  /** Paths as JSON. */
  readonly #absolute: FileCache<string>;

  constructor(table: RowTable, members: MemberPlans, style: RowStyle) {
    this.#table = table;
    this.#members = members;
    this.#style = style;
    this.#absolute = new FileCache((file) => JSON.stringify(table.files.absolutePath(file)));
  }

  /**
   * The items of a shard, in its order.
   *
   * @param shardId as rows name it
   */
  *items(rows: Uint32Array, shardId: number): Generator<PlannedItem> {
    for (const { row, member, name, isShared } of this.#named(rows)) {
      const json = this.#table.read(row);
      const spelling = json.raw('duration') ?? 'null';
      const file = this.#table.fileNumbers[row] ?? 0;
      const packed = this.#table.files.packedPlace(file);
      const span = member.isCut ? this.#spanOf(row) : undefined;
      const text = this.#change(json, { row, member, name, shardId, duration: DURATION }).stringify();
      const at = text.indexOf(DURATION);
      yield {
        input: this.#table.inputOf(row),
        line: this.#table.lineOf(row),
        id: stemOf(name),
        member: member.name,
        path: this.#relative(this.#table.files.absolutePath(file)),
        ...(packed !== undefined && { inside: { offset: packed.offset, size: packed.size, name: packed.name } }),
        ...(span !== undefined && { span }),
        how: isShared ? 'share' : member.how,
        ...(member.how !== 'copy' && { as: member.format }),
        row: [text.slice(0, at), text.slice(at + DURATION.length)],
        ...(kindOfJson(spelling) === 'number' && { duration: spelling }),
      };
    }
  }

  /** The lines of a shard's manifest, where no audio is packed: many of them in one string. */
  *lines(rows: Uint32Array, shardId: number): Generator<string> {
    let pieces: string[] = [];
    let count = 0;
    for (const { row, member, name } of this.#named(rows)) {
      const json = this.#change(this.#table.read(row), { row, member, name, shardId, duration: undefined });
      json.appendTo(pieces);
      pieces.push('\n');
      count += 1;
      if (count % LINES_A_STRING !== 0) continue;
      yield pieces.join('');
      pieces = [];
    }
    yield pieces.join('');
  }

  /** Names the rows of a shard: a file that is met again gets a number, as NeMo's converter counts. */
  *#named(rows: Uint32Array): Generator<NamedRow> {
    const counts = new Map<number, number>();
    for (const row of rows) {
      const member = this.#members.memberOf(row);
      let { name } = member;
      let count = 0;
      if (this.#style.subRows) {
        const file = this.#table.fileNumbers[row] ?? 0;
        count = counts.get(file) ?? 0;
        counts.set(file, count + 1);
        const stem = stemOf(name);
        if (count > 0) name = `${stem}-sub${count}${name.slice(stem.length)}`;
      }
      yield { row, member, name, isShared: count > 0 };
    }
  }

  #change(source: JsonObject, { row, member, name, shardId, duration }: RowToWrite): JsonObject {
    const json = renamePathKey(source);
    json.set('audio_filepath', JSON.stringify(name));
    if (duration !== undefined) json.set('duration', duration);
    if (member.isCut) {
      const offset = json.raw('offset') ?? 'null';
      json.delete('offset');
      json.set('source_audio_offset', offset === 'null' ? '0' : offset);
    }
    if (this.#style.onlyManifests) {
      json.set('abs_audio_filepath', this.#absolute.get(this.#table.fileNumbers[row] ?? 0));
    }
    // Of rows that were packed before it is that of another shard.
    json.delete('shard_id');
    json.set('shard_id', String(shardId));
    return json;
  }

  #spanOf(row: number): { start: number; end: number | null } {
    const offset = this.#table.offsets[row] ?? Number.NaN;
    const seconds = this.#table.durations[row] ?? Number.NaN;
    const start = Number.isNaN(offset) ? 0 : toMicros(offset);
    return { start, end: Number.isNaN(seconds) ? null : start + toMicros(seconds) };
  }

  #relative(absolute: string): string {
    const { base } = this.#style;
    const folder = base.endsWith('/') ? base : `${base}/`;
    return absolute.startsWith(folder) ? absolute.slice(folder.length) : absolute;
  }
}

interface NamedRow {
  row: number;
  member: MemberPlan;
  /** As the manifest has it. */
  name: string;
  isShared: boolean;
}

interface RowToWrite extends Omit<NamedRow, 'isShared'> {
  shardId: number;
  /** Undefined keeps the row's own. */
  duration: string | undefined;
}

function stemOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? name : name.slice(0, dot);
}

/** A row that names its audio by another field gets `audio_filepath` in its place: loaders of tarred datasets know that one alone. */
function renamePathKey(row: JsonObject): JsonObject {
  const key = pathKeyOf(row);
  if (key === undefined || key === 'audio_filepath') return row;
  const renamed = new JsonObject();
  renamed.holdsNonFinite = row.holdsNonFinite;
  for (const name of row.keys()) renamed.set(name === key ? 'audio_filepath' : name, row.raw(name) ?? 'null');
  return renamed;
}
