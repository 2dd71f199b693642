// Which channel is kept, and when averaging loses what was said.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeEncoded } from '../support/encode.js';
import { interleaveChannels, makeNoise, makeSine, makeSpeechBursts, quantize } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';
import type { WavEncoding } from '../support/wav-files.js';
import { cutToMemory, worstDifference } from './cut-to-memory.js';

const RATE = 16_000;
const FRAMES = 3 * RATE;
const ALL = [{ firstFrame: 0, endFrame: FRAMES }];
const speech = quantize(makeSpeechBursts(FRAMES, RATE, { seed: 3 }), 16);
const other = quantize(makeSpeechBursts(FRAMES, RATE, { seed: 4, burstSeconds: 0.33 }), 16);

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-channels-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(channels: Float64Array[], encoding: WavEncoding = 's16'): string {
  const file = path.join(folder, 'x.wav');
  const samples = interleaveChannels(...channels);
  writeFileSync(file, buildWav(samples, { channels: channels.length, sampleRate: RATE, encoding }));
  return file;
}

async function cancellationOf(channels: Float64Array[], encoding?: WavEncoding): Promise<number | undefined> {
  const cut = await cutToMemory(write(channels, encoding), ALL, { targetRate: RATE });
  return cut.facts.cancellationDb;
}

describe('cutSpans() of several channels', () => {
  it('keeps the channel that is asked for, at the same rate and at another', async () => {
    const channels = [speech, other, makeNoise(FRAMES, 1, 5, 0.1)];
    for (const targetRate of [RATE, 8000]) {
      for (const [mix, channel] of channels.entries()) {
        const cut = await cutToMemory(write(channels, 'f32'), ALL, { targetRate, mix });
        const alone = await cutToMemory(write([channel], 'f32'), ALL, { targetRate });
        expect(worstDifference(cut.spans[0]?.samples ?? [], alone.spans[0]?.samples ?? [])).toBeLessThan(1e-6);
        expect(cut.facts.cancellationDb).toBeUndefined();
      }
    }
  });

  it('averages all channels with one weight, whatever positions the file names', async () => {
    const channels = Array.from({ length: 6 }, (_, k) => quantize(makeNoise(FRAMES, 1, k + 20, 0.5), 16));
    const mean = speech.map((_, n) => channels.reduce((sum, channel) => sum + (channel[n] ?? 0), 0) / 6);
    const surround = path.join(folder, 'surround.flac');
    writeEncoded(surround, { samples: interleaveChannels(...channels), sampleRate: RATE, channels: 6 }, 'flac');
    for (const file of [write(channels), surround]) {
      const cut = await cutToMemory(file, ALL, { targetRate: RATE });
      expect(worstDifference(cut.spans[0]?.samples ?? [], mean)).toBeLessThan(1e-6);
    }
  });

  it('refuses a channel that is not there', async () => {
    for (const [channels, mix] of [
      [[speech], 1],
      [[speech, other], 2],
      [[speech, other], 7],
    ] as const) {
      const cutting = cutToMemory(write([...channels]), ALL, { targetRate: RATE, mix });
      await expect(cutting).rejects.toMatchObject({ reason: 'bad_channel' });
      await expect(cutting).rejects.toThrow(`channel ${mix} was asked for, it has ${channels.length}`);
    }
  });
});

describe('cancellationDb', () => {
  it('tells of channels in opposite phase, in every sample format', async () => {
    const inverted = speech.map((x) => -x);
    for (const encoding of ['u8', 's16', 's24', 's32', 'f32', 'f64'] as const) {
      expect(await cancellationOf([speech, inverted], encoding)).toBeLessThan(-40);
    }
  });

  it('tells of channels that are nearly opposite', async () => {
    const nearly = speech.map((x, n) => -0.95 * x + 0.01 * (other[n] ?? 0));
    expect(await cancellationOf([speech, nearly])).toBeLessThan(-20);
  });

  it('is silent about ordinary stereo', async () => {
    const ordinary: Record<string, Float64Array[]> = {
      'the same twice': [speech, speech],
      'two microphones': [speech, other],
      'one silent side': [speech, new Float64Array(FRAMES)],
      'both silent': [new Float64Array(FRAMES), new Float64Array(FRAMES)],
      'a quarter period apart': [makeSine(FRAMES, RATE, 400), makeSine(FRAMES + 10, RATE, 400).slice(10)],
      'noise that is as good as silent': [makeNoise(FRAMES, 1, 1, 5e-4), makeNoise(FRAMES, 1, 1, 5e-4).map((x) => -x)],
      'one channel': [speech],
    };
    for (const [name, channels] of Object.entries(ordinary)) {
      expect([name, await cancellationOf(channels)]).toEqual([name, undefined]);
    }
  });
});
