import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { CanceledError, CutroomError, errorMessage, InputError, OutputError, systemCode } from '../errors.js';
import { formatShardLine, hoursOfMicros, parseShardLine } from '../manifest/shard-list.js';
import { checkWritable, ensureFolder, writeFileAtomic } from '../run/atomic-file.js';
import { orderedMap } from '../run/ordered-map.js';
import { ProcessPool } from '../run/process-pool.js';
import { compareShard, type ShardFacts, type ShardPair } from '../shard/compare-shard.js';
import { IdIndex } from '../shard/id-index.js';
import { resolveListOptions, type GenerateListOptions, type ResolvedListOptions } from './list-options.js';
import { ProblemLog, type ShardProblem, type ShardProblemCounts } from '../shard/shard-problem.js';
import { findShardPairs, type ShardPairs } from './shard-pairs.js';

/** How far a list is. */
export interface ListProgress {
  /** Shards that are compared. */
  shards: number;
  totalShards: number;
  /** Rows of these shards. */
  samples: number;
}

/** What `generateList` is given beside its options. */
export interface GenerateListContext {
  /** Stops the work; no list is written then. */
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: ListProgress) => void) | undefined;
  /** Takes every problem, in the order of the list. */
  onProblem?: ((problem: ShardProblem) => void) | undefined;
}

/** What came of a list. */
export interface GenerateListResult {
  /** `refused`: nothing was written, because of problems with `strict`, or because no shard is left. */
  kind: 'written' | 'refused';
  /** Absolute path of the list. */
  output: string;
  /** Shards on the list; with `refused`, those that would be. */
  shardCount: number;
  /** Tars that the pattern finds and the list does not name. */
  leftOutCount: number;
  /** Sum of the fourth column: rows of the manifests. */
  sampleCount: number;
  /** Exact sum of the rows' durations. */
  durationMicros: bigint;
  /** How many problems there are, by kind. */
  problemCounts: ShardProblemCounts;
  /** The first 1,000 of each kind, in the order of the list. */
  problems: readonly ShardProblem[];
  /** Wall time. */
  seconds: number;
}

/** A shard whose process says nothing for so long fails. */
const SILENCE_MS = 300_000;

/** How many results wait for an earlier one, for each shard that is read. */
const WAITING_SHARDS = 2;

/**
 * Writes a `.lst` file: for each tar that a pattern finds, its path, that of its manifest, hours and samples. The members of each tar, by their
 * headers, are compared with the rows; all that does not fit is counted and told.
 *
 * @throws UsageError, InputError, OutputError, CanceledError; RangeError for an option out of its range
 */
export async function generateList(
  options: GenerateListOptions,
  context: GenerateListContext = {},
): Promise<GenerateListResult> {
  const startMs = performance.now();
  const resolved = resolveListOptions(options);
  await checkOutput(resolved.output);
  const pairs = await findShardPairs(resolved);
  const draft = new ListDraft(new ProblemLog(context.onProblem));
  try {
    await compareShards(pairs, resolved, draft, context);
  } catch (error) {
    if (context.signal?.aborted !== true || error instanceof CutroomError) throw error;
    throw new CanceledError('The list was not written: the run was stopped', { cause: error });
  }
  const { lines, log, sampleCount, durationMicros } = draft;
  const isRefused = lines.length === 0 || (resolved.strict && log.count > 0);
  if (!isRefused) {
    await ensureFolder(path.dirname(resolved.output));
    await writeFileAtomic(resolved.output, async (write) => {
      for (const line of lines) await write(`${line}\n`);
    });
  }
  return {
    kind: isRefused ? 'refused' : 'written',
    output: resolved.output,
    shardCount: lines.length,
    leftOutCount: pairs.found.length - lines.length,
    sampleCount,
    durationMicros,
    problemCounts: log.counts,
    problems: log.kept,
    seconds: (performance.now() - startMs) / 1000,
  };
}

/** Finds out early that the list cannot be written, or would replace something that is no list. */
async function checkOutput(output: string): Promise<void> {
  const isFolderThere = await stat(path.dirname(output)).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new OutputError(`Cannot write "${output}": ${errorMessage(error)}`, { path: output, cause: error });
  });
  if (isFolderThere === undefined) return;
  await checkWritable(output);
  const fault = await findListFault(output);
  if (fault === undefined) return;
  throw new OutputError(`Cannot replace "${output}": it is no list of shards (${fault})`, {
    path: output,
    hint: 'Give --output another path, or remove that file.',
  });
}

/** How much of an earlier file is looked at. */
const START_BYTES = 64 * 1024;

/** Why an earlier file is no list by its first line; undefined where it is one, is empty or is not there. */
async function findListFault(output: string): Promise<string | undefined> {
  try {
    const handle = await open(output, 'r');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
      const first = buffer.toString('utf8', 0, bytesRead).trimStart().split('\n', 1)[0] ?? '';
      if (first === '') return undefined;
      const entry = parseShardLine(first);
      if (typeof entry === 'string') return entry;
      const hasPaths = [entry.tarPath, entry.manifestPath].every((column) => column.includes('.'));
      return hasPaths && !first.includes('\0') ? undefined : 'its first line does not begin with two paths';
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new OutputError(`Cannot look at "${output}": ${errorMessage(error)}`, { path: output, cause: error });
  }
}

type FoundTar = ShardPairs['found'][number];
type ComparedTar = (ShardPair & { facts: ShardFacts }) | { tarPath: string; problem: ShardProblem };

async function compareShards(
  pairs: ShardPairs,
  { jobs }: ResolvedListOptions,
  draft: ListDraft,
  { signal, onProgress }: GenerateListContext,
): Promise<void> {
  for (const problem of pairs.problems) draft.log.add(problem);
  const comparer = jobs === 1 || pairs.found.length === 1 ? compareHere() : compareInProcesses(jobs);
  try {
    const work = { concurrency: jobs, window: jobs * (1 + WAITING_SHARDS), signal };
    let shards = 0;
    const compare = async (found: FoundTar, stop: AbortSignal): Promise<ComparedTar> =>
      'manifestPath' in found ? { ...found, facts: await comparer.compare(found, stop) } : found;
    for await (const compared of orderedMap(pairs.found, work, compare)) {
      draft.add(compared, shards);
      shards += 1;
      onProgress?.({ shards, totalShards: pairs.found.length, samples: draft.sampleCount });
    }
  } finally {
    await comparer.close();
  }
}

interface ShardComparer {
  compare(pair: ShardPair, signal: AbortSignal): Promise<ShardFacts>;
  close(): Promise<void>;
}

/** One shard at a time needs no process of its own. */
function compareHere(): ShardComparer {
  return {
    compare: (pair, signal) =>
      compareShard(pair, async () => {
        await setImmediate();
        signal.throwIfAborted();
      }),
    close: () => Promise.resolve(),
  };
}

function compareInProcesses(size: number): ShardComparer {
  const program = new URL('../shard/compare-process.js', import.meta.url);
  const pool = new ProcessPool({ program, size, silenceMs: SILENCE_MS });
  return {
    compare: async ({ tarPath, manifestPath }, signal) => {
      const outcome = await pool.run<ShardFacts>({ tarPath, manifestPath }, { signal });
      if (outcome.kind === 'done') return outcome.value;
      const how = outcome.kind === 'died' ? outcome.how : `nothing was read for ${outcome.seconds} s`;
      throw new InputError(`Cannot compare "${tarPath}" with its manifest: ${how}`, { path: tarPath });
    },
    close: () => pool.close(),
  };
}

/** The list as it grows, shard by shard in its order. */
class ListDraft {
  readonly lines: string[] = [];
  readonly log: ProblemLog;
  sampleCount = 0;
  durationMicros = 0n;
  readonly #ids = new IdIndex();
  readonly #tarPaths: string[] = [];

  constructor(log: ProblemLog) {
    this.log = log;
  }

  /** @param shard counts all that were found, from 0. */
  add(compared: ComparedTar, shard: number): void {
    this.#tarPaths.push(compared.tarPath);
    if (!('facts' in compared)) {
      this.log.add(compared.problem);
      return;
    }
    const { tarPath, manifestPath, facts } = compared;
    for (const problem of facts.problems) this.log.add(problem);
    this.#findDuplicates(tarPath, facts, shard);
    if (!facts.isListable) return;
    const hours = hoursOfMicros(facts.durationMicros);
    this.lines.push(formatShardLine({ tarPath, manifestPath, hours, sampleCount: facts.rowCount }));
    this.sampleCount += facts.rowCount;
    this.durationMicros += facts.durationMicros;
  }

  #findDuplicates(tarPath: string, { ids, offsetsBytes }: ShardFacts, shard: number): void {
    for (const [index, id] of ids.entries()) {
      const first = this.#ids.firstShardOf(id, shard);
      if (first === shard) continue;
      const message = `the id ${JSON.stringify(id)} is that of a member of "${this.#tarPaths[first]}", too`;
      const offsetBytes = offsetsBytes[index];
      this.log.add({ kind: 'duplicate_across_shards', message, file: tarPath, offsetBytes, id });
    }
  }
}
