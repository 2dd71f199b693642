import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { CanceledError, InputError, errorMessage, systemCode } from '../errors.js';
import { manifestLines, type ManifestLine } from '../manifest/lines.js';
import type { Tokenizer } from '../text/types.js';
import { acceptRow, type AcceptedRow, type SkippedRow } from './accept-row.js';
import { clashes, suffixClash, type Clash } from './clashes.js';
import { CutPlan, firstMemberOf, nameCandidates, type CutPlanParts } from './cut-plan.js';
import { KnownRecordings } from './known-recordings.js';
import { planCandidates, type Candidate } from './plan-recording.js';
import { PlanTable } from './plan-table.js';
import { findRepeatedNgrams } from './repetition.js';
import { checkPlanSettings, hashPlan, limitsOf, type PlanLimits } from './settings.js';
import { formatNameTime, toSafeId } from './snippet-name.js';
import { toSeconds } from '../audio/times.js';
import type { FailureRecord, PlanSettings, SkipReason } from './types.js';

export interface PlanContext {
  /** Finds transcripts that loop; needed unless the settings turn the filter off. */
  tokenizer: Tokenizer | undefined;
  /** Takes each row that is skipped and each segment that cannot be used, in the order of the manifest. */
  onFailure(record: FailureRecord): void;
  signal?: AbortSignal | undefined;
  /** Takes the count of rows read so far, now and then and at the end. */
  onProgress?(rows: number): void;
}

const MAX_EXAMPLES = 1000;
const ROWS_PER_PROGRESS = 256;

/**
 * Plans the cutting of a manifest: which snippets there are, what they are called and where they stand in the output. Reads the manifest
 * alone, in one pass; rows whose names may clash are read twice.
 *
 * @returns the plan, to be closed by the caller
 * @throws InputError when the manifest cannot be read, or when names clash and the settings refuse that
 * @throws RangeError when a setting is out of its range
 * @throws CanceledError when the signal is aborted
 */
export async function planCut(settings: PlanSettings, context: PlanContext): Promise<CutPlan> {
  checkPlanSettings(settings);
  if (settings.repetitionFilter && context.tokenizer === undefined) {
    throw new TypeError('the repetition filter needs a tokenizer');
  }
  const handle = await openManifest(settings.inputManifest);
  try {
    const planner = new Planner(settings, context);
    const parts = await planner.readManifest(handle);
    return await resolveClashes(parts, planner.selfClashing, context.signal);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openManifest(path: string): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    handle = await open(path);
  } catch (error) {
    const state = systemCode(error) === 'ENOENT' ? 'there is no such file' : errorMessage(error);
    throw new InputError(`Cannot read the manifest "${path}": ${state}`, { path, cause: error });
  }
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new InputError(`Cannot read the manifest "${path}": it is not a regular file`, {
    path,
    hint: 'Rows are read again by their place: write what comes through a pipe into a file first.',
  });
}

/** What the first pass makes: it knows the recordings by their ids too. */
type PlannedParts = CutPlanParts & { known: KnownRecordings };

/** The first pass over the manifest. */
class Planner {
  /** Recordings in which two snippets have one name. */
  readonly selfClashing = new Set<number>();
  readonly #settings: PlanSettings;
  readonly #context: PlanContext;
  readonly #limits: PlanLimits;
  readonly #known: KnownRecordings;
  readonly #table = new PlanTable();
  readonly #skippedRows: Partial<Record<SkipReason, number>> = {};
  readonly #examples: string[] = [];

  constructor(settings: PlanSettings, context: PlanContext) {
    this.#settings = settings;
    this.#context = context;
    this.#limits = limitsOf(settings);
    this.#known = new KnownRecordings(settings.audioPathResolution === 'basename');
  }

  async readManifest(handle: FileHandle): Promise<PlannedParts> {
    const { tokenizer, signal } = this.#context;
    const hash = createHash('sha256');
    let rowCount = 0;
    for await (const line of manifestLines(handle, this.#settings.inputManifest, { hash })) {
      throwIfAborted(signal);
      const row = acceptRow(line, this.#settings, this.#known);
      if ('reason' in row) this.#skip(row, line);
      else await this.#add(row, line);
      rowCount += 1;
      if (rowCount % ROWS_PER_PROGRESS === 0) this.#context.onProgress?.(rowCount);
    }
    this.#context.onProgress?.(rowCount);
    const inputSha256 = hash.digest('hex');
    return {
      settings: this.#settings,
      handle,
      known: this.#known,
      table: this.#table,
      inputSha256,
      hash: hashPlan(this.#settings, inputSha256, tokenizer?.fingerprint),
      rowCount,
      skippedRows: this.#skippedRows,
      repetitionExamples: this.#examples,
      suffixes: new Map(),
    };
  }

  #skip(row: SkippedRow, line: ManifestLine): void {
    this.#skippedRows[row.reason] = (this.#skippedRows[row.reason] ?? 0) + 1;
    this.#context.onFailure({
      kind: 'row',
      reason: row.reason,
      message: row.message,
      ...(row.hint === undefined ? {} : { hint: row.hint }),
      file: this.#settings.inputManifest,
      line: line.number,
      ...(row.column === undefined ? {} : { column: row.column }),
      ...(row.id === undefined ? {} : { id: row.id }),
    });
  }

  async #add(row: AcceptedRow, line: ManifestLine): Promise<void> {
    const { id, list } = row;
    for (const { reason, message, position } of row.segmentFaults) {
      const file = this.#settings.inputManifest;
      this.#context.onFailure({ kind: 'segment', reason, message, file, line: line.number, id, segment: position });
    }
    const { candidates, dropped, droppedSegments } = planCandidates(list, this.#limits);
    const repetitive: number[] = [];
    for (const { ordinal, segments, text } of await this.#listRepetitive(candidates)) {
      repetitive.push(ordinal);
      dropped.repetition += 1;
      droppedSegments.repetition += segments.length;
      if (this.#examples.length < MAX_EXAMPLES) this.#examples.push(text);
    }
    const snippets = nameCandidates(candidates, repetitive, toSafeId(id), this.#settings.outputFormat);
    if (new Set(snippets.map(({ snippetId }) => snippetId)).size < snippets.length) {
      this.selfClashing.add(this.#table.length);
    }
    let plannedMicros = 0;
    let decodedMicros = 0;
    let segmentCount = 0;
    for (const snippet of snippets) {
      plannedMicros += snippet.endMicros - snippet.startMicros;
      segmentCount += snippet.segmentCount;
      decodedMicros = Math.max(decodedMicros, snippet.endMicros);
    }
    this.#known.add(id, row.audioPath, line.number);
    this.#table.add({
      offsetBytes: line.offsetBytes,
      lengthBytes: line.lengthBytes,
      inSegments: list.inSegments,
      inDurationSeconds: list.inDurationSeconds,
      dropped,
      droppedSegments,
      snippetCount: snippets.length,
      segmentCount,
      plannedMicros,
      decodedMicros,
      firstMember: firstMemberOf(snippets),
      hasMinus: snippets.some(({ ordinal }) => {
        const first = candidates[ordinal]?.segments[0];
        return first !== undefined && formatNameTime(first.startSeconds).startsWith('-');
      }),
      repetitive,
    });
  }

  async #listRepetitive(candidates: readonly Candidate[]): Promise<Candidate[]> {
    const { repetitionFilter, ngramN, ngramMaxCount } = this.#settings;
    const { tokenizer } = this.#context;
    if (!repetitionFilter || tokenizer === undefined) return [];
    const tokens = await Promise.all(candidates.map(({ text }) => tokenizer.encode(text)));
    return candidates.filter((_, at) => findRepeatedNgrams(tokens[at] ?? [], ngramN, ngramMaxCount).length > 0);
  }
}

/** Refuses equal names, or tells them apart by suffixes. */
async function resolveClashes(
  parts: PlannedParts,
  selfClashing: ReadonlySet<number>,
  signal: AbortSignal | undefined,
): Promise<CutPlan> {
  const { settings, known, table } = parts;
  const plain = new CutPlan(parts);
  const suspects = { known, hasMinusAt: (index: number) => table.hasMinusAt(index), selfClashing };
  const suffixes = new Map<number, Map<number, string>>();
  let first: Clash | undefined;
  let count = 0;
  for await (const clash of clashes(suspects, (index) => plain.recording(index))) {
    throwIfAborted(signal);
    count += 1;
    if (settings.onClash === 'refuse') {
      if (first === undefined || orderOf(clash) < orderOf(first)) first = clash;
      continue;
    }
    for (const [at, suffix] of suffixClash(clash).entries()) {
      const { recording, snippet } = clash.snippets[at]!;
      const ofRecording = suffixes.get(recording.index) ?? new Map<number, string>();
      suffixes.set(recording.index, ofRecording.set(snippet.ordinal, suffix));
    }
  }
  if (first !== undefined) throw refuse(first, count, settings.inputManifest);
  if (suffixes.size === 0) return plain;
  for (const [index, ofRecording] of suffixes) {
    const { snippets } = await plain.recording(index);
    const renamed = snippets.map((snippet) => ({
      ...snippet,
      member: `${snippet.snippetId}${ofRecording.get(snippet.ordinal) ?? ''}.${settings.outputFormat}`,
    }));
    table.setFirstMember(index, firstMemberOf(renamed));
  }
  return new CutPlan({ ...parts, suffixes });
}

/** Which clash is met first in the manifest: the one whose second snippet is. */
function orderOf(clash: Clash): number {
  return clash.snippets[1]?.recording.index ?? 0;
}

function refuse(clash: Clash, count: number, path: string): InputError {
  const [a, b] = clash.snippets.map(({ recording, snippet }) => {
    const span = `${toSeconds(snippet.startMicros)} to ${toSeconds(snippet.endMicros)} s`;
    return `${path}:${recording.line} (id ${JSON.stringify(recording.id)}, ${span})`;
  });
  const others = count === 1 ? '' : `, and ${count - 1} other ${count === 2 ? 'name clashes' : 'names clash'} too`;
  return new InputError(`Two snippets would be named "${clash.snippetId}": ${a} and ${b}${others}`, {
    path,
    line: clash.snippets[0]?.recording.line,
    hint: 'Make the ids differ in more than ".", "/", "\\" and "_", or give --on-clash suffix.',
  });
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new CanceledError('Planning was canceled', { cause: signal.reason });
}
