// Windows of real recordings: music of minutes in Ogg Vorbis, which does not seek exactly, and short spoken prompts, of which some are shorter
// than a window and some are silent. scripts/game-music.js and scripts/spoken-prompts.js fetch them.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBalancedDataset } from '#cutroom/sample/balanced-dataset.js';
import type { BalancedDataset } from '#cutroom/sample/balanced-dataset.js';
import { cutToMemory, worstDifference } from '../audio/cut-to-memory.js';
import { runCutroom } from '../support/command-line.js';
import { decodeFile } from '../support/decode.js';
import type { DecodedAudio } from '../support/decode.js';

/** A line of `cutroom sample --list`. */
interface Row {
  index: number;
  group: 'speech' | 'music';
  filepath: string;
  offset_frames: number;
  frames: number;
  sample_rate: number;
  padding: number;
}

interface ScanRow {
  path: string;
  frames: number;
  sample_rate: number;
  channels: number;
}

const corpus = fileURLToPath(new URL('../../.corpus', import.meta.url));
const music = path.join(corpus, 'game-music/usr/share/games/wesnoth/1.16/data/core/music');
const prompts = path.join(corpus, 'spoken-prompts/usr/share/asterisk/sounds/en_US_f_Allison');
const hasCorpus = existsSync(music) && existsSync(prompts);
if (!hasCorpus)
  console.warn('Skipped: .corpus is missing; scripts/game-music.js and scripts/spoken-prompts.js fetch it');

const TRACKS = ['battle-epic', 'defeat', 'love_theme', 'main_menu', 'silence', 'victory2'];
const RATE = 16_000;
const WEIGHTS = { speech: 0.7, music: 0.3 };
const DRAWS = 400;
/** Draws of each group that are looked at sample by sample. */
const CHECKED = { speech: 12, music: 8 };

describe.skipIf(!hasCorpus)('windows of real recordings', () => {
  let folder = '';
  let tracks = '';
  let cache = '';
  let rows: Row[] = [];
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'cutroom-real-windows-')));
    tracks = path.join(folder, 'tracks');
    cache = path.join(folder, 'cache');
    mkdirSync(tracks);
    for (const name of TRACKS) copyFileSync(path.join(music, `${name}.ogg`), path.join(tracks, `${name}.ogg`));
    runCutroom(['scan', prompts, tracks, '--out', cache, '--lufs', '--sample-rate', String(RATE), '--quiet']);
    rows = draw();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Flags of the plan of both groups. */
  function planned(...more: string[]): string[] {
    const groups = [`speech=${prompts}:${WEIGHTS.speech}`, `music=${tracks}:${WEIGHTS.music}`];
    const flags = ['--duration', '1', '--alpha', '0.5', '--scan', cache, '--sample-rate', String(RATE), '--quiet'];
    return ['sample', ...groups.flatMap((group) => ['--group', group]), ...flags, ...more];
  }

  function draw(...more: string[]): Row[] {
    const { stdout } = runCutroom(planned('--list', String(DRAWS), ...more));
    return readLines(stdout);
  }

  /** The same as a dataset, at the rate of each file and with its channels where `sampleRate` is null. */
  async function openDataset(sampleRate: number | null): Promise<BalancedDataset> {
    return await createBalancedDataset({
      sources: { speech: prompts, music: tracks },
      ...{ weights: WEIGHTS, window: { durationSeconds: 1, alpha: 0.5 } },
      ...{ sampleRate, mono: sampleRate !== null, jobs: 2 },
    });
  }

  function checkedRows(group: Row['group']): Row[] {
    return rows.filter((row) => row.group === group).slice(0, CHECKED[group]);
  }

  it('cutroom scan reads what all tracks are', () => {
    const out = path.join(folder, 'all-tracks');
    const summary = JSON.parse(runCutroom(['scan', music, '--out', out, '--json', '--quiet']).stdout) as object;
    const names = readdirSync(music).filter((name) => name.endsWith('.ogg'));
    expect(summary).toMatchObject({
      ...{ files: names.length, failed: {}, codecs: { 'ogg vorbis': names.length } },
    });
    const scanned = readLines<ScanRow>(readFileSync(path.join(out, 'scan.jsonl'), 'utf8'));
    for (const name of ['victory', 'defeat', 'battle-epic']) {
      const row = scanned.find((each) => path.basename(each.path) === `${name}.ogg`);
      const { frames, sampleRate, channels } = decodeFile(path.join(music, `${name}.ogg`));
      expect(row).toMatchObject({ frames, sample_rate: sampleRate, channels });
    }
  });

  it('cutroom sample mixes both by weight, and fills up only prompts that are shorter than a window', () => {
    let speech = 0;
    for (const [k, { group, padding, frames, sample_rate: rate }] of rows.entries()) {
      if (group === 'speech') speech += 1;
      expect(Math.abs(speech - WEIGHTS.speech * (k + 1))).toBeLessThan(1);
      expect(padding).toBeCloseTo(1 - frames / rate, 9);
      if (group === 'music') expect(padding).toBe(0);
    }
    expect(rows.filter(({ padding }) => padding > 0).length).toBeGreaterThan(20);
    expect(new Set(rows.filter(({ group }) => group === 'music').map(({ filepath }) => filepath)).size).toBe(6);
  });

  it('draws nothing of what is silent, and names it', () => {
    const { groups } = JSON.parse(runCutroom(planned('--lufs-cutoff', '-40', '--json')).stdout) as {
      groups: { name: string; files: number; removed_files: number; first_removed: string[] }[];
    };
    const [speech, other] = groups;
    expect(speech).toMatchObject({ name: 'speech', files: 568, removed_files: 10 });
    for (const name of speech!.first_removed) expect(name).toContain('/silence/');
    expect(other).toMatchObject({ name: 'music', files: TRACKS.length, removed_files: 1 });
    expect(other?.first_removed).toEqual([path.join(tracks, 'silence.ogg')]);
    const isSilent = ({ filepath }: Row): boolean => /silence(?:\/\d+\.wav|\.ogg)$/u.test(filepath);
    expect(rows.filter(isSilent).length).toBeGreaterThan(3);
    const kept = draw('--lufs-cutoff', '-40');
    expect(kept).toHaveLength(DRAWS);
    expect(kept.filter(isSilent)).toEqual([]);
  });

  it('the library draws what cutroom sample lists', async () => {
    await using dataset = await openDataset(RATE);
    const drawn = rows.map(({ index }) => {
      const { group, drawn: window } = dataset.describe(index);
      if (!('startFrame' in window)) throw new TypeError(`Draw ${index} is no window`);
      return { index, group, filepath: window.filepath, offset_frames: window.startFrame, frames: window.frames };
    });
    expect(drawn).toEqual(
      rows.map(({ index, group, filepath, offset_frames, frames }) => ({
        ...{ index, group, filepath, offset_frames, frames },
      })),
    );
  });

  it.each(['speech', 'music'] as const)(
    'at the rate of the file a window is a slice of the whole decode: %s',
    async (group) => {
      await using dataset = await openDataset(null);
      const decoded = new Map<string, DecodedAudio>();
      for (const { index, filepath, offset_frames: first, frames } of checkedRows(group)) {
        const whole = decoded.get(filepath) ?? decodeFile(filepath);
        decoded.set(filepath, whole);
        const excerpt = await dataset.get(index);
        expect(excerpt).toMatchObject({ filepath, source: group, audioSamples: frames, samples: whole.sampleRate });
        const { waveform, samples, channels } = excerpt!;
        expect(channels).toBe(whole.channels);
        for (let channel = 0; channel < channels; channel += 1) {
          const expected = new Float32Array(samples);
          for (let n = 0; n < frames; n += 1) expected[n] = whole.samples[(first + n) * channels + channel]!;
          expect(worstDifference(waveform.subarray(channel * samples, (channel + 1) * samples), expected)).toBe(0);
        }
      }
    },
  );

  it.each(['speech', 'music'] as const)(
    'resampled, a window is a slice of the whole file resampled: %s',
    async (group) => {
      await using dataset = await openDataset(RATE);
      for (const { index, filepath, offset_frames: first, frames, sample_rate: rate } of checkedRows(group)) {
        const excerpt = await dataset.get(index);
        const samples = Math.ceil((frames * RATE) / rate);
        expect(excerpt).toMatchObject({ filepath, samples: RATE, audioSamples: samples, channels: 1 });
        const step = rate / gcd(rate, RATE);
        const start = first % step;
        const span = { firstFrame: start, endFrame: Number.MAX_SAFE_INTEGER };
        const { spans } = await cutToMemory(filepath, [span], { targetRate: RATE });
        const from = ((first - start) * RATE) / rate;
        const expected = new Float32Array(RATE);
        expected.set(spans[0]!.samples.subarray(from, from + samples));
        expect(worstDifference(excerpt!.waveform, expected)).toBe(0);
      }
    },
  );
});

function readLines<T = Row>(text: string): T[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
