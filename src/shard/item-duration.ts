import type { PlannedItem } from './plan.js';

/** Exact length of audio. */
export interface AudioLength {
  samples: number;
  /** Hz. */
  sampleRate: number;
}

const MICROS = 1e6;

/** JSON text of a length in seconds: the spelling of the input where it is the same to half a sample. */
export function spellDuration(spelling: string | undefined, { samples, sampleRate }: AudioLength): string {
  const seconds = samples / sampleRate;
  const isSame = spelling !== undefined && Math.abs(Number(spelling) * sampleRate - samples) <= 0.5;
  return isSame ? spelling : JSON.stringify(seconds);
}

/** Seconds of an item as far as the plan knows them, in microseconds. */
export function plannedMicros({ duration, span }: PlannedItem): number {
  const seconds = duration === undefined ? Number.NaN : Number(duration);
  if (seconds >= 0) return Math.round(seconds * MICROS);
  const end = span?.end ?? null;
  return end === null ? 0 : end - (span?.start ?? 0);
}

/** Of a duration's spelling, to the nearest microsecond. */
export function microsOf(duration: string): number {
  return Math.round(Number(duration) * MICROS);
}
