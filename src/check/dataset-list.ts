import { open } from 'node:fs/promises';
import path from 'node:path';
import { countAnd, countWords } from '../count-words.js';
import { errorMessage } from '../errors.js';
import { manifestLines } from '../manifest/lines.js';
import { hoursOfMicros, parseShardLine, type ShardListEntry } from '../manifest/shard-list.js';
import { compareCodePoints } from '../tar/order.js';
import { sizeOfFile } from './dataset-files.js';
import { reportDataset, type DatasetKind } from './dataset-kinds.js';
import type { ShardReport, ShardTask } from './dataset-shard.js';
import { inspectShards, type DatasetTotals } from './dataset-shards.js';
import { tarNotes } from './dataset-notes.js';
import type { CheckContext, PathFacts } from './finding.js';

/** A line of a list whose files are there. */
interface ListedShard extends ShardTask {
  manifestPath: string;
  /** 1-based. */
  line: number;
  entry: ShardListEntry;
  /** How many decimals the hours are written with. */
  decimals: number;
}

export interface ShardListOptions {
  /** Whether cutroom wrote the shards: their rows stand in the order of the tar, and durations are exact. Default false. */
  isOwn?: boolean;
  /** By whose rules rows are read. Default `atdataset`. */
  layout?: 'atdataset' | 'cut';
  /** Key of the path in the rows of `cut`. */
  audioKey?: string | undefined;
}

/** Checks a `.lst` as ATdataset's loader takes it, and all shards that it names. */
export async function checkShardList(listPath: string, context: CheckContext): Promise<PathFacts> {
  return (await checkListedShards(listPath, context)).facts;
}

/** The same, for who compares the shards with more than the list. */
export async function checkListedShards(
  listPath: string,
  context: CheckContext,
  { isOwn = false, layout = 'atdataset', audioKey }: ShardListOptions = {},
): Promise<{ facts: PathFacts; totals: DatasetTotals }> {
  const file = path.resolve(listPath);
  const list = new ListReader(file, context);
  await list.read();
  const how = { layout, audioKey, isOwn, isOrdered: isOwn, wantsAudio: context.settings.deep };
  const tasks = list.shards.map((shard) => ({ ...shard, ...how }));
  const totals = await inspectShards(tasks, context, {
    path: listPath,
    onShard: (shard, report) => compareColumns(file, shard, report, context),
  });
  if (list.lineCount === 0) {
    reportDataset(context, { kind: 'empty_list', message: 'the list names no shard', file });
  } else if (tasks.length > 0 && list.listedHours === 0) {
    reportDataset(context, { kind: 'zero_hours', message: 'the hours of all shards add up to 0', file });
  }
  const facts: PathFacts = {
    kind: 'atdataset_list',
    rows: totals.rows,
    hours: hoursOfMicros(totals.durationMicros),
    members: totals.members,
    shards: totals.shards.toSorted((a, b) => compareCodePoints(a.path, b.path)),
    loader: 'atdataset',
    notes: [...list.notes, ...tarNotes(totals)],
  };
  return { facts, totals };
}

/** Reads a list line by line, and finds the files that it names. */
class ListReader {
  readonly shards: ListedShard[] = [];
  readonly notes: string[] = [];
  lineCount = 0;
  listedHours = 0;
  readonly #file: string;
  readonly #context: CheckContext;
  /** Lines by tar, and by manifest. */
  readonly #tarLines = new Map<string, number>();
  readonly #manifestLines = new Map<string, number>();
  #isSorted = true;

  constructor(file: string, context: CheckContext) {
    this.#file = file;
    this.#context = context;
  }

  async read(): Promise<void> {
    try {
      const handle = await open(this.#file, 'r');
      try {
        const { buffer } = await handle.read(Buffer.alloc(3), 0, 3, 0);
        if (buffer.toString('latin1') === '\u00ef\u00bb\u00bf') {
          this.#tell(
            'byte_order_mark',
            1,
            'a byte order mark stands before the first path: the loader does not find the tar',
          );
        }
        for await (const { bytes, number } of manifestLines(handle, this.#file)) {
          await this.#addLine((bytes ?? Buffer.alloc(0)).toString('utf8'), number);
        }
      } finally {
        await handle.close();
      }
    } catch (error) {
      reportDataset(this.#context, { kind: 'unreadable_manifest', message: errorMessage(error), file: this.#file });
    }
    if (!this.#isSorted)
      this.notes.push("the list is not sorted by the paths of the tars; ATdataset's loader sorts them");
    const short = this.shards.filter(({ entry }) => entry.hours === undefined).length;
    if (short > 0)
      this.notes.push(
        `${countAnd(short, 'line', 'has|have')} no hours: the loader reads the manifest to find them, each time`,
      );
  }

  async #addLine(text: string, line: number): Promise<void> {
    this.lineCount += 1;
    const entry = parseShardLine(text);
    const columns = text.trim().split(/\s+/u);
    const [tarColumn = '', manifestColumn = ''] = columns;
    const isWhole = typeof entry !== 'string' && columns.length <= 4;
    const isSpaced = !isWhole && columns.length > 2 && !/\.tar(?:\.gz)?$/iu.test(tarColumn);
    if (isSpaced || (columns.length > 4 && !/\.jsonl?$/iu.test(manifestColumn))) {
      this.#tell(
        'space_in_path',
        line,
        `a path holds white space, at which the loader parts columns: it looks for the tar "${tarColumn}"`,
      );
      return;
    }
    if (typeof entry === 'string') {
      this.#tell('bad_list_line', line, entry);
      return;
    }
    const tarPath = await this.#find(entry.tarPath, line, 'missing_tar');
    const manifestPath = await this.#find(entry.manifestPath, line, 'missing_manifest');
    this.listedHours += entry.hours ?? Number.NaN;
    if (tarPath === undefined || manifestPath === undefined) return;
    this.#checkRepeats(tarPath, manifestPath, line);
    const last = this.shards.at(-1)?.tarPath;
    if (last !== undefined && compareCodePoints(last, tarPath) > 0) this.#isSorted = false;
    const decimals = columns[2]?.split('.')[1]?.length ?? 0;
    this.shards.push({ layout: 'atdataset', tarPath, manifestPath, line, entry, decimals, wantsAudio: false });
  }

  /** Where a path of the list is: from the current folder as the loader has it, or beside the list. */
  async #find(column: string, line: number, kind: 'missing_tar' | 'missing_manifest'): Promise<string | undefined> {
    const isRelative = !path.isAbsolute(column);
    if (isRelative) {
      this.#tell(
        'relative_path',
        line,
        `"${column}" is taken from the folder in which training starts, not from that of the list`,
      );
    }
    const base = this.#context.settings.base ?? path.dirname(this.#file);
    const places = isRelative ? [path.resolve(base, column), path.resolve(column)] : [column];
    for (const place of places) if ((await sizeOfFile(place)) !== undefined) return place;
    const what = kind === 'missing_tar' ? 'tar' : 'manifest';
    this.#tell(kind, line, `there is no ${what} "${column}": the loader leaves the line out`);
    return undefined;
  }

  #checkRepeats(tarPath: string, manifestPath: string, line: number): void {
    const tarLine = this.#tarLines.get(tarPath);
    const manifestLine = this.#manifestLines.get(manifestPath);
    if (tarLine !== undefined) {
      this.#tell('duplicate_shard', line, `the tar "${tarPath}" stands on line ${tarLine} already`);
    } else if (manifestLine !== undefined) {
      this.#tell('shared_manifest', line, `the manifest "${manifestPath}" is that of line ${manifestLine}, too`);
    }
    if (tarLine === undefined) this.#tarLines.set(tarPath, line);
    if (manifestLine === undefined) this.#manifestLines.set(manifestPath, line);
  }

  #tell(kind: DatasetKind, line: number, message: string): void {
    reportDataset(this.#context, { kind, message, file: this.#file, line });
  }
}

/** `atdataset` writes three decimals, `cutroom` six. */
const LEAST_DECIMALS = 3;
const MOST_DECIMALS = 6;
/** Sums of doubles, in hours, may be off by as much. */
const SUM_ERROR_HOURS = 1e-6;

function compareColumns(file: string, shard: ListedShard, report: ShardReport, context: CheckContext): void {
  if (!report.isReadable) return;
  const { line, entry, decimals, manifestPath } = shard;
  const hours = hoursOfMicros(report.durationMicros);
  const places = Math.min(MOST_DECIMALS, Math.max(LEAST_DECIMALS, decimals));
  const tolerance = 0.5 * 10 ** -places + SUM_ERROR_HOURS;
  if (entry.hours !== undefined && Math.abs(entry.hours - hours) > tolerance) {
    const message = `the list says ${entry.hours} h, and the durations of "${manifestPath}" add up to ${hours}`;
    reportDataset(context, { kind: 'wrong_hours', message, file, line });
  }
  if (entry.sampleCount !== undefined && entry.sampleCount !== report.rows) {
    const message = `the list says ${countWords(entry.sampleCount, 'sample')}, and "${manifestPath}" has ${report.rows}`;
    reportDataset(context, { kind: 'wrong_count', message, file, line });
  }
}
