import { sampleKey } from '../shard/sample-key.js';
import { readShardRows } from '../shard/shard-rows.js';
import type { ShardSample } from '../shard/shard-members.js';
import type { DatasetFinding, DatasetKind } from './dataset-kinds.js';
import { findManifestDifference, findShardedMark } from './dataset-nemo-differ.js';
import type { RowRun } from './dataset-nemo-lines.js';
import { readNemoRows } from './dataset-nemo-rows.js';
import { checkRowValues } from './dataset-row-values.js';
import { asFinding, scanTar, type TarScan } from './tar-scan.js';

/** A shard that is to be looked at. Plain data: it travels between processes. */
export interface ShardTask {
  /** By whose rules its rows are read; `tar` has none. */
  layout: 'atdataset' | 'nemo' | 'cut' | 'tar';
  tarPath: string;
  manifestPath?: string | undefined;
  /** Key of the path in the rows of `cut`. */
  audioKey?: string | undefined;
  /** Whether rows and members must stand in the same order. */
  isOrdered?: boolean;
  /** Whether cutroom wrote it: durations are those of the samples then. */
  isOwn?: boolean;
  /** NeMo: where the rows of the shard stand in the manifest, and their `shard_id`. */
  runs?: readonly RowRun[] | undefined;
  shardId?: number | undefined;
  /** NeMo: the manifest of this shard alone, where `manifestPath` is that of all. */
  shardedPath?: string | undefined;
  /** Whether the places of payloads are wanted, for a check that decodes. */
  wantsAudio: boolean;
}

/** Where the audio of a row lies. */
export interface MemberAudio {
  name: string;
  offsetBytes: number;
  sizeBytes: number;
  /** Undefined where no row says it. */
  durationSeconds: number | undefined;
  /** From the row; 0 where it does not say. */
  startSeconds: number;
  hasText: boolean;
  line: number | undefined;
}

/** What a shard is found to be. */
export interface ShardReport {
  rows: number;
  durationMicros: bigint;
  /** Regular files. */
  members: number;
  /** Members with pax or GNU headers that their names do not need. */
  extended: number;
  isCompressed: boolean;
  /** False where tar or manifest cannot be read to the end. */
  isReadable: boolean;
  /** Ids of the samples in the order of the tar, with NUL between; where their headers start. */
  ids: string;
  offsetsBytes: Float64Array;
  /** Sum of what the rows' `segments` hold: of `cut`. */
  segments: number;
  findings: DatasetFinding[];
  /** Findings beyond those that are kept, by kind. */
  more: Partial<Record<DatasetKind, number>>;
  audio: MemberAudio[];
}

/** Findings of one kind that a shard's report holds with their places. */
const MAX_FINDINGS = 2000;

/** What ATdataset's decoder knows (release 0.2.6). */
const ATDATASET_EXTENSIONS: ReadonlySet<string> = new Set(['flac', 'wav', 'mp3']);

/** Looks at a shard: its tar, its rows, and how they fit. */
export async function inspectShard(task: ShardTask, report: (what: unknown) => Promise<void>): Promise<ShardReport> {
  const tellAlive = (): Promise<void> => report(undefined);
  const kept = new KeptFindings();
  const tar = await scanTar(task.tarPath, kept.note, tellAlive);
  const audio = new Map<ShardSample, MemberAudio>();
  const rows = await readRows(task, tar, { kept, audio, tellAlive });
  if (task.layout === 'atdataset') checkFormats(task.tarPath, tar, kept);
  const hasRows = task.layout !== 'tar' && task.manifestPath !== undefined;
  if (hasRows && tar.isReadable && rows.isReadable) findLoneMembers(task.tarPath, tar, kept);
  if (task.layout === 'tar' && task.wantsAudio) {
    for (const sample of tar.samples.values()) {
      if (sample.hasAudio) audio.set(sample, audioOf(sample, {}, undefined));
    }
  }
  return {
    rows: rows.rowCount,
    durationMicros: rows.durationMicros,
    members: tar.rules.fileCount,
    extended: tar.rules.extendedCount,
    isCompressed: tar.isCompressed,
    isReadable: tar.isReadable && rows.isReadable,
    ids: [...tar.samples.keys()].join('\0'),
    offsetsBytes: Float64Array.from(tar.samples.values(), ({ offsetBytes }) => offsetBytes),
    segments: rows.segments,
    findings: kept.findings,
    more: kept.more,
    audio: [...audio.values()],
  };
}

/** Findings of one shard. */
export class KeptFindings {
  readonly findings: DatasetFinding[] = [];
  readonly more: Partial<Record<DatasetKind, number>> = {};
  readonly #counts: Partial<Record<DatasetKind, number>> = {};

  readonly note = (finding: DatasetFinding): void => {
    const count = (this.#counts[finding.kind] ?? 0) + 1;
    this.#counts[finding.kind] = count;
    if (count <= MAX_FINDINGS) this.findings.push(finding);
    else this.more[finding.kind] = count - MAX_FINDINGS;
  };
}

interface RowFacts {
  rowCount: number;
  durationMicros: bigint;
  segments: number;
  isReadable: boolean;
}

interface RowWork {
  kept: KeptFindings;
  audio: Map<ShardSample, MemberAudio>;
  tellAlive: () => Promise<void>;
}

async function readRows(task: ShardTask, tar: TarScan, work: RowWork): Promise<RowFacts> {
  const { layout, manifestPath, audioKey } = task;
  const { kept, audio, tellAlive } = work;
  if (layout === 'tar' || manifestPath === undefined) {
    return { rowCount: 0, durationMicros: 0n, segments: 0, isReadable: true };
  }
  const samples = tar.isReadable ? tar.samples : undefined;
  const take = (sample: ShardSample, row: Readonly<Record<string, unknown>>, line: number): void => {
    if (task.wantsAudio && !audio.has(sample)) audio.set(sample, audioOf(sample, row, line));
  };
  if (layout === 'nemo') {
    const rows = await readNemoRows({ ...task, manifestPath }, { samples, note: kept.note, take, tellAlive });
    for (const find of [findShardedMark, findManifestDifference]) {
      const finding = await find({ ...task, manifestPath });
      if (finding !== undefined) kept.note(finding);
    }
    return rows;
  }
  const order = new OrderWatch(manifestPath, kept.note);
  const key = audioKey ?? 'audio_filepath';
  let segments = 0;
  const rows = await readShardRows(manifestPath, samples, tellAlive, {
    audioKey: key,
    isTextNeeded: layout === 'atdataset',
    watch: (row, line, sample) => {
      if (layout === 'cut') {
        segments += Array.isArray(row['segments']) ? row['segments'].length : 0;
        checkSnippetId(row, key, { file: manifestPath, line }, kept.note);
      } else checkRowValues(row, layout, { file: manifestPath, line, id: idOf(row) }, kept.note);
      if (sample === undefined) return;
      if (task.isOrdered === true) order.see(sample, line);
      take(sample, row, line);
    },
  });
  for (const problem of rows.problems) kept.note(asFinding(problem));
  return { ...rows, segments };
}

function idOf({ audio_filepath: name }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof name === 'string' ? sampleKey(name) : undefined;
}

/** Tells where the rows leave the order of the tar. */
class OrderWatch {
  readonly #file: string;
  readonly #note: (finding: DatasetFinding) => void;
  #last: ShardSample | undefined;

  constructor(file: string, note: (finding: DatasetFinding) => void) {
    this.#file = file;
    this.#note = note;
  }

  see(sample: ShardSample, line: number): void {
    const last = this.#last;
    this.#last = sample;
    if (last === undefined || last.offsetBytes <= sample.offsetBytes) return;
    const message = `the row of ${JSON.stringify(sample.name)} stands behind that of ${JSON.stringify(last.name)}, in the tar before it`;
    this.#note({ kind: 'order_differs', message, file: this.#file, line, member: sample.name });
  }
}

/** `cutroom cut` writes the member's name without its extension beside the name. */
function checkSnippetId(
  row: Readonly<Record<string, unknown>>,
  audioKey: string,
  { file, line }: { file: string; line: number },
  note: (finding: DatasetFinding) => void,
): void {
  const { snippet_id: id } = row;
  const name = row[audioKey];
  if (typeof name !== 'string' || (typeof id === 'string' && name.startsWith(`${id}.`))) return;
  const message = `the "snippet_id" ${JSON.stringify(id)} is not the name ${JSON.stringify(name)} without its extension`;
  note({ kind: 'wrong_snippet_id', message, file, line, id: typeof id === 'string' ? id : undefined });
}

function checkFormats(file: string, { samples }: TarScan, kept: KeptFindings): void {
  for (const [id, { name, hasAudio, offsetBytes }] of samples) {
    if (!hasAudio || ATDATASET_EXTENSIONS.has(name.slice(name.lastIndexOf('.') + 1).toLowerCase())) continue;
    const message = `ATdataset gives no audio for ${JSON.stringify(name)}: it does not read this format`;
    kept.note({ kind: 'unread_format', message, file, offsetBytes, id, member: name });
  }
}

function findLoneMembers(file: string, { samples }: TarScan, kept: KeptFindings): void {
  for (const [id, { name, offsetBytes, rowLine }] of samples) {
    if (rowLine !== undefined) continue;
    const message = `the member ${JSON.stringify(name)} has no row`;
    kept.note({ kind: 'member_without_row', message, file, offsetBytes, id, member: name });
  }
}

function audioOf(sample: ShardSample, row: Readonly<Record<string, unknown>>, line: number | undefined): MemberAudio {
  const { duration, offset, text } = row;
  return {
    name: sample.name,
    offsetBytes: sample.payloadOffsetBytes,
    sizeBytes: sample.sizeBytes,
    durationSeconds: typeof duration === 'number' ? duration : undefined,
    startSeconds: typeof offset === 'number' && offset > 0 ? offset : 0,
    hasText: typeof text === 'string' && text.trim() !== '',
    line,
  };
}
