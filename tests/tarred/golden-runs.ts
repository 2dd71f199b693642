import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TarOptions } from '#cutroom/tarred/options.js';

/** What NeMo's converter made of three manifests. */
export const GOLDEN = fileURLToPath(new URL('../../../shared/data/nemo-golden', import.meta.url));
export const EXPECTED = path.join(GOLDEN, 'expected');
export const isAbsent = !existsSync(GOLDEN);
export const ABSENT = isAbsent ? ' (skipped: ../shared is absent)' : '';

/** The runs of the converter; its remainder and its names for repeated files are to be added. */
export const RUNS: Readonly<Record<string, readonly [manifest: string, options: TarOptions]>> = {
  shuffled: ['plain.json', { numShards: 4, ...bounds(0.1, 20), shuffle: true, shuffleSeed: 7 }],
  sorted: ['plain.json', { numShards: 4, ...bounds(0.1, 20), shuffle: true, shuffleSeed: 7, sortInShards: true }],
  ordered: ['plain.json', { numShards: 3, ...bounds(0.5, 1.5) }],
  offsets: ['offsets.json', { numShards: 4, ...bounds(0.1, 20), shuffle: true, shuffleSeed: 42 }],
  buckets: ['plain.json', { numShards: 2, ...bounds(0.1, 2.1), shuffle: true, shuffleSeed: 7, bucketsNum: 3 }],
};

export function bounds(minDurationSeconds: number, maxDurationSeconds: number): TarOptions {
  return { minDurationSeconds, maxDurationSeconds };
}
