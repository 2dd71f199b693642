// Short WAV files whose samples tell where they stand.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildWav } from '../support/wav-files.js';

/** Writes a mono WAV in which sample n is `valueOf(n)`; by default n modulo 20,000, as a 16-bit number. */
export function writeRamp(
  file: string,
  seconds: number,
  sampleRate: number,
  valueOf: (n: number) => number = (n) => (n % 20_000) / 2 ** 15,
): string {
  mkdirSync(path.dirname(file), { recursive: true });
  const samples = new Float64Array(Math.round(seconds * sampleRate)).map((_, n) => valueOf(n));
  writeFileSync(file, buildWav(samples, { sampleRate }));
  return file;
}
