// Real readings with their transcripts, joined into long recordings with known segment times, cut by the command line, and compared with
// what libsndfile and numpy make of the same spans.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeFile } from '../support/decode.js';
import { writeEncoded } from '../support/encode.js';
import { buildWav } from '../support/wav-files.js';

const RATE = 16_000;
const root = fileURLToPath(new URL('../../', import.meta.url));
const readings = path.join(root, '../shared/data/librivox');
const python = path.join(root, '.venv/bin/python');
const isSkipped = !existsSync(readings) || !existsSync(path.join(root, '.venv/requirements-hash'));
if (isSkipped) console.warn('Skipped: ../shared/data/librivox or .venv is missing');

interface Segment {
  start: number;
  end: number;
  text: string;
}

/** The readings one after another, three times over, with pauses between them. */
function joinReadings(): { samples: Float64Array; segments: Segment[] } {
  const transcripts = new Map(
    [...readFileSync(path.join(readings, 'transcription'), 'utf8').matchAll(/^<s> (.*) <\/s> \((.*)\)$/gmu)].map(
      ([, text = '', name = '']) => [name, text],
    ),
  );
  const names = readdirSync(readings).filter((name) => name.endsWith('.wav'));
  const parts: Float64Array[] = [];
  const segments: Segment[] = [];
  let frames = 0;
  const add = (part: Float64Array): void => {
    parts.push(part);
    frames += part.length;
  };
  for (let turn = 0; turn < 3; turn += 1) {
    for (const [k, name] of names.toSorted().entries()) {
      add(new Float64Array(Math.round(RATE * [0.731, 2.5, 7, 0.2, 31][k % 5]!)));
      const { samples } = decodeFile(path.join(readings, name));
      const start = Math.round((frames / RATE) * 1000) / 1000;
      add(samples);
      const end = Math.round((frames / RATE) * 1000) / 1000;
      segments.push({ start, end, text: transcripts.get(name.slice(0, -4)) ?? '' });
    }
  }
  const samples = new Float64Array(frames);
  let at = 0;
  for (const part of parts) {
    samples.set(part, at);
    at += part.length;
  }
  return { samples, segments };
}

/** Two channels of which the second is quieter and shifted, so that averages fall between the steps of 16 bits. */
function toStereo(samples: Float64Array): Float64Array {
  const stereo = new Float64Array(samples.length * 2);
  for (let k = 0; k < samples.length; k += 1) {
    stereo[2 * k] = samples[k] ?? 0;
    stereo[2 * k + 1] = Math.round((samples[k - 40] ?? 0) * 0.37 * 32768) / 32768;
  }
  return stereo;
}

describe.skipIf(isSkipped)('real readings, joined and cut', () => {
  let folder = '';
  let segments: Segment[] = [];
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cutroom-librivox-'));
    const joined = joinReadings();
    ({ segments } = joined);
    const stereo = toStereo(joined.samples);
    writeFileSync(path.join(folder, 'mono.wav'), buildWav(joined.samples, { sampleRate: RATE }));
    writeFileSync(path.join(folder, 'stereo.wav'), buildWav(stereo, { sampleRate: RATE, channels: 2 }));
    writeEncoded(path.join(folder, 'mono.flac'), { samples: joined.samples, sampleRate: RATE, channels: 1 }, 'flac');
    writeEncoded(path.join(folder, 'stereo.flac'), { samples: stereo, sampleRate: RATE, channels: 2 }, 'flac');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['mono.wav', 'flac'],
    ['mono.flac', 'wav'],
    ['stereo.wav', 'wav'],
    ['stereo.flac', 'flac'],
  ])('%s to %s: every sample is what libsndfile and numpy give', (recording, format) => {
    const out = path.join(folder, `${recording}-${format}`);
    const manifest = `${out}.jsonl`;
    writeFileSync(manifest, `${JSON.stringify({ id: 'austen', audio_filepath: recording, segments })}\n`);
    const run = spawnSync(
      process.execPath,
      [
        ...['dist/cli/main.js', 'cut', '--input-manifest', manifest, '--audio-dir', folder, '--output-dir', out],
        ...['--max-duration-sec', '20', '--output-format', format, '--max-segment-gap-in-snippet', '5'],
      ],
      { cwd: root, encoding: 'utf8' },
    );
    expect(run.stderr).toContain('Done.');
    expect(run.status).toBe(0);
    const rows = readFileSync(path.join(out, 'snippets.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { audio_filepath: string; duration: number; segments: Segment[] });
    // All of the speech is there, each reading as often as it was joined in.
    expect(rows.flatMap((row) => row.segments.map(({ text }) => text)).toSorted()).toEqual(
      segments.map(({ text }) => text).toSorted(),
    );
    const spans = Object.fromEntries(
      rows.map((row) => {
        const times = /-(\d+)_(\d{3})-(\d+)_(\d{3})\./u.exec(row.audio_filepath)!;
        const frameOf = (whole = '', millis = ''): number => (Number(whole) * 1000 + Number(millis)) * (RATE / 1000);
        return [row.audio_filepath, [frameOf(times[1], times[2]), frameOf(times[3], times[4])]];
      }),
    );
    const script = path.join(root, 'tests/interop/compare-spans.py');
    const argv = [script, path.join(folder, recording), out, JSON.stringify(spans)];
    const report = JSON.parse(execFileSync(python, argv, { encoding: 'utf8' })) as Record<
      string,
      { frames: number; wanted: number; differing: number; loud: number }
    >;
    expect(Object.keys(report).length).toBe(rows.length);
    expect(rows.length).toBeGreaterThan(5);
    for (const row of rows) {
      const { frames, wanted, differing, loud } = report[row.audio_filepath]!;
      expect({ frames, differing }).toEqual({ frames: wanted, differing: 0 });
      expect(frames / RATE).toBe(row.duration);
      expect(loud).toBeGreaterThan(1000);
    }
  });
});
