import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { planBuild, type BuildContext } from '#cutroom/build/build.js';
import type { BuildOptions } from '#cutroom/build/options.js';
import { CanceledError, InputError, OutputError, UsageError } from '#cutroom/errors.js';
import type { PlanFile } from '#cutroom/shard/plan-file.js';
import type { PackFailure, PlannedItem } from '#cutroom/shard/plan.js';

let folder: string;
let outputDir: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-build-'));
  outputDir = path.join(folder, 'out');
  // Planning by samples looks at no audio.
  writeFileSync(path.join(folder, 'a.wav'), 'x');
});
afterEach(() => rmSync(folder, { recursive: true }));

function writeInput(lines: readonly string[], name = 'train.tsv'): string {
  const input = path.join(folder, name);
  writeFileSync(input, lines.map((line) => `${line}\n`).join(''));
  return input;
}

const line = (id: string, more = ''): string => `${id}\ta.wav\ttext of ${id}${more}`;
const manyLines = (count: number): string[] =>
  Array.from({ length: count }, (_, row) => line(`u${row}`, `\t${row}\t${1 + (row % 5)}`));

async function plan(options: Partial<BuildOptions>, context?: BuildContext): Promise<PlanFile> {
  return await planBuild({ outputDir, numTars: 1, balanceBy: 'samples', ...options }, context);
}

const itemsOf = (made: PlanFile): PlannedItem[] => made.shards.flatMap((_, shard) => [...made.items(shard)]);
const rowsOf = (made: PlanFile): string[] =>
  itemsOf(made)
    .map(({ row, duration }) => row.join(duration ?? '?'))
    .toSorted();
const reasonsOf = (made: PlanFile): string[] =>
  [...made.failures()].map(({ line: number, reason }: PackFailure) => `${number} ${reason}`);

describe('planBuild()', () => {
  it('names shards as ATdataset does, with as many as are asked for', async () => {
    const input = writeInput(manyLines(10));
    const made = await plan({ input, numTars: 3 });
    expect(made.shards.map(({ tar, manifest }) => [tar, manifest])).toEqual(
      ['000000', '000001', '000002'].map((n) => [`audios/train.${n}.tar`, `manifests/train.${n}.jsonl`]),
    );
    expect(made.shards.map(({ itemCount }) => itemCount)).toEqual([4, 3, 3]);
    expect(
      itemsOf(made)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(manyLines(10).map((_, row) => `u${row}`));
    expect(readdirSync(outputDir)).toEqual(['plan.jsonl']);
  });

  it('puts own fields before others, and lets them win', async () => {
    const input = writeInput([
      line('u1', '\t0\t-1\t{"text": "x", "lang":"de", "duration": 9, "audio_filepath":"y"}'),
      line('u2', '\t0.5\t2.50'),
    ]);
    const made = await plan({ input, format: 'wav' });
    expect(rowsOf(made)).toEqual([
      '{"audio_filepath":"u1.wav","text":"text of u1","duration":?,"lang":"de"}',
      '{"audio_filepath":"u2.wav","text":"text of u2","duration":2.50}',
    ]);
    expect(itemsOf(made).find(({ id }) => id === 'u2')).toMatchObject({
      member: 'u2.wav',
      path: 'a.wav',
      how: 'encode',
      span: { start: 500_000, end: 3_000_000 },
    });
    expect(made.header).toMatchObject({ base: folder, audio: { format: 'wav', sampleRate: null, channel: 'average' } });
  });

  it('lists all that is wrong by line, and plans the rest', async () => {
    const input = writeInput([
      line('u1'),
      'u2\ta.wav',
      line('u1'),
      'u3\tnone.wav\thi',
      line('a.b'),
      '\ta.wav\thi',
      'u4\t \thi',
      line('u5', '\t-1\t1'),
      'u3\ta.wav\tfound',
      `u6\t.\thi`,
      line('__u__/a'),
      'u7\ta.wav\t',
    ]);
    const made = await plan({ input });
    expect(reasonsOf(made)).toEqual([
      ...['2 field_count', '3 duplicate_id', '4 missing_recording', '5 bad_id', '6 empty_id', '7 empty_path'],
      ...['8 bad_start', '9 duplicate_id', '10 unreadable_recording', '11 bad_id'],
    ]);
    expect(
      itemsOf(made)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(['u1', 'u7']);
    expect(made.header.facts).toMatchObject({ rowsRead: 12, rowsKept: 2, emptyTexts: 1 });
    const failures = readFileSync(path.join(outputDir, 'failures.jsonl'), 'utf8').trimEnd().split('\n');
    expect(failures).toHaveLength(10);
    expect(JSON.parse(failures[1]!)).toMatchObject({
      message: 'the id "u1" is that of line 1, too',
      file: input,
      line: 3,
    });
  });

  it('makes ids fit where that is asked for, and keeps them in the rows', async () => {
    const input = writeInput([line('en.001'), line('en.002')]);
    const made = await plan({ input, onBadId: 'flatten' });
    expect(rowsOf(made)[0]).toBe('{"audio_filepath":"en_001.flac","text":"text of en.001","duration":?,"id":"en.001"}');
    expect(made.header.facts).toMatchObject({ flattenedIds: 2 });
  });

  it('refuses to lose rows whose ids become one', async () => {
    const made = await plan({ input: writeInput([line('a.b'), line('a_b')]), onBadId: 'flatten' });
    expect(reasonsOf(made)).toEqual(['2 duplicate_id']);
  });

  it('makes ids of paths for a NeMo manifest', async () => {
    const input = writeInput(['{"audio_filepath":"a.wav","text":"hi","duration":1.5,"lang":"de"}'], 'nemo.json');
    const made = await plan({ input });
    expect(rowsOf(made)).toEqual(['{"audio_filepath":"a.flac","text":"hi","duration":1.5,"lang":"de"}']);
  });

  it('normalizes texts only where that is asked for', async () => {
    const input = writeInput(['u1\ta.wav\t 你 好 ']);
    expect(rowsOf(await plan({ input }))[0]).toContain('"text":" 你 好 "');
    expect(rowsOf(await plan({ input, normalizeText: 'cjk', overwrite: true }))[0]).toContain('"text":"你好"');
  });

  it('gives the same plan for plain, gzipped and piped input', async () => {
    const input = writeInput(manyLines(20));
    const bytes = readFileSync(input);
    const plain = await plan({ input, tarPrefix: 'x' });
    const packed = path.join(folder, 'in.gz');
    writeFileSync(packed, gzipSync(bytes));
    // The same input: the plan is found to be that of these very bytes.
    expect((await plan({ input: packed, tarPrefix: 'x' })).hash).toBe(plain.hash);
    const stdin = Readable.from([bytes.subarray(0, 1), bytes.subarray(1)]);
    const piped = await plan({ input: '-', tarPrefix: 'x', base: folder }, { stdin });
    expect(piped.hash).toBe(plain.hash);
    expect(readdirSync(outputDir)).toEqual(['plan.jsonl']);
  });

  it('balances by the durations that rows tell, without looking at audio', async () => {
    const made = await plan({ input: writeInput(manyLines(23)), numTars: 4, balanceBy: 'duration' });
    const micros = made.shards.map((shard) => shard.micros);
    expect(micros.reduce((sum, each) => sum + each, 0)).toBe(66e6);
    expect(Math.max(...micros) - Math.min(...micros)).toBeLessThanOrEqual(5e6);
  });

  it('uses a plan again, and refuses one of other input or options', async () => {
    const input = writeInput(manyLines(10));
    const { hash, path: file } = await plan({ input });
    expect((await plan({ input })).hash).toBe(hash);
    const failure = await plan({ input, seed: 43, format: 'mp3' }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(OutputError);
    expect((failure as OutputError).message).toContain('--seed is 42 there, and 43 here');
    expect((failure as OutputError).message).toContain('--format is flac there, and mp3 here');
    writeInput(manyLines(11));
    await expect(plan({ input })).rejects.toThrow('the input is another, or was changed since');
    expect(readFileSync(file, 'utf8')).toContain(`"sha256":"${hash}"`);
    const other = await plan({ input, overwrite: true });
    expect(other.hash).not.toBe(hash);
    expect(other.header.facts).toMatchObject({ rowsRead: 11 });
  });

  it('keeps an earlier dataset until a plan that replaces it is made', async () => {
    const input = writeInput(manyLines(4));
    const { shards } = await plan({ input, numTars: 2 });
    const finals = [...shards.map(({ tar }) => tar), 'metrics.json', 'data.lst', 'data.0-1.lst'];
    mkdirSync(path.join(outputDir, 'audios'));
    for (const file of finals) writeFileSync(path.join(outputDir, file), '{}');
    const there = (): string[] => finals.filter((file) => existsSync(path.join(outputDir, file)));
    await expect(plan({ input, numTars: 5, overwrite: true })).rejects.toThrow(InputError);
    await expect(plan({ input: writeInput(['bad'], 'bad.tsv'), overwrite: true })).rejects.toThrow(InputError);
    expect(there()).toEqual(finals);
    expect(existsSync(path.join(outputDir, 'failures.jsonl'))).toBe(false);
    await plan({ input, numTars: 1, overwrite: true });
    expect(there()).toEqual([]);
  });

  it('takes another base for a part, and for nothing else', async () => {
    const input = writeInput(manyLines(4));
    const { hash } = await plan({ input, numTars: 2 });
    expect((await plan({ numTars: undefined, balanceBy: undefined, splitStart: 1, base: '/elsewhere' })).hash).toBe(
      hash,
    );
    await expect(plan({ input, numTars: 2, base: path.join(folder, 'other') })).rejects.toThrow('--base is');
  });

  it('needs the plan alone for a part of the shards', async () => {
    const input = writeInput(manyLines(10));
    const { hash } = await plan({ input, numTars: 4, seed: 7 });
    const part = { numTars: undefined, balanceBy: undefined, splitStart: 0, splitEnd: 2 } as const;
    expect((await plan(part)).hash).toBe(hash);
    expect((await plan({ ...part, input })).hash).toBe(hash);
    expect((await plan({ ...part, input, numTars: 4 })).hash).toBe(hash);
    await expect(plan({ ...part, numTars: 5 })).rejects.toThrow('--num-tars is 4 there, and 5 here');
    await expect(plan({ ...part, input, numTars: 5, overwrite: true })).rejects.toThrow(OutputError);
  });

  it('says what is missing where there is no plan, and makes no folder', async () => {
    await expect(plan({})).rejects.toThrow(UsageError);
    await expect(plan({ input: writeInput(manyLines(2)), numTars: undefined })).rejects.toThrow('how many shards');
    expect(existsSync(outputDir)).toBe(false);
  });

  it('refuses sizes that clash', async () => {
    const input = writeInput(manyLines(2));
    await expect(plan({ input, samplesPerTar: 2 })).rejects.toThrow('Only one of');
    await expect(plan({ input, numTars: undefined, durationPerTar: 1 })).rejects.toThrow('--balance-by samples');
    await expect(plan({ input, sampleRate: 44_100, format: 'opus' })).rejects.toThrow('OPUS cannot hold 44100 Hz');
    await expect(plan({ input, tarPrefix: 'a/b' })).rejects.toThrow('it holds a slash');
    await expect(plan({ input, numTars: 0 })).rejects.toThrow(RangeError);
  });

  it('refuses more shards than rows, and input without a good row', async () => {
    await expect(plan({ input: writeInput(manyLines(3)), numTars: 4 })).rejects.toThrow(InputError);
    await expect(plan({ input: writeInput([]) })).rejects.toThrow('There is no row in');
    const input = writeInput(['u1\tnone.wav\thi']);
    await expect(plan({ input })).rejects.toThrow('No row of');
    expect(readFileSync(path.join(outputDir, 'failures.jsonl'), 'utf8')).toContain('missing_recording');
    await expect(plan({ input: path.join(folder, 'none.tsv') })).rejects.toThrow('it is not there');
  });

  it('leaves what is of another dataset alone', async () => {
    mkdirSync(outputDir);
    writeFileSync(path.join(outputDir, 'data.lst'), 'mine');
    const input = writeInput(manyLines(2));
    await expect(plan({ input })).rejects.toThrow('is of another dataset');
    await plan({ input, overwrite: true });
    expect(existsSync(path.join(outputDir, 'data.lst'))).toBe(false);
  });

  it('leaves no folder behind where there is nothing to read, and one that was there as it was', async () => {
    await expect(plan({ input: folder })).rejects.toThrow('the folder holds no tar');
    expect(existsSync(outputDir)).toBe(false);
    mkdirSync(outputDir);
    await expect(plan({ input: folder })).rejects.toThrow('the folder holds no tar');
    expect(readdirSync(outputDir)).toEqual([]);
  });

  it('stops at once on a signal, without a plan', async () => {
    const input = writeInput(manyLines(2));
    await expect(plan({ input }, { signal: AbortSignal.abort() })).rejects.toThrow(CanceledError);
    expect(existsSync(outputDir)).toBe(false);
  });
});
