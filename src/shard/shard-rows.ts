import { open, type FileHandle } from 'node:fs/promises';
import { CutroomError, errorMessage } from '../errors.js';
import { kindOfJson, type JsonObject } from '../manifest/json-object.js';
import { manifestLines, type ManifestLine } from '../manifest/lines.js';
import { parseRowLine } from '../manifest/row-line.js';
import { reasonOf, type ShardProblem } from './shard-problem.js';
import { sampleKey } from './sample-key.js';
import type { ShardSample } from './shard-members.js';

/** A manifest, summed up. */
export interface ShardRows {
  /** Lines that are JSON objects. */
  rowCount: number;
  /** Sum of their durations, each to the nearest microsecond. */
  durationMicros: bigint;
  problems: ShardProblem[];
  isReadable: boolean;
}

/** How many rows are read between two reports. */
const REPORT_ROWS = 2000;

const MICROS = 1e6;

/** 31 years: a longer duration is a slip, and sums of shorter ones stay exact. */
const MAX_SECONDS = 1e9;

/**
 * Reads the manifest of a shard, and finds the rows that do not fit its members.
 *
 * @param samples of the tar; each learns of its row. Undefined where they are not known.
 */
export async function readShardRows(
  manifestPath: string,
  samples: ReadonlyMap<string, ShardSample> | undefined,
  report: () => Promise<void>,
): Promise<ShardRows> {
  const collector = new RowCollector(manifestPath, samples);
  let handle: FileHandle | undefined;
  try {
    handle = await open(manifestPath, 'r');
    await collector.checkStart(handle);
    for await (const line of manifestLines(handle, manifestPath)) {
      collector.add(line);
      if (line.number % REPORT_ROWS === 0) await report();
    }
  } catch (error) {
    collector.end(error);
  } finally {
    await handle?.close();
  }
  return collector.found;
}

class RowCollector {
  readonly found: ShardRows = { rowCount: 0, durationMicros: 0n, problems: [], isReadable: true };
  readonly #file: string;
  readonly #samples: ReadonlyMap<string, ShardSample> | undefined;

  constructor(file: string, samples: ReadonlyMap<string, ShardSample> | undefined) {
    this.#file = file;
    this.#samples = samples;
  }

  async checkStart(handle: FileHandle): Promise<void> {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(3), 0, 3, 0);
    if (bytesRead < 3 || buffer.toString('latin1') !== '\u00ef\u00bb\u00bf') return;
    const message = 'a byte order mark stands before the first row: ATdataset cannot read the manifest';
    this.#note({ kind: 'byte_order_mark', message, line: 1, hint: 'Remove it: tail -c +4 old.jsonl > new.jsonl' });
  }

  add(line: ManifestLine): void {
    const row = parseRowLine(line);
    if ('reason' in row) {
      const { message, hint, column } = row;
      this.#note({ kind: 'bad_row', message, line: line.number, column, hint });
      return;
    }
    this.found.rowCount += 1;
    this.#addDuration(row, line.number);
    this.#compare(row, line.number);
  }

  /** Takes what ended the reading before its time. */
  end(error: unknown): void {
    const isSystems = error instanceof Error && 'syscall' in error;
    if (!(error instanceof CutroomError) && !isSystems) throw error;
    const message = reasonOf(errorMessage(error), this.#file);
    this.#note({ kind: 'unreadable_manifest', message });
    this.found.isReadable = false;
  }

  #addDuration(row: JsonObject, line: number): void {
    const raw = row.raw('duration');
    if (raw === undefined) {
      this.#note({ kind: 'missing_duration', message: 'the row has no duration: it counts as 0', line });
      return;
    }
    const seconds = kindOfJson(raw) === 'number' ? Number(raw) : Number.NaN;
    if (seconds >= 0 && seconds <= MAX_SECONDS) {
      this.found.durationMicros += BigInt(Math.round(seconds * MICROS));
      return;
    }
    const message = `the row's duration is ${shorten(raw)}, which is no number of seconds: it counts as 0`;
    this.#note({ kind: 'bad_duration', message, line });
  }

  #compare(row: JsonObject, line: number): void {
    const audioPath = row.kind('audio_filepath') === 'string' ? (row.value('audio_filepath') as string) : '';
    if (audioPath === '') {
      const message = 'the row has no "audio_filepath" that names a member';
      this.#note({ kind: 'missing_audio_filepath', message, line });
      return;
    }
    const id = sampleKey(audioPath);
    if (row.kind('text') !== 'string') {
      const message = 'the row has no "text" that is a string: loaders pass over it, or end with an error';
      this.#note({ kind: 'missing_text', message, line, id });
    }
    if (this.#samples === undefined) return;
    const sample = this.#samples.get(id);
    if (sample === undefined || !sample.hasAudio) {
      this.#noteMissing(audioPath, id, sample, line);
      if (sample !== undefined) sample.rowLine ??= line;
      return;
    }
    if (sample.rowLine !== undefined) {
      const message = `the id ${JSON.stringify(id)} is already that of line ${sample.rowLine}`;
      this.#note({ kind: 'duplicate_row', message, line, id });
    }
    sample.rowLine ??= line;
  }

  #noteMissing(audioPath: string, id: string, sample: ShardSample | undefined, line: number): void {
    const found = sample === undefined ? '' : `: there is ${JSON.stringify(sample.name)}, which is no audio`;
    const message = `the tar has no audio for the row ${JSON.stringify(audioPath)}${found}`;
    const isDotted = this.#samples?.has(`./${id}`) ?? false;
    const hint = isDotted ? 'The names in the tar begin with "./": pack it without.' : undefined;
    this.#note({ kind: 'row_without_member', message, line, id, hint });
  }

  #note(problem: Omit<ShardProblem, 'file'>): void {
    this.found.problems.push({ ...problem, file: this.#file });
  }
}

function shorten(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}
