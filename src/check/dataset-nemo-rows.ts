import { CutroomError, errorMessage } from '../errors.js';
import { sampleKey } from '../shard/sample-key.js';
import { reasonOf } from '../shard/shard-problem.js';
import type { ShardSample } from '../shard/shard-members.js';
import type { DatasetFinding, DatasetKind } from './dataset-kinds.js';
import { parsePlainRow, runLines, type RowRun } from './dataset-nemo-lines.js';
import { checkRowValues } from './dataset-row-values.js';

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
}

const REPORT_ROWS = 2000;
const MAX_SECONDS = 1e9;

/** Names by which NeMo finds the audio of a row, the first that is there (NeMo 2025, `parse_item`; its 2026 converter). */
const PATH_KEYS = ['audio_filepath', 'audio_filename', 'audio_file'];

/** Reads the rows of one shard of a NeMo manifest, and compares them with the members of its tar. */
export async function readNemoRows(task: NemoRowsTask, work: NemoRowsWork): Promise<NemoRows> {
  const { manifestPath } = task;
  const reader = new NemoRowReader(task, work);
  try {
    let count = 0;
    for await (const { bytes, line } of runLines(manifestPath, task.runs)) {
      reader.addLine(bytes, line);
      count += 1;
      if (count % REPORT_ROWS === 0) await work.tellAlive();
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
    };
  }

  addLine(bytes: Buffer, line: number): void {
    const row = parsePlainRow(bytes);
    if ('fault' in row) {
      const { message, hint, column } = row.fault;
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
    checkRowValues(row.value, 'nemo', { file: this.#task.manifestPath, line }, this.#work.note);
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
