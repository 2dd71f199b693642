import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Augmenter } from '#cutroom/load/augment.js';
import { checkAugment } from '#cutroom/load/augment-options.js';
import { amplify, guardPeak, mixNoise } from '#cutroom/load/mix-noise.js';
import { noisesOfFiles } from '#cutroom/load/noise-files.js';
import type { NoiseSource } from '#cutroom/load/noise-source.js';
import { createSpeedOf } from '#cutroom/load/speed-of.js';
import { FAKE_DESCRIBER, FakeDecoder, fakeLoader, tableOf } from './fake-parts.js';

function rms(samples: Iterable<number>): number {
  const squares = [...samples].map((sample) => sample * sample);
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
}

describe('createSpeedOf()', () => {
  it('gives the speeds that it has always given', () => {
    const speedOf = createSpeedOf(7, [0.9, 1, 1.1]);
    expect(Array.from({ length: 12 }, (_, item) => speedOf(item, 0))).toEqual(GOLDEN_SPEEDS[0]);
    expect(Array.from({ length: 12 }, (_, item) => speedOf(item, 3))).toEqual(GOLDEN_SPEEDS[1]);
    expect(speedOf(2 ** 32 + 1, 0)).toBe(createSpeedOf(7, [0.9, 1, 1.1])(2 ** 32 + 1, 0));
  });

  it('draws each speed about as often as any other, anew in each pass', () => {
    const speedOf = createSpeedOf(1, [0.9, 1, 1.1]);
    const counts = new Map<number, number>();
    let changed = 0;
    for (let item = 0; item < 3000; item += 1) {
      const speed = speedOf(item, 0);
      counts.set(speed, (counts.get(speed) ?? 0) + 1);
      if (speedOf(item, 1) !== speed) changed += 1;
    }
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(120);
    expect(Math.abs(changed - 2000)).toBeLessThan(120);
    expect(createSpeedOf(1, undefined)(5, 0)).toBe(1);
    expect(() => createSpeedOf(1, [1, 0])).toThrow('A speed must be a number above 0, not 0');
  });
});

const GOLDEN_SPEEDS = [
  [0.9, 0.9, 0.9, 0.9, 1, 0.9, 1.1, 0.9, 0.9, 1, 0.9, 0.9],
  [1, 0.9, 1, 1, 0.9, 0.9, 1, 1.1, 1.1, 1.1, 1.1, 0.9],
];

describe('Augmenter', () => {
  const options = {
    volume: { probability: 0.5, gainDb: [-6, 6] as const },
    noise: { probability: 0.5, snrsDb: [0, 10, 20], files: ['noise.wav'] },
  };

  it('draws what it has always drawn', () => {
    const augmenter = new Augmenter(7, options);
    const drawn = Array.from({ length: 6 }, (_, item) => augmenter.draw(item, 1, 0)).map(({ gainDb, noise }) => [
      gainDb === undefined ? undefined : Number(gainDb.toFixed(6)),
      noise?.snrDb,
      noise === undefined ? undefined : Number(noise.phase.toFixed(6)),
      noise?.picks.map((pick) => Number(pick.toFixed(3))),
    ]);
    expect(drawn).toEqual(GOLDEN_DRAWS);
  });

  it('draws for each item, pass and copy anew, whatever was drawn before', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.nat(1000), fc.nat(999), (item, pass, copy) => {
        const one = new Augmenter(3, options);
        const expected = one.draw(item, pass, copy);
        const other = new Augmenter(3, options);
        other.draw(copy, pass + 1, 0);
        expect(other.draw(item, pass, copy)).toEqual(expected);
        const { gainDb } = expected;
        if (gainDb !== undefined) expect(Math.abs(gainDb)).toBeLessThanOrEqual(6);
      }),
      { numRuns: 50 },
    );
    const all = new Augmenter(3, { volume: { gainDb: [-6, 6] } });
    const gains = new Set<number | undefined>();
    for (const item of [0, 1, 2 ** 32, 2 ** 44]) {
      for (const pass of [0, 1]) for (const copy of [0, 1, 4095]) gains.add(all.draw(item, pass, copy).gainDb);
    }
    expect(gains.size).toBe(24);
  });

  it('leaves silence and clean copies alone, and says what it did', () => {
    const augmenter = new Augmenter(0, options);
    const noise = { path: 'n.wav', id: 'n', samples: Float32Array.of(1, -1), startSamples: 40, offset: 1 };
    const drawn = { gainDb: undefined, noise: { snrDb: 0, picks: [0], phase: 0.5 } };
    const silence = new Float32Array(4);
    expect(augmenter.apply(silence, 1, drawn, noise)).toEqual({
      speed: 1,
      gainDb: undefined,
      noise: undefined,
      guardDb: undefined,
    });
    expect([...silence]).toEqual([0, 0, 0, 0]);
    const signal = Float32Array.of(0.5, 0.5, 0.5, 0.5);
    const applied = augmenter.apply(signal, 1.1, drawn, noise);
    expect(applied).toEqual({
      speed: 1.1,
      gainDb: undefined,
      noise: { path: 'n.wav', offsetSamples: 41, snrDb: 0 },
      guardDb: undefined,
    });
    expect([...signal]).toEqual([0, 1, 0, 1]);
  });

  it('turns down what it drove above full scale, where it is asked to', () => {
    const augmenter = new Augmenter(0, { ...options, clipGuard: true });
    const loud = Float32Array.of(0.5, -1, 0.25);
    const { guardDb } = augmenter.apply(loud, 1, { gainDb: 20 * Math.log10(2), noise: undefined }, undefined);
    expect(guardDb).toBeCloseTo(-20 * Math.log10(2), 5);
    expect([...loud].map((sample) => Number(sample.toFixed(6)))).toEqual([0.5, -1, 0.25]);
    const untouched = Float32Array.of(1.5);
    expect(augmenter.apply(untouched, 1, { gainDb: undefined, noise: undefined }, undefined).guardDb).toBeUndefined();
    expect([...untouched]).toEqual([1.5]);
  });
});

const GOLDEN_DRAWS = [
  [undefined, 0, 0.756668, [0.607, 0.565, 0.328, 0.681]],
  [-5.694958, 0, 0.627182, [0.093, 0.502, 0.523, 0.746]],
  [-1.32848, 20, 0.750855, [0.513, 0.664, 0.957, 0.809]],
  [undefined, undefined, undefined, undefined],
  [-4.773344, 20, 0.439538, [0.526, 0.964, 0.39, 0.381]],
  [undefined, 10, 0.457879, [0.514, 0.556, 0.861, 0.131]],
];

describe('mixNoise()', () => {
  it('gives the ratio that was asked for, of noise that is cropped or begun anew', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.nat(49),
        fc.integer({ min: -10, max: 30 }),
        (count, offset, snrDb) => {
          const clean = Float32Array.from({ length: 40 }, (_, at) => Math.sin(at));
          const noise = Float32Array.from({ length: count }, (_, at) => ((at * 7 + 1) % 11) / 11 - 0.4);
          const mixed = clean.slice();
          expect(mixNoise(mixed, noise, offset % count, snrDb)).toBe(true);
          const added = mixed.map((sample, at) => sample - clean[at]!);
          expect(20 * Math.log10(rms(clean) / rms(added))).toBeCloseTo(snrDb, 2);
          const scale = added[0]! / noise[offset % count]!;
          expect(added[39]).toBeCloseTo(noise[((offset % count) + 39) % count]! * scale, 4);
        },
      ),
    );
  });

  it('changes nothing where signal or noise is silent', () => {
    const signal = Float32Array.of(1, 2);
    expect(mixNoise(signal, new Float32Array(2), 0, 0)).toBe(false);
    expect(mixNoise(signal, new Float32Array(0), 0, 0)).toBe(false);
    expect(mixNoise(signal, Float32Array.of(0, 0, 1), 0, 0)).toBe(false);
    expect([...signal]).toEqual([1, 2]);
    expect(mixNoise(new Float32Array(0), Float32Array.of(1), 0, 0)).toBe(false);
  });

  it('is joined by gains in dB', () => {
    const signal = Float32Array.of(0.25, -0.5);
    amplify(signal, 20 * Math.log10(2));
    expect([...signal].map((sample) => Number(sample.toFixed(6)))).toEqual([0.5, -1]);
    expect(guardPeak(signal)).toBeUndefined();
  });
});

/** Noises 100 to 102 of a fake decoder: of 0.5 s, 5 s, and of a length that nobody knows. */
const NOISES: NoiseSource = {
  count: 3,
  describe: async (places) => await FAKE_DESCRIBER.describe(places.map((place) => place + 100)),
  durationMicrosOf: (place) => [500_000, 5_000_000, undefined][place],
};
const NOISE_SAMPLES = [500, 5000, 700];

describe('noise of a loader', () => {
  const samplesOf = (item: number): number => NOISE_SAMPLES[item - 100] ?? 600 + (item % 3) * 100;
  const table = tableOf(Array.from({ length: 24 }, (_, item) => (600 + (item % 3) * 100) / 1000));
  const augment = { noise: { snrsDb: [0, 20], files: ['a', 'b', 'c'] } };

  it('is read as far as it is needed, from a place that was drawn, and returned with its parameters', async () => {
    const decoder = new FakeDecoder([], samplesOf);
    await using loader = fakeLoader(table, decoder, { augment, noises: NOISES });
    const used = new Set<string>();
    for await (const { audio, shape, audioLengths, rows, augmentations } of loader.batches()) {
      for (const [at, { noise }] of (augmentations ?? []).entries()) {
        used.add(noise!.path);
        const level = (Number(rows[at]?.['item']) + 1) / 1024;
        const added = level / 10 ** (noise!.snrDb / 20);
        expect(audio[at * shape[1]]).toBeCloseTo(level + added, 5);
        expect(audio[at * shape[1] + audioLengths[at]! - 1]).toBeCloseTo(level + added, 5);
        expect(noise!.offsetSamples).toBeLessThan(samplesOf(Number.parseInt(noise!.path, 10)));
      }
    }
    expect([...used].sort()).toEqual(['100.wav', '101.wav', '102.wav']);
    const windows = decoder.requests.filter(({ path }) => path === '101.wav').map(({ span }) => span!);
    expect(windows.length).toBeGreaterThan(0);
    for (const { startMicros, endMicros } of windows)
      expect((endMicros ?? 0) - startMicros).toBeLessThanOrEqual(800_000);
    expect(decoder.requests.filter(({ path }) => path === '100.wav').every(({ span }) => span === undefined)).toBe(
      true,
    );
  });

  it('is taken of another file where one cannot be read, and left out where none can', async () => {
    await using some = fakeLoader(table, new FakeDecoder([100, 101], samplesOf), { augment, noises: NOISES });
    const paths = new Set<string | undefined>();
    for await (const { augmentations } of some.batches()) {
      for (const { noise } of augmentations ?? []) paths.add(noise?.path);
    }
    expect([...paths].filter((path) => path !== undefined)).toEqual(['102.wav']);
    expect(some.failures.first[0]).toMatchObject({ path: expect.stringMatching(/^10[01]\.wav$/u) as string });
    await using none = fakeLoader(table, new FakeDecoder([100, 101, 102], samplesOf), { augment, noises: NOISES });
    for await (const { augmentations, shape } of none.batches()) {
      expect(shape[0]).toBe(3);
      expect(augmentations?.map(({ noise }) => noise)).toEqual([undefined, undefined, undefined]);
    }
    expect(none.failures).toMatchObject({ count: 96, replaced: 0 });
  });

  it('of files whose headers say nothing is described all the same', async () => {
    const noises = noisesOfFiles(['missing.wav']);
    expect(noises.durationMicrosOf(0)).toBeUndefined();
    expect((await noises.describe([0]))[0]).toMatchObject({ id: 'missing.wav', source: 'noise' });
  });
});

describe('checkAugment()', () => {
  it.each([
    [{ volume: { gainDb: [3, -3] as const } }, 'the lower one first, not 3, -3'],
    [{ volume: { gainDb: [0, 1] as const, probability: 2 } }, 'augment.volume.probability must be from 0 to 1, not 2'],
    [{ noise: { snrsDb: [], files: [] } }, 'augment.noise.snrsDb must be a list'],
    [{ noise: { snrsDb: [1] } }, 'The noise needs either a source or files'],
    [{ noise: { snrsDb: [1], files: ['a'], source: 'b' } }, 'The noise needs either a source or files'],
    [{ noise: { snrsDb: [1], files: [] } }, 'augment.noise.files is empty'],
  ])('refuses %j', (augment, message) => {
    expect(() => checkAugment(augment)).toThrow(message);
  });
});
