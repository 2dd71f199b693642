// Which starts are left where a window may touch loud cells alone.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filterByLoudness } from '#cutroom/sample/loudness-filter.js';
import { RecordingTable } from '#cutroom/sample/recordings.js';
import { scan } from '#cutroom/sample/scan.js';
import { createWindowedDataset } from '#cutroom/sample/windowed-dataset.js';
import { hashUniform } from '../support/signals.js';
import { writeRamp } from './sampled-wavs.js';

function tableOf(frames: number, sampleRate: number): RecordingTable {
  return RecordingTable.from([''], [{ path: 'x', group: 0, frames, sampleRate, channels: 1 }]);
}

/** Starts that are left of one recording, one by one. */
function startsOf(
  values: readonly number[],
  { frames = 100, rate = 10, window = 10, cutoff = -40, cellSeconds = 1, measuredRate = null as number | null } = {},
): { starts: number[]; share: number } {
  const cells = { windowSeconds: cellSeconds, sampleRate: measuredRate };
  const { kept, keptShares } = filterByLoudness(
    tableOf(frames, rate),
    () => window,
    cells,
    () => Float32Array.from(values),
    cutoff,
  );
  const starts: number[] = [];
  for (let span = 0; span < kept.starts.length; span += 1) {
    for (let at = kept.starts[span] ?? 0; at < (kept.ends[span] ?? 0); at += 1) starts.push(at);
  }
  return { starts, share: keptShares[0] ?? -1 };
}

describe('filterByLoudness()', () => {
  it('keeps a start where every cell that the window touches is loud', () => {
    fc.assert(
      fc.property(
        fc.record({
          values: fc.array(fc.constantFrom(-30, -40, -41, Number.NaN, -Infinity), { minLength: 1, maxLength: 12 }),
          rest: fc.nat(13),
          window: fc.integer({ min: 1, max: 60 }),
          rate: fc.constantFrom(8, 11, 44),
          measuredRate: fc.constantFrom(null, 10, 16),
        }),
        ({ values, rest, window, rate, measuredRate }) => {
          const cellSamples = measuredRate ?? rate;
          const cellFrames = (cellSamples * rate) / (measuredRate ?? rate);
          const frames = Math.floor(values.length * cellFrames) + Math.min(rest, Math.ceil(cellFrames) - 1);
          const expected: number[] = [];
          for (let start = 0; start <= Math.max(0, frames - window); start += 1) {
            const end = Math.min(frames, start + window);
            let isLoud = true;
            for (const [cell, value] of values.entries()) {
              const cellEnd = cell === values.length - 1 ? frames : (cell + 1) * cellFrames;
              if (start < cellEnd && end > cell * cellFrames && !(value >= -40)) isLoud = false;
            }
            if (isLoud) expected.push(start);
          }
          const { starts, share } = startsOf(values, { frames, rate, window, measuredRate });
          expect(starts).toEqual(expected);
          expect(share).toBeCloseTo(expected.length / (Math.max(0, frames - window) + 1), 6);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('keeps what is exactly at the cutoff, and never silence', () => {
    expect(startsOf([-40], { frames: 10 }).starts).toEqual([0]);
    expect(startsOf([-40.01], { frames: 10 }).starts).toEqual([]);
    expect(startsOf([-Infinity], { frames: 10, cutoff: -Infinity }).starts).toEqual([]);
  });

  it('keeps a recording that has no cells', () => {
    expect(startsOf([], { frames: 13 })).toEqual({ starts: [0, 1, 2, 3], share: 1 });
  });
});

describe('createWindowedDataset() with a loudness cache', () => {
  const RATE = 8000;
  let folder = '';
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'cutroom-filter-'));
    const noise = (n: number): number => hashUniform(n, 1) - 0.5;
    // Loud, silent and loud again, four seconds each; all silent; and a loud one that is shorter than a cell.
    writeRamp(path.join(folder, 'audio/mixed.wav'), 12, RATE, (n) => (n >= 4 * RATE && n < 8 * RATE ? 0 : noise(n)));
    writeRamp(path.join(folder, 'audio/silent.wav'), 3, RATE, () => 0);
    writeRamp(path.join(folder, 'audio/tiny.wav'), 0.3, RATE, noise);
    const loudness = { windowSeconds: 1, sampleRate: RATE, mono: true };
    await scan({ sources: [path.join(folder, 'audio')], out: path.join(folder, 'cache'), loudness, jobs: 1 });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const common = { durationSeconds: 1, sampleRate: 8000, numEpochs: 50 };

  it.each([0, 0.5, 1])('draws no window that touches a quiet cell, at alpha %d', async (alpha) => {
    const cache = path.join(folder, 'cache');
    await using scanned = await createWindowedDataset({ ...common, alpha, scan: cache, lufsCutoff: -40 });
    await using cached = await createWindowedDataset({
      ...common,
      alpha,
      sources: path.join(folder, 'audio'),
      lufsCache: cache,
    });
    for (const dataset of [scanned, cached]) {
      const { loudness } = dataset;
      expect(loudness?.removedFiles).toEqual([path.join(folder, 'audio/silent.wav')]);
      // Of 11 s of starts those up to 3 s and from 8 s on.
      expect(loudness?.keptShares[0]).toBeCloseTo(6 / 11, 3);
      expect([...(loudness?.keptShares.subarray(1) ?? [])]).toEqual([0, 1]);
      const offsets: number[] = [];
      for (let index = 0; index < dataset.length; index += 1) {
        const { filepath, offsetSeconds } = dataset.describe(index);
        if (filepath.endsWith('mixed.wav')) offsets.push(offsetSeconds);
        else expect(filepath).toMatch(/tiny/u);
      }
      expect(offsets.every((at) => at <= 3 || at >= 8)).toBe(true);
      expect(offsets.some((at) => at > 2.5 && at <= 3)).toBe(true);
      expect(offsets.some((at) => at >= 8 && at < 8.5)).toBe(true);
    }
  });

  it('refuses a cache of another signal, of other files, and a cutoff that leaves nothing', async () => {
    const lufsCache = path.join(folder, 'cache');
    const sources = path.join(folder, 'audio');
    const all = { ...common, sources, lufsCache };
    await expect(createWindowedDataset({ ...all, sampleRate: 16_000 })).rejects.toThrow(
      /measured at 8000 Hz.*16000 Hz/u,
    );
    await expect(createWindowedDataset({ ...all, mono: false })).rejects.toThrow(/of all channels mixed to one/u);
    const silent = path.join(sources, 'silent.wav');
    await expect(createWindowedDataset({ ...all, sources: silent })).rejects.toThrow(
      /at or above the cutoff of -40 LUFS/u,
    );
    const other = writeRamp(path.join(folder, 'other.wav'), 2, 8000);
    await expect(createWindowedDataset({ ...all, sources: other })).rejects.toThrow(/does not know ".*other.wav"/u);
    await expect(createWindowedDataset({ ...common, lufsCache })).rejects.toThrow(/No files are given/u);
  });

  it('names the files that have changed since the scan', async () => {
    const file = writeRamp(path.join(folder, 'audio/tiny.wav'), 0.4, 8000);
    const given = { ...common, scan: path.join(folder, 'cache') };
    await expect(createWindowedDataset(given)).rejects.toThrow(
      /changed since they were measured: ".*tiny.wav" \(its size/u,
    );
    rmSync(file);
    await expect(createWindowedDataset(given)).rejects.toThrow(/tiny.wav" \(it is gone\)/u);
    await using unchecked = await createWindowedDataset({ ...given, checkFiles: false });
    const drawn = Array.from({ length: 100 }, (_, index) => unchecked.describe(index));
    const gone = drawn.find(({ filepath }) => filepath === file);
    await expect(unchecked.get(gone?.index ?? -1)).rejects.toThrow(/it is gone/u);
  });
});
