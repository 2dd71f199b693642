import type { RankAnalysis } from '../check/ranks.js';
import { rankRemedy } from '../check/ranks.js';
import type { RankReport } from '../check/finding.js';

/** More workers than this are summed up rank by rank, and more ranks than this are left out. */
const MAX_LINES = 16;

interface Line {
  name: string;
  shards: number;
  rows: number;
  hours: number;
}

/** Lines of a table: what each rank and worker would read, and what nobody does. Without line breaks. */
export function formatRankReport(report: RankReport): string[] {
  const analysis = 'padded' in report ? (report as RankAnalysis) : undefined;
  const { worldSize, workers, unread, shares } = report;
  const lines = [`  for ${worldSize} ranks with ${workers} ${workers === 1 ? 'worker' : 'workers'} each`];
  if (analysis?.loader === 'atdataset') {
    lines.push(
      '    ATdataset (shards repeated until all workers have as many)',
      ...formatShares(analysis.padded, workers),
    );
  } else {
    lines.push('    scatter', ...formatShares(ofStrategy(shares, 'scatter'), workers));
    const every = ofStrategy(shares, 'replicate').filter(({ rank }) => rank === 0);
    lines.push('    replicate (each rank the same)', ...formatShares(every, workers));
    const rows = unread.reduce((sum, shard) => sum + shard.rows, 0);
    const hours = unread.reduce((sum, shard) => sum + shard.hours, 0);
    const named = unread
      .slice(0, 3)
      .map(({ path }) => path)
      .join(', ');
    const never = { name: 'never read', shards: unread.length, rows, hours };
    lines.push(`${formatLine(never)}${unread.length === 0 ? '' : `: ${named}${unread.length > 3 ? ', …' : ''}`}`);
  }
  if (analysis !== undefined && needsRemedy(analysis)) lines.push(`    remedy: ${rankRemedy(analysis)}`);
  return lines;
}

function needsRemedy({ fitting, shardCount }: RankAnalysis): boolean {
  return !fitting.includes(shardCount);
}

function ofStrategy(shares: RankReport['shares'], strategy: 'scatter' | 'replicate'): RankReport['shares'] {
  return shares.filter((share) => share.strategy === strategy);
}

type Share = Omit<RankReport['shares'][number], 'strategy'>;

/** A line a worker; where these are many, a line a rank. */
function formatShares(shares: readonly Share[], workers: number): string[] {
  const isByWorker = workers > 1 && shares.length <= MAX_LINES;
  const byRank = new Map<number, Line>();
  for (const { rank, shards, rows, hours } of shares) {
    const line = byRank.get(rank) ?? { name: `rank ${rank}`, shards: 0, rows: 0, hours: 0 };
    byRank.set(rank, { ...line, shards: line.shards + shards, rows: line.rows + rows, hours: line.hours + hours });
  }
  const named = isByWorker
    ? shares.map(({ rank, worker, ...share }) => ({ name: `rank ${rank} worker ${worker}`, ...share }))
    : [...byRank.values()];
  const lines = named.slice(0, MAX_LINES).map(formatLine);
  if (named.length > MAX_LINES) lines.push(`      and ${named.length - MAX_LINES} more ranks`);
  return lines;
}

function formatLine({ name, shards, rows, hours }: Line): string {
  const counts = `${shards.toLocaleString('en-US').padStart(7)} shards ${rows.toLocaleString('en-US').padStart(11)} samples`;
  return `      ${name.padEnd(18)}${counts} ${hours.toFixed(2).padStart(9)} h`;
}
