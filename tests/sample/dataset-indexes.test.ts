// Datasets of long compressed files: what a scan has found of where packets lie is used, first passes can be stopped, and datasets closed.
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLufsCache } from '#cutroom/sample/lufs-cache.js';
import { createAudioDataset } from '#cutroom/sample/audio-dataset.js';
import { createBalancedDataset } from '#cutroom/sample/balanced-dataset.js';
import { scan } from '#cutroom/sample/scan.js';
import { createWindowedDataset } from '#cutroom/sample/windowed-dataset.js';
import { MediaWriter } from '../../scripts/media-writer.js';
import { makeNoise, toInt16 } from '../support/signals.js';
import { writeRamp } from './sampled-wavs.js';

const RATE = 48_000;
let folder = '';
let long = '';
let cache = '';
const at = (name: string): string => path.join(folder, name);
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-dataset-indexes-'));
  [long, cache] = [at('long.mp3'), at('cache')];
  const track = { codec: 'libmp3lame', sampleRate: RATE, channels: 1, bitRate: 320_000 };
  const writer = new MediaWriter(long, { container: 'mp3', tracks: [track] });
  writer.write(toInt16(makeNoise(28 * RATE, 1, 5, 0.5)));
  writer.close();
  writeRamp(at('short.wav'), 2, RATE);
  await scan({ sources: [long, at('short.wav')], out: cache, jobs: 1, loudness: { sampleRate: RATE } });
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('scan()', () => {
  it('keeps the indexes of long compressed files, makes those anew that are damaged, and removes those of no file', async () => {
    const indexes = path.join(cache, 'indexes');
    const [name = ''] = readdirSync(indexes);
    expect(readdirSync(indexes)).toEqual([name]);
    const notices: string[] = [];
    const again = async (): Promise<unknown> => {
      const sources = [long, at('short.wav')];
      const options = { sources, out: cache, jobs: 1, loudness: { sampleRate: RATE } };
      return await scan(options, { onNotice: (message) => void notices.push(message) });
    };
    expect(await again()).toMatchObject({ kind: 'unchanged', indexedFiles: 0 });
    truncateSync(path.join(indexes, name), 100);
    writeFileSync(path.join(indexes, `${'f'.repeat(40)}.index`), '');
    expect(await again()).toMatchObject({ kind: 'unchanged', indexedFiles: 1 });
    expect(notices).toEqual([`The index "${path.join(indexes, name)}" of "${long}" is made anew: it is damaged`]);
    expect(readdirSync(indexes)).toEqual([name]);
  });
});

describe('createWindowedDataset()', () => {
  it('uses the indexes of its scan, and says so where one is of no use', async () => {
    const notices: string[] = [];
    const onNotice = (message: string): void => void notices.push(message);
    const options = { scan: cache, durationSeconds: 1, sampleRate: RATE, onNotice, shuffle: false };
    await using dataset = await createWindowedDataset(options);
    const excerpt = await dataset.get(20);
    expect([excerpt.audioSamples, notices]).toEqual([RATE, []]);
    const [name = ''] = readdirSync(path.join(cache, 'indexes'));
    truncateSync(path.join(cache, 'indexes', name), 100);
    await using other = await createWindowedDataset({ ...options, jobs: 2 });
    expect((await other.get(20)).waveform).toEqual(excerpt.waveform);
    expect(notices).toEqual([expect.stringContaining('is made anew: it is damaged')]);
    await using third = await createWindowedDataset({ ...options, jobs: 2 });
    expect((await third.get(20)).waveform).toEqual(excerpt.waveform);
    expect(notices).toHaveLength(1);
  });

  it('get() rejects with the reason of the signal, and where the dataset is closed meanwhile', async () => {
    const options = { filepaths: [long], durations: { [long]: 28 }, durationSeconds: 1, sampleRate: RATE };
    const stop = new AbortController();
    const stopped = await createWindowedDataset({ ...options, signal: stop.signal });
    const waiting = stopped.get(3);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(stopped.get(0)).rejects.toThrow('enough');
    await stopped.close();
    const closed = await createWindowedDataset(options);
    const [first, second] = [closed.get(0), closed.get(5)];
    const ended = Promise.all([
      expect(first).rejects.toThrow('The dataset was closed'),
      expect(second).rejects.toThrow('The dataset was closed'),
    ]);
    await closed.close();
    await ended;
    await closed.close();
  });

  it('counts a path that is given twice once, and says so', async () => {
    const notices: string[] = [];
    const file = at('short.wav');
    const filepaths = [file, path.join(folder, '.', 'x', '..', 'short.wav'), `${folder}/./short.wav`];
    const onNotice = (message: string): void => void notices.push(message);
    await using dataset = await createWindowedDataset({ filepaths, durationSeconds: 1, onNotice });
    expect(dataset.length).toBe(2);
    expect(notices).toEqual([expect.stringMatching(/^2 paths are given more than once, and counted once: /u)]);
  });
});

describe('close()', () => {
  it('of a dataset and of a cache can be called twice, and before leaving a scope', async () => {
    await using files = await createAudioDataset({ filepaths: [at('short.wav')] });
    await using mixture = await createBalancedDataset({ sources: { a: at('short.wav') } });
    expect((await files.get(0))?.samples).toBe(44_100);
    for (const dataset of [files, mixture]) {
      await dataset.close();
      await dataset.close();
      await expect(dataset.get(0)).rejects.toThrow('The dataset was closed');
    }
    using loudness = await openLufsCache(cache);
    expect(loudness.values(0)).toHaveLength(28);
    loudness.close();
    loudness.close();
  });
});
