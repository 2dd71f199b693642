// Requests of audio for decoders, and what comes of them.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { DecodeOutcome, DecodeRequest } from '#cutroom/load/decode-request.js';
import { buildWav } from './wav-files.js';

/** Hz of all of them. */
export const REQUEST_RATE = 16_000;

/** Writes a mono WAV of one level, and asks for it. */
export function requestLevel(folder: string, name: string, level: number, frames = 400): DecodeRequest {
  const file = path.join(folder, name);
  writeFileSync(file, buildWav(new Float64Array(frames).fill(level), { sampleRate: REQUEST_RATE, channels: 1 }));
  return requestOf(file);
}

/** Asks for a whole file. */
export function requestOf(file: string, more: Partial<DecodeRequest> = {}): DecodeRequest {
  return {
    path: file,
    inside: undefined,
    span: undefined,
    sampleRate: REQUEST_RATE,
    speed: 1,
    wantsBytes: false,
    ...more,
  };
}

/** Of each outcome its first sample, or why there is none. */
export function levelsOf(outcomes: readonly DecodeOutcome[]): unknown[] {
  return outcomes.map((outcome) => (outcome.kind === 'decoded' ? outcome.samples[0] : outcome.reason));
}

export function samplesOf(outcome: DecodeOutcome | undefined): Float32Array {
  if (outcome?.kind !== 'decoded') throw new Error(`Not decoded: ${JSON.stringify(outcome)}`);
  return outcome.samples;
}
