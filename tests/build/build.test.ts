import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { build, type BuildResult } from '#cutroom/build/build.js';
import type { BuildOptions } from '#cutroom/build/options.js';
import { VERSION } from '#cutroom/version.js';
import { OutputError } from '#cutroom/errors.js';
import { END_OF_ARCHIVE, paddingBytes, tarHeader } from '#cutroom/tar/header.js';
import { jsonLines, rowOf } from '../support/shard-files.js';
import { makeSine } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-build-'));
  mkdirSync(path.join(folder, 'audio'));
  for (let n = 0; n < 6; n += 1) {
    writeFileSync(path.join(folder, 'audio', `${n}.wav`), buildWav(makeSine(1600 * (n + 1), 16_000, 300)));
  }
  writeFileSync(path.join(folder, 'audio', 'bad.wav'), 'no audio');
});
afterAll(() => rmSync(folder, { recursive: true }));

function writeInput(name: string, lines: readonly string[]): string {
  const input = path.join(folder, name);
  writeFileSync(input, lines.join('\n'));
  return input;
}

async function run(out: string, options: Partial<BuildOptions>): Promise<BuildResult> {
  return await build({ outputDir: path.join(folder, out), jobs: 1, ...options });
}

const sixLines = Array.from({ length: 6 }, (_, n) => `u${n}\taudio/${n}.wav\ttext ${n}`);
const read = (out: string, file: string): string => readFileSync(path.join(folder, out, file), 'utf8');

describe('build()', () => {
  it('makes shards, list and metrics, measures what rows do not tell, and accounts for every row', async () => {
    const lines = [...sixLines, 'late\taudio/0.wav\tx\t9\t1', 'bad\taudio/bad.wav\tx', 'u1\taudio/1.wav\tx'];
    const input = writeInput('t.tsv', lines);
    const result = await run('all', { input, numTars: 2 });
    expect(result.kind).toBe('built');
    expect(result.isWithinLimit).toBe(false);
    expect(result.summary).toMatchObject({
      rowsRead: 9,
      samples: 6,
      durationMicros: 2_100_000,
      failedRows: { not_audio: 1, duplicate_id: 1 },
      failedMembers: { past_end: 1 },
    });
    const rows = ['000000', '000001'].flatMap((n) => read('all', `manifests/t.${n}.jsonl`).trimEnd().split('\n'));
    expect(rows.toSorted()[0]).toBe('{"audio_filepath":"u0.flac","text":"text 0","duration":0.1}');
    const list = read('all', 'data.lst').trimEnd().split('\n');
    expect(list).toHaveLength(2);
    for (const entry of list) expect(entry).toMatch(/^\/\S+\/audios\/t\.\d{6}\.tar \/\S+\.jsonl 0\.000\d{3} \d$/u);
    const failures = read('all', 'failures.jsonl').trimEnd().split('\n');
    expect(failures.map((text) => (JSON.parse(text) as { line: number }).line)).toEqual([8, 9, 7]);
    expect(JSON.parse(read('all', 'metrics.json'))).toMatchObject({ rows_read: 9, samples: 6, duration_sec: 2.1 });
    expect(readdirSync(path.join(folder, 'all')).toSorted()).toEqual([
      ...['audios', 'data.lst', 'failures.jsonl', 'manifests', 'metrics.json', 'plan.jsonl'],
    ]);

    const again = await run('all', { input, numTars: 2 });
    expect(again).toMatchObject({ kind: 'already_done', isWithinLimit: false, summary: result.summary });
    expect((await run('all', { onError: 'skip' })).isWithinLimit).toBe(true);
    expect((await run('all', { maxFailures: { count: 3 } })).isWithinLimit).toBe(true);
    rmSync(path.join(folder, 'all', 'audios', 't.000001.tar'));
    await expect(run('all', {})).rejects.toThrow('it is gone');
    expect(await run('all', { overwrite: true, onError: 'skip' })).toMatchObject({
      kind: 'built',
      summary: result.summary,
    });
  });

  it('makes parts of the shards in any order, and the last one ends the dataset', async () => {
    const input = writeInput('parts.tsv', sixLines);
    const options = { numTars: 3, balanceBy: 'samples', copy: true, format: 'wav', input } as const;
    await run('parts', { ...options, planOnly: true });
    const last = await run('parts', { splitStart: 2 });
    expect(last).toMatchObject({ kind: 'part', list: path.join(folder, 'parts', 'data.2-3.lst') });
    expect(last.summary).toMatchObject({ shards: 1, plannedShards: 3, samples: 2, copied: 2 });
    expect((await run('parts', { splitStart: 2, splitEnd: 3 })).kind).toBe('part');
    expect((await run('parts', { splitStart: 0, splitEnd: 2 })).kind).toBe('built');
    const parts = read('parts', 'data.0-2.lst') + read('parts', 'data.2-3.lst');
    expect(read('parts', 'data.lst')).toBe(parts);
    expect((await run('parts', { splitStart: 1 })).kind).toBe('already_done');
    await expect(run('parts', { splitStart: 3 })).rejects.toThrow('past the last shard');
  });

  it('answers in a part for the members of its own shards, and in the plan for rows', async () => {
    const lines = [...sixLines.slice(0, 3), 'late\taudio/0.wav\tx\t9\t1', 'bad\taudio/none.wav\tx'];
    const input = writeInput('answers.tsv', lines);
    const options = { numTars: 2, balanceBy: 'samples', copy: true, format: 'wav', input } as const;
    const planned = await run('answers', { ...options, planOnly: true });
    expect(planned).toMatchObject({ isWithinLimit: false, failed: { rows: 1, members: 0, of: 5 } });
    const parts = [await run('answers', { splitEnd: 1 }), await run('answers', { splitStart: 1 })];
    const counts = parts.map(({ failed }) => failed);
    expect(counts.toSorted((a, b) => a.members - b.members)).toEqual([
      { rows: 0, members: 0, of: 2 },
      { rows: 0, members: 1, of: 2 },
    ]);
    expect(parts.map(({ isWithinLimit }) => isWithinLimit)).toEqual(counts.map(({ members }) => members === 0));
    const again = [await run('answers', { splitEnd: 1 }), await run('answers', { splitStart: 1 })];
    expect(again.map(({ kind, failed }) => ({ kind, failed }))).toEqual(
      counts.map((failed) => ({ kind: 'already_done', failed })),
    );
    expect(await run('answers', options)).toMatchObject({
      isWithinLimit: false,
      failed: { rows: 1, members: 1, of: 5 },
    });
    expect(JSON.parse(read('answers', 'metrics.json'))).toMatchObject({
      failed_rows: { missing_recording: 1 },
      failed_members: { past_end: 1 },
    });
  });

  it('takes shards that are packed already, and copies their members', async () => {
    const input = writeInput('packed.tsv', [...sixLines, 'u9\taudio/2.wav\tpart\t0.1\t0.15\t{"lang":"de"}']);
    await run('packed', { input, numTars: 2, format: 'wav' });
    const dataset = path.join(folder, 'packed');
    const again = await run('repacked', { input: dataset, numTars: 3, seed: 7, format: 'wav', copy: true });
    expect(again).toMatchObject({
      kind: 'built',
      summary: { samples: 7, copied: 7, failedRows: {}, failedMembers: {} },
    });
    const rowsIn = (out: string, names: readonly string[]): string[] =>
      names.flatMap((name) => read(out, `manifests/${name}.jsonl`).trimEnd().split('\n')).toSorted();
    const packed = rowsIn('packed', ['packed.000000', 'packed.000001']);
    expect(rowsIn('repacked', ['packed.000000', 'packed.000001', 'packed.000002'])).toEqual(packed);
    expect(packed.at(-1)).toBe('{"audio_filepath":"u9.wav","text":"part","duration":0.15,"lang":"de"}');
    // One that was changed since is not the one that was planned.
    rmSync(path.join(dataset, 'manifests', 'packed.000001.jsonl'));
    await expect(run('repacked', { input: dataset, numTars: 3, seed: 7, format: 'wav', copy: true })).rejects.toThrow();
  });

  it('copies members of a packed dataset by what they are, and looks at those of cutroom no second time', async () => {
    const input = writeInput('own.tsv', sixLines.slice(0, 2));
    await run('own', { input, numTars: 1, format: 'wav' });
    const howOf = (out: string): (string | undefined)[] =>
      read(out, 'plan.jsonl')
        .split('\n')
        .slice(1, 3)
        .map((line) => (JSON.parse(line) as { how?: string }).how);
    const options = { numTars: 1, format: 'wav', copy: true } as const;
    const own = await run('own-again', { ...options, input: path.join(folder, 'own') });
    expect(own.summary).toMatchObject({ samples: 2, copied: 2 });
    expect(howOf('own-again')).toEqual(['copy', 'copy']);

    const foreign = path.join(folder, 'foreign');
    mkdirSync(foreign);
    const mono = buildWav(makeSine(800, 16_000, 300));
    const stereo = buildWav(makeSine(1600, 16_000, 300), { channels: 2 });
    const members = [mono, stereo].flatMap((wav, n) => [
      tarHeader({ name: `${n}.wav`, sizeBytes: wav.length }),
      Buffer.concat([wav, Buffer.alloc(paddingBytes(wav.length))]),
    ]);
    writeFileSync(path.join(foreign, 'f.tar'), Buffer.concat([...members, END_OF_ARCHIVE]));
    writeFileSync(path.join(foreign, 'f.jsonl'), jsonLines([rowOf('0.wav', 9), rowOf('1.wav', 9)]));
    const made = await run('foreign-again', { ...options, input: foreign, tarPrefix: 'f' });
    expect(made.summary).toMatchObject({ samples: 2, copied: 1, durationMicros: 100_000 });
    const rows = read('foreign-again', 'manifests/f.000000.jsonl').trimEnd().split('\n');
    expect(rows.map((row) => (JSON.parse(row) as { duration: number }).duration)).toEqual([0.05, 0.05]);
  });

  it('takes what another version finished for finished, and goes on with no plan of another version', async () => {
    const input = writeInput('version.tsv', sixLines.slice(0, 1));
    const options = { numTars: 1, balanceBy: 'samples', copy: true, format: 'wav', input } as const;
    await run('version', options);
    const planFile = path.join(folder, 'version', 'plan.jsonl');
    const plan = readFileSync(planFile, 'utf8');
    const other = VERSION.replace(/.$/u, (digit) => (digit === '9' ? '8' : '9'));
    writeFileSync(planFile, plan.replace(VERSION, other));
    expect((await run('version', options)).kind).toBe('already_done');
    expect((await run('version', { splitStart: 0 })).kind).toBe('already_done');
    expect((await run('version', { ...options, overwrite: true })).kind).toBe('built');
    expect(readFileSync(planFile, 'utf8')).toBe(plan);
    writeFileSync(planFile, plan.replace(VERSION, other));
    rmSync(path.join(folder, 'version', 'metrics.json'));
    await expect(run('version', options)).rejects.toThrow(`it was made by cutroom ${other}, and this is ${VERSION}`);
  });

  it('replaces no shard that it did not make', async () => {
    const input = writeInput('other.tsv', sixLines);
    mkdirSync(path.join(folder, 'other', 'audios'), { recursive: true });
    writeFileSync(path.join(folder, 'other', 'audios', 'other.000000.tar'), 'mine');
    await expect(run('other', { input, numTars: 1, balanceBy: 'samples' })).rejects.toThrow(OutputError);
    expect(read('other', 'audios/other.000000.tar')).toBe('mine');
  });
});
