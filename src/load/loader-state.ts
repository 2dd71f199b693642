import { UsageError } from '../errors.js';
import type { LoaderState } from './epoch-plan.js';
import { MAX_RANKS } from './plan-settings.js';

/**
 * Checks a state that may come from anywhere.
 *
 * @throws {UsageError} when it is none, or of another seed.
 */
export function checkLoaderState(state: LoaderState, seed: number): void {
  for (const [name, least, most] of [
    ['epoch', 0, Number.MAX_SAFE_INTEGER],
    ['batch', 0, Number.MAX_SAFE_INTEGER],
    ['ranks', 1, MAX_RANKS],
  ] as const) {
    const value: unknown = state[name];
    if (!(Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most)) {
      throw new UsageError(`Cannot resume: "${name}" of the state is ${JSON.stringify(value)}`, {
        hint: `A state is {seed, epoch, batch, ranks}: ${name} is a whole number from ${least} on.`,
      });
    }
  }
  if (state.seed !== seed) {
    throw new UsageError(`Cannot resume: the state is of seed ${state.seed}, and the loader's is ${seed}`, {
      hint: `Give the seed ${state.seed}, or start anew.`,
    });
  }
}

/** @throws {UsageError} when the epoch has fewer batches than were taken. */
export function checkTakenBatches(state: LoaderState, batchCount: number): void {
  if (state.batch <= batchCount) return;
  throw new UsageError(
    `Cannot resume: the state has taken ${state.batch} batches of epoch ${state.epoch}, which has ${batchCount}`,
    { hint: 'The sources or limits are not those that the state was written with: give the same, or start anew.' },
  );
}
