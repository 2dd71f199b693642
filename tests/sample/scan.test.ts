import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InputError, UsageError } from '#cutroom/errors.js';
import { AUDIO_EXTENSIONS, findAudioFiles } from '#cutroom/sample/find-audio.js';
import { readPathList } from '#cutroom/sample/path-list.js';
import { scan, type ScanResult } from '#cutroom/sample/scan.js';
import type { ScanOptions } from '#cutroom/sample/scan-options.js';
import { rowOf } from '#cutroom/sample/scan-row.js';
import { ScanTable } from '#cutroom/sample/scan-table.js';

// What scans find and keep is in tests/slow/sample/scan.test.ts: each starts processes.

let folder: string;
let corpus: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-scan-'));
  corpus = path.join(folder, 'corpus');
  mkdirSync(path.join(corpus, 'b', '.git'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

function touch(...names: string[]): void {
  for (const name of names) writeFileSync(path.join(corpus, name), 'x');
}

async function run(options: Partial<ScanOptions> = {}): Promise<ScanResult> {
  return await scan({ sources: [corpus], out: path.join(folder, 'out'), jobs: 1, ...options });
}

async function find(sources: readonly string[], extensions: readonly string[] = AUDIO_EXTENSIONS): Promise<string[]> {
  const found = await findAudioFiles({ sources, extensions });
  return found.map((file) => path.relative(corpus, file)).toSorted();
}

describe('scan()', () => {
  it('refuses options that make no sense', async () => {
    await expect(run({ sources: [] })).rejects.toBeInstanceOf(UsageError);
    await expect(run({ loudness: { windowSeconds: 0.3 } })).rejects.toThrow(/windows of 0.3 s/u);
    await expect(run({ loudness: { sampleRate: 100 } })).rejects.toThrow(/at 100 Hz/u);
    await expect(run({ extensions: ['a/b'] })).rejects.toThrow(/no extension/u);
    await expect(run({ jobs: 0 })).rejects.toBeInstanceOf(RangeError);
    await expect(run({ sources: corpus as never })).rejects.toThrow(/^sources must be a list of paths, not string/u);
    await expect(run({ filepaths: [corpus] as never })).rejects.toThrow(/^filepaths must be the path of a list/u);
  });

  it('names all that leads to no file', async () => {
    writeFileSync(path.join(corpus, 'b', 'notes.txt'), 'x');
    const sources = [path.join(corpus, 'b'), path.join(corpus, 'none'), path.join(corpus, '*.flac')];
    const failure = await run({ sources }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(InputError);
    const { message } = failure as InputError;
    expect(message).toContain('corpus/b" holds no file with an extension of audio, but 1 other');
    expect(message).toContain('corpus/none" is not there');
    expect(message).toContain('corpus/*.flac" matches no file');
  });
});

describe('findAudioFiles()', () => {
  it('passes over what is hidden or no audio, and links that lead round in a circle', async () => {
    touch('a.wav', 'b/c.FLAC', '.d.wav', 'b/.git/e.wav', 'notes.txt');
    symlinkSync(corpus, path.join(corpus, 'b', 'loop'));
    symlinkSync(path.join(corpus, 'a.wav'), path.join(corpus, 'link.wav'));
    expect(await find([corpus])).toEqual(['a.wav', 'b/c.FLAC', 'link.wav']);
  });

  it('takes the asked extensions of patterns and folders, and any of files that are named', async () => {
    touch('a.wav', 'b/c.wav', 'b/d.mp3', 'b/e.xyz');
    const named = path.join(corpus, 'b/e.xyz');
    expect(await find([`${corpus}/**/*`, named], ['wav'])).toEqual(['a.wav', 'b/c.wav', 'b/e.xyz']);
    expect(await find([`${corpus}/?`], ['mp3'])).toEqual(['b/d.mp3']);
  });
});

describe('readPathList()', () => {
  const list = (): string => path.join(folder, 'list');

  it('takes paths and manifests, joined to a base', async () => {
    writeFileSync(list(), '{"audio_filepath": "a.wav", "path": "no"}\nb c.wav\r\n\n/d.wav\n{"path": "e.wav"}\n');
    expect(await readPathList(list(), '/base')).toEqual(['/base/a.wav', '/base/b c.wav', '/d.wav', '/base/e.wav']);
  });

  it.each(['{"text": "x"}', '{"path": 1}', '{"path"'])('refuses a row without a path: %s', async (row) => {
    writeFileSync(list(), `a.wav\n${row}\n`);
    await expect(readPathList(list(), '/')).rejects.toThrow(/line 2 holds no path/u);
  });

  it('says why a list cannot be read', async () => {
    await expect(readPathList('-', '/')).rejects.toMatchObject({
      message: 'Cannot read "-": it is not there',
      hint: 'A list is a file with a path a line; standard input and pipes are not read.',
    });
    await expect(readPathList(corpus, '/')).rejects.toThrow(/: it is a folder$/u);
    await expect(readPathList('/dev/null', '/')).rejects.toThrow(/: it is not a regular file$/u);
  });

  it('refuses a list that names no file', async () => {
    writeFileSync(list(), '\n');
    await expect(readPathList(list(), '/')).rejects.toThrow(/names no file/u);
  });
});

describe('ScanTable', () => {
  const facts = {
    ...{ frames: 5, sampleRate: 16_000, channels: 1, container: 'wav', codec: 'pcm_s16le' },
    ...{ sizeBytes: 2 ** 40, mtimeMicros: 1_700_000_000_123_456 },
  };

  it('keeps each path once, in the order of code points, and finds it', () => {
    const table = new ScanTable(['b', '\u{1f600}', 'a', 'b', '\uffee', 'B']);
    expect(table.paths).toEqual(['B', 'a', 'b', '\uffee', '\u{1f600}']);
    for (const [index, name] of table.paths.entries()) expect(table.find(name)).toBe(index);
    for (const name of ['', 'A', 'bb', '\u{1f601}']) expect(table.find(name)).toBeUndefined();
  });

  it('gives back what it was given, until a file fails', () => {
    const table = new ScanTable(['a', 'b']);
    const loudness = {
      ...{ integratedLufs: -20.5, rangeLu: undefined, maxMomentaryLufs: -19, maxShortTermLufs: -Infinity },
      truePeakDb: -1,
    };
    table.set(1, facts, loudness, { offsetBytes: 8, count: 2 });
    expect(table.factsOf(0)).toBeUndefined();
    expect(table.factsOf(1)).toEqual(facts);
    expect(table.loudnessOf(1)).toEqual(loudness);
    expect(table.spoolPlaceOf(1)).toEqual({ offsetBytes: 8, count: 2 });
    expect(rowOf('b', facts, loudness).loudness).toMatchObject({ range_lu: null, max_short_term_lufs: null });
    table.set(1, facts, undefined, undefined);
    expect(table.loudnessOf(1)).toBeUndefined();
    table.fail(1, { path: 'b', reason: 'x', message: 'y' });
    expect(table.factsOf(1)).toBeUndefined();
    expect([...table.failures.keys()]).toEqual([1]);
  });
});
