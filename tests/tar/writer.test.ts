import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, open, readFile, rm, stat, writeFile, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { InputError, OutputError } from '#cutroom/errors.js';
import { memberNameFault } from '#cutroom/tar/member-name.js';
import { compareCodePoints } from '#cutroom/tar/order.js';
import { readTarIndex } from '#cutroom/tar/reader.js';
import { TarAppender } from '#cutroom/tar/writer.js';
import { mountSmallDisk } from '../support/small-disk.js';

interface Entry {
  name: string;
  payload: Buffer;
}

const hasGnuTar = spawnSync('tar', ['--version'], { encoding: 'utf8' }).stdout?.includes('GNU tar') ?? false;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'cutroom-writer-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function appendAll(tar: TarAppender, entries: readonly Entry[]): Promise<number[]> {
  const offsets = [tar.offsetBytes];
  for (const { name, payload } of entries) {
    await tar.appendBytes(name, payload);
    offsets.push(tar.offsetBytes);
  }
  return offsets;
}

async function writeTar(file: string, entries: readonly Entry[]): Promise<number[]> {
  const tar = await TarAppender.open(file);
  try {
    const offsets = await appendAll(tar, entries);
    await tar.finish();
    return offsets;
  } finally {
    await tar.close();
  }
}

async function readEntries(file: string): Promise<Entry[]> {
  const bytes = await readFile(file);
  const { members } = await readTarIndex(file);
  return members.map(({ name, offsetBytes, sizeBytes }) => ({
    name,
    payload: bytes.subarray(offsetBytes, offsetBytes + sizeBytes),
  }));
}

/** Names that one folder can hold: no part is longer than a file name, none is both a file and a folder. */
const part = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', 'B', '0', '-', '_', '.', ' ', 'é', '\u{FF5E}', '\u{1F600}', '\\', '*', '"'),
    minLength: 1,
    maxLength: 60,
  }),
  fc.integer({ min: 95, max: 160 }).map((length) => 'n'.repeat(length)),
  fc.integer({ min: 95, max: 105 }).map((length) => `${'n'.repeat(length)}é`),
);
const entryList: fc.Arbitrary<Entry[]> = fc
  .array(
    fc.record({
      name: fc
        .array(part, { minLength: 1, maxLength: 4 })
        .map((parts) => `${parts.map((text) => `d${text}`).join('/')}.flac`)
        .filter((name) => memberNameFault(name) === undefined && Buffer.byteLength(name) < 900),
      payload: fc.oneof(
        fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
        fc.constantFrom(0, 511, 512, 513, 3000).map((sizeBytes) => Buffer.alloc(sizeBytes, 5)),
      ),
    }),
    { maxLength: 6 },
  )
  .map((entries) => [...new Map(entries.map((entry) => [entry.name, entry])).values()]);

describe('TarAppender', () => {
  test('writes what our reader reads, the same bytes each time', async () => {
    await fc.assert(
      fc.asyncProperty(entryList, async (entries) => {
        const [one, two] = [path.join(folder, 'one.tar'), path.join(folder, 'two.tar')];
        await writeTar(one, entries);
        await writeTar(two, entries);
        expect(await readEntries(one)).toEqual(entries);
        expect(await readTarIndex(one)).toMatchObject({ isComplete: true });
        expect((await readFile(one)).equals(await readFile(two))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test.skipIf(!hasGnuTar)('writes what GNU tar lists and extracts silently (needs GNU tar)', async () => {
    await fc.assert(
      fc.asyncProperty(entryList, async (entries) => {
        const file = path.join(folder, 'gnu.tar');
        await writeTar(file, entries);
        const listed = spawnSync('tar', ['-tvvf', file], { encoding: 'utf8' });
        expect([listed.status, listed.stderr]).toEqual([0, '']);
        const names = execFileSync('tar', ['--quoting-style=literal', '-tf', file], { encoding: 'utf8' });
        expect(names).toBe(entries.map((entry) => `${entry.name}\n`).join(''));
        const out = path.join(folder, 'extracted');
        await mkdir(out);
        const extracted = spawnSync('tar', ['-xf', file, '-C', out], { encoding: 'utf8' });
        expect([extracted.status, extracted.stderr]).toEqual([0, '']);
        for (const { name, payload } of entries) {
          expect((await readFile(path.join(out, name))).equals(payload)).toBe(true);
        }
        await rm(out, { recursive: true });
      }),
      { numRuns: 25 },
    );
  });

  test('resumed at any member boundary, gives identical bytes', async () => {
    await fc.assert(
      fc.asyncProperty(entryList, fc.nat(), fc.nat({ max: 3000 }), async (entries, choice, tornBytes) => {
        const [whole, resumed] = [path.join(folder, 'whole.tar'), path.join(folder, 'resumed.tar')];
        const offsets = await writeTar(whole, entries);
        const bytes = await readFile(whole);
        const done = choice % offsets.length;
        const resumeAtBytes = offsets[done] ?? 0;
        await writeFile(resumed, Buffer.concat([bytes.subarray(0, resumeAtBytes), Buffer.alloc(tornBytes, 9)]));
        const tar = await TarAppender.open(resumed, { resumeAtBytes });
        expect(tar.offsetBytes).toBe(resumeAtBytes);
        await appendAll(tar, entries.slice(done));
        expect(await tar.finish()).toBe(bytes.length);
        await tar.close();
        expect((await readFile(resumed)).equals(bytes)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('copies payloads larger than its buffer from another file', async () => {
    const source = path.join(folder, 'source.bin');
    const bytes = Buffer.from(Uint32Array.from({ length: 800_000 }, (_, index) => index * 2_654_435_761).buffer);
    await writeFile(source, bytes);
    const spans: [number, number][] = [
      [0, 10],
      [10, 3_000_000],
      [77, 1 << 20],
      [5, (1 << 20) - 512],
      [9, 0],
    ];
    const file = path.join(folder, 'copied.tar');
    const tar = await TarAppender.open(file);
    const handle = await open(source);
    for (const [index, [start, sizeBytes]] of spans.entries())
      await tar.appendFrom(handle, start, sizeBytes, `${index}`);
    await tar.sync();
    await tar.finish();
    await tar.close();
    await handle.close();
    const entries = await readEntries(file);
    expect(entries.map(({ payload }) => payload.length)).toEqual(spans.map(([, sizeBytes]) => sizeBytes));
    for (const [index, [start, sizeBytes]] of spans.entries()) {
      expect(entries[index]?.payload.equals(bytes.subarray(start, start + sizeBytes))).toBe(true);
    }
  });

  test('copies members of another tar, many at once', async () => {
    const source = path.join(folder, 'members.tar');
    const entries = ['a', 'b', 'c'.repeat(150), 'd'].map((name, k) => ({
      name,
      payload: Buffer.alloc(k * 700_000, k),
    }));
    const offsets = await writeTar(source, entries);
    const file = path.join(folder, 'members-copied.tar');
    const tar = await TarAppender.open(file, { sorted: true });
    const handle = await open(source);
    const [start = 0, second = 0, , , end = 0] = offsets;
    await tar.appendMembers(handle, start, second - start, { first: 'a', last: 'a' });
    expect(tar.offsetBytes).toBe(second);
    await expect(tar.appendMembers(handle, start, 512, { first: 'a', last: 'a' })).rejects.toThrow(RangeError);
    const beyond = tar.appendMembers(handle, second, end - second + 2048, { first: 'b', last: 'e' });
    await expect(beyond).rejects.toThrow(InputError);
    expect((await stat(file)).size).toBe(second);
    await tar.appendMembers(handle, second, end - second, { first: 'b', last: 'd' });
    await expect(tar.appendBytes('cd', Buffer.alloc(1))).rejects.toThrow(RangeError);
    await tar.finish();
    await tar.close();
    await handle.close();
    expect((await readFile(file)).equals(await readFile(source))).toBe(true);
  });

  test('leaves whole members when the source of a payload ends early', async () => {
    const source = path.join(folder, 'short.bin');
    await writeFile(source, Buffer.alloc(1000));
    const file = path.join(folder, 'short.tar');
    const tar = await TarAppender.open(file);
    const handle = await open(source);
    await tar.appendBytes('a', Buffer.alloc(5));
    const failure = tar.appendFrom(handle, 500, 501, 'b');
    await expect(failure).rejects.toThrow(InputError);
    await expect(failure).rejects.toThrow('Cannot read the payload of "b": its file ends at byte 1,000');
    expect((await stat(file)).size).toBe(1024);
    await tar.appendFrom(handle, 500, 500, 'b');
    await tar.finish();
    await tar.close();
    await handle.close();
    expect((await readEntries(file)).map(({ name }) => name)).toEqual(['a', 'b']);
  });

  test('refuses names out of code-point order when sorted', async () => {
    const file = path.join(folder, 'sorted.tar');
    const tar = await TarAppender.open(file, { sorted: true });
    const names = ['a', 'b', '\u{FF5E}', '\u{1F600}'].toSorted(compareCodePoints);
    for (const name of names) await tar.appendBytes(name, Buffer.alloc(1));
    await expect(tar.appendBytes('\u{1F600}', Buffer.alloc(1))).rejects.toThrow(RangeError);
    await expect(tar.appendBytes('\u{FF5E}!', Buffer.alloc(1))).rejects.toThrow(RangeError);
    const resumeAtBytes = tar.offsetBytes;
    await tar.close();
    const resumed = await TarAppender.open(file, { sorted: true, resumeAtBytes, lastName: names.at(-1) });
    await expect(resumed.appendBytes('c', Buffer.alloc(1))).rejects.toThrow(RangeError);
    await resumed.appendBytes('\u{1F601}', Buffer.alloc(1));
    await resumed.close();
    expect((await readTarIndex(file)).members).toHaveLength(5);
  });

  test('refuses to resume past the end of the file, and off a block', async () => {
    const file = path.join(folder, 'shorter.tar');
    await writeTar(file, [{ name: 'a', payload: Buffer.alloc(1) }]);
    const failure = TarAppender.open(file, { resumeAtBytes: 4096 });
    await expect(failure).rejects.toThrow(OutputError);
    await expect(failure).rejects.toThrow('at byte 4,096: it has 2,048 bytes');
    await expect(TarAppender.open(file, { resumeAtBytes: 100 })).rejects.toThrow(RangeError);
    expect((await stat(file)).size).toBe(2048);
    await expect(TarAppender.open(path.join(folder, 'none', 'a.tar'))).rejects.toMatchObject({
      code: 'output',
      hint: 'Make the folder first.',
    });
  });

  test('refuses calls that overlap, and calls after its end', async () => {
    const tar = await TarAppender.open(path.join(folder, 'calls.tar'));
    const first = tar.appendBytes('a', Buffer.alloc(9));
    await expect(tar.appendBytes('b', Buffer.alloc(9))).rejects.toThrow(TypeError);
    await first;
    await expect(tar.appendBytes('/b', Buffer.alloc(9))).rejects.toThrow(RangeError);
    await tar.finish();
    await expect(tar.appendBytes('b', Buffer.alloc(9))).rejects.toThrow('it is finished');
    expect(await tar.finish()).toBe(2048);
    await tar.close();
    await tar.close();
    await expect(tar.sync()).rejects.toThrow('it is closed');
  });

  test('survives a full disk: whole members stay, and appending goes on once there is room', async (context) => {
    const disk = mountSmallDisk(context, 128 * 1024);
    const file = path.join(disk, 'full.tar');
    const ballast = path.join(disk, 'ballast');
    await writeFile(ballast, Buffer.alloc(60 * 1024));
    const tar = await TarAppender.open(file);
    await tar.appendBytes('a', Buffer.alloc(20_000, 1));
    const { offsetBytes } = tar;
    const failure = tar.appendBytes('b', Buffer.alloc(90_000, 2));
    await expect(failure).rejects.toMatchObject({
      code: 'output',
      path: file,
      message: `Cannot write "${file}": no space left on the disk`,
      hint: 'Free at least 90,624 bytes there and run the same command again.',
    });
    expect((await stat(file)).size).toBe(offsetBytes);
    await rm(ballast);
    await tar.appendBytes('b', Buffer.alloc(90_000, 2));
    await tar.finish();
    await tar.close();
    const entries = await readEntries(file);
    expect(entries.map(({ name, payload }) => [name, payload.length])).toEqual([
      ['a', 20_000],
      ['b', 90_000],
    ]);
  });

  test('needs memory for its buffer alone', async () => {
    const sizeBytes = 150 * 1024 * 1024;
    const source: FileHandle = await open(path.join(folder, 'sparse.bin'), 'w+');
    await source.truncate(sizeBytes);
    const tar = await TarAppender.open(path.join(folder, 'sparse.tar'));
    const before = process.memoryUsage().rss;
    await tar.appendFrom(source, 0, sizeBytes, 'large');
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
    await tar.close();
    await source.close();
    await rm(path.join(folder, 'sparse.tar'));
  });
});
