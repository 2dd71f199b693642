// Loudness caches that cutroom and audiotree make, each read by the other. scripts/make-venv.sh makes the Python environment.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLufsCache } from '#cutroom/sample/lufs-cache.js';
import { createWindowedDataset } from '#cutroom/sample/windowed-dataset.js';
import { runCutroom } from '../support/command-line.js';
import { HAS_PYTHON, PYTHON } from '../support/python-readers.js';
import { makeNoise } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';

/** A cache as audiotree reads it. */
interface ReadCache {
  window: number;
  rate: number | null;
  mono: boolean;
  durations: Record<string, number>;
  sizes: Record<string, number>;
  lufs: Record<string, number[]>;
}

interface Readings {
  caches: ReadCache[];
  /** By the cache that is named first: where the windows of each file begin that pass -40 LUFS, in seconds. */
  drawn: Record<string, number[]>;
}

const RATE = 16_000;
/** Name, frames and amplitude of noise: the first goes quiet after 3 s. */
const FILES = [
  ['loud', 80_000, [0.5, 0.5, 0.5, 0.005, 0.005]],
  ['quiet', 33_000, [0.005]],
  ['short', 8000, [0.5]],
] as const;
/** Of a value: audiotree's meter puts blocks into bins of 0.1 LU. */
const TOLERANCE_LU = 0.06;
/** Of one below -40 LUFS: audiotree filters each window for itself, where a loud one rings on into the next. */
const QUIET_TOLERANCE_LU = 0.4;

const script = fileURLToPath(new URL('lufs-caches.py', import.meta.url));
const data = path.resolve('../shared/data');
const golden = path.join(data, 'audiotree-golden');
/** Name, and how it was made. */
const GOLDEN = [
  ['w1.0-44100-mono', ['--lufs-window', '1.0', '--sample-rate', '44100']],
  ['w3.0-native-all', ['--lufs-window', '3.0', '--sample-rate', 'native', '--no-mono']],
] as const;
const hasGolden = existsSync(golden);

const hasAudiotree = HAS_PYTHON && spawnSync(PYTHON, ['-c', 'import audiotree, bagz']).status === 0;
if (!hasAudiotree) console.warn('Skipped: .venv is missing or has no audiotree with bagz');
else if (!hasGolden) console.warn('Skipped in part: ../shared/data/audiotree-golden is missing');

describe.skipIf(!hasAudiotree)('audiotree', () => {
  let folder = '';
  let ours = '';
  let theirs = '';
  let read: Readings;
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'cutroom-audiotree-')));
    ours = path.join(folder, 'ours');
    theirs = path.join(folder, 'theirs');
    const corpus = path.join(folder, 'corpus');
    mkdirSync(corpus);
    for (const [name, frames, amplitudes] of FILES) {
      const noise = makeNoise(frames, 1, 1, 1).map((x, n) => x * (amplitudes[Math.floor(n / RATE)] ?? 0.005));
      writeFileSync(path.join(corpus, `${name}.wav`), buildWav(noise, { sampleRate: RATE }));
    }
    runCutroom(['scan', corpus, '--out', ours, '--lufs', '--sample-rate', String(RATE), '--jobs', '1', '--quiet']);
    const others = hasGolden
      ? GOLDEN.flatMap(([name, flags]) => [path.join(golden, name), scanGolden(name, flags)])
      : [];
    const printed = execFileSync(PYTHON, [script, theirs, ours, ...others], {
      ...{ encoding: 'utf8', stdio: 'pipe', env: { ...process.env, JAX_PLATFORMS: 'cpu' } },
    });
    read = JSON.parse(printed) as Readings;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** A cache of our own of the recordings of a golden one. */
  function scanGolden(name: string, flags: readonly string[]): string {
    const out = path.join(folder, name);
    const recordings = path.join(data, 'librivox/*.wav');
    runCutroom(['scan', recordings, '--out', out, '--base', data, '--lufs', ...flags, '--jobs', '1', '--quiet']);
    return out;
  }

  it('opens a cache of cutroom scan, and has the values that it holds', async () => {
    using cache = await openLufsCache(ours);
    expect(cache.filepaths).toEqual(FILES.map(([name]) => path.join(folder, 'corpus', `${name}.wav`)));
    const byName = <T>(valueOf: (index: number) => T): Record<string, T> =>
      Object.fromEntries(cache.filepaths.map((name, index) => [name, valueOf(index)]));
    expect(read.caches[0]).toEqual({
      ...{ window: 1, rate: RATE, mono: true },
      durations: byName((index) => FILES[index]![1] / RATE),
      sizes: byName((index) => cache.fileSizes?.[index]),
      lufs: byName((index) => [...cache.values(index)]),
    });
    expect(cache.filepaths.map((name) => cache.values(name).length)).toEqual([5, 2, 0]);
  });

  it('makes a cache of the same files that cutroom opens, with the same values', async () => {
    using cache = await openLufsCache(theirs);
    using own = await openLufsCache(ours);
    expect(cache.settings).toEqual(own.settings);
    expect(cache.filepaths).toEqual(own.filepaths);
    expect(cache.durations).toEqual(own.durations);
    expect(cache.fileSizes).toEqual(own.fileSizes);
    for (const name of own.filepaths) expectSame([...cache.values(name)], [...own.values(name)]);
  });

  it.each(['ours', 'theirs'])('draws from the files that cutroom draws from by a cache: %s', async (maker) => {
    await using dataset = await createWindowedDataset({
      filepaths: Object.keys(read.caches[0]!.lufs),
      ...{ durationSeconds: 1, sampleRate: RATE, jitter: false },
      ...{ lufsCache: maker === 'ours' ? ours : theirs, lufsCutoff: -40 },
    });
    const drawn: Record<string, number[]> = {};
    for (let index = 0; index < dataset.length; index += 1) {
      const { filepath, offsetSeconds } = dataset.describe(index);
      (drawn[filepath] ??= []).push(offsetSeconds);
    }
    const [loud = '', quiet = '', short = ''] = Object.keys(read.caches[0]!.lufs);
    expect(Object.keys(drawn).toSorted()).toEqual([loud, short]);
    expect(drawn[loud]).toHaveLength(3);
    expect(Math.max(...drawn[loud]!)).toBeLessThanOrEqual(2);
    expect(dataset.loudness?.removedFiles).toEqual([quiet]);
    expect(Object.keys(read.drawn).toSorted()).toEqual([loud, short]);
    // Audiotree looks at the middle of a window alone, so that one of its windows reaches into what is quiet, from 3 s on.
    expect(read.drawn[loud]!.map((offset) => offset.toFixed(1))).toEqual(['0.0', '0.8', '1.6', '2.4']);
  });

  it.skipIf(!hasGolden).each(GOLDEN.map(([name], index) => [name, index] as const))(
    'has nearly the same values of real readings in a cache of either: %s',
    async (name, index) => {
      const [made, scanned] = read.caches.slice(1 + 2 * index, 3 + 2 * index);
      const { lufs: expected, ...settings } = made!;
      expect(Object.keys(expected).length).toBeGreaterThan(3);
      const { lufs, ...own } = scanned!;
      const listed = Object.keys(expected);
      expect(Object.keys(lufs)).toEqual(expect.arrayContaining(listed));
      for (const file of listed) {
        expectSame(expected[file]!, lufs[file]!);
        expect([own.durations[file], own.sizes[file]]).toEqual([settings.durations[file], settings.sizes[file]]);
      }
      expect([own.window, own.rate, own.mono]).toEqual([settings.window, settings.rate, settings.mono]);
      using cache = await openLufsCache(path.join(golden, name));
      expect(cache.filepaths).toEqual(listed);
      for (const file of listed) expect([...cache.values(file)]).toEqual(expected[file]);
    },
  );
});

function expectSame(expected: readonly number[], values: readonly number[]): void {
  expect(values).toHaveLength(expected.length);
  for (const [at, value] of expected.entries()) {
    const tolerance = value < -40 ? QUIET_TOLERANCE_LU : TOLERANCE_LU;
    expect(Math.abs(value - values[at]!), `${value} and ${values[at]}`).toBeLessThanOrEqual(tolerance);
  }
}
