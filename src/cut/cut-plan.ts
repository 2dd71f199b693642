import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { InputError } from '../errors.js';
import { JsonObject } from '../manifest/json-object.js';
import { readLineAt } from '../manifest/lines.js';
import { compareCodePoints } from '../tar/order.js';
import { parseRowLine } from '../manifest/row-line.js';
import { readId } from './accept-row.js';
import { resolveAudioPath } from './audio-path.js';
import type { Column } from './column.js';
import { mergeMembers, sortRecordings } from './member-order.js';
import { planCandidates, zeroCounts, type Candidate } from './plan-recording.js';
import type { PlanTable, TableRow } from './plan-table.js';
import { RowWindows } from './row-windows.js';
import { readSegments, type Segment } from './segments.js';
import { limitsOf } from './settings.js';
import { nameSnippet, toSafeId } from './snippet-name.js';
import { toSeconds } from '../audio/times.js';
import { DROP_REASONS, type DropCounts, type OutputFormat } from './types.js';
import type { PlannedSnippet, PlanSettings, SkipReason } from './types.js';

/** One recording with its row and its snippets. */
export interface PlannedRecording {
  /** 0-based position among the recordings of the plan: the order of the manifest. */
  index: number;
  id: string;
  /** The id as it stands in names. */
  safeId: string;
  /** 1-based line of the manifest. */
  line: number;
  /** Resolved by the path mode. */
  audioPath: string;
  /** The row as it was read; not to be changed. */
  row: JsonObject;
  /** In time order: by start, then end. */
  snippets: readonly PlannedSnippet[];
  /** The segments of one of the snippets, in time order. */
  segmentsOf(snippet: PlannedSnippet): readonly Segment[];
}

/** What the plan knows of a recording without reading its row again. */
export interface RecordingSummary {
  id: string;
  /** 1-based line of the manifest. */
  line: number;
  audioPath: string;
  inSegments: number;
  /** From the earliest start to the latest end of its segments. */
  inDurationSeconds: number;
  dropped: DropCounts;
  /** The same in segments. */
  droppedSegments: DropCounts;
  snippetCount: number;
  /** Segments in the snippets. */
  segmentCount: number;
  /** Sum of the spans of the snippets. */
  plannedSeconds: number;
  /** Name of the first member in code-point order, undefined where there are no snippets. */
  firstMember: string | undefined;
}

/** Sums over the recordings of a plan. */
export interface PlanCounts {
  inSegments: number;
  inDurationSeconds: number;
  dropped: DropCounts;
  droppedSegments: DropCounts;
  /** Segments in the snippets. */
  segmentCount: number;
}

/** One member of the output with the recording it is cut from. */
export interface PlannedMember {
  recording: PlannedRecording;
  snippet: PlannedSnippet;
}

/** What distinguishes the name of a snippet whose plain name another one has: by recording, by ordinal. */
export type NameSuffixes = ReadonlyMap<number, ReadonlyMap<number, string>>;

/** Where the rows of the recordings came from. */
export interface RecordingNames {
  idOf(index: number): string;
  /** The path as in the row; its last part alone where these are unique. */
  pathOf(index: number): string;
  /** 1-based. */
  lineOf(index: number): number;
}

export interface CutPlanParts {
  settings: PlanSettings;
  /** The file that rows are read from. */
  handle: FileHandle;
  /** Names that file in errors, where it is not the manifest but has its rows in the order of members. */
  rowsPath?: string;
  known: RecordingNames;
  table: PlanTable;
  /** CRC-32 of each row, where they are known. */
  rowChecksums?: Column;
  /** As `recordingsInOrder` gives it, where it is known. */
  order?: Uint32Array;
  inputSha256: string;
  hash: string;
  rowCount: number;
  skippedRows: Partial<Record<SkipReason, number>>;
  repetitionExamples: readonly string[];
  suffixes: NameSuffixes;
}

/**
 * Every snippet of a manifest, with its name and its place in the output. Holds some hundred bytes a recording; rows are read again when they
 * are asked for, from the file that was planned, which must not change meanwhile. Close it when done.
 */
export class CutPlan {
  readonly settings: PlanSettings;
  /** SHA-256 of the manifest, in hex. */
  readonly inputSha256: string;
  /** SHA-256, in hex, of what decides the plan: settings that take effect, manifest and tokenizer. */
  readonly hash: string;
  /** Lines of the manifest that are not blank. */
  readonly rowCount: number;
  /** Rows that were left out, by reason; reasons without any are absent. */
  readonly skippedRows: Readonly<Partial<Record<SkipReason, number>>>;
  readonly recordingCount: number;
  readonly snippetCount: number;
  /** Sum of the spans of all snippets. */
  readonly plannedSeconds: number;
  readonly counts: Readonly<PlanCounts>;
  /** Texts of the first snippets that were dropped for repetition, at most 1,000. */
  readonly repetitionExamples: readonly string[];
  readonly #parts: CutPlanParts;
  readonly #windows: RowWindows | undefined;
  #order: Uint32Array | undefined;

  constructor(parts: CutPlanParts) {
    const { table } = parts;
    this.settings = parts.settings;
    this.inputSha256 = parts.inputSha256;
    this.hash = parts.hash;
    this.rowCount = parts.rowCount;
    this.skippedRows = parts.skippedRows;
    this.repetitionExamples = parts.repetitionExamples;
    this.recordingCount = table.length;
    this.#parts = parts;
    this.#order = parts.order;
    this.#windows = parts.rowsPath === undefined ? undefined : new RowWindows(parts.handle, parts.rowsPath);
    let snippetCount = 0;
    let plannedMicros = 0;
    let inDurationSeconds = 0;
    const counts = { inSegments: 0, dropped: zeroCounts(), droppedSegments: zeroCounts(), segmentCount: 0 };
    for (let index = 0; index < table.length; index += 1) {
      const row = table.at(index);
      snippetCount += row.snippetCount;
      plannedMicros += row.plannedMicros;
      inDurationSeconds += row.inDurationSeconds;
      counts.inSegments += row.inSegments;
      counts.segmentCount += row.segmentCount;
      for (const reason of DROP_REASONS) {
        counts.dropped[reason] += row.dropped[reason];
        counts.droppedSegments[reason] += row.droppedSegments[reason];
      }
    }
    this.snippetCount = snippetCount;
    this.plannedSeconds = toSeconds(plannedMicros);
    this.counts = { ...counts, inDurationSeconds };
  }

  /** @throws RangeError where there is no such recording */
  summary(index: number): RecordingSummary {
    const { known, table, settings } = this.#parts;
    const row = table.at(index);
    return {
      id: known.idOf(index),
      line: known.lineOf(index),
      audioPath: resolveAudioPath(known.pathOf(index), settings),
      inSegments: row.inSegments,
      inDurationSeconds: row.inDurationSeconds,
      dropped: row.dropped,
      droppedSegments: row.droppedSegments,
      snippetCount: row.snippetCount,
      segmentCount: row.segmentCount,
      plannedSeconds: toSeconds(row.plannedMicros),
      firstMember: row.firstMember === '' ? undefined : row.firstMember,
    };
  }

  /**
   * Reads a row again and plans it again.
   *
   * @throws RangeError where there is no such recording
   * @throws InputError when the manifest has changed
   */
  async recording(index: number): Promise<PlannedRecording> {
    const { known, table, settings, handle, suffixes, rowChecksums } = this.#parts;
    const kept = table.at(index);
    const { offsetBytes, lengthBytes } = kept;
    const bytes =
      (await this.#windows?.read(offsetBytes, lengthBytes)) ??
      (await readLineAt(handle, settings.inputManifest, offsetBytes, lengthBytes));
    if (rowChecksums !== undefined && rowChecksums.at(index) !== crc32(bytes)) throw this.#changed(index);
    const row = parseRowLine({ bytes });
    const list = row instanceof JsonObject ? readSegments(row) : undefined;
    const id = known.idOf(index);
    if (!(row instanceof JsonObject) || list === undefined || readId(row) !== id) throw this.#changed(index);
    const { candidates } = planCandidates(list, limitsOf(settings));
    const safeId = toSafeId(id);
    const snippets = nameCandidates(candidates, kept.repetitive, safeId, settings.outputFormat, suffixes.get(index));
    if (!isSamePlan(snippets, kept)) throw this.#changed(index);
    return {
      index,
      id,
      safeId,
      line: known.lineOf(index),
      audioPath: resolveAudioPath(known.pathOf(index), settings),
      row,
      snippets,
      segmentsOf: (snippet) => candidates[snippet.ordinal]?.segments ?? [],
    };
  }

  /** The recordings that have snippets, by the name of their first member in code-point order. */
  recordingsInOrder(): Uint32Array {
    const { table } = this.#parts;
    this.#order ??= sortRecordings(table.length, (index) => table.firstMemberAt(index));
    return this.#order;
  }

  /** All members in the order of the tar: code points of their names. Rows are read as they are needed. */
  membersInOrder(): AsyncGenerator<PlannedMember> {
    const { table } = this.#parts;
    return mergeMembers(
      this.recordingsInOrder(),
      (index) => table.firstMemberAt(index),
      (index) => this.recording(index),
    );
  }

  /** What the plan is made of: to be laid down, and made again elsewhere. Not to be changed. */
  get parts(): Readonly<CutPlanParts> {
    return this.#parts;
  }

  /** Closes the manifest. Rows cannot be read afterwards; figures can. */
  async close(): Promise<void> {
    await this.#parts.handle.close();
  }

  #changed(index: number): InputError {
    const { known, settings, table, rowsPath } = this.#parts;
    const line = known.lineOf(index);
    if (rowsPath !== undefined) {
      const { offsetBytes } = table.at(index);
      return new InputError(`Cannot read the row of line ${line} from "${rowsPath}": it is not what was planned`, {
        path: rowsPath,
        offsetBytes,
        hint: 'Something changed the plan: plan again, in another folder.',
      });
    }
    return new InputError(`Cannot read line ${line} of "${settings.inputManifest}" again: it has changed`, {
      path: settings.inputManifest,
      line,
      hint: 'Leave the manifest as it is while it is being worked on.',
    });
  }
}

/** The snippets that candidates become, without those that were dropped for repetition. */
export function nameCandidates(
  candidates: readonly Candidate[],
  repetitive: readonly number[],
  safeId: string,
  format: OutputFormat,
  suffixes?: ReadonlyMap<number, string>,
): PlannedSnippet[] {
  const dropped = new Set(repetitive);
  const snippets: PlannedSnippet[] = [];
  for (const { ordinal, segments, startMicros, endMicros } of candidates) {
    const first = segments[0];
    const last = segments.at(-1);
    if (dropped.has(ordinal) || first === undefined || last === undefined) continue;
    const snippetId = nameSnippet(safeId, first.startSeconds, last.endSeconds) + (suffixes?.get(ordinal) ?? '');
    const member = `${snippetId}.${format}`;
    snippets.push({ ordinal, snippetId, member, startMicros, endMicros, segmentCount: segments.length });
  }
  return snippets;
}

/** The name that stands first in code-point order, empty where there are no snippets. */
export function firstMemberOf(snippets: readonly PlannedSnippet[]): string {
  let first: string | undefined;
  for (const { member } of snippets) {
    if (first === undefined || compareCodePoints(member, first) < 0) first = member;
  }
  return first ?? '';
}

function isSamePlan(snippets: readonly PlannedSnippet[], kept: TableRow): boolean {
  return snippets.length === kept.snippetCount && kept.firstMember === firstMemberOf(snippets);
}
