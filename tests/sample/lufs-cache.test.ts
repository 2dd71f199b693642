import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputError } from '#cutroom/errors.js';
import { BagWriter } from '#cutroom/sample/bagz.js';
import { openLufsCache, writeManifest, type LufsCache, type StaleFile } from '#cutroom/sample/lufs-cache.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-lufs-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const settings = { windowSeconds: 1, sampleRate: 44_100, mono: true };

async function writeCache(values: Readonly<Record<string, readonly number[]>>): Promise<void> {
  const parts: Uint8Array[] = [];
  const bag = new BagWriter(async (bytes) => void parts.push(Uint8Array.from(bytes)));
  for (const list of Object.values(values)) await bag.add(new Uint8Array(Float32Array.from(list).buffer));
  await bag.finish();
  writeFileSync(path.join(folder, 'lufs.bagz'), Buffer.concat(parts));
  let text = '';
  const files = Object.keys(values).map((name) => ({ path: name, durationSeconds: 7, sizeBytes: 5 }));
  await writeManifest(
    async (chunk) => void (text += String(chunk)),
    settings,
    () => files,
  );
  writeFileSync(path.join(folder, 'manifest.json'), text);
}

function changeManifest(change: Record<string, unknown>): void {
  const file = path.join(folder, 'manifest.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  writeFileSync(file, JSON.stringify({ ...manifest, ...change }));
}

async function staleOf(cache: LufsCache, base: string): Promise<StaleFile[]> {
  const stale: StaleFile[] = [];
  for await (const file of cache.staleFiles(base)) stale.push(file);
  return stale;
}

describe('openLufsCache()', () => {
  it('reads what was written, by path and by place', async () => {
    await writeCache({ 'a "b".wav': [-20.5, -Infinity], 'c.wav': [] });
    using cache = await openLufsCache(folder);
    expect(cache.settings).toEqual(settings);
    expect(cache.filepaths).toEqual(['a "b".wav', 'c.wav']);
    expect(cache.durations).toEqual([7, 7]);
    expect([...cache.values('a "b".wav')]).toEqual([-20.5, -Infinity]);
    expect([...cache.values(1)]).toEqual([]);
    expect(() => cache.values('d.wav')).toThrow(/does not know "d.wav"/u);
  });

  it('writes floats as Python does, so that audiotree takes them for floats', async () => {
    await writeCache({ 'a.wav': [] });
    const text = readFileSync(path.join(folder, 'manifest.json'), 'utf8');
    expect(text).toContain('"lufs_window_sec":1.0,"sample_rate":44100,"mono":true');
    expect(text).toContain('"durations":[7.0],"file_sizes":[5],"bagz_file":"lufs.bagz"}');
  });

  it('names the files that are gone or have another size', async () => {
    await writeCache({ 'gone.wav': [], 'same.wav': [], 'larger.wav': [] });
    writeFileSync(path.join(folder, 'same.wav'), '12345');
    writeFileSync(path.join(folder, 'larger.wav'), '1234567');
    using cache = await openLufsCache(folder);
    expect(await staleOf(cache, folder)).toEqual([
      { path: 'gone.wav', message: 'it is gone' },
      { path: 'larger.wav', message: 'its size was 5 bytes, and is 7 now' },
    ]);
  });

  it.each([
    ['its format is "x"', { format: 'x' }],
    ['its layout is [2,0]', { format_version: [2, 0] }],
    ['and 1.0 is read here', { min_reader_version: [1, 1] }],
    ['"filepaths" is no list of texts', { filepaths: [1] }],
    ['"lufs_window_sec" is no positive number', { lufs_window_sec: 0 }],
    ['"durations" is no list of 1 numbers', { durations: [1, 2] }],
    ['lies outside of its folder', { bagz_file: '../lufs.bagz' }],
    [
      'it has 1 records, and "manifest.json" names 2 files',
      { filepaths: ['a', 'b'], durations: null, file_sizes: null },
    ],
  ])('refuses a cache of which %s', async (message, change) => {
    await writeCache({ 'a.wav': [] });
    changeManifest(change);
    await expect(openLufsCache(folder)).rejects.toThrow(message);
    await expect(openLufsCache(folder)).rejects.toBeInstanceOf(InputError);
  });

  it('says how to make a cache where there is none', async () => {
    mkdirSync(path.join(folder, 'empty'));
    await expect(openLufsCache(path.join(folder, 'empty'))).rejects.toThrow(/There is no loudness cache/u);
  });

  const golden = path.resolve('../shared/data/audiotree-golden');
  it.skipIf(!existsSync(golden)).each(['w1.0-44100-mono', 'w0.4-44100-mono', 'w3.0-native-all'])(
    'reads audiotree 1.0: %s',
    async (name) => {
      const all = JSON.parse(readFileSync(path.join(golden, 'lufs.json'), 'utf8')) as Record<
        string,
        Record<string, number[]>
      >;
      const own = path.join(folder, name);
      cpSync(path.join(golden, name), own, { recursive: true, mode: 0 });
      using cache = await openLufsCache(own);
      expect(cache.filepaths).toEqual(Object.keys(all[name] ?? {}));
      for (const [file, values] of Object.entries(all[name] ?? {})) {
        expect(cache.values(file)).toHaveLength(values.length);
        for (const [index, value] of values.entries()) expect(cache.values(file)[index]).toBeCloseTo(value, 3);
      }
      expect(await staleOf(cache, path.resolve('../shared/data'))).toEqual([]);
    },
  );
});
