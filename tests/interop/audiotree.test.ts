// Loudness caches, as audiotree itself reads them. scripts/make-venv.sh makes the Python environment.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLufsCache } from '#cutroom/sample/lufs-cache.js';
import { scan } from '#cutroom/sample/scan.js';
import { HAS_PYTHON, PYTHON } from '../support/python-readers.js';
import { makeNoise } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';

const hasAudiotree = HAS_PYTHON && spawnSync(PYTHON, ['-c', 'import audiotree, bagz']).status === 0;
if (!hasAudiotree) console.warn('Skipped: .venv is missing or has no audiotree with bagz');

/** Reads a cache, makes a dataset of what it lets through, and makes a cache of the same files. */
const PROGRAM = `
import json, sys
from audiotree.sources import build_window_lufs_cache, create_windowed_audio_dataset, load_window_lufs
ours, theirs = sys.argv[1:]
cache = load_window_lufs(ours)
dataset = create_windowed_audio_dataset(
    filepaths=list(cache.lufs), duration=1.0, sample_rate=16000, mono=True, lufs_cache=ours, lufs_cutoff=-40.0, num_epochs=1)
build_window_lufs_cache(list(cache.lufs), lufs_window_sec=1.0, out_dir=theirs, sample_rate=16000, mono=True)
print(json.dumps({
    "window": cache.lufs_window_sec, "rate": cache.sample_rate, "mono": cache.mono, "durations": cache.durations,
    "sizes": cache.file_sizes, "lufs": {name: values.tolist() for name, values in cache.lufs.items()},
    "slots": len(dataset), "samples": dataset[0].waveform.shape[2]}))
`;

describe.skipIf(!hasAudiotree)('audiotree', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cutroom-audiotree-'));
    mkdirSync(path.join(folder, 'corpus'));
    for (const [name, frames, amplitude] of [
      ['a', 50_000, 0.5],
      ['b', 33_000, 0.001],
      ['c', 8000, 0.5],
    ] as const) {
      const wav = buildWav(makeNoise(frames, 1, 1, amplitude), { sampleRate: 16_000 });
      writeFileSync(path.join(folder, 'corpus', `${name}.wav`), wav);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('opens a cache of ours, filters by it, and measures the same', async () => {
    const out = path.join(folder, 'ours');
    await scan({ sources: [path.join(folder, 'corpus')], out, jobs: 1, loudness: { sampleRate: 16_000 } });
    const theirs = path.join(folder, 'theirs');
    const printed = execFileSync(PYTHON, ['-c', PROGRAM, out, theirs], { encoding: 'utf8', stdio: 'pipe' });
    using ours = await openLufsCache(out);
    using measured = await openLufsCache(theirs);
    const lufs = Object.fromEntries(ours.filepaths.map((name) => [name, [...ours.values(name)]]));
    const read = JSON.parse(printed) as Record<string, unknown>;
    expect(read).toMatchObject({ window: 1, rate: 16_000, mono: true, lufs, samples: 16_000 });
    // Three windows of the loud file, none of the quiet one, and the file without a window is kept.
    expect(read['slots']).toBe(4);
    expect(measured.filepaths).toEqual(ours.filepaths);
    for (const name of ours.filepaths) {
      expect(measured.values(name)).toHaveLength(ours.values(name).length);
      for (const [index, value] of measured.values(name).entries())
        expect(Math.abs(value - (ours.values(name)[index] ?? NaN))).toBeLessThanOrEqual(0.06);
    }
  });
});
