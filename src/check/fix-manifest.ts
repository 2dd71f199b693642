import path from 'node:path';
import { OutputError } from '../errors.js';
import { ensureFolder, sizeOf, writeFileAtomic, type ChunkWriter } from '../run/atomic-file.js';
import { columnsOfHeader, type Columns } from '../shard/field-rows.js';
import { IdIndex } from '../shard/id-index.js';
import type { JsonManifestKind } from './check-manifest.js';
import { Findings, type CheckContext, type FindingGroup, type PathFacts } from './finding.js';
import { Changes, type ChangeGroup } from './fix-changes.js';
import { nameForNemo, type CopyPlace } from './fix-places.js';
import { fixRow } from './fix-row.js';
import { manifestEntries } from './manifest-entries.js';
import { ManifestReport } from './manifest-report.js';
import type { PathKind } from './path-kind.js';
import { tsvLines } from './tsv-text.js';

/** What came of a corrected copy. */
export interface FixedCopy {
  output: string;
  changes: readonly ChangeGroup[];
  changeCount: number;
  /** What is wrong with the copy still. */
  remaining: readonly FindingGroup[];
  remainingCount: number;
  notes: readonly string[];
}

export interface FixTask {
  path: string;
  kind: FixableKind;
  copy: CopyPlace;
  overwrite: boolean;
}

export interface FixTools {
  /** A context that collects what is left, and takes relative paths from a folder. */
  contextOf(findings: Findings, base: string): CheckContext;
  recheck(path: string, kind: PathKind, context: CheckContext): Promise<PathFacts>;
}

/** Kinds of which corrected copies are written. */
export type FixableKind = JsonManifestKind | 'tsv';

export function isFixableKind(kind: PathKind): kind is FixableKind {
  return ['long_form', 'nemo', 'canary_v1', 'canary_flash', 'atdataset_jsonl', 'tsv'].includes(kind);
}

/**
 * Writes a corrected copy of a manifest, whole or not at all, and checks it. Rows keep their order and every character that is not at fault.
 *
 * @throws OutputError where the copy cannot be written, or is there already
 */
export async function fixManifest(task: FixTask, tools: FixTools): Promise<FixedCopy> {
  const { path: original, kind } = task;
  const isNemo = kind === 'nemo' || kind === 'canary_v1' || kind === 'canary_flash';
  const copy = isNemo ? nameForNemo(task.copy) : task.copy.copy;
  if (!task.overwrite && (await sizeOf(copy)) !== undefined) {
    throw new OutputError(`Cannot write "${copy}": it is there already`, {
      path: copy,
      hint: 'Give another path, or --overwrite.',
    });
  }
  const findings = new Findings();
  const folder = path.dirname(original);
  const context = tools.contextOf(findings, folder);
  await ensureFolder(path.dirname(copy));
  const changes = new Changes();
  const notes: string[] = [];
  const writer = new CopyWriter();
  await writeFileAtomic(copy, async (write) => {
    if (kind === 'tsv') await writeTsv(original, context, changes, writer.to(write));
    else await writeRows(original, kind, context, changes, writer.to(write));
    await writer.flush();
  });
  if (writer.hasRelativePaths && path.resolve(folder) !== path.resolve(path.dirname(copy))) {
    notes.push(`audio paths of the copy are relative to "${folder}": put it there before use`);
  }
  await tools.recheck(copy, kind, context);
  const groups = changes.groups();
  return {
    ...{ output: copy, notes, changes: groups },
    changeCount: groups.reduce((sum, { count }) => sum + count, 0),
    remaining: findings.groups(),
    remainingCount: findings.count,
  };
}

const FLUSH_CHARACTERS = 1 << 18;

/** Gathers lines before they are handed on. */
class CopyWriter {
  hasRelativePaths = false;
  #write: ChunkWriter | undefined;
  #text = '';

  to(write: ChunkWriter): this {
    this.#write = write;
    return this;
  }

  async line(text: string): Promise<void> {
    this.#text += `${text}\n`;
    if (this.#text.length >= FLUSH_CHARACTERS) await this.flush();
  }

  /** A line that is no text: its bytes go through as they are. */
  async bytes(line: Buffer): Promise<void> {
    await this.flush();
    await this.#write?.(Buffer.concat([line, Buffer.from('\n')]));
  }

  async flush(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    if (text !== '') await this.#write?.(text);
  }

  notePath(audioPath: string | undefined): void {
    if (audioPath !== undefined && !/^(?:\/|~|[a-z][a-z\d+.-]+:\/\/)/iu.test(audioPath)) this.hasRelativePaths = true;
  }
}

/** What is changed of the text of a file, and not of a row, by the finding that tells of it. */
const WHOLE_FILE_CHANGES: Readonly<Record<string, [from: string, to: string]>> = {
  byte_order_mark: ['a byte order mark', 'none'],
  crlf: ['CR LF at the ends of lines', 'LF'],
  blank_line: ['a blank line', 'none'],
  json_array: ['a JSON array', 'one object a line'],
  pretty_printed: ['pretty-printed JSON', 'one object a line'],
  several_objects: ['several objects on a line', 'one object a line'],
};

/** Takes findings about the text of a file for changes, as the copy has none of it. */
function textReport(file: string, context: CheckContext, changes: Changes): ManifestReport {
  const report = (finding: { kind: string; line?: number | undefined }): void => {
    const change = WHOLE_FILE_CHANGES[finding.kind];
    if (change === undefined) return;
    changes.add({ kind: finding.kind, line: finding.line ?? 1, from: change[0], to: change[1] });
  };
  return new ManifestReport(file, { ...context, report });
}

async function writeRows(
  original: string,
  kind: JsonManifestKind,
  context: CheckContext,
  changes: Changes,
  writer: CopyWriter,
): Promise<void> {
  const report = textReport(original, context, changes);
  for await (const { row, line, bytes } of manifestEntries(original, { context, report, reportsBlankLines: true })) {
    if (row === undefined) {
      await writer.bytes(onOneLine(bytes));
      continue;
    }
    if (kind !== 'long_form' && kind !== 'atdataset_jsonl') writer.notePath(row.string('audio_filepath'));
    await writer.line(fixRow(row, line, kind, changes));
  }
}

async function writeTsv(original: string, context: CheckContext, changes: Changes, writer: CopyWriter): Promise<void> {
  const ids = new IdIndex();
  let columns: Columns | undefined;
  let isFirst = true;
  for await (const { text, number } of tsvLines(original, context)) {
    const fields = text?.split('\t');
    if (isFirst && fields !== undefined) columns = columnsOfHeader(fields);
    const id = fields?.[idPlace(columns) ?? -1];
    if (id !== undefined && (!isFirst || columns === undefined)) ids.firstShardOf(id, number);
    isFirst = false;
  }
  const report = textReport(original, context, changes);
  isFirst = true;
  for await (const { text, number, bytes } of tsvLines(original, context, report)) {
    const isHeader = isFirst && columns !== undefined;
    isFirst = false;
    if (text === undefined) {
      await writer.bytes(bytes);
      continue;
    }
    if (isHeader) await writer.line(text);
    else await writer.line(fixTsvLine(text, number, { columns, ids, changes, writer }));
  }
}

interface TsvFix {
  columns: Columns | undefined;
  ids: IdIndex;
  changes: Changes;
  writer: CopyWriter;
}

function fixTsvLine(text: string, line: number, { columns, ids, changes, writer }: TsvFix): string {
  const fields = text.split('\t');
  writer.notePath(fields[columns === undefined ? 1 : (columns.places.path ?? -1)]);
  const place = idPlace(columns) ?? -1;
  const id = fields[place];
  const plain = id?.replaceAll('.', '_');
  // An id that another line has, or got, stays as it is and is told of again.
  if (id === undefined || plain === undefined || plain === id || ids.firstShardOf(plain, line) !== line) return text;
  changes.add({ kind: 'dotted_id', line, from: id, to: plain });
  return fields.with(place, plain).join('\t');
}

/** Which field of a line is the id; undefined where there is none. */
function idPlace(columns: Columns | undefined): number | undefined {
  return columns === undefined ? 0 : columns.places.id;
}

function onOneLine(bytes: Buffer): Buffer {
  if (!bytes.includes(0x0a) && !bytes.includes(0x0d)) return bytes;
  return Buffer.from(bytes.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte)));
}
