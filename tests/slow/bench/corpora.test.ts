// The bench's corpora are what their manifests say, and are made once.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeFile } from '../../support/decode.js';

interface Row {
  id: string;
  audio_filepath: string;
  duration: number;
  segments: { start: number; end: number; text: string; words: { word: string }[] }[];
}

const SCRIPT = fileURLToPath(new URL('../../../bench/corpora.js', import.meta.url));
/** Twelve seconds of each format, in two recordings of different sounds. */
const HOURS = 24 / 3600;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-corpora-'));
  makeCorpora(folder);
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true }));

function makeCorpora(out: string, formats = 'flac,wav,mp3,opus', recordings = '2'): string {
  const options = ['--hours', String(HOURS), '--recordings', recordings, '--formats', formats, '--source', 'synthetic'];
  return execFileSync(process.execPath, [SCRIPT, '--out', out, ...options], { encoding: 'utf8', stdio: 'pipe' });
}

function readRows(format: string): Row[] {
  const text = readFileSync(path.join(folder, `manifest-${format}.jsonl`), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}

describe('bench/corpora.js', () => {
  for (const [format, sampleRate, channels] of [
    ['flac', 48_000, 2],
    ['wav', 16_000, 1],
    ['mp3', 48_000, 2],
    ['opus', 48_000, 2],
  ] as const) {
    it(`${format} recordings have the rate, channels and length of the manifest, and speech where it says so`, () => {
      const rows = readRows(format);
      expect(rows.map(({ id }) => id)).toEqual(['rec000', 'rec001']);
      for (const row of rows) {
        const audio = decodeFile(path.join(folder, format, row.audio_filepath));
        expect(audio).toMatchObject({ sampleRate, channels, frames: row.duration * sampleRate });
        for (const { start, end, text, words } of row.segments) {
          expect(words.map(({ word }) => word).join(' ')).toBe(text);
          const span = audio.samples.subarray(
            Math.round(start * sampleRate) * channels,
            Math.round(end * sampleRate) * channels,
          );
          const quiet = audio.samples.subarray(0, Math.round(0.9 * sampleRate) * channels);
          expect(meanSquare(span)).toBeGreaterThan(10 * meanSquare(quiet));
        }
      }
    });
  }

  it('holds the same recordings in each format, and different ones in one', () => {
    const [first, second] = readRows('flac');
    expect(readRows('opus').map(({ segments }) => segments)).toEqual([first?.segments, second?.segments]);
    expect(first?.segments).not.toEqual(second?.segments);
  });

  it('makes the same bytes again, and nothing that is there', () => {
    const other = path.join(folder, 'again');
    mkdirSync(other);
    makeCorpora(other, 'flac');
    const made = path.join(folder, 'flac', 'rec001.flac');
    expect(readFileSync(path.join(other, 'flac', 'rec001.flac')).equals(readFileSync(made))).toBe(true);
    const { mtimeMs } = statSync(made);
    makeCorpora(folder, 'flac');
    expect(statSync(made).mtimeMs).toBe(mtimeMs);
    makeCorpora(other, 'flac', '1');
    expect(() => statSync(path.join(other, 'flac', 'rec001.flac'))).toThrow('ENOENT');
  });

  it('refuses a folder that it did not make', () => {
    const other = path.join(folder, 'strange');
    mkdirSync(path.join(other, 'flac'), { recursive: true });
    expect(() => makeCorpora(other, 'flac')).toThrow('was not made by this program');
  });
});

function meanSquare(samples: Float64Array): number {
  return samples.reduce((sum, x) => sum + x * x, 0) / samples.length;
}
