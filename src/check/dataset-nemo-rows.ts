import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { CutroomError, errorMessage } from '../errors.js';
import { readLineAt } from '../manifest/lines.js';
import { parseRowLine } from '../manifest/row-line.js';
import { sampleKey } from '../shard/sample-key.js';
import { reasonOf } from '../shard/shard-problem.js';
import type { ShardSample } from '../shard/shard-members.js';
import type { DatasetFinding, DatasetKind } from './dataset-kinds.js';

/** Lines of a manifest that stand one behind the other. */
export interface RowRun {
  offsetBytes: number;
  endBytes: number;
  /** 1-based, of the first. */
  line: number;
}

export interface NemoRowsTask {
  manifestPath: string;
  runs?: readonly RowRun[] | undefined;
  shardId?: number | undefined;
}

export interface NemoRowsWork {
  /** Of the tar; undefined where they are not known. */
  samples: ReadonlyMap<string, ShardSample> | undefined;
  note: (finding: DatasetFinding) => void;
  /** Takes each row that has a member. */
  take: (sample: ShardSample, row: Readonly<Record<string, unknown>>, line: number) => void;
  tellAlive: () => Promise<void>;
}

export interface NemoRows {
  rowCount: number;
  durationMicros: bigint;
  segments: number;
  isReadable: boolean;
  digest: string;
}

const REPORT_ROWS = 2000;
const PIECE_BYTES = 4 << 20;
const NEWLINE = 0x0a;
const MAX_SECONDS = 1e9;

/** Names by which NeMo finds the audio of a row, the first that is there (NeMo 2025, `parse_item`; its 2026 converter). */
const PATH_KEYS = ['audio_filepath', 'audio_filename', 'audio_file'];

/** Reads the rows of one shard of a NeMo manifest, and compares them with the members of its tar. */
export async function readNemoRows(task: NemoRowsTask, work: NemoRowsWork): Promise<NemoRows> {
  const { manifestPath } = task;
  const reader = new NemoRowReader(task, work);
  try {
    const handle = await open(manifestPath, 'r');
    try {
      const { size } = await handle.stat();
      for (const run of task.runs ?? [{ offsetBytes: 0, endBytes: size, line: 1 }]) {
        let { line } = run;
        for (let offset = run.offsetBytes; offset < run.endBytes;) {
          const wanted = Math.min(PIECE_BYTES, run.endBytes - offset);
          const piece = await readLineAt(handle, manifestPath, offset, wanted);
          const isLast = offset + wanted >= run.endBytes;
          const end = isLast ? wanted : piece.lastIndexOf(NEWLINE) + 1;
          if (end === 0) throw new CutroomError('input', 'a line is longer than 4 MiB');
          line = await reader.addLines(piece.subarray(0, end), line);
          offset += end;
        }
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!(error instanceof CutroomError) && !(error instanceof Error && 'syscall' in error)) throw error;
    const message = reasonOf(errorMessage(error), manifestPath);
    work.note({ kind: 'unreadable_manifest', message, file: manifestPath });
    reader.isReadable = false;
  }
  return reader.result();
}

class NemoRowReader {
  isReadable = true;
  readonly #task: NemoRowsTask;
  readonly #work: NemoRowsWork;
  readonly #hash = createHash('sha256');
  #rowCount = 0;
  #durationMicros = 0n;

  constructor(task: NemoRowsTask, work: NemoRowsWork) {
    this.#task = task;
    this.#work = work;
  }

  result(): NemoRows {
    return {
      rowCount: this.#rowCount,
      durationMicros: this.#durationMicros,
      segments: 0,
      isReadable: this.isReadable,
      digest: this.#hash.digest('hex'),
    };
  }

  /** Takes whole lines; returns the number of the line after them. */
  async addLines(bytes: Buffer, firstLine: number): Promise<number> {
    let line = firstLine;
    for (let start = 0; start < bytes.length; line += 1) {
      const newline = bytes.indexOf(NEWLINE, start);
      const end = newline < 0 ? bytes.length : newline;
      this.#addLine(bytes.subarray(start, end), line);
      start = end + 1;
      if (line % REPORT_ROWS === 0) await this.#work.tellAlive();
    }
    return line;
  }

  #addLine(bytes: Buffer, line: number): void {
    const trimmed = trimLine(bytes, line);
    if (trimmed.length === 0) return;
    hashLine(this.#hash, trimmed);
    const row = parsePlain(trimmed);
    if ('reason' in row) {
      const { message, hint, column } = row.reason;
      this.#work.note({ kind: 'bad_row', message, file: this.#task.manifestPath, line, column, hint });
      return;
    }
    this.#rowCount += 1;
    const duration = row.value['duration'];
    if (typeof duration === 'number' && duration >= 0 && duration <= MAX_SECONDS) {
      this.#durationMicros += BigInt(Math.round(duration * 1e6));
    } else if (duration !== null) {
      const isMissing = duration === undefined;
      const said = isMissing
        ? 'no duration'
        : `the duration ${JSON.stringify(duration)}, which is no number of seconds`;
      this.#tell(isMissing ? 'missing_duration' : 'bad_duration', line, `the row has ${said}`);
    }
    this.#checkShardId(row.value['shard_id'], line);
    this.#compare(row.value, line);
  }

  #checkShardId(found: unknown, line: number): void {
    const { shardId } = this.#task;
    if (found === shardId) return;
    if (found === undefined) {
      this.#tell('missing_shard_id', line, 'the row has no "shard_id": Lhotse cannot tell which tar holds its audio');
      return;
    }
    this.#tell(
      'wrong_shard_id',
      line,
      `the row has the shard_id ${JSON.stringify(found)} in the manifest of shard ${shardId}`,
    );
  }

  #compare(row: Readonly<Record<string, unknown>>, line: number): void {
    const name = PATH_KEYS.map((key) => row[key]).find((value) => typeof value === 'string' && value !== '');
    if (typeof name !== 'string') {
      this.#tell('missing_audio_filepath', line, 'the row has no "audio_filepath" that names a member');
      return;
    }
    const id = sampleKey(name);
    const quoted = JSON.stringify(name);
    if (name.includes('/')) this.#tell('slash_in_name', line, `the row names ${quoted}, with a slash`, id);
    const { samples } = this.#work;
    if (samples === undefined) return;
    const sample = samples.get(id);
    const base = /^(?<base>.*)-sub\d+$/u.exec(id)?.groups?.['base'];
    if (sample?.hasAudio === true) {
      this.#compareSample(sample, { row, name, id, line });
      if (base !== undefined) {
        this.#tell(
          'sub_in_name',
          line,
          `NeMo takes ${quoted} for a second row of "${base}", and does not find its audio`,
          id,
        );
      }
      return;
    }
    const shared = base === undefined ? undefined : samples.get(base);
    if (shared?.hasAudio === true) {
      shared.rowLine ??= line;
      this.#work.take(shared, row, line);
      this.#tell(
        'sub_row',
        line,
        `the row ${quoted} has no member of its own: it means a part of ${JSON.stringify(shared.name)}`,
        id,
      );
      return;
    }
    const isDotted = samples.has(`./${id}`);
    const hint = isDotted ? 'the names in the tar begin with "./": pack it without' : undefined;
    const { manifestPath: file } = this.#task;
    this.#work.note({
      kind: 'row_without_member',
      message: `the tar has no audio for the row ${quoted}`,
      file,
      line,
      id,
      hint,
    });
  }

  #compareSample(
    sample: ShardSample,
    { row, name, id, line }: { row: Readonly<Record<string, unknown>>; name: string; id: string; line: number },
  ): void {
    if (sample.name !== name) {
      const message = `the row names ${JSON.stringify(name)} and the tar holds ${JSON.stringify(sample.name)}`;
      this.#tell('extension_mismatch', line, message, id);
    }
    if (sample.rowLine !== undefined) {
      this.#tell(
        'duplicate_row',
        line,
        `the member ${JSON.stringify(sample.name)} is already that of line ${sample.rowLine}`,
        id,
      );
    }
    sample.rowLine ??= line;
    this.#work.take(sample, row, line);
  }

  #tell(kind: DatasetKind, line: number, message: string, id?: string): void {
    this.#work.note({ kind, message, file: this.#task.manifestPath, line, id });
  }
}

/** Adds a line to a digest as it is compared between manifests: without what stands around it. */
export function hashLine(hash: { update(bytes: Uint8Array): unknown }, trimmed: Uint8Array): void {
  hash.update(trimmed);
  hash.update(LINE_END);
}

const LINE_END = Buffer.from('\n');
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A line without white space at its ends and, on the first, a byte order mark. */
export function trimLine(bytes: Buffer, line: number): Buffer {
  let start = line === 1 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
  let end = bytes.length;
  while (start < end && isBlank(bytes[start])) start += 1;
  while (end > start && isBlank(bytes[end - 1])) end -= 1;
  return bytes.subarray(start, end);
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

type ParsedRow =
  | { value: Readonly<Record<string, unknown>> }
  | { reason: { message: string; hint?: string | undefined; column?: number | undefined } };

/** The row on a line: by the engine's own parser where that takes it, which is three times as fast. */
function parsePlain(bytes: Buffer): ParsedRow {
  try {
    const value: unknown = isUtf8(bytes) ? JSON.parse(bytes.toString('utf8')) : undefined;
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { value: value as Record<string, unknown> };
  } catch {
    // The lossless parser says what is wrong, or reads NaN.
  }
  const row = parseRowLine({ bytes });
  if ('reason' in row) return { reason: row };
  return { value: Object.fromEntries(row.keys().map((key) => [key, row.value(key)])) };
}
