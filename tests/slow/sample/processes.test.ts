// Decoding in other processes: the same excerpts in the same order, and a fault of one file is told as in this one.
import { copyFileSync, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AudioError } from '#cutroom/audio/audio-error.js';
import type { Excerpt } from '#cutroom/sample/excerpt.js';
import { createWindowedDataset } from '#cutroom/sample/windowed-dataset.js';
import type { WindowedDatasetOptions } from '#cutroom/sample/windowed-dataset.js';
import { writeEncoded } from '../../support/encode.js';
import { makeNoise } from '../../support/signals.js';
import { writeRamp } from '../../sample/sampled-wavs.js';

const RATE = 16_000;
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-processes-'));
  for (const [k, seconds] of [3, 7, 11].entries()) writeRamp(path.join(folder, `audio/${k}.wav`), seconds, RATE);
  for (const kind of ['flac', 'opus', 'mp3-vbr'] as const) {
    const signal = { samples: makeNoise(8 * RATE, 1, 5), sampleRate: RATE, channels: 1 };
    writeEncoded(path.join(folder, `audio/${kind}.${kind.slice(0, 4).replace('-', '')}`), signal, kind);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

function options(more: Partial<WindowedDatasetOptions> = {}): WindowedDatasetOptions {
  return { sources: path.join(folder, 'audio'), durationSeconds: 0.5, sampleRate: RATE, numEpochs: 2, ...more };
}

describe('createWindowedDataset() with several jobs', () => {
  it('gives what one process gives, in the same order', async () => {
    await using alone = await createWindowedDataset(options());
    await using pooled = await createWindowedDataset(options({ jobs: 2 }));
    expect(pooled.length).toBe(alone.length);
    const expected = alone.iterate();
    let count = 0;
    for await (const excerpt of pooled.iterate({ prefetch: 16 })) {
      const { value } = await expected.next();
      expect(excerpt).toEqual(value satisfies Excerpt | undefined);
      count += 1;
    }
    expect(count).toBe(alone.length);
  });

  it('tells which file cannot be read, and goes on with the others', async () => {
    const file = path.join(folder, 'short/x.wav');
    writeRamp(file, 4, RATE);
    copyFileSync(file, path.join(folder, 'short/y.wav'));
    await using pooled = await createWindowedDataset(
      options({ sources: path.join(folder, 'short'), jobs: 2, shuffle: false, checkFiles: false }),
    );
    truncateSync(file, 30_000);
    const error = await pooled.get(0).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AudioError);
    expect(error).toMatchObject({ path: file, hint: 'Scan it again.' });
    expect((await pooled.get(pooled.length / 2 - 1)).filepath).toMatch(/y.wav$/u);
    await expect(async () => {
      for await (const excerpt of pooled) void excerpt;
    }).rejects.toThrow(/x.wav.*changed since it was measured/u);
  });
});
