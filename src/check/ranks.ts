import { countAnd, countWords } from '../count-words.js';
import { reportDataset, type DatasetKind } from './dataset-kinds.js';
import type { CheckContext, RankLoader, RankReport, RankShare, ShardFacts } from './finding.js';

/** What ATdataset's loader gives one worker: shards are repeated until all have as many. */
export interface PaddedShare {
  rank: number;
  worker: number;
  shards: number;
  rows: number;
  hours: number;
}

/** What each rank and worker would read, under each rule. */
export interface RankAnalysis extends RankReport {
  loader: RankLoader;
  /** Of the dataset; where it has buckets, which are read side by side, of the first whose shards cannot be shared evenly. */
  shardCount: number;
  isBucketed: boolean;
  rows: number;
  hours: number;
  /** Workers that no shard is left for, counted over the ranks, under scatter. */
  idleWorkers: number;
  /** By ATdataset's rule, where that is the loader. */
  padded: readonly PaddedShare[];
  /** Shards that ATdataset's loader reads more than once an epoch, and how often in all. */
  repeated: readonly ShardFacts[];
  /** The nearest numbers of shards that all ranks and workers share evenly. */
  fitting: readonly number[];
}

/**
 * Finds what each rank and each of its workers would read, and reports what is read by nobody, or more often than once, and which ranks end
 * before others.
 *
 * - scatter (NeMo's default): rank r of W reads shards [r·⌊S/W⌋, (r+1)·⌊S/W⌋), the last S mod W are read by nobody; inside a rank worker k of
 *   K takes every K-th
 * - replicate: each rank reads all shards, its workers every K-th
 * - ATdataset: shards are repeated up to a multiple of W·K and sorted; rank r takes every W-th, worker k every K-th of these
 *
 * @param shards in the order in which the loader takes them
 */
export function checkRanks(
  shards: readonly ShardFacts[],
  worldSize: number,
  workers: number,
  context: CheckContext,
  loader: RankLoader = 'nemo',
): RankAnalysis {
  const groups = groupByBucket(shards);
  const shares: RankShare[] = [];
  for (let rank = 0; rank < worldSize; rank += 1) {
    const own = groups.flatMap((group) => {
      const perRank = Math.floor(group.length / worldSize);
      return group.slice(rank * perRank, (rank + 1) * perRank);
    });
    for (const share of splitByWorker(own, workers)) shares.push({ strategy: 'scatter', rank, ...share });
  }
  for (let rank = 0; rank < worldSize; rank += 1) {
    for (const share of splitByWorker(shards, workers)) shares.push({ strategy: 'replicate', rank, ...share });
  }
  const isPadded = loader === 'atdataset';
  const unit = worldSize * workers;
  const misfit = isPadded ? shards : (groups.find((group) => group.length % unit !== 0) ?? groups[0]);
  const analysis: RankAnalysis = {
    worldSize,
    workers,
    shares,
    unread: groups.flatMap((group) => group.slice(Math.floor(group.length / worldSize) * worldSize)),
    loader,
    shardCount: misfit?.length ?? shards.length,
    isBucketed: groups.length > 1,
    ...sumUp(shards),
    idleWorkers: shares.filter((share) => share.strategy === 'scatter' && share.shards === 0).length,
    padded: isPadded ? padShards(shards, worldSize, workers) : [],
    repeated: isPadded ? repeatedShards(shards, unit) : [],
    fitting: fittingCounts(misfit?.length ?? shards.length, unit),
  };
  reportRanks(analysis, shards, context);
  return analysis;
}

/** Buckets of NeMo are datasets of their own, of which each rank takes its part. */
function groupByBucket(shards: readonly ShardFacts[]): ShardFacts[][] {
  const groups = new Map<string, ShardFacts[]>();
  for (const shard of shards) {
    const bucket = /^(?<folder>.*[\\/]bucket\d+)[\\/][^\\/]+$/u.exec(shard.path)?.groups?.['folder'] ?? '';
    const group = groups.get(bucket);
    if (group === undefined) groups.set(bucket, [shard]);
    else group.push(shard);
  }
  return [...groups.values()];
}

/** Worker k takes every K-th shard of its rank. */
function splitByWorker(own: readonly ShardFacts[], workers: number): Omit<PaddedShare, 'rank'>[] {
  return Array.from({ length: workers }, (_, worker) => {
    const taken = own.filter((_shard, index) => index % workers === worker);
    return { worker, shards: taken.length, ...sumUp(taken) };
  });
}

function padShards(shards: readonly ShardFacts[], worldSize: number, workers: number): PaddedShare[] {
  const unit = worldSize * workers;
  if (shards.length === 0) return [];
  const count = Math.ceil(shards.length / unit) * unit;
  const padded = Array.from({ length: count }, (_, index) => shards[index % shards.length])
    .filter((shard) => shard !== undefined)
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  return Array.from({ length: worldSize }, (_, rank) => {
    const own = padded.filter((_shard, index) => index % worldSize === rank);
    return splitByWorker(own, workers).map((share) => ({ rank, ...share }));
  }).flat();
}

/** Those that are repeated to fill the last round. */
function repeatedShards(shards: readonly ShardFacts[], unit: number): ShardFacts[] {
  const missing = (unit - (shards.length % unit)) % unit;
  return shards.slice(0, Math.min(missing, shards.length));
}

function sumUp(shards: readonly ShardFacts[]): { rows: number; hours: number } {
  return {
    rows: shards.reduce((sum, { rows }) => sum + rows, 0),
    hours: shards.reduce((sum, { hours }) => sum + hours, 0),
  };
}

function fittingCounts(count: number, unit: number): number[] {
  const below = Math.floor(count / unit) * unit;
  return below === count ? [count] : [below, below + unit].filter((fitting) => fitting > 0);
}

/** What to do, in one sentence. */
export function rankRemedy({ shardCount, worldSize, workers, fitting, isBucketed }: RankAnalysis): string {
  const unit =
    workers === 1
      ? `${worldSize}`
      : `${countWords(worldSize, 'rank')} × ${countWords(workers, 'worker')} = ${worldSize * workers}`;
  if (fitting.includes(shardCount)) return 'pack the dataset again, with as many samples in each shard';
  return `pack ${isBucketed ? 'each bucket' : 'the dataset'} into ${fitting.join(' or ')} ${fitting.at(-1) === 1 ? 'shard' : 'shards'}: a multiple of ${unit}`;
}

function reportRanks(analysis: RankAnalysis, shards: readonly ShardFacts[], context: CheckContext): void {
  const [first] = shards;
  if (first === undefined) return;
  const { worldSize, workers, unread, idleWorkers, repeated, shardCount, loader } = analysis;
  const hint = rankRemedy(analysis);
  const tell = (kind: DatasetKind, file: string, message: string): void =>
    reportDataset(context, { kind, message, file, hint });
  if (loader === 'atdataset') {
    if (repeated.length > 0) {
      const times = worldSize * workers > shardCount ? 'more than once' : 'twice';
      const message = `${describe(repeated)} ${verbOf(repeated)} read ${times} an epoch: ${countAnd(shardCount, 'shard', 'is|are')} padded for ${countWords(worldSize, 'rank')} with ${countWords(workers, 'worker')}`;
      tell('repeated_shards', repeated[0]?.path ?? first.path, message);
    }
    return;
  }
  if (unread.length > 0) {
    const message = `${describe(unread)} ${verbOf(unread)} never read under scatter: ${countWords(shardCount, 'shard')}${analysis.isBucketed ? ' of a bucket' : ''} ${shardCount === 1 ? 'is' : 'are'} no multiple of ${countWords(worldSize, 'rank')}`;
    tell('unread_shards', unread[0]?.path ?? first.path, message);
  }
  if (idleWorkers > 0 && shardCount >= worldSize) {
    const message = `${idleWorkers} of ${countWords(worldSize * workers, 'worker')} ${idleWorkers === 1 ? 'has' : 'have'} no shard under scatter`;
    tell('idle_workers', first.path, message);
  }
  const rows = rankRows(analysis);
  const [least, most] = [Math.min(...rows), Math.max(...rows)];
  if (least !== most && shardCount >= worldSize) {
    const message =
      `rank ${rows.indexOf(least)} reads ${countWords(least, 'sample')} and rank ${rows.indexOf(most)} ${grouped(most)} under scatter: ` +
      'where steps differ, the ranks that end first leave the others waiting forever';
    tell('uneven_ranks', first.path, message);
  }
}

/** Samples of each rank under scatter. */
export function rankRows({ shares, worldSize }: RankReport): number[] {
  const rows = Array.from({ length: worldSize }, () => 0);
  for (const share of shares) {
    if (share.strategy === 'scatter') rows[share.rank] = (rows[share.rank] ?? 0) + share.rows;
  }
  return rows;
}

function describe(shards: readonly ShardFacts[]): string {
  const { rows, hours } = sumUp(shards);
  return `${countWords(shards.length, 'shard')} with ${countWords(rows, 'sample')}, ${hours.toFixed(2)} h,`;
}

function verbOf({ length }: readonly ShardFacts[]): string {
  return length === 1 ? 'is' : 'are';
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
