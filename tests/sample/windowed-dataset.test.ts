// Windows of files: which are drawn, what comes out, and what is refused.
import { appendFileSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Excerpt } from '#cutroom/sample/excerpt.js';
import { createWindowedDataset } from '#cutroom/sample/windowed-dataset.js';
import type { WindowedDatasetOptions } from '#cutroom/sample/windowed-dataset.js';
import { writeRamp } from './sampled-wavs.js';

const RATE = 4000;
let folder = '';
let short = '';
let long = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-windowed-'));
  short = writeRamp(path.join(folder, 'audio/short.wav'), 4, RATE);
  long = writeRamp(path.join(folder, 'audio/long.wav'), 40, RATE);
});
afterAll(() => rmSync(folder, { recursive: true }));

function options(more: Partial<WindowedDatasetOptions> = {}): WindowedDatasetOptions {
  return { sources: path.join(folder, 'audio'), durationSeconds: 1, sampleRate: RATE, ...more };
}

async function take(dataset: AsyncIterable<Excerpt>): Promise<Excerpt[]> {
  const all: Excerpt[] = [];
  for await (const excerpt of dataset) all.push(excerpt);
  return all;
}

describe('createWindowedDataset()', () => {
  it.each([
    [0, 2],
    [0.5, 8],
    [1, 44],
  ])('with alpha %d draws %d windows of a file of 4 s and one of 40 s', async (alpha, count) => {
    await using dataset = await createWindowedDataset(options({ alpha }));
    expect(dataset.length).toBe(count);
  });

  it('gives each window once, with the samples that stand at its place', async () => {
    await using dataset = await createWindowedDataset(options());
    const drawn = await take(dataset);
    expect(drawn.map(({ index }) => index)).toEqual(Array.from({ length: 44 }, (_, index) => index));
    expect(new Set(drawn.map(({ index }) => dataset.describe(index).slot)).size).toBe(44);
    for (const { waveform, channels, samples, filepath, offsetSeconds, source, sampleRate } of drawn) {
      expect([channels, samples, sampleRate, source]).toEqual([1, RATE, RATE, path.join(folder, 'audio')]);
      const first = Math.round(offsetSeconds * RATE);
      expect(first + RATE).toBeLessThanOrEqual(filepath === short ? 4 * RATE : 40 * RATE);
      expect([...waveform.subarray(0, 3), waveform[RATE - 1]]).toEqual(
        [first, first + 1, first + 2, first + RATE - 1].map((n) => (n % 20_000) / 2 ** 15),
      );
    }
    // Neighbours come from all over the long file, not one behind the other.
    const steps = drawn.slice(1).filter(({ offsetSeconds }, k) => offsetSeconds - (drawn[k]?.offsetSeconds ?? 0) === 1);
    expect(steps.length).toBeLessThan(8);
  });

  it('describes what it gets, and draws the same again and in other processes', async () => {
    await using dataset = await createWindowedDataset(options({ numEpochs: null, excerptSeed: 3 }));
    await using other = await createWindowedDataset(options({ numEpochs: 100, excerptSeed: 3 }));
    expect(dataset.length).toBe(Number.POSITIVE_INFINITY);
    for (const index of [0, 43, 44, 1234]) {
      const described = dataset.describe(index);
      const excerpt = await dataset.get(index);
      expect(excerpt).toMatchObject({ filepath: described.filepath, offsetSeconds: described.offsetSeconds, index });
      expect(await other.get(index)).toEqual(excerpt);
    }
    const otherPlaces = await createWindowedDataset(options({ numEpochs: null, excerptSeed: 4 }));
    expect(otherPlaces.describe(7).slot).toBe(dataset.describe(7).slot);
    expect(otherPlaces.describe(7).offsetSeconds).not.toBe(dataset.describe(7).offsetSeconds);
  });

  it('goes on from a state on another number of ranks and workers', async () => {
    await using dataset = await createWindowedDataset(options());
    const given: number[] = [];
    const first = [0, 1, 2, 3].map((k) => dataset.iterate({ rank: k >> 1, ranks: 2, worker: k & 1, workers: 2 }));
    for (let round = 0; round < 3; round += 1) {
      for (const iterator of first) given.push((await iterator.next()).value?.index ?? -1);
    }
    const states = first.map(({ state }) => state);
    expect(states).toEqual([12, 12, 12, 12]);
    const second = [0, 1, 2].map((worker) => dataset.iterate({ worker, workers: 3, state: 12, prefetch: 4 }));
    for (const iterator of second) for await (const { index } of iterator) given.push(index);
    expect(given.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 44 }, (_, index) => index));
    const again = dataset.iterate({ prefetch: 3 });
    await again.next();
    again.restore(40);
    expect((await take(again)).map(({ index }) => index)).toEqual([40, 41, 42, 43]);
    expect(again.state).toBe(44);
  });

  it.each([
    ['constant', [0, 1, 2, 0, 0, 0, 0, 0]],
    ['edge', [0, 1, 2, 2, 2, 2, 2, 2]],
    ['reflect', [0, 1, 2, 1, 0, 1, 2, 1]],
    ['symmetric', [0, 1, 2, 2, 1, 0, 0, 1]],
    ['wrap', [0, 1, 2, 0, 1, 2, 0, 1]],
  ] as const)('fills up a file that is too short by %s', async (padMode, expected) => {
    const tiny = writeRamp(path.join(folder, 'tiny.wav'), 3 / RATE, RATE);
    await using dataset = await createWindowedDataset(
      options({ sources: tiny, durationSeconds: 8 / RATE, padMode, numEpochs: 2 }),
    );
    const { waveform, audioSamples, offsetSeconds } = await dataset.get(1);
    expect([dataset.length, audioSamples, offsetSeconds]).toEqual([2, 3, 0]);
    expect(Array.from(waveform, (x) => x * 2 ** 15)).toEqual(expected);
  });

  it.each([0, 2])('draws the same where memory is given back, with %d jobs', async (jobs) => {
    await using kept = await createWindowedDataset(options());
    await using dataset = await createWindowedDataset(options({ jobs }));
    const expected = await take(kept);
    const memory = new Set<ArrayBuffer>();
    for await (const excerpt of dataset) {
      expect(excerpt).toEqual(expected[excerpt.index]);
      memory.add(excerpt.waveform.buffer);
      dataset.recycle(excerpt);
      expect(excerpt.waveform).toHaveLength(0);
      dataset.recycle(excerpt);
    }
    expect(memory.size).toBe(jobs === 0 ? 1 : 44);
  });

  it('resamples, keeps channels where they are asked for, and measures loudness', async () => {
    await using dataset = await createWindowedDataset(options({ sampleRate: 16_000, mono: false, lufs: true }));
    const { waveform, channels, samples, lufs } = await dataset.get(0);
    expect([waveform.length, channels, samples]).toEqual([16_000, 1, 16_000]);
    expect(lufs).toBeGreaterThan(-70);
  });

  it('takes lengths as they are told, at any rate', async () => {
    const durations = { [long]: 40, [short]: 4 };
    await using dataset = await createWindowedDataset(
      options({ sources: undefined, filepaths: [long, short], durations, sampleRate: 3000 }),
    );
    expect(dataset.length).toBe(44);
    await using twice = await createWindowedDataset(
      options({ durations: { [path.relative('.', long)]: 80, [path.relative('.', short)]: 8 } }),
    );
    expect(twice.length).toBe(88);
    expect((await take(dataset)).every(({ audioSamples }) => audioSamples === 3000)).toBe(true);
    const wrong = await createWindowedDataset(
      options({ sources: undefined, filepaths: [short], durations: { [short]: 9 }, shuffle: false }),
    );
    await expect(wrong.get(8)).rejects.toThrow(/its audio ends at 4.000 s, and should go on to/u);
  });

  it('refuses a file that has changed since it was measured', async () => {
    const file = writeRamp(path.join(folder, 'changing.wav'), 2, RATE);
    await using dataset = await createWindowedDataset(options({ sources: file }));
    await dataset.get(0);
    utimesSync(file, 1, 1);
    await expect(dataset.get(0)).rejects.toThrow(/changed since it was measured: it was written at .* 1970-01-01/u);
    appendFileSync(file, 'x');
    await expect(dataset.get(0)).rejects.toThrow(/its size was 16044 bytes, and is 16045 now/u);
    rmSync(file);
    await expect(dataset.get(0)).rejects.toThrow(/it is gone/u);
  });

  it.each<[string, Partial<WindowedDatasetOptions>, RegExp]>([
    ['no duration', { durationSeconds: 0 }, /duration must be more than 0/u],
    [
      'windows longer than an array',
      { durationSeconds: 1e6, sampleRate: 8000 },
      /must be 134217 seconds or less at 8000/u,
    ],
    ['a negative hop', { hopSeconds: -1 }, /hop must be more than 0/u],
    ['alpha above 1', { alpha: 1.5 }, /alpha must be from 0 to 1/u],
    ['alpha that is no number', { alpha: Number.NaN }, /alpha must be from 0 to 1/u],
    ['no files', { sources: undefined }, /No files are given/u],
    ['two kinds of files', { filepaths: ['x.wav'] }, /in more than one way/u],
    ['an empty list', { sources: undefined, filepaths: [] }, /no file to sample/u],
    ['a file that is not there', { sources: '/nowhere/x.wav' }, /"\/nowhere\/x.wav" is not there/u],
    ['a pattern of nothing', { sources: '/nowhere/**/*.wav' }, /"\/nowhere\/\*\*\/\*.wav" matches no file/u],
    ['an unknown way to fill up', { padMode: 'zeros' as never }, /padMode must be one of constant/u],
    ['half an epoch', { numEpochs: 0.5 }, /numEpochs must be a whole number/u],
    ['no epoch', { numEpochs: 0 }, /numEpochs must be 1 or more/u],
    ['half a rate', { sampleRate: 0.5 }, /sampleRate must be a whole number/u],
    ['a cutoff without a cache', { lufsCutoff: -30 }, /without a loudness cache/u],
    ['alpha that is a text', { alpha: '0.5' as never }, /alpha must be from 0 to 1/u],
    ['no open file', { openFiles: 0 }, /openFiles must be a whole number from 1 on, not 0/u],
    ['memory that is no number', { indexBytes: Number.NaN }, /indexBytes must be .*, not NaN/u],
    ['sources that are none', { sources: { a: 'b' } as never }, /sources must be a list of paths, not object/u],
    ['one path as a list', { sources: undefined, filepaths: 'a.wav' as never }, /filepaths must be a list of paths/u],
    ['lengths without paths', { durations: [4, 40] as never }, /durations must be an object, not a list/u],
    ['lengths beside a scan', { sources: undefined, scan: 'x', durations: {} }, /Both scan and durations are given/u],
    ['less than no jobs', { jobs: -1 }, /jobs must be a whole number/u],
  ])('refuses %s', async (_, more, message) => {
    await expect(createWindowedDataset(options(more))).rejects.toThrow(message);
  });

  it('names a file that cannot be read', async () => {
    const file = path.join(folder, 'broken.wav');
    writeFileSync(file, 'no audio');
    await expect(createWindowedDataset(options({ sources: file }))).rejects.toThrow(/broken.wav/u);
  });

  it('refuses indices, states and parts that are not there', async () => {
    await using dataset = await createWindowedDataset(options());
    await expect(dataset.get(44)).rejects.toThrow(/no window 44/u);
    expect(() => dataset.describe(-1)).toThrow(RangeError);
    expect(() => dataset.iterate({ state: 0.5 })).toThrow(/no state/u);
    expect(() => dataset.iterate({ rank: 2, ranks: 2 })).toThrow(/no rank 2 of 2/u);
  });
});
