import { CanceledError, InputError } from '../errors.js';
import { orderedMap } from '../run/ordered-map.js';
import type { BatchMaker } from './batch-maker.js';
import type { BucketBins } from './batch-options.js';
import type { Batch, ItemFailure } from './batch.js';
import type { EpochPlan, LoaderState, PlanReport } from './epoch-plan.js';
import { FailureLog } from './failure-log.js';
import type { LoaderFailures } from './failure-log.js';
import type { ItemTable } from './item-table.js';
import type { LoaderSettings, LoaderWarning } from './loader-options.js';

/** Makes plans of epochs. */
export interface EpochPlanner {
  readonly seed: number;
  readonly bins?: BucketBins | undefined;
  planEpoch(epoch: number): EpochPlan;
  /** The rest of an epoch, its steps numbered from 0. */
  resume(state: LoaderState): EpochPlan;
}

/** Warnings so far. */
export interface WarningList {
  readonly all: readonly LoaderWarning[];
  add(warning: LoaderWarning): void;
}

export interface LoaderParts {
  table: ItemTable;
  planner: EpochPlanner;
  maker: Pick<BatchMaker, 'make' | 'recycle'>;
  settings: Pick<LoaderSettings, 'rank' | 'worldSize' | 'worker' | 'workers' | 'prefetch' | 'maxFailures'>;
  warnings: WarningList;
  /** Fired when the loader is closed. */
  closing: AbortController;
  /** Fired with it, or by the caller: ends everything. */
  signal: AbortSignal;
  /** Gives processes and files back; called once, when nothing is being decoded any more. */
  release: () => Promise<void>;
}

/** So many say nothing yet of sources that are smaller. */
const MIN_FAILED_IN_A_ROW = 1000;

interface PlannedStep {
  plan: EpochPlan;
  step: number;
}

/**
 * Batches of one rank, decoded ahead by a bounded number. What they hold is a pure function of sources, options, rank and state.
 *
 * ```
 * steps of rank 0     0 1 2 3 4 5 …
 * worker 0 of 2       0   2   4          each takes every second one
 * prefetch 2          h a a              h is handed out, the a are decoded meanwhile
 * ```
 */
export class Loader implements AsyncDisposable {
  readonly table: ItemTable;
  readonly #parts: LoaderParts;
  readonly #log = new FailureLog();
  readonly #running = new Set<Promise<unknown>>();
  /** The plan that was made last: most questions are about it. */
  #plan: EpochPlan | undefined;
  #state: LoaderState | undefined;
  /** Attempts since the last item that was read. */
  #failedInARow = 0;
  #release: Promise<void> | undefined;

  /** @see createLoader */
  constructor(parts: LoaderParts) {
    this.#parts = parts;
    this.table = parts.table;
  }

  /** What the plan leaves out or repeats, what the sources had that is no item, and what is wrong with tars that were opened so far. */
  get warnings(): readonly LoaderWarning[] {
    return [...this.#parts.warnings.all];
  }

  /** Upper bounds of the buckets; undefined without buckets of durations. */
  get bins(): BucketBins | undefined {
    return this.#parts.planner.bins;
  }

  /** After the batch that was handed out last: where another loader, of any number of ranks and workers, goes on. Plain JSON. */
  get state(): LoaderState {
    return this.#state ?? this.#planOf(0).stateAt(0);
  }

  /** Items that could not be read, of the batches that were handed out. */
  get failures(): LoaderFailures {
    return this.#log.report();
  }

  /** Steps of an epoch: the same on each rank. */
  stepCount(epoch: number): number {
    return this.#planOf(epoch).stepCount;
  }

  /** An epoch in figures, over all ranks. */
  report(epoch: number): PlanReport {
    return this.#planOf(epoch).report();
  }

  /**
   * The batches of one epoch, or of what is left of it.
   *
   * @param from number of an epoch, or a state. By default the loader goes on where it stands: at the next epoch, or where the loop before was left.
   * @throws RangeError when there is no such epoch, or the state is none of these sources.
   * @throws InputError when more items fail than `maxFailures`, no item can be read in as many attempts as there are items (1,000 at least), or the first one with
   *   `onItemError: 'raise'`.
   * @throws CanceledError when the loader is closed meanwhile; or the reason of the signal.
   */
  batches(from: number | LoaderState = this.#state ?? 0): AsyncIterableIterator<Batch> {
    return this.#run(this.#planFrom(from), false);
  }

  /** The batches of epoch after epoch, without end; decoding ahead does not stop between them. */
  stream(from: number | LoaderState = this.#state ?? 0): AsyncIterableIterator<Batch> {
    return this.#run(this.#planFrom(from), true);
  }

  /**
   * Takes back the memory of a batch's audio for batches to come, which spares a fifth of the work: `batch.audio` is empty from then on, and whatever
   * else looks at that memory sees later batches. In these, `audio.buffer` may be larger than `audio`.
   */
  recycle(batch: Pick<Batch, 'audio'> & Partial<Pick<Batch, 'bytes'>>): void {
    this.#parts.maker.recycle(batch);
  }

  /** Ends what is being decoded, and gives processes and files back. */
  async close(): Promise<void> {
    this.#parts.closing.abort(new CanceledError('The loader was closed'));
    this.#release ??= this.#settle().then(async () => {
      await this.#parts.release();
    });
    await this.#release;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #settle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running]);
  }

  async *#run(first: EpochPlan, isEndless: boolean): AsyncGenerator<Batch, void, undefined> {
    const { prefetch, maxFailures, worker, workers } = this.#parts.settings;
    const options = { concurrency: prefetch, window: prefetch, signal: this.#parts.signal };
    const steps = isEndless ? this.#endlessSteps(first) : stepsOf(first, worker, workers);
    for await (const batch of orderedMap(steps, options, async (step, signal) => await this.#make(step, signal))) {
      this.#log.add(batch.failures);
      if (this.#log.count > maxFailures) throw tooManyFailures(this.#log.report(), maxFailures);
      this.#failedInARow = batch.ids.length > 0 ? 0 : this.#failedInARow + batch.failures.length;
      if (this.#failedInARow >= Math.max(MIN_FAILED_IN_A_ROW, this.#parts.table.rowCount)) {
        throw nothingIsRead(this.#log.report(), this.#failedInARow);
      }
      this.#state = batch.state;
      yield batch;
    }
    this.#state = first.stateAt(first.stepCount);
  }

  /** Workers go on taking turns from epoch to epoch. */
  *#endlessSteps(first: EpochPlan): Generator<PlannedStep, void, undefined> {
    const { worker, workers } = this.#parts.settings;
    let turn = worker;
    for (let plan = first; plan === first || plan.stepCount > 0; plan = this.#planOf(plan.epoch + 1)) {
      yield* stepsOf(plan, turn, workers);
      turn = (((turn - plan.stepCount) % workers) + workers) % workers;
    }
  }

  async #make({ plan, step }: PlannedStep, signal: AbortSignal): Promise<Batch> {
    const { maker, settings } = this.#parts;
    const made = maker.make(plan.batchAt(settings.rank, step), plan.stateAt(step + 1), signal);
    this.#running.add(made);
    try {
      return await made;
    } finally {
      this.#running.delete(made);
    }
  }

  #planFrom(from: number | LoaderState): EpochPlan {
    this.#parts.signal.throwIfAborted();
    if (typeof from === 'number') return this.#planOf(from);
    const { planner, settings } = this.#parts;
    const isStart = from.batch === 0 && from.ranks === settings.worldSize && from.seed === planner.seed;
    return isStart ? this.#planOf(from.epoch) : planner.resume(from);
  }

  #planOf(epoch: number): EpochPlan {
    if (this.#plan?.epoch === epoch) return this.#plan;
    const plan = this.#parts.planner.planEpoch(epoch);
    if (plan.stepCount === 0) this.#parts.warnings.add(noSteps(plan));
    this.#plan = plan;
    return plan;
  }
}

/** The steps that one of several workers takes, from its first one on. */
function* stepsOf(plan: EpochPlan, firstStep: number, workers: number): Generator<PlannedStep, void, undefined> {
  for (let step = firstStep; step < plan.stepCount; step += workers) yield { plan, step };
}

/** A loop over nothing is over at once, and looks like one that went well. */
function noSteps(plan: EpochPlan): LoaderWarning {
  const lost = Object.entries(plan.report().lost);
  const reasons = lost.map(([reason, { items }]) => `${reason}: ${items}`);
  const state = reasons.length === 0 ? '' : `: items are left out (${reasons.join(', ')})`;
  const isLastBatch = lost.some(([reason]) => reason === 'last_batch');
  return {
    code: 'no_steps',
    message: `Epoch ${plan.epoch} has no steps${state}`,
    hint: isLastBatch ? 'Take fewer ranks or smaller batches, or another lastBatch.' : undefined,
  };
}

/** Without it, a loop over epochs of audio that is gone would never end, and never say why. */
function nothingIsRead({ first }: LoaderFailures, count: number): InputError {
  return cannotGoOn(`the last ${count} attempts to read an item failed`, first);
}

function tooManyFailures({ count, first }: LoaderFailures, maxFailures: number): InputError {
  const items = count === 1 ? '1 item' : `${count} items`;
  return cannotGoOn(`${items} could not be read, and maxFailures is ${maxFailures}`, first);
}

function cannotGoOn(why: string, [failure]: readonly ItemFailure[]): InputError {
  const example =
    failure === undefined ? '' : `: the first, "${failure.id}" of "${failure.source}": ${failure.message}`;
  return new InputError(`Cannot go on: ${why}${example}`, {
    hint: failure?.hint,
    path: failure === undefined || failure.manifestPath === '' ? undefined : failure.manifestPath,
  });
}
