// Draws as shards: the very frames of each, rows that tell where they come from, and folders that are not free.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { assert, constantFrom, maxSafeInteger, property } from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endFrame, firstFrame, toMicros } from '#cutroom/audio/times.js';
import type { CutroomError } from '#cutroom/errors.js';
import { rowOfDraw } from '#cutroom/sample/draw-row.js';
import { exportExcerpts } from '#cutroom/sample/export-excerpts.js';
import type { ExportOptions } from '#cutroom/sample/export-options.js';
import { planSample, type PlannedSample } from '#cutroom/sample/plan-sample.js';
import type { SampleOptions } from '#cutroom/sample/sample-options.js';
import { scan } from '#cutroom/sample/scan.js';
import { readTarIndex } from '#cutroom/tar/reader.js';
import { decodeFile } from '../support/decode.js';
import { expectTree, readRows, readTree } from '../support/pack-runs.js';
import { writeRamp } from './sampled-wavs.js';

const RATES = [11_025, 16_000, 44_100];
let folder = '';
let cache = '';
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-export-'));
  cache = path.join(folder, 'cache');
  for (const rate of RATES) writeRamp(path.join(folder, `wavs/${rate}.wav`), 5, rate);
  writeRamp(path.join(folder, 'wavs/short.wav'), 0.1, 16_000);
  await scan({ sources: [path.join(folder, 'wavs')], out: cache, jobs: 1 });
});
afterAll(() => rmSync(folder, { recursive: true }));

async function plan(more: Partial<SampleOptions> = {}): Promise<PlannedSample> {
  return await planSample({ scan: cache, durationSeconds: 0.25, sampleRate: null, alpha: 0.5, ...more });
}

async function errorOf(sample: PlannedSample, options: Partial<ExportOptions>): Promise<CutroomError> {
  return await exportExcerpts(sample, { outputDir: path.join(folder, 'never'), ...options }).then(
    () => expect.fail('it was exported'),
    (error: unknown) => error as CutroomError,
  );
}

describe('exportExcerpts()', () => {
  it('writes the very frames of each draw, with rows that tell where they are from', async () => {
    const out = path.join(folder, 'out');
    const sample = await plan({ numEpochs: 3 });
    const options = { outputDir: out, format: 'wav', numTars: 3, count: 35, jobs: 1 } as const;
    const { kind, summary } = await exportExcerpts(sample, options);
    expect([kind, summary.samples, summary.shards, summary.failed]).toEqual(['exported', 35, 3, {}]);
    let draw = 0;
    for (const shard of [0, 1, 2]) {
      const name = `excerpts.00000${shard}`;
      const tar = path.join(out, `audios/${name}.tar`);
      const { members } = await readTarIndex(tar);
      const rows = readRows(path.join(out, `manifests/${name}.jsonl`));
      expect(members.map((member) => member.name)).toEqual(rows.map((row) => row['audio_filepath']));
      for (const [at, row] of rows.entries()) {
        const drawn = rowOfDraw(sample.plan, sample.plan.at(draw));
        const { filepath: source, offset: source_offset, duration, epoch, index } = drawn;
        const digits = String(sample.plan.epochLength - 1).length;
        const audio_filepath = `e000${epoch}-${String(index).padStart(digits, '0')}.wav`;
        expect(row).toEqual({ audio_filepath, text: '', duration, source, source_offset, epoch, index });
        const { offsetBytes, sizeBytes } = members[at]!;
        const file = path.join(folder, 'member.wav');
        writeFileSync(file, readFileSync(tar).subarray(offsetBytes, offsetBytes + sizeBytes));
        const { samples, sampleRate } = decodeFile(file);
        expect([samples.length, sampleRate]).toEqual([drawn.frames, drawn.sample_rate]);
        const expected = Float64Array.from(samples, (_, n) => ((drawn.offset_frames + n) % 20_000) / 2 ** 15);
        expect(samples).toEqual(expected);
        draw += 1;
      }
    }
    expect(draw).toBe(35);
    expect(readFileSync(path.join(out, 'data.lst'), 'utf8').split('\n')).toHaveLength(4);
  });

  it('touches nothing when it is done already, and nothing of other options', async () => {
    const out = path.join(folder, 'out');
    const before = readTree(out);
    const options = { outputDir: out, format: 'wav', numTars: 3, count: 35, jobs: 1 } as const;
    const again = await exportExcerpts(await plan({ numEpochs: 3 }), options);
    expect([again.kind, again.summary.samples]).toEqual(['already_done', 35]);
    const other = await errorOf(await plan({ numEpochs: 3, shuffleSeed: 1 }), options);
    expect(other.message).toContain('does not fit: shuffle-seed is 0 there, and 1 here; excerpt-seed is 0 there');
    expect(other).toMatchObject({ code: 'output', hint: expect.stringContaining('--overwrite') });
    expectTree(out, before);
  });

  it('gives each frame of any rate a time that leads back to it', () => {
    const frame = maxSafeInteger().map((number) => Math.abs(number) % 2 ** 33);
    assert(
      property(frame, constantFrom(8000, 11_025, 16_000, 22_050, 44_100, 48_000, 96_000, 192_000), (at, rate) => {
        // The slack that `convertRecording()` gives.
        expect(firstFrame(toMicros(at / rate) + 0.5, rate)).toBe(at);
        expect(endFrame(toMicros(at / rate) - 1, rate)).toBe(at);
      }),
      { numRuns: 1000 },
    );
  });

  it('refuses what cannot be written before anything is', async () => {
    const cases: [Partial<SampleOptions>, Partial<ExportOptions>, string][] = [
      [{}, { numTars: 1, samplesPerTar: 1 }, 'Only one of --num-tars and --samples-per-tar'],
      [{}, { count: 1000 }, '--count 1000 is more than the '],
      [{}, { numTars: 9, count: 3 }, 'Cannot make 9 shards of 3 draws'],
      [{}, { compressionLevel: 0.5 }, '--compression-level is for MP3 alone'],
      [{ sampleRate: 44_100 }, { format: 'opus' }, 'OPUS cannot hold 44100 Hz'],
      [{ mono: false }, {}, 'Shards hold mono audio'],
      [{}, { outputDir: path.join(folder, 'a b') }, 'Cannot list shards'],
      [{}, { outputDir: cache, overwrite: true }, 'the outputs of "cutroom scan" are there'],
      [{}, { count: 0 }, 'count must be a whole number of 1 or more'],
    ];
    for (const [more, options, message] of cases) {
      expect((await errorOf(await plan(more), options)).message).toContain(message);
    }
    expect(readTree(folder).has('never/plan.jsonl')).toBe(false);
  });
});
