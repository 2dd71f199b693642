import { isUtf8 } from 'node:buffer';
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

export interface ReadRowsOptions {
  /** Key of the path. Default `audio_filepath`. */
  audioKey?: string;
  /** Whether each row must have a `text`. Default true. */
  isTextNeeded?: boolean;
  /** Sees each row that is a JSON object, with its sample where there is one, after it is compared. */
  watch?: (row: Readonly<Record<string, unknown>>, line: number, sample: ShardSample | undefined) => void;
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
  options: ReadRowsOptions = {},
): Promise<ShardRows> {
  const collector = new RowCollector(manifestPath, samples, options);
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
    collector.sum();
    await handle?.close();
  }
  return collector.found;
}

class RowCollector {
  readonly found: ShardRows = { rowCount: 0, durationMicros: 0n, problems: [], isReadable: true };
  readonly #file: string;
  readonly #samples: ReadonlyMap<string, ShardSample> | undefined;
  readonly #audioKey: string;
  readonly #isTextNeeded: boolean;
  readonly #watch: ReadRowsOptions['watch'];
  /** Not yet in the sum: exact, since it is kept small. */
  #pendingMicros = 0;

  constructor(file: string, samples: ReadonlyMap<string, ShardSample> | undefined, options: ReadRowsOptions) {
    this.#file = file;
    this.#samples = samples;
    this.#audioKey = options.audioKey ?? 'audio_filepath';
    this.#isTextNeeded = options.isTextNeeded ?? true;
    this.#watch = options.watch;
  }

  async checkStart(handle: FileHandle): Promise<void> {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(3), 0, 3, 0);
    if (bytesRead < 3 || buffer.toString('latin1') !== '\u00ef\u00bb\u00bf') return;
    const message = 'a byte order mark stands before the first row: ATdataset cannot read the manifest';
    this.#note({ kind: 'byte_order_mark', message, line: 1, hint: 'Remove it: tail -c +4 old.jsonl > new.jsonl' });
  }

  add(line: ManifestLine): void {
    const plain = parsePlain(line);
    if (plain !== undefined && this.#addPlain(plain, line.number)) return;
    const row = parseRowLine(line);
    if ('reason' in row) {
      const { message, hint, column } = row;
      this.#note({ kind: 'bad_row', message, line: line.number, column, hint });
      return;
    }
    this.found.rowCount += 1;
    this.#addDuration(row, line.number);
    const sample = this.#compare(row, line.number);
    this.#watch?.(Object.fromEntries(row.keys().map((key) => [key, row.value(key)])), line.number, sample);
  }

  /** Most rows are good, and are told so by the engine's own parser, which is three times as fast. False: nothing was done. */
  #addPlain(row: Readonly<Record<string, unknown>>, line: number): boolean {
    const { text, duration } = row;
    const audioPath = row[this.#audioKey];
    if (typeof audioPath !== 'string' || audioPath === '') return false;
    if (this.#isTextNeeded && typeof text !== 'string') return false;
    if (typeof duration !== 'number' || !(duration >= 0 && duration <= MAX_SECONDS)) return false;
    this.found.rowCount += 1;
    this.#addMicros(duration);
    const sample = this.#compareSample(audioPath, sampleKey(audioPath), line);
    this.#watch?.(row, line, sample);
    return true;
  }

  /** Brings the sum of durations up to date. */
  sum(): void {
    this.found.durationMicros += BigInt(this.#pendingMicros);
    this.#pendingMicros = 0;
  }

  #addMicros(seconds: number): void {
    this.#pendingMicros += Math.round(seconds * MICROS);
    if (this.#pendingMicros >= MAX_SECONDS * MICROS) this.sum();
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
      this.#addMicros(seconds);
      return;
    }
    const message = `the row's duration is ${shorten(raw)}, which is no number of seconds: it counts as 0`;
    this.#note({ kind: 'bad_duration', message, line });
  }

  #compare(row: JsonObject, line: number): ShardSample | undefined {
    const key = this.#audioKey;
    const audioPath = row.kind(key) === 'string' ? (row.value(key) as string) : '';
    if (audioPath === '') {
      const message = `the row has no ${JSON.stringify(key)} that names a member`;
      this.#note({ kind: 'missing_audio_filepath', message, line });
      return undefined;
    }
    const id = sampleKey(audioPath);
    if (this.#isTextNeeded && row.kind('text') !== 'string') {
      const message = 'the row has no "text" that is a string: loaders pass over it, or end with an error';
      this.#note({ kind: 'missing_text', message, line, id });
    }
    return this.#compareSample(audioPath, id, line);
  }

  #compareSample(audioPath: string, id: string, line: number): ShardSample | undefined {
    if (this.#samples === undefined) return undefined;
    const sample = this.#samples.get(id);
    if (sample === undefined || !sample.hasAudio) {
      this.#noteMissing(audioPath, id, sample, line);
      if (sample !== undefined) sample.rowLine ??= line;
      return undefined;
    }
    if (sample.rowLine !== undefined) {
      const message = `the id ${JSON.stringify(id)} is already that of line ${sample.rowLine}`;
      this.#note({ kind: 'duplicate_row', message, line, id });
    }
    sample.rowLine ??= line;
    return sample;
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

/** The object on a line, or undefined where the lossless parser has to say what it holds. */
function parsePlain({ bytes }: ManifestLine): Readonly<Record<string, unknown>> | undefined {
  if (bytes === undefined || !isUtf8(bytes)) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function shorten(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}
