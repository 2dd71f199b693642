import type { AudioOutcome } from './audio-reader.js';
import { countSamples } from './decode-request.js';

/** A limit of batches, as `BatchLimit` has it. */
export interface DurationLimit {
  fits(count: number, longestMicros: number): boolean;
}

/** An item's place, as far as its length counts. */
export interface MeasuredPlace {
  /** As its row says, at its speed: whole microseconds. */
  plannedMicros: number;
  outcome: AudioOutcome;
}

/** What encoders add, and what rows round away, is no fault. */
const SPARE_MICROS = 50_000;
const SPARE_SHARE = 0.01;

/** Whether audio is longer than its row says by more than a rounding or an encoder's padding. */
export function isOverlong(outcome: AudioOutcome, plannedMicros: number): boolean {
  return microsOf(outcome) > plannedMicros + Math.max(SPARE_MICROS, plannedMicros * SPARE_SHARE);
}

/**
 * Items that are longer than their rows say and carry a batch above its limit, the longest first, until what is left fits. Limits are planned by
 * the rows, so a single wrong row might make a batch that has no room in memory.
 */
export function listOverlong<Place extends MeasuredPlace>(places: readonly Place[], limit: DurationLimit): Place[] {
  const byLength = places.toSorted((a, b) => microsOf(b.outcome) - microsOf(a.outcome));
  const longestFrom = (at: number): number => microsOf(byLength[at]?.outcome);
  const found: Place[] = [];
  const kept: Place[] = [];
  for (const [at, place] of byLength.entries()) {
    const longest = Math.max(longestFrom(at), microsOf(kept[0]?.outcome));
    if (limit.fits(places.length, longest)) break;
    if (isOverlong(place.outcome, place.plannedMicros)) found.push(place);
    else kept.push(place);
  }
  return found;
}

/** As the failure of an item. */
export function overlongFailure(id: string, outcome: AudioOutcome, plannedMicros: number) {
  const seconds = (microsOf(outcome) / 1e6).toFixed(2);
  const planned = (plannedMicros / 1e6).toFixed(2);
  const message = `Cannot use "${id}": its audio has ${seconds} s, its row says ${planned} s, and its batch has no room for more`;
  return {
    kind: 'failed',
    reason: 'longer_than_row',
    message,
    hint: 'Correct the durations of the manifest.',
  } as const;
}

function microsOf(outcome: AudioOutcome | undefined): number {
  return outcome?.kind === 'decoded' ? Math.floor((countSamples(outcome) * 1e6) / outcome.sampleRate) : 0;
}
