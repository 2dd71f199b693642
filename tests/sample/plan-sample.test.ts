// Plans of files: as the datasets draw, by scans, and with what does not fit.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CutroomError } from '#cutroom/errors.js';
import { createBalancedDataset } from '#cutroom/sample/balanced-dataset.js';
import { rowOfDraw } from '#cutroom/sample/draw-row.js';
import { planSample } from '#cutroom/sample/plan-sample.js';
import type { SampleOptions } from '#cutroom/sample/sample-options.js';
import { scan } from '#cutroom/sample/scan.js';
import { createWindowedDataset } from '#cutroom/sample/windowed-dataset.js';
import type { WindowDescription } from '#cutroom/sample/windowed-dataset.js';
import { hashUniform } from '../support/signals.js';
import { writeRamp } from './sampled-wavs.js';

const RATE = 8000;
let folder = '';
let cache = '';
const at = (name: string): string => path.join(folder, name);
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-sample-'));
  cache = at('cache');
  for (const [name, seconds] of [
    ['speech/a', 3],
    ['speech/b', 0.5],
    ['music/c', 12],
    ['music/half', 6],
  ] as const) {
    // The second half of one file is silent.
    const loudUpTo = name === 'music/half' ? 3 * RATE : Infinity;
    writeRamp(at(`${name}.wav`), seconds, RATE, (n) => (n < loudUpTo ? hashUniform(n, 1) - 0.5 : 0));
  }
  writeRamp(at('music/quiet.wav'), 2, RATE, () => 0);
  writeRamp(at('late/grown.wav'), 1, RATE);
  writeFileSync(at('broken.wav'), 'no audio');
  await scan({
    sources: ['speech', 'music', 'late', 'broken.wav'].map(at),
    out: cache,
    loudness: { sampleRate: RATE },
    jobs: 1,
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

function options(more: Partial<SampleOptions> = {}): SampleOptions {
  return { durationSeconds: 1, sampleRate: RATE, jobs: 1, ...more };
}

async function errorOf(more: Partial<SampleOptions>): Promise<CutroomError> {
  return await planSample(options(more)).then(
    () => expect.fail('it was planned'),
    (error: unknown) => error as CutroomError,
  );
}

describe('planSample()', () => {
  it('draws what createWindowedDataset() draws of the same files', async () => {
    const same = { alpha: 0.5, shuffleSeed: 5, excerptSeed: 6, numEpochs: 2 };
    const sources = [at('speech'), at('music')];
    const { plan } = await planSample(options({ sources, scan: cache, ...same }));
    await using dataset = await createWindowedDataset({ durationSeconds: 1, sampleRate: RATE, sources, ...same });
    expect(plan.length).toBe(dataset.length);
    for (let draw = 0; draw < plan.length; draw += 1) {
      const { filepath, startFrame, offsetSeconds } = dataset.describe(draw);
      expect(rowOfDraw(plan, plan.at(draw))).toMatchObject({
        filepath,
        offset_frames: startFrame,
        offset: offsetSeconds,
      });
    }
  });

  it('draws what createBalancedDataset() draws of the same groups, filtered too', async () => {
    const weights = { speech: '0.7', music: '0.3' };
    const groups = { speech: [at('speech')], music: [at('music')] };
    const { plan } = await planSample(options({ groups, weights, alpha: 0.5, scan: cache, lufsCutoff: -40 }));
    const window = { durationSeconds: 1, alpha: 0.5, lufsCache: cache };
    await using dataset = await createBalancedDataset({ sources: groups, weights, window, sampleRate: RATE });
    expect([plan.length, dataset.length]).toEqual([Infinity, Infinity]);
    for (let draw = 0; draw < 100; draw += 1) {
      const { group, drawn } = dataset.describe(draw);
      const { filepath, offsetSeconds } = drawn as WindowDescription;
      expect(rowOfDraw(plan, plan.at(draw))).toMatchObject({ group, filepath, offset: offsetSeconds });
      if (filepath.endsWith('half.wav')) expect(offsetSeconds).toBeLessThanOrEqual(2);
      expect(filepath).not.toContain('quiet');
    }
  });

  it('takes all files of a scan, without those that it could not read', async () => {
    const { plan, leftOut } = await planSample(options({ scan: cache }));
    expect(plan.groups[0]?.recordings.length).toBe(6);
    expect(leftOut.map(({ path: file }) => file)).toEqual([at('broken.wav')]);
  });

  it('takes a list in its order', async () => {
    writeFileSync(at('list.txt'), 'speech/b.wav\nmusic/c.wav\nspeech/a.wav\n');
    const { plan } = await planSample(options({ filepaths: at('list.txt'), scan: cache, shuffle: false }));
    const { recordings } = plan.groups[0]!;
    expect([0, 1, 2].map((file) => path.basename(recordings.path(file)))).toEqual(['b.wav', 'c.wav', 'a.wav']);
  });

  it('refuses files that cannot be read, naming them', async () => {
    const sources = [at('speech'), at('broken.wav')];
    const error = await errorOf({ sources });
    expect(error).toMatchObject({ code: 'input', hint: '--on-error skip leaves them out.' });
    expect(error.message).toMatch(/^1 of 3 files cannot be read:\n {2}Cannot read ".*broken\.wav": /u);
  });

  it('refuses files that are not those of the scan or of the loudness cache', async () => {
    writeRamp(at('late/new.wav'), 1, RATE);
    appendFileSync(at('late/grown.wav'), 'more');
    const error = await errorOf({ sources: [at('late')], scan: cache });
    expect(error.message).toMatch(
      /older than its files: ".*grown\.wav" \(its size was .*\), ".*new\.wav" \(the scan does not/u,
    );
    expect(error).toMatchObject({ code: 'input', hint: expect.stringContaining('Scan again') });
    const cached = await errorOf({ sources: [at('late')], lufsCache: cache });
    expect(cached.message).toMatch(
      /not of these files: ".*grown\.wav" \(it had .* bytes.*\), ".*new\.wav" \(not measured\)/u,
    );
  });

  it.each<[string, Partial<SampleOptions>, string, string | RegExp]>([
    ['no files', {}, 'usage', 'There is nothing to sample'],
    ['files in two ways', { sources: ['a'], groups: { a: ['a'] } }, 'usage', 'Files are given in more than one way'],
    [
      'a place without files',
      { sources: ['gone', 'none*.wav'] },
      'input',
      /"gone" is not there, "none\*\.wav" matches no file/u,
    ],
    ['weights without groups', { sources: ['a'], weights: { a: 1 } }, 'usage', /"a", and there are no groups/u],
    ['a weight of no group', { groups: { a: ['a'] }, weights: { b: 1 } }, 'usage', /"b", which is no group/u],
    ['a weight of 0', { groups: { a: ['a'] }, weights: { a: 0 } }, 'usage', /must be a finite number above 0/u],
    ['a stop rule without groups', { sources: ['a'], stop: 'forever' }, 'usage', /^--stop is given/u],
    [
      'a stop without an end',
      { groups: { a: ['a'] }, stop: 'all_exhausted' },
      'usage',
      /cannot stop by "all_exhausted"/u,
    ],
    ['a cutoff without loudness', { sources: ['a'], lufsCutoff: -30 }, 'usage', /without the loudness of the files/u],
  ])('refuses %s', async (_, more, code, message) => {
    const error = await errorOf(more);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });

  it('refuses numbers out of their range', async () => {
    for (const more of [
      { alpha: 1.1 },
      { alpha: Number.NaN },
      { durationSeconds: 0 },
      { hopSeconds: -1 },
      { jobs: 0 },
    ]) {
      expect(await errorOf({ sources: ['a'], ...more })).toBeInstanceOf(RangeError);
    }
  });

  it('refuses a text in place of a list of paths', async () => {
    for (const more of [{ sources: 'a' }, { groups: { a: 'a' } }, { groups: ['a'] }, { filepaths: ['a'] }]) {
      expect(await errorOf(more as never)).toBeInstanceOf(TypeError);
    }
  });

  it('refuses a cache that was measured of another signal', async () => {
    const other = await errorOf({ scan: cache, lufsCutoff: -40, sampleRate: 16_000 });
    expect(other.message).toContain('measured at 8000 Hz, and the dataset has 16000 Hz');
    const channels = await errorOf({ scan: cache, lufsCutoff: -40, mono: false });
    expect(channels.message).toContain('of all channels mixed to one, and the dataset is of the channels as they are');
  });
});
