import type { BatchList } from './batch-list.js';
import type { EpochPlan, LoaderState, PlannedBatch, PlanReport } from './epoch-plan.js';

/** What a plan is made of. */
export interface Dealing {
  epoch: number;
  worldSize: number;
  stepCount: number;
  list: BatchList;
  /** Which of the list a rank takes at a step. */
  batchOf(rank: number, step: number): number;
  stateAt(step: number): LoaderState;
  report(plan: DealtPlan): PlanReport;
}

/** The batches of a list, dealt out to ranks. */
export class DealtPlan implements EpochPlan {
  readonly epoch: number;
  readonly worldSize: number;
  readonly stepCount: number;
  readonly list: BatchList;
  readonly #dealing: Dealing;
  #report: PlanReport | undefined;

  constructor(dealing: Dealing) {
    this.epoch = dealing.epoch;
    this.worldSize = dealing.worldSize;
    this.stepCount = dealing.stepCount;
    this.list = dealing.list;
    this.#dealing = dealing;
  }

  batchAt(rank: number, step: number): PlannedBatch {
    const batch = this.numberAt(rank, step);
    const { order } = this.list;
    const start = this.list.startOf(batch);
    const count = this.list.endOf(batch) - start;
    const items = new Float64Array(count);
    const passes = new Float64Array(count);
    for (let at = 0; at < count; at += 1) {
      items[at] = order.itemAt(start + at);
      passes[at] = order.passAt(start + at);
    }
    return {
      epoch: this.epoch,
      step,
      rank,
      bucket: this.list.bucketOf(batch),
      items,
      passes,
      padCount: this.list.padCountOf(batch),
    };
  }

  /** Which batch of the list a rank takes at a step. */
  numberAt(rank: number, step: number): number {
    if (!(Number.isSafeInteger(rank) && rank >= 0 && rank < this.worldSize)) {
      throw new RangeError(`There is no rank ${rank} of ${this.worldSize}`);
    }
    if (!(Number.isSafeInteger(step) && step >= 0 && step < this.stepCount)) {
      throw new RangeError(`There is no step ${step} of ${this.stepCount}`);
    }
    return this.#dealing.batchOf(rank, step);
  }

  stateAt(step: number): LoaderState {
    if (!(Number.isSafeInteger(step) && step >= 0 && step <= this.stepCount)) {
      throw new RangeError(`There is no step ${step} of ${this.stepCount}`);
    }
    return this.#dealing.stateAt(step);
  }

  report(): PlanReport {
    this.#report ??= this.#dealing.report(this);
    return this.#report;
  }
}
