import { toMicros } from '../audio/times.js';
import { InputError } from '../errors.js';
import type { Leaf } from './item-table.js';
import type { LeafSource } from './source-tree.js';
import type { ExcerptDataset } from './sources.js';

/** What a leaf has of excerpts. */
export interface ExcerptCount {
  /** Infinity where there is no end. */
  count: number;
  durationMicros: number;
}

/** So many excerpts are asked for until one is there that is not passed over. */
const MAX_TRIES = 16;

/** Datasets without end beyond the first begin at multiples of this: none comes so far. */
const ENDLESS_STRIDE = 2 ** 44;

/**
 * How many excerpts the leaves have, and how long they are: one of each dataset is read for that. Undefined for leaves of rows.
 *
 * @throws {InputError} when none of the first excerpts can be read.
 * @throws the signal's reason.
 */
export async function countExcerpts(
  leaves: readonly LeafSource[],
  signal: AbortSignal | undefined,
): Promise<(ExcerptCount | undefined)[]> {
  const counts: (ExcerptCount | undefined)[] = [];
  for (const { spec, name } of leaves) {
    signal?.throwIfAborted();
    if (spec.type !== 'excerpts') counts.push(undefined);
    else if (spec.dataset.length === 0) counts.push({ count: 0, durationMicros: 0 });
    else counts.push({ count: spec.dataset.length, durationMicros: await measure(spec.dataset, name) });
  }
  return counts;
}

async function measure(dataset: ExcerptDataset, name: string): Promise<number> {
  const tries = Math.min(MAX_TRIES, dataset.length);
  for (let index = 0; index < tries; index += 1) {
    const excerpt = await dataset.get(index);
    if (excerpt !== undefined) return toMicros(excerpt.samples / excerpt.sampleRate);
  }
  throw new InputError(`Cannot open the source "${name}": none of its first ${tries} excerpts can be read`);
}

/** Gives excerpts their items: behind all rows, those of datasets without end last and far from each other. */
export function placeExcerpts(
  leaves: readonly Leaf[],
  excerpts: readonly (ExcerptCount | undefined)[],
  rowCount: number,
): Leaf[] {
  let nextItem = rowCount;
  let endless = 0;
  const firstItems = excerpts.map((excerpt) => {
    if (excerpt === undefined || excerpt.count === Number.POSITIVE_INFINITY) return 0;
    nextItem += excerpt.count;
    return nextItem - excerpt.count;
  });
  return leaves.map((leaf, at) => {
    const excerpt = excerpts[at];
    if (excerpt === undefined) return leaf;
    const { count, durationMicros } = excerpt;
    let firstItem = firstItems[at] ?? 0;
    if (count === Number.POSITIVE_INFINITY) {
      firstItem = endless === 0 ? nextItem : endless * ENDLESS_STRIDE;
      endless += 1;
    }
    return Object.assign(leaf, { firstItem, endItem: firstItem + count, excerpts: { durationMicros } });
  });
}
