// Lists of shards, as ATdataset itself writes and reads them. scripts/make-venv.sh makes the Python environment.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { END_OF_ARCHIVE, paddingBytes, tarHeader } from '#cutroom/tar/header.js';
import { jsonLines, ShardFolder } from '../support/shard-files.js';
import { buildWav } from '../support/wav-files.js';

const RATE = 16_000;
const root = fileURLToPath(new URL('../../', import.meta.url));
const bin = path.join(root, '.venv/bin');
const hasPython = existsSync(path.join(root, '.venv/requirements-hash')) && existsSync(path.join(bin, 'atdataset'));
if (!hasPython) console.warn('Skipped: .venv is missing or has no atdataset; sh scripts/make-venv.sh makes it');

/** Utterances by shard. */
const UTTERANCES = {
  'train.000000': [
    { id: 'utt_1', text: 'hello world', frames: 16_000 },
    { id: 'größe_2', text: 'schöne Grüße', frames: 24_001 },
  ],
  'train.000001': [{ id: 'folder/utt_3', text: '你好', frames: 48_000 }],
};

interface Report {
  hours: number;
  count: number;
  samples: { id: string; text: string; frames: number; lang: string | null }[];
}

describe.skipIf(!hasPython)('ATdataset', () => {
  let shards: ShardFolder;
  beforeAll(() => {
    shards = new ShardFolder(mkdtempSync(path.join(tmpdir(), 'cutroom-atdataset-')));
    for (const [key, utterances] of Object.entries(UTTERANCES)) {
      const parts = utterances.flatMap(({ id, frames }) => {
        const wav = buildWav(
          Float64Array.from({ length: frames }, (_, frame) => Math.sin(frame / 9) / 2),
          { sampleRate: RATE },
        );
        return [tarHeader({ name: `${id}.wav`, sizeBytes: wav.length }), wav, Buffer.alloc(paddingBytes(wav.length))];
      });
      writeFileSync(shards.tar(key), Buffer.concat([...parts, END_OF_ARCHIVE]));
      const rows = utterances.map(({ id, text, frames }) => ({
        ...{ audio_filepath: `${id}.wav`, text, duration: frames / RATE, lang: 'xx' },
      }));
      writeFileSync(shards.manifest(key), jsonLines(rows));
    }
    const flags = ['--audio-pattern', shards.pattern, '--txt-dir', shards.manifests, '--output', shards.list];
    execFileSync(process.execPath, [path.join(root, 'dist/cli/main.js'), 'gen-lst', ...flags, '--strict'], {
      stdio: 'pipe',
    });
  });
  afterAll(() => rmSync(shards.folder, { recursive: true }));

  it('finds every sample with its text by a list of gen-lst', () => {
    const script = fileURLToPath(new URL('read-list.py', import.meta.url));
    const printed = execFileSync(path.join(bin, 'python'), [script, shards.list], { encoding: 'utf8', stdio: 'pipe' });
    const report = JSON.parse(printed) as Report;
    const expected = Object.values(UTTERANCES).flat();
    expect(report.samples).toEqual(expected.map((utterance) => ({ ...utterance, lang: 'xx' })));
    expect(report.count).toBe(expected.length);
    const seconds = expected.reduce((sum, { frames }) => sum + frames / RATE, 0);
    expect(Math.abs(report.hours * 3600 - seconds)).toBeLessThan(0.004);
  });

  it('writes the same list but for the decimals of the hours', () => {
    const output = path.join(shards.folder, 'theirs.lst');
    const flags = ['--audio-pattern', shards.pattern, '--txt-dir', shards.manifests, '--output', output];
    execFileSync(path.join(bin, 'atdataset'), ['gen_lst', ...flags], { stdio: 'pipe' });
    const rounded = readFileSync(shards.list, 'utf8').replaceAll(
      / (\d+\.\d{6}) /gu,
      (_, hours) => ` ${Number(hours).toFixed(3)} `,
    );
    expect(rounded).toBe(readFileSync(output, 'utf8'));
  });
});
