import type { ItemTable } from './item-table.js';

/** How many items are decoded together, and how many such batches ahead. */
export interface StepSize {
  batchSize: number;
  prefetch: number;
}

/** More items together, or more batches ahead, are decoded no faster where items are short. */
const MAX_ITEMS = 32;
const MAX_NATIVE_AHEAD = 64;
const MAX_AHEAD = 4;
const MIN_AHEAD = 2;
/** Seconds of audio that a batch, and all batches ahead, have at most where items are long: 80 MB and 310 MB at 16 kHz. */
const BATCH_SECONDS = 1200;
const AHEAD_SECONDS = 4800;

/**
 * Batches for whoever takes items one by one: large enough to keep processes busy, and small enough for memory where recordings are long. The
 * longest item of the table decides, so that all ranks and all runs have the same batches.
 *
 * @param isNative whether items keep their own rates: then each is a batch.
 * @param jobs processes that decode, each of which has an item whatever its length.
 */
export function stepOfItems(
  table: ItemTable,
  { isNative, jobs, copies }: { isNative: boolean; jobs: number; copies: number },
): StepSize {
  const seconds = (copies * longestMicros(table)) / 1e6;
  const items = isNative ? 1 : clamp(BATCH_SECONDS / seconds, 1, MAX_ITEMS);
  const least = Math.max(MIN_AHEAD, Math.ceil(jobs / items));
  const most = Math.max(least, isNative ? MAX_NATIVE_AHEAD : MAX_AHEAD);
  return { batchSize: items * copies, prefetch: clamp(AHEAD_SECONDS / (items * seconds), least, most) };
}

function longestMicros({ rowCount, durationsMicros, leaves }: ItemTable): number {
  let longest = 0;
  for (let row = 0; row < rowCount; row += 1) longest = Math.max(longest, durationsMicros[row] ?? 0);
  return leaves.reduce((most, { excerpts }) => Math.max(most, excerpts?.durationMicros ?? 0), longest);
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, Math.floor(value)));
}
