// Mixtures of groups, and datasets of one excerpt a file.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CutroomError } from '#cutroom/errors.js';
import { createAudioDataset } from '#cutroom/sample/audio-dataset.js';
import { createBalancedDataset } from '#cutroom/sample/balanced-dataset.js';
import type { BalancedDatasetOptions } from '#cutroom/sample/balanced-dataset.js';
import type { Excerpt } from '#cutroom/sample/excerpt.js';
import { writeRamp } from './sampled-wavs.js';

const RATE = 4000;
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-balanced-'));
  for (const [name, seconds] of [
    ['speech/a', 3],
    ['speech/b', 0.5],
    ['music/c', 12],
    ['noise/d', 2],
  ] as const) {
    writeRamp(path.join(folder, `${name}.wav`), seconds, RATE);
  }
  writeFileSync(path.join(folder, 'speech/broken.wav.txt'), 'no audio');
});
afterAll(() => rmSync(folder, { recursive: true }));

function sourcesOf(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, path.join(folder, name)]));
}

function options(more: Partial<BalancedDatasetOptions> = {}): BalancedDatasetOptions {
  return {
    sources: sourcesOf('speech', 'music'),
    weights: { speech: 0.7, music: 0.3 },
    window: { durationSeconds: 1, alpha: 0.5 },
    sampleRate: RATE,
    ...more,
  };
}

async function takeFirst(dataset: AsyncIterable<Excerpt>, count: number): Promise<Excerpt[]> {
  const taken: Excerpt[] = [];
  for await (const excerpt of dataset) if (taken.push(excerpt) === count) break;
  return taken;
}

describe('createBalancedDataset()', () => {
  it('keeps the share of each group within one of its weight at every prefix', async () => {
    await using dataset = await createBalancedDataset(options());
    expect(dataset.length).toBe(Number.POSITIVE_INFINITY);
    let speech = 0;
    for (const [k, { source, waveform }] of (await takeFirst(dataset, 60)).entries()) {
      if (source === 'speech') speech += 1;
      expect(Math.abs(speech - 0.7 * (k + 1))).toBeLessThan(1);
      expect(waveform.length).toBe(RATE);
    }
  });

  it('changes nothing in a group where others are added, whatever their order', async () => {
    await using two = await createBalancedDataset(options());
    const sources = sourcesOf('noise', 'music', 'speech');
    await using three = await createBalancedDataset(options({ sources, weights: { noise: 5 } }));
    const streams = [two, three].map((dataset) => {
      const drawn = Array.from({ length: 200 }, (_, index) => dataset.describe(index));
      return drawn.filter(({ group }) => group === 'speech').map((element) => element.drawn);
    });
    const count = Math.min(...streams.map(({ length }) => length));
    expect(count).toBeGreaterThan(20);
    expect(streams[0]?.slice(0, count)).toEqual(streams[1]?.slice(0, count));
  });

  it('stops by its rule', async () => {
    const lengthOf = async (more: Partial<BalancedDatasetOptions>): Promise<number> => {
      await using dataset = await createBalancedDataset(options({ window: { durationSeconds: 1 }, ...more }));
      return dataset.length;
    };
    // 4 windows of speech, 12 of music, in turns.
    const weights = { speech: 1, music: 1 };
    expect(await lengthOf({ weights, numEpochs: 1 })).toBe(8);
    expect(await lengthOf({ weights, numEpochs: 1, stop: 'all_exhausted' })).toBe(24);
    expect(await lengthOf({ weights, numEpochs: 2 })).toBe(16);
    expect(await lengthOf({ weights, numEpochs: 2, stop: 'forever' })).toBe(Number.POSITIVE_INFINITY);
  });

  it('begins a group anew that ends before the others', async () => {
    await using dataset = await createBalancedDataset(
      options({ window: { durationSeconds: 1 }, weights: {}, numEpochs: 1, stop: 'all_exhausted' }),
    );
    const drawn = await takeFirst(dataset, 100);
    expect(drawn.length).toBe(24);
    const slots = (group: string): number[] =>
      drawn.flatMap(({ index }) => {
        const element = dataset.describe(index);
        return element.group === group && 'slot' in element.drawn ? [element.drawn.slot] : [];
      });
    expect(new Set(slots('music')).size).toBe(12);
    expect(new Set(slots('speech').slice(0, 4))).toEqual(new Set(slots('speech').slice(4, 8)));
    expect(new Set(slots('speech').slice(0, 4)).size).toBe(4);
  });

  it('passes over files that cannot be read where it is told to, and goes on', async () => {
    const sources = {
      speech: [path.join(folder, 'speech'), path.join(folder, 'speech/broken.wav.txt')],
      music: path.join(folder, 'music'),
    };
    const simple = { ...options({ sources }), window: undefined, durationSeconds: 1 };
    await using raising = await createBalancedDataset(simple);
    await expect(takeFirst(raising, 20)).rejects.toThrow(/broken.wav.txt/u);
    const warnings: CutroomError[] = [];
    const onWarning = (error: CutroomError): void => void warnings.push(error);
    await using warning = await createBalancedDataset({ ...simple, onReadError: 'warn', onWarning });
    expect((await takeFirst(warning, 20)).length).toBe(20);
    expect(warnings.length).toBeGreaterThan(2);
    expect(warnings[0]?.message).toMatch(/broken.wav.txt/u);
    await using skipping = await createBalancedDataset({ ...simple, onReadError: 'skip' });
    const iterator = skipping.iterate();
    for (let k = 0; k < 20; k += 1) await iterator.next();
    expect(iterator.state).toBeGreaterThan(20);
  });

  it.each<[string, Partial<BalancedDatasetOptions>, RegExp]>([
    ['a weight of no group', { weights: { talk: 1 } }, /"talk", which is no group/u],
    ['a weight of 0', { weights: { speech: 0 } }, /weight of "speech" is 0/u],
    ['an endless weight', { weights: { speech: Infinity } }, /weight of "speech" is Infinity/u],
    ['no group', { sources: {}, weights: {} }, /no group to mix/u],
    ['groups without names', { sources: ['speech'] as never }, /sources must be an object, not a list/u],
    ['windows that pass over errors', { onReadError: 'skip' }, /"skip" cannot be combined with window/u],
    ['two durations', { durationSeconds: 1 }, /Both window and durationSeconds/u],
    ['a group without files', { sources: { speech: '/nowhere' }, weights: {} }, /"\/nowhere" is not there/u],
    ['an end of what has none', { stop: 'first_exhausted' }, /without end cannot stop/u],
    ['half an epoch', { numEpochs: 0.5 }, /numEpochs must be a whole number/u],
    ['an unknown way with errors', { onReadError: 'ignore' as never, window: undefined }, /onReadError must be raise/u],
    ['an unknown stop rule', { stop: 'never' as never, numEpochs: 1 }, /stop must be/u],
  ])('refuses %s', async (_, more, message) => {
    await expect(createBalancedDataset(options(more))).rejects.toThrow(message);
  });
});

describe('createAudioDataset()', () => {
  it('draws one excerpt of each file an epoch, anywhere in it', async () => {
    await using dataset = await createAudioDataset({
      sources: [path.join(folder, 'speech'), path.join(folder, 'music')],
      sampleRate: RATE,
      numEpochs: 40,
    });
    expect(dataset.length).toBe(120);
    const drawn = await takeFirst(dataset, 120);
    for (let epoch = 0; epoch < 40; epoch += 1) {
      expect(new Set(drawn.slice(3 * epoch, 3 * epoch + 3).map(({ filepath }) => filepath)).size).toBe(3);
    }
    const offsets = drawn
      .filter(({ filepath }) => filepath.endsWith('c.wav'))
      .map(({ offsetSeconds }) => offsetSeconds);
    expect(Math.min(...offsets)).toBeLessThan(2);
    expect(Math.max(...offsets)).toBeGreaterThan(9);
    for (const { filepath, waveform, offsetSeconds, audioSamples } of drawn) {
      expect(audioSamples).toBe(filepath.endsWith('b.wav') ? RATE / 2 : RATE);
      expect(waveform[7]).toBe(((Math.round(offsetSeconds * RATE) + 7) % 20_000) / 2 ** 15);
    }
  });

  it('uses memory again that is given back, as mixtures do', async () => {
    await using single = await createAudioDataset({
      sources: path.join(folder, 'music'),
      sampleRate: RATE,
      numEpochs: 9,
    });
    await using mixture = await createBalancedDataset(options());
    for (const dataset of [single, mixture]) {
      const first = await dataset.get(0);
      if (first === undefined) throw new Error('There is no first excerpt');
      const { buffer } = first.waveform;
      dataset.recycle(first);
      expect(first.waveform).toHaveLength(0);
      expect((await dataset.get(1))?.waveform.buffer).toBe(buffer);
    }
  });

  it('refuses what makes no sense', async () => {
    await expect(createAudioDataset({})).rejects.toThrow(/No files are given/u);
    await expect(createAudioDataset({ filepaths: [] })).rejects.toThrow(/no file to sample/u);
    await expect(createAudioDataset({ filepaths: ['x'], durationSeconds: 0 })).rejects.toThrow(/duration must be/u);
    await using dataset = await createAudioDataset({ filepaths: ['/nowhere/x.wav'] });
    await expect(dataset.get(0)).rejects.toThrow(/there is no such file/u);
    await expect(dataset.get(1)).rejects.toThrow(RangeError);
  });
});
