import { countWords } from '../count-words.js';
import type { PackProgress } from '../shard/progress.js';
import { count, duration } from './cut-progress.js';

/** The progress of the making of shards in words. */
export function formatPackProgress(progress: PackProgress): string {
  const { stage } = progress;
  if (stage === 'plan') return `planning: ${countWords(progress.rows, 'row')} read`;
  if (stage === 'measure') return `measuring: ${count(progress.files)} of ${countWords(progress.totalFiles, 'file')}`;
  if (stage === 'index') return `indexing: ${count(progress.shards)} of ${countWords(progress.totalShards, 'shard')}`;
  if (stage === 'pack') return formatPacking(progress);
  return 'finishing';
}

function formatPacking(progress: Extract<PackProgress, { stage: 'pack' }>): string {
  const { shards, totalShards, items, totalItems, hours, totalHours, resumedItems, seconds } = progress;
  const rate = seconds > 0 ? (items - resumedItems) / seconds : 0;
  const left = rate > 0 ? `, ${duration((totalItems - items) / rate)} left` : '';
  // In a plan by samples nothing is measured, so there are no hours to tell.
  const audio = totalHours > 0 ? `, ${hours.toFixed(2)} of ${totalHours.toFixed(2)} h` : '';
  return (
    `packing: ${count(shards)} of ${countWords(totalShards, 'shard')}, ` +
    `${count(items)} of ${countWords(totalItems, 'item')}${audio}, ${count(Math.round(rate))} items/s${left}`
  );
}
