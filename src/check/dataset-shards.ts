import { setImmediate } from 'node:timers/promises';
import { CanceledError, CutroomError } from '../errors.js';
import { hoursOfMicros } from '../manifest/shard-list.js';
import { orderedMap } from '../run/ordered-map.js';
import { ProcessPool } from '../run/process-pool.js';
import { IdIndex } from '../shard/id-index.js';
import { reportDataset, type DatasetKind } from './dataset-kinds.js';
import { inspectShard, type ShardReport, type ShardTask } from './dataset-shard.js';
import { DeepChecker, type DeepItem } from './deep-audio.js';
import type { CheckContext, ShardFacts } from './finding.js';

/** A shard whose process says nothing for so long fails. */
const SILENCE_MS = 300_000;

/** How many results wait for an earlier one, for each shard that is read. */
const WAITING_SHARDS = 2;

/** So many shards are looked at by this process alone: others would take longer to start. */
const FEW_BYTES_SHARDS = 1;

/** What the shards of a dataset hold together. */
export interface DatasetTotals {
  rows: number;
  durationMicros: bigint;
  members: number;
  segments: number;
  extended: number;
  isReadable: boolean;
  /** Members of compressed tars, which a check that decodes passes over. */
  undecoded: number;
  /** In the order of the tasks. */
  shards: ShardFacts[];
}

export interface InspectOptions<T extends ShardTask> {
  /** Shown as what is being checked. */
  path: string;
  /** Where tars hold the same ids on purpose, they are not told of. */
  areIdsUnique?: boolean;
  /** Takes what each shard is found to be, in the order of the tasks, before its findings are reported. */
  onShard?: (task: T, report: ShardReport) => void | Promise<void>;
}

/** Looks at shards, several at once, and reports what is wrong in the order of the tasks. */
export async function inspectShards<T extends ShardTask>(
  tasks: readonly T[],
  context: CheckContext,
  options: InspectOptions<T>,
): Promise<DatasetTotals> {
  const totals = emptyTotals();
  const ids = new ShardIds(context);
  const { jobs } = context.settings;
  const inspector = jobs === 1 || tasks.length <= FEW_BYTES_SHARDS ? inspectHere() : inspectInProcesses(jobs);
  const deep = context.settings.deep ? new DeepChecker(context, options.path) : undefined;
  try {
    const work = { concurrency: jobs, window: jobs * (1 + WAITING_SHARDS), signal: context.signal };
    const inspect = async (task: T, stop: AbortSignal): Promise<[T, ShardReport | string]> => [
      task,
      await inspector.inspect(task, stop),
    ];
    let shard = 0;
    for await (const [task, report] of orderedMap(tasks, work, inspect)) {
      shard += 1;
      if (typeof report === 'string') {
        reportDataset(context, { kind: 'unreadable_tar', message: report, file: task.tarPath });
        totals.isReadable = false;
        continue;
      }
      await options.onShard?.(task, report);
      reportFindings(task, report, context);
      if (options.areIdsUnique !== false) ids.add(task.tarPath, report);
      addTo(totals, task, report);
      await deep?.check(deepItems(task, report));
      context.onProgress({ path: options.path, stage: 'read', items: totals.members, share: shard / tasks.length });
    }
    await deep?.finish();
    totals.undecoded = deep?.skippedCount ?? 0;
    return totals;
  } catch (error) {
    if (!context.signal.aborted || error instanceof CutroomError) throw error;
    throw new CanceledError('The check was stopped', { cause: error });
  } finally {
    await inspector.close();
    await deep?.close();
  }
}

function emptyTotals(): DatasetTotals {
  return {
    rows: 0,
    durationMicros: 0n,
    members: 0,
    segments: 0,
    extended: 0,
    isReadable: true,
    undecoded: 0,
    shards: [],
  };
}

function addTo(totals: DatasetTotals, task: ShardTask, report: ShardReport): void {
  const { rows, durationMicros, members, segments, extended, isReadable } = report;
  totals.rows += rows;
  totals.durationMicros += durationMicros;
  totals.members += members;
  totals.segments += segments;
  totals.extended += extended;
  totals.isReadable &&= isReadable;
  const samples = task.layout === 'tar' ? report.offsetsBytes.length : rows;
  totals.shards.push({ path: task.tarPath, rows: samples, hours: hoursOfMicros(durationMicros) });
}

function reportFindings(task: ShardTask, { findings, more }: ShardReport, context: CheckContext): void {
  for (const finding of findings) reportDataset(context, finding);
  for (const [kind, count] of Object.entries(more)) {
    const message = `one of ${count.toLocaleString('en-US')} more in this shard`;
    for (let index = 0; index < count; index += 1) {
      reportDataset(context, { kind: kind as DatasetKind, message, file: task.tarPath });
    }
  }
}

function* deepItems(task: ShardTask, report: ShardReport): Generator<DeepItem> {
  for (const { name, offsetBytes, sizeBytes, startSeconds, durationSeconds, hasText, line } of report.audio) {
    yield {
      audioPath: task.tarPath,
      inside: report.isCompressed
        ? { name, isCompressed: true, offsetBytes, sizeBytes }
        : { name, offsetBytes, sizeBytes },
      startSeconds,
      durationSeconds,
      hasText,
      file: line === undefined ? task.tarPath : (task.manifestPath ?? task.tarPath),
      line,
      id: name,
      tolerance: task.isOwn === true ? 'half_sample' : undefined,
    };
  }
}

/** The ids of all shards: where one is met again, it is told of. */
class ShardIds {
  readonly #context: CheckContext;
  readonly #index = new IdIndex();
  readonly #tarPaths: string[] = [];

  constructor(context: CheckContext) {
    this.#context = context;
  }

  add(tarPath: string, { ids, offsetsBytes }: ShardReport): void {
    const shard = this.#tarPaths.push(tarPath) - 1;
    if (ids === '') return;
    for (const [index, id] of ids.split('\0').entries()) {
      const first = this.#index.firstShardOf(id, shard);
      if (first === shard) continue;
      const message = `the id ${JSON.stringify(id)} is that of a member of "${this.#tarPaths[first]}", too`;
      const finding = { message, file: tarPath, offsetBytes: offsetsBytes[index], id };
      reportDataset(this.#context, { kind: 'duplicate_across_shards', ...finding });
    }
  }
}

interface ShardInspector {
  /** What is found, or what became of the process that looked. */
  inspect(task: ShardTask, signal: AbortSignal): Promise<ShardReport | string>;
  close(): Promise<void>;
}

/** One shard at a time needs no process of its own. */
function inspectHere(): ShardInspector {
  return {
    inspect: (task, signal) =>
      inspectShard(task, async () => {
        await setImmediate();
        signal.throwIfAborted();
      }),
    close: () => Promise.resolve(),
  };
}

function inspectInProcesses(size: number): ShardInspector {
  const program = new URL('./dataset-process.js', import.meta.url);
  const pool = new ProcessPool({ program, size, silenceMs: SILENCE_MS });
  return {
    inspect: async (task, signal) => {
      const outcome = await pool.run<ShardReport>(task, { signal });
      if (outcome.kind === 'done') return outcome.value;
      return outcome.kind === 'died' ? outcome.how : `nothing was read for ${outcome.seconds} s`;
    },
    close: () => pool.close(),
  };
}
