import { countWords } from '../count-words.js';
import { roundHours } from '../manifest/shard-list.js';
import { rankRemedy, type RankAnalysis } from '../check/ranks.js';
import { count } from './cut-progress.js';

const MAX_LINES = 8;
const MAX_NAMED_READERS = 4;
const MAX_NAMED_SHARDS = 3;

type Share = RankAnalysis['padded'][number];

/**
 * What each rank and worker would read of a dataset, and what nobody does. Most ranks are alike: those that read the same are told together.
 */
export function formatRanks(analysis: RankAnalysis): string[] {
  const { worldSize, workers, shares, unread, padded, loader, fitting, shardCount } = analysis;
  const lines: string[] = [`  ${countWords(worldSize, 'rank')} of ${countWords(workers, 'worker')}`];
  if (loader === 'atdataset') lines.push(...formatShares('ATdataset', padded, workers));
  for (const strategy of ['scatter', 'replicate'] as const) {
    const own = shares.filter((share) => share.strategy === strategy);
    lines.push(...formatShares(strategy, own, workers));
  }
  if (unread.length > 0) {
    const rows = unread.reduce((sum, shard) => sum + shard.rows, 0);
    const names = unread.slice(0, MAX_NAMED_SHARDS).map(({ path }) => path);
    if (unread.length > MAX_NAMED_SHARDS) names.push('…');
    const figures = `${countWords(unread.length, 'shard')}, ${countWords(rows, 'row')}`;
    lines.push(`    never read under scatter: ${figures}: ${names.join(', ')}`);
  }
  if (!fitting.includes(shardCount)) lines.push(`    remedy: ${rankRemedy(analysis)}`);
  return lines;
}

function formatShares(rule: string, shares: readonly Share[], workers: number): string[] {
  const alike = new Map<string, { rank: number; worker: number }[]>();
  for (const { rank, worker, shards, rows, hours } of shares) {
    const key = `${countWords(shards, 'shard')}, ${countWords(rows, 'row')}, ${hours.toFixed(3)} h`;
    const others = alike.get(key);
    if (others === undefined) alike.set(key, [{ rank, worker }]);
    else others.push({ rank, worker });
  }
  const lines = [...alike]
    .slice(0, MAX_LINES)
    .map(([key, readers]) => `    ${rule}: ${key} each: ${nameReaders(readers, workers)}`);
  if (alike.size > MAX_LINES) lines.push(`    ${rule}: and ${countWords(alike.size - MAX_LINES, 'other share')}`);
  return lines;
}

function nameReaders(readers: readonly { rank: number; worker: number }[], workers: number): string {
  const names = readers.map(({ rank, worker }) => (workers === 1 ? `rank ${rank}` : `rank ${rank} worker ${worker}`));
  if (names.length <= MAX_NAMED_READERS) return names.join(', ');
  return `${names.slice(0, MAX_NAMED_READERS - 1).join(', ')} and ${count(names.length - MAX_NAMED_READERS + 1)} more`;
}

/** The same as plain data. */
export function ranksAsJson(analysis: RankAnalysis): Record<string, unknown> {
  const { worldSize, workers, loader, shares, padded, unread, repeated, fitting } = analysis;
  const hoursOf = <T extends { hours: number }>({ hours, ...rest }: T): Record<string, unknown> => ({
    ...rest,
    duration_hours: roundHours(hours),
  });
  return {
    world_size: worldSize,
    workers,
    loader,
    shares: [...padded.map((share) => ({ strategy: 'atdataset', ...share })), ...shares].map(hoursOf),
    unread: unread.map(hoursOf),
    repeated: repeated.map(hoursOf),
    fitting_shard_counts: fitting,
  };
}
