import { UsageError } from '../errors.js';
import type { EpochOrder } from './batch-list.js';
import type { DealtPlan } from './dealt-plan.js';
import type { BucketReport, PlanReport } from './epoch-plan.js';
import { ItemMarks } from './item-marks.js';
import type { ItemLookup } from './item-pools.js';
import type { ItemTable } from './item-table.js';
import { atSpeed, type SpeedOf } from './speed-of.js';

/** What a plan is counted against. */
export interface ReportContext {
  table: ItemTable;
  lookup: ItemLookup;
  /** Undefined where all audio keeps its speed. */
  speedOf: SpeedOf | undefined;
  /** Draws in no batch of the epoch, in the order in which an item is counted under the first reason that it has. */
  lost: readonly LostDraws[];
  /** Batches of the list that were taken before the plan begins. */
  taken: number;
  /** Why items that were not drawn at all were not; undefined where they may have been, before the plan begins. */
  undrawn: string | undefined;
  /** Of each leaf. */
  shares: readonly number[];
  /** Of each bucket; none without. */
  bounds: readonly BucketBound[];
  /** Ranks and steps that take each batch, where that is known of all alike. */
  usesOfEach?: number | undefined;
  /** Set where all items are equally long, and their batches may be too many to look at their items. */
  uniformMicros: number | undefined;
}

export interface LostDraws {
  reason: string;
  order: EpochOrder;
}

/** Whole microseconds above the first and up to the second, and tokens. */
export interface BucketBound {
  fromMicros: number;
  toMicros: number;
  toTokens: number | undefined;
}

const HOUR_MICROS = 3.6e9;

/** Counts a plan. Items that are repeated to make steps equal are counted as such alone, but for the audio and the padding of batches. */
export function reportPlan(plan: DealtPlan, context: ReportContext): PlanReport {
  const { table } = context;
  const { list } = plan;
  checkSize(plan);
  const uses = countUses(plan, context.usesOfEach);
  const marks = new ItemMarks(table, context.lookup);
  for (let batch = 0; batch < context.taken; batch += 1) markBatch(plan, batch, marks);
  const counts = new BatchCounts(plan, context, marks);
  const batchMicros = new Float64Array(list.batchCount);
  for (let batch = 0; batch < list.batchCount; batch += 1) {
    if (uses[batch]! > 0) batchMicros[batch] = counts.addBatch(batch, uses[batch]!);
  }
  const hoursOfSteps = new Float64Array(plan.stepCount);
  let batchCount = 0;
  for (let step = 0; step < plan.stepCount; step += 1) {
    for (let rank = 0; rank < plan.worldSize; rank += 1) {
      const batch = plan.numberAt(rank, step);
      hoursOfSteps[step]! += batchMicros[batch]! / HOUR_MICROS;
      if (list.endOf(batch) > list.startOf(batch)) batchCount += 1;
    }
  }
  return {
    draws: counts.draws,
    distinctItems: counts.distinctItems,
    items: table.leaves.reduce((sum, leaf) => sum + (leaf.endItem - leaf.firstItem), 0),
    hours: counts.micros / HOUR_MICROS,
    stepCount: plan.stepCount,
    batchCount,
    paddingShare: counts.paddedMicros === 0 ? 0 : 1 - counts.batchedMicros / counts.paddedMicros,
    lost: countLost(context, marks),
    padDraws: counts.padDraws,
    buckets: counts.buckets(),
    hoursOfSteps,
    leaves: table.leaves.map((leaf, at) => {
      const draws = counts.drawsOfLeaves[at]!;
      const length = leaf.endItem - leaf.firstItem;
      return { name: leaf.name, share: context.shares[at]!, draws, passes: length === 0 ? 0 : draws / length };
    }),
  };
}

/** More batches are not counted one by one. */
const MAX_COUNTED = 2 ** 27;

function checkSize({ worldSize, stepCount }: DealtPlan): void {
  if (worldSize * stepCount <= MAX_COUNTED) return;
  throw new UsageError(`Cannot report on ${worldSize * stepCount} batches: at most ${MAX_COUNTED} are counted`, {
    hint: 'Give epochItems, for shorter epochs.',
  });
}

/** How many ranks and steps take each batch of the list. */
function countUses(plan: DealtPlan, usesOfEach: number | undefined): Uint32Array {
  const uses = new Uint32Array(plan.list.batchCount);
  if (usesOfEach !== undefined) return uses.fill(usesOfEach);
  for (let step = 0; step < plan.stepCount; step += 1) {
    for (let rank = 0; rank < plan.worldSize; rank += 1) uses[plan.numberAt(rank, step)]! += 1;
  }
  return uses;
}

function markBatch({ list }: DealtPlan, batch: number, marks: ItemMarks): void {
  const end = list.endOf(batch);
  for (let position = list.startOf(batch); position < end; position += 1) marks.mark(list.order.itemAt(position));
}

/** Sums over batches. */
class BatchCounts {
  draws = 0;
  padDraws = 0;
  micros = 0;
  distinctItems = 0;
  batchedMicros = 0;
  paddedMicros = 0;
  readonly drawsOfLeaves: Float64Array;
  readonly #plan: DealtPlan;
  readonly #context: ReportContext;
  readonly #marks: ItemMarks;
  readonly #buckets: BucketSums[];
  readonly #uniformMicros: number | undefined;

  constructor(plan: DealtPlan, context: ReportContext, marks: ItemMarks) {
    this.#plan = plan;
    this.#context = context;
    this.#marks = marks;
    const filled = context.table.leaves.filter(({ firstItem, endItem }) => endItem > firstItem);
    this.#uniformMicros = filled.length === 1 ? context.uniformMicros : undefined;
    this.drawsOfLeaves = new Float64Array(context.table.leaves.length);
    this.#buckets = context.bounds.map(() => new BucketSums());
  }

  /** @returns microseconds of the batch's audio */
  addBatch(batch: number, uses: number): number {
    const { list } = this.#plan;
    const { lookup, speedOf } = this.#context;
    if (this.#uniformMicros !== undefined) return this.#addUniform(batch, uses);
    const end = list.endOf(batch);
    const start = list.startOf(batch);
    const padFrom = end - list.padCountOf(batch);
    let sumMicros = 0;
    let longestMicros = 0;
    for (let position = start; position < end; position += 1) {
      const item = list.order.itemAt(position);
      const speed = speedOf === undefined ? 1 : speedOf(item, list.order.passAt(position));
      const micros = atSpeed(lookup.durationMicros(item), speed);
      sumMicros += micros;
      longestMicros = Math.max(longestMicros, micros);
      if (position >= padFrom) {
        this.padDraws += uses;
      } else {
        this.draws += uses;
        this.micros += micros * uses;
        this.drawsOfLeaves[lookup.leafOf(item)]! += uses;
        if (this.#marks.mark(item)) this.distinctItems += 1;
      }
    }
    const paddedMicros = longestMicros * (end - start);
    this.batchedMicros += sumMicros * uses;
    this.paddedMicros += paddedMicros * uses;
    const bucket = list.bucketOf(batch);
    if (bucket !== undefined && end > start) this.#buckets[bucket]!.add(end - start, sumMicros, paddedMicros, uses);
    return sumMicros;
  }

  /** As `addBatch`, of one source without its items: they come one after the other. */
  #addUniform(batch: number, uses: number): number {
    const { list } = this.#plan;
    const micros = this.#uniformMicros!;
    const size = list.endOf(batch) - list.startOf(batch);
    const padCount = list.padCountOf(batch);
    const draws = (size - padCount) * uses;
    this.draws += draws;
    this.padDraws += padCount * uses;
    this.micros += draws * micros;
    this.batchedMicros += size * micros * uses;
    this.paddedMicros += size * micros * uses;
    const leaf = this.#context.table.leaves.findIndex(({ firstItem, endItem }) => endItem > firstItem);
    this.drawsOfLeaves[leaf]! += draws;
    this.distinctItems += this.#marks.markNext(leaf, size - padCount);
    return size * micros;
  }

  buckets(): BucketReport[] {
    return this.#buckets.map((sums, at): BucketReport => {
      const { fromMicros, toMicros, toTokens } = this.#context.bounds[at]!;
      return { fromSeconds: fromMicros / 1e6, toSeconds: toMicros / 1e6, toTokens, ...sums.report() };
    });
  }
}

class BucketSums {
  #items = 0;
  #micros = 0;
  #paddedMicros = 0;
  #batches = 0;
  #smallest = Infinity;
  #largest = 0;

  add(items: number, micros: number, paddedMicros: number, uses: number): void {
    this.#items += items * uses;
    this.#micros += micros * uses;
    this.#paddedMicros += paddedMicros * uses;
    this.#batches += uses;
    this.#smallest = Math.min(this.#smallest, items);
    this.#largest = Math.max(this.#largest, items);
  }

  report(): Omit<BucketReport, 'fromSeconds' | 'toSeconds' | 'toTokens'> {
    return {
      items: this.#items,
      hours: this.#micros / HOUR_MICROS,
      batches: this.#batches,
      smallestBatch: this.#batches === 0 ? 0 : this.#smallest,
      largestBatch: this.#largest,
      paddingShare: this.#paddedMicros === 0 ? 0 : 1 - this.#micros / this.#paddedMicros,
    };
  }
}

/** Each item once, under the first reason that holds. */
function countLost(
  { table, lookup, lost, undrawn }: ReportContext,
  marks: ItemMarks,
): Record<string, { items: number; hours: number }> {
  const sums = new Map<string, { items: number; hours: number }>();
  const add = (reason: string, items: number, micros: number): void => {
    if (items === 0) return;
    const sum = sums.get(reason) ?? { items: 0, hours: 0 };
    sums.set(reason, { items: sum.items + items, hours: sum.hours + micros / HOUR_MICROS });
  };
  for (const { reason, order } of lost) {
    for (let position = 0; position < order.length; position += 1) {
      const item = order.itemAt(position);
      if (marks.mark(item)) add(reason, 1, lookup.durationMicros(item));
    }
  }
  if (undrawn === undefined) return Object.fromEntries(sums);
  for (let row = 0; row < table.rowCount; row += 1) {
    if (marks.mark(row)) add(undrawn, 1, table.durationsMicros[row]!);
  }
  for (const leaf of table.leaves) {
    if (leaf.excerpts === undefined || leaf.endItem === Infinity) continue;
    const left = marks.unmarkedOf(leaf);
    add(undrawn, left, left * leaf.excerpts.durationMicros);
  }
  return Object.fromEntries(sums);
}
