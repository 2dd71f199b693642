import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutputError } from '#cutroom/errors.js';
import { openLufsCache } from '#cutroom/sample/lufs-cache.js';
import { openScan } from '#cutroom/sample/read-scan.js';
import { scan, type ScanResult } from '#cutroom/sample/scan.js';
import type { ScanOptions } from '#cutroom/sample/scan-options.js';
import type { ScannedFile } from '#cutroom/sample/scan-types.js';
import { writeEncoded } from '../../support/encode.js';
import { makeNoise } from '../../support/signals.js';
import { buildWav } from '../../support/wav-files.js';

let folder: string;
let corpus: string;
let out: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-scan-'));
  corpus = path.join(folder, 'corpus');
  out = path.join(folder, 'out');
  mkdirSync(path.join(corpus, 'b'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

function writeWav(name: string, frames: number, amplitude = 0.5): void {
  writeFileSync(path.join(corpus, name), buildWav(makeNoise(frames, 1, 1, amplitude), { sampleRate: 16_000 }));
}

async function run(options: Partial<ScanOptions> = {}): Promise<ScanResult> {
  return await scan({ sources: [corpus], out, jobs: 1, ...options });
}

async function filesOf(place: string): Promise<ScannedFile[]> {
  const files: ScannedFile[] = [];
  for await (const file of (await openScan(place)).files()) files.push(file);
  return files;
}

function outputBytes(): Record<string, string> {
  return Object.fromEntries(readdirSync(out).map((name) => [name, readFileSync(path.join(out, name), 'latin1')]));
}

describe('scan()', () => {
  it('finds what folders hold, in the order of the paths, and passes over what is hidden or no audio', async () => {
    for (const name of ['b/2.wav', 'b/10.WAV', 'a.wav', '.hidden.wav']) writeWav(name, 800);
    writeFileSync(path.join(corpus, 'notes.txt'), 'x');
    mkdirSync(path.join(corpus, '.git'));
    writeWav('.git/c.wav', 800);
    symlinkSync(corpus, path.join(corpus, 'b', 'loop'));
    const { kind, summary, readFiles } = await run();
    expect({ kind, files: summary.files, readFiles }).toEqual({ kind: 'scanned', files: 3, readFiles: 3 });
    const found = (await filesOf(out)).map(({ path: name }) => path.relative(corpus, name));
    expect(found).toEqual(['a.wav', 'b/10.WAV', 'b/2.wav']);
  });

  it('reads lengths, rates and channels, of files that are decoded too', async () => {
    writeWav('a.wav', 12_345);
    writeEncoded(
      path.join(corpus, 'b.flac'),
      { samples: makeNoise(20_001, 2), sampleRate: 44_100, channels: 2 },
      'flac',
    );
    writeEncoded(
      path.join(corpus, 'c.mp3'),
      { samples: makeNoise(20_001), sampleRate: 44_100, channels: 1 },
      'mp3-vbr',
    );
    const [wav, flac, mp3] = await filesOf((await run()).outputs.folder);
    expect(wav).toMatchObject({
      frames: 12_345,
      sampleRate: 16_000,
      channels: 1,
      container: 'wav',
      codec: 'pcm_s16le',
    });
    expect(wav?.filepath).toBe(path.join(corpus, 'a.wav'));
    expect(flac).toMatchObject({ frames: 20_001, sampleRate: 44_100, channels: 2, container: 'flac', codec: 'flac' });
    expect(mp3).toMatchObject({ frames: 20_001, sampleRate: 44_100, channels: 1, container: 'mp3' });
  });

  it('leaves out files that cannot be read, with the reason, and tries them again the next time', async () => {
    writeWav('a.wav', 800);
    writeFileSync(path.join(corpus, 'bad.wav'), 'junk');
    writeFileSync(path.join(corpus, 'empty.wav'), '');
    const { summary, outputs, firstFailures } = await run();
    expect(summary.failed).toEqual({ empty_recording: 1, not_audio: 1 });
    expect(firstFailures.map(({ reason }) => reason)).toEqual(['not_audio', 'empty_recording']);
    const lines = readFileSync(outputs.failures, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { path: string }).path)).toEqual([
      path.join(corpus, 'bad.wav'),
      path.join(corpus, 'empty.wav'),
    ]);
    expect(await run()).toMatchObject({ kind: 'unchanged', keptFiles: 1, readFiles: 2 });
    renameSync(path.join(corpus, 'empty.wav'), path.join(corpus, 'void.wav'));
    expect(await run()).toMatchObject({ kind: 'scanned', keptFiles: 1, readFiles: 2 });
    expect(readFileSync(outputs.failures, 'utf8')).toContain('void.wav');
    writeWav('bad.wav', 900);
    expect(await run()).toMatchObject({ kind: 'scanned', keptFiles: 1, readFiles: 2, summary: { files: 2 } });
  });

  it('reads again only what has changed, by size or time, and forgets what is gone', async () => {
    for (const name of ['a.wav', 'b.wav', 'c.wav', 'd.wav']) writeWav(name, 800);
    await run();
    const before = outputBytes();
    expect(await run()).toMatchObject({ kind: 'unchanged', readFiles: 0, keptFiles: 4 });
    expect(outputBytes()).toEqual(before);
    writeWav('a.wav', 801);
    utimesSync(path.join(corpus, 'b.wav'), 1, 1);
    rmSync(path.join(corpus, 'c.wav'));
    writeWav('e.wav', 5);
    const again = await run();
    expect(again).toMatchObject({ kind: 'scanned', readFiles: 3, changedFiles: 2, keptFiles: 1, removedFiles: 1 });
    expect((await filesOf(out)).map(({ frames }) => frames)).toEqual([801, 800, 800, 5]);
  });

  it('names files that have changed since', async () => {
    for (const name of ['a.wav', 'b.wav', 'c.wav']) writeWav(name, 800);
    await run();
    writeWav('a.wav', 900);
    utimesSync(path.join(corpus, 'b.wav'), 1, 1);
    rmSync(path.join(corpus, 'c.wav'));
    const stale = [];
    for await (const file of (await openScan(out)).staleFiles()) stale.push(file.message);
    expect(stale).toEqual([
      'its size was 1644 bytes, and is 1844 now',
      expect.stringMatching(/^it was changed at 1970-01-01T00:00:01\.000Z, after the scan of what it was at /u),
      'it is gone',
    ]);
  });

  it('measures loudness into a cache of the same files, and measures again only what has changed', async () => {
    writeWav('a.wav', 40_000);
    writeWav('b.wav', 8000);
    writeWav('c.wav', 16_000, 0);
    const { summary } = await run({ loudness: {} });
    expect(summary).toMatchObject({ windows: 3, silentFiles: 1 });
    const [a, , c] = await filesOf(out);
    expect(a?.loudness?.integratedLufs).toBeGreaterThan(-20);
    expect(c?.loudness).toMatchObject({ integratedLufs: -Infinity, truePeakDb: -Infinity, rangeLu: undefined });
    {
      using cache = await openLufsCache(out);
      expect(cache.settings).toEqual({ windowSeconds: 1, sampleRate: 44_100, mono: true });
      expect(cache.filepaths).toEqual(['a.wav', 'b.wav', 'c.wav'].map((name) => path.join(corpus, name)));
      expect(cache.durations).toEqual([2.5, 0.5, 1]);
      expect(cache.values(0)).toHaveLength(2);
      expect([...cache.values(1)]).toEqual([]);
      expect([...cache.values(2)]).toEqual([-Infinity]);
    }
    const before = outputBytes();
    writeWav('b.wav', 8001);
    expect(await run({ loudness: {} })).toMatchObject({ readFiles: 1, keptFiles: 2, summary: { windows: 3 } });
    const after = outputBytes();
    expect(after['lufs.bagz']).toBe(before['lufs.bagz']);
  });

  it('adds loudness to a scan without, and lets none be lost or become another unasked', async () => {
    writeWav('a.wav', 16_000);
    await run();
    expect(await run({ loudness: {} })).toMatchObject({ readFiles: 1, summary: { windows: 1 } });
    await expect(run()).rejects.toThrow(
      /loudness by windows of 1 s, at 44100 Hz, mono, which this one does not measure/u,
    );
    await expect(run({ loudness: { windowSeconds: 2 } })).rejects.toBeInstanceOf(OutputError);
    await run({ overwrite: true });
    expect(readdirSync(out).toSorted()).toEqual(['failures.jsonl', 'metrics.json', 'scan.jsonl']);
  });

  it('keeps paths relative to a base, which may move with the scan', async () => {
    writeWav('b/a.wav', 800);
    await run({ base: corpus });
    const [file] = await filesOf(out);
    expect(file).toMatchObject({ path: 'b/a.wav', filepath: path.join(corpus, 'b/a.wav') });
    for await (const moved of (await openScan(out, { base: '/elsewhere' })).files())
      expect(moved.filepath).toBe('/elsewhere/b/a.wav');
  });

  it('takes lists of paths and manifests, whose paths lie under their folder', async () => {
    for (const name of ['a.wav', 'b.wav', 'b/c.wav']) writeWav(name, 800);
    const list = path.join(corpus, 'list.jsonl');
    writeFileSync(list, '{"audio_filepath": "a.wav"}\nb/c.wav\n\na.wav\n');
    const { summary } = await run({ sources: [], filepaths: list });
    expect(summary.files).toBe(2);
    writeFileSync(list, 'a.wav\n{"text": "x"}\n');
    await expect(run({ sources: [], filepaths: list })).rejects.toThrow(/line 2 holds no path/u);
  });

  it('takes patterns, and only the asked extensions but for files that are named', async () => {
    for (const name of ['a.wav', 'b/c.wav', 'b/d.mp3', 'b/e.xyz']) writeWav(name, 800);
    const named = path.join(corpus, 'b/e.xyz');
    const { summary } = await run({ sources: [`${corpus}/**/*`, named], extensions: ['.WAV'] });
    expect(summary.files).toBe(3);
  });

  it('refuses to replace a scan of other sources, and files of others', async () => {
    writeWav('a.wav', 800);
    await run();
    await expect(run({ sources: [path.join(corpus, 'a.wav')] })).rejects.toThrow(/it holds a scan with other sources/u);
    rmSync(path.join(out, 'metrics.json'));
    await expect(run()).rejects.toThrow(/it holds "scan.jsonl", which is not of a finished scan/u);
    await expect(openScan(out)).rejects.toThrow(/There is no finished scan/u);
    expect(await run({ overwrite: true })).toMatchObject({ kind: 'scanned' });
    writeFileSync(path.join(out, 'metrics.json'), '{"rows_read":1}\n');
    await expect(run({ overwrite: true })).rejects.toThrow(/the outputs of "cutroom build" are there/u);
  });

  it('writes the same bytes whatever the number of jobs', async () => {
    for (let number = 0; number < 30; number += 1) writeWav(`${number}.wav`, 7000 + number);
    await run({ loudness: { windowSeconds: 0.4 } });
    const before = outputBytes();
    rmSync(out, { recursive: true });
    await run({ loudness: { windowSeconds: 0.4 }, jobs: 3 });
    expect(outputBytes()).toEqual(before);
  });

  it('goes on where it was stopped', async () => {
    for (let number = 0; number < 20; number += 1) writeWav(`${number}.wav`, 7000 + number);
    await run({ loudness: { windowSeconds: 0.4 } });
    const before = outputBytes();
    rmSync(out, { recursive: true });
    const stop = new AbortController();
    const options = { sources: [corpus], out, jobs: 1, loudness: { windowSeconds: 0.4 } };
    const stopped = scan(options, {
      signal: stop.signal,
      onProgress: (now) => {
        if (now.stage === 'read' && now.files >= 5) stop.abort();
      },
    });
    await expect(stopped).rejects.toThrow(/goes on from there/u);
    expect(readdirSync(out)).toEqual(['.cutroom-scan']);
    const { keptFiles, readFiles } = await run({ loudness: { windowSeconds: 0.4 } });
    expect(keptFiles).toBeGreaterThanOrEqual(5);
    expect(keptFiles + readFiles).toBe(20);
    expect(outputBytes()).toEqual(before);
  });
});
