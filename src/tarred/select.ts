import { toMicros } from '../audio/times.js';
import { JsonObject } from '../manifest/json-object.js';
import { manifestLines, type ManifestLine } from '../manifest/lines.js';
import { parseRowLine } from '../manifest/row-line.js';
import { packedRows } from '../shard/packed-rows.js';
import type { PackFailure } from '../shard/plan.js';
import { FileTable, type AudioFolders, type PathFault } from './file-table.js';
import type { ManifestInput } from './inputs.js';
import { checkAudioPath, readAudioPath, readRowTimes, type RowRefusal } from './row-facts.js';
import { RowTable } from './row-table.js';

/** Which rows are kept: those of a duration from the minimum on and below the maximum, in whole microseconds. Null is kept. */
export interface DurationBounds {
  minSeconds: number | undefined;
  maxSeconds: number | undefined;
}

/** Rows and their seconds. */
export interface RowSum {
  rows: number;
  /** Sum of the durations, each to the nearest microsecond. */
  micros: number;
}

/** The rows of all manifests, sorted out. */
export interface Selection {
  table: RowTable;
  /** Lines that are not blank. */
  read: RowSum;
  kept: RowSum;
  tooShort: RowSum;
  tooLong: RowSum;
  /** Rows that cannot be used, in the order of the manifests. */
  failures: PackFailure[];
  warnings: string[];
  /** The shortest and the longest row that can be used, filtered or not; NaN where there is none. */
  shortestSeconds: number;
  longestSeconds: number;
}

export interface SelectContext {
  signal?: AbortSignal | undefined;
  onRows?: ((rows: number) => void) | undefined;
  onFailure?: ((failure: PackFailure) => void) | undefined;
}

/** How many rows are read between two looks at the signal. */
const REPORT_ROWS = 1000;

/**
 * Reads the rows of all manifests and keeps those whose audio is there and whose duration is between the bounds.
 *
 * @throws InputError when a manifest cannot be read; the signal's reason
 */
export async function selectRows(
  inputs: readonly ManifestInput[],
  folders: AudioFolders,
  bounds: DurationBounds,
  context: SelectContext,
): Promise<Selection> {
  const files = new FileTable(
    inputs.map(({ folder }) => folder),
    folders,
  );
  const selector = new Selector(new RowTable(inputs, files), inputs, bounds, context);
  for (const [index, input] of inputs.entries()) {
    if (input.shards === undefined) await selector.addManifest(index, input);
    else await selector.addPacked(index, input);
  }
  return selector.finish();
}

class Selector {
  readonly #found: Selection;
  readonly #table: RowTable;
  readonly #inputs: readonly ManifestInput[];
  readonly #minMicros: number;
  readonly #maxMicros: number;
  readonly #context: SelectContext;

  constructor(table: RowTable, inputs: readonly ManifestInput[], bounds: DurationBounds, context: SelectContext) {
    const none = (): RowSum => ({ rows: 0, micros: 0 });
    this.#table = table;
    this.#inputs = inputs;
    this.#minMicros = bounds.minSeconds === undefined ? 0 : toMicros(bounds.minSeconds);
    this.#maxMicros = bounds.maxSeconds === undefined ? Number.POSITIVE_INFINITY : toMicros(bounds.maxSeconds);
    this.#context = context;
    this.#found = {
      table,
      read: none(),
      kept: none(),
      tooShort: none(),
      tooLong: none(),
      failures: [],
      warnings: [],
      shortestSeconds: Number.NaN,
      longestSeconds: Number.NaN,
    };
  }

  async addManifest(index: number, { handle, path, hash, isCopy }: ManifestInput): Promise<void> {
    for await (const line of manifestLines(handle, path, isCopy ? {} : { hash })) {
      this.#count();
      const row = parseRowLine(line);
      if (!(row instanceof JsonObject)) {
        this.#refuse(index, line.number, row);
        continue;
      }
      const file = this.#findFile(row, index);
      if (typeof file === 'number') this.#add(row, file, index, line);
      else this.#refuse(index, line.number, file);
    }
  }

  #findFile(row: JsonObject, input: number): number | RowRefusal {
    const { files } = this.#table;
    const audioPath = readAudioPath(row);
    if (typeof audioPath !== 'string') return audioPath;
    return files.recentNumberOf(audioPath, input) ?? checkAudioPath(audioPath) ?? files.numberOf(audioPath, input);
  }

  /** Rows of a dataset that is packed already are copied to the input's file, one a line, as they come. */
  async addPacked(index: number, { shards = [], handle }: ManifestInput): Promise<void> {
    const onProblem = ({ line = 0, reason, message, hint }: PackedIssue): void => {
      if (line === 0) {
        this.#found.warnings.push(`${message}${hint === undefined ? '' : ` (${hint})`}`);
        return;
      }
      this.#count();
      this.#refuse(index, line, { reason, message, hint });
    };
    let offsetBytes = 0;
    const copy = new CopiedRows(handle);
    for await (const { line: number, row, audio } of packedRows(shards, { signal: this.#context.signal, onProblem })) {
      this.#count();
      const audioPath = readAudioPath(row);
      const fault = typeof audioPath === 'string' ? checkAudioPath(audioPath) : audioPath;
      if (fault !== undefined) {
        this.#refuse(index, number, fault);
        continue;
      }
      const bytes = Buffer.from(row.stringify());
      await copy.add(bytes);
      const place = { number, offsetBytes, lengthBytes: bytes.length };
      this.#add(row, this.#table.files.packedNumberOf(audio, index), index, place);
      offsetBytes += bytes.length;
    }
    await copy.flush();
  }

  finish(): Selection {
    const { ambiguousCount, firstAmbiguous } = this.#table.files;
    if (ambiguousCount > 0) {
      this.#found.warnings.push(
        `${ambiguousCount} relative paths, the first ${JSON.stringify(firstAmbiguous)}, lead to a file from the manifest's folder and to another ` +
          'one from the current folder: those of the manifest are taken; --base says otherwise',
      );
    }
    return this.#found;
  }

  /** Adds a row of a file. That there is no file is told before what else is wrong: without it nobody knows the duration. */
  #add(row: JsonObject, file: number, input: number, place: LinePlace): void {
    const { files } = this.#table;
    const { number: line, offsetBytes, lengthBytes } = place;
    const fault = files.faultOf(file);
    if (fault !== undefined) {
      const absolute = files.absolutePath(file);
      this.#refuse(input, line, describePathFault(fault, files.givenPath(file), absolute));
      return;
    }
    const times = readRowTimes(row);
    if ('reason' in times) {
      this.#refuse(input, line, times);
      return;
    }
    const { durationSeconds, offsetSeconds } = times;
    const found = this.#found;
    const micros = Number.isNaN(durationSeconds) ? 0 : toMicros(durationSeconds);
    found.read.micros += micros;
    if (!Number.isNaN(durationSeconds)) {
      if (!(durationSeconds >= found.shortestSeconds)) found.shortestSeconds = durationSeconds;
      if (!(durationSeconds <= found.longestSeconds)) found.longestSeconds = durationSeconds;
      const dropped = micros < this.#minMicros ? found.tooShort : micros >= this.#maxMicros ? found.tooLong : undefined;
      if (dropped !== undefined) {
        dropped.rows += 1;
        dropped.micros += micros;
        return;
      }
    }
    found.kept.rows += 1;
    found.kept.micros += micros;
    this.#table.push({ input, line, offsetBytes, lengthBytes, file, durationSeconds, offsetSeconds });
  }

  #count(): void {
    const { read } = this.#found;
    read.rows += 1;
    if (read.rows % REPORT_ROWS !== 0) return;
    this.#context.signal?.throwIfAborted();
    this.#context.onRows?.(read.rows);
  }

  #refuse(input: number, line: number, fault: LineFault): void {
    const { reason, message, hint, column } = fault;
    const file = this.#inputs[input]?.path ?? '';
    const failure: PackFailure = { kind: 'row', reason, message, file, line };
    if (hint !== undefined) failure.hint = hint;
    if (column !== undefined) failure.column = column;
    this.#found.failures.push(failure);
    this.#context.onFailure?.(failure);
  }
}

type LinePlace = Pick<ManifestLine, 'number' | 'offsetBytes' | 'lengthBytes'>;

interface LineFault {
  reason: string;
  message: string;
  hint?: string | undefined;
  column?: number | undefined;
}

type PackedIssue = LineFault & { line?: number | undefined };

const COPY_BYTES = 1 << 20;

class CopiedRows {
  readonly #handle: ManifestInput['handle'];
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(handle: ManifestInput['handle']) {
    this.#handle = handle;
  }

  async add(bytes: Buffer): Promise<void> {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes >= COPY_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    for (let written = 0; written < bytes.length;) {
      written += (await this.#handle.write(bytes, written, bytes.length - written)).bytesWritten;
    }
  }
}

function describePathFault(fault: PathFault, given: string, absolute: string): LineFault {
  if (fault === 'not_a_file') return { reason: 'unreadable_recording', message: `"${absolute}" is not a regular file` };
  if (fault === 'empty') return { reason: 'empty_recording', message: `"${absolute}" is empty` };
  if (fault === 'unreadable') {
    return { reason: 'unreadable_recording', message: `the folder of "${absolute}" cannot be read` };
  }
  if (/^[a-z][a-z0-9+]*:/iu.test(given)) {
    const hint = 'copy the audio to this machine first: addresses are not followed';
    return { reason: 'missing_recording', message: `there is no file "${given}"`, hint };
  }
  const hint = given.startsWith('/')
    ? undefined
    : 'relative paths are joined to the folder of their manifest, or else to the current one, or to --base alone';
  return { reason: 'missing_recording', message: `there is no file "${absolute}"`, hint };
}
