// The index of a tar: what it finds, where it is kept, and that a file of it is never believed when it should not be.
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMemberIndex } from '#cutroom/tar/member-index.js';
import { readTarIndex } from '#cutroom/tar/reader.js';
import { tarBytes } from '../support/shard-files.js';

const NAMES = ['a.flac', 'b.c.flac', 'dir/b.c.flac', 'x-sub1.wav', 'y.wav', 'y.json', 'z.wav', 'z.flac', 'ü/鳥.flac'];
let folder = '';
let count = 0;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-members-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function writeTar(bytes: Buffer = tarBytes(NAMES)): string {
  const file = path.join(folder, `${(count += 1)}.tar`);
  writeFileSync(file, bytes);
  return file;
}

describe('openMemberIndex()', () => {
  it('finds each member where the reader of tars does', async () => {
    const tar = writeTar();
    const index = await openMemberIndex(tar);
    const { members } = await readTarIndex(tar);
    expect(index).toMatchObject({ memberCount: NAMES.length, isWhole: true, problem: undefined });
    for (const { name, offsetBytes, sizeBytes } of members) {
      expect(index.find(name)).toEqual({ name, offsetBytes, sizeBytes });
    }
  });

  it('finds a member without the -subN of NeMo, and by its id where one audio file alone has it', async () => {
    const index = await openMemberIndex(writeTar());
    expect(index.find('a-sub12.flac')?.name).toBe('a.flac');
    expect(index.find('x-sub1.wav')?.name).toBe('x-sub1.wav');
    expect(index.find('b.c.wav')?.name).toBe('b.c.flac');
    expect(index.find('dir/b.c.mp3')?.name).toBe('dir/b.c.flac');
    expect(index.find('y.flac')?.name).toBe('y.wav');
    expect(index.find('z.mp3')).toBeUndefined();
    expect(index.find('b')).toBeUndefined();
    expect(index.find('')).toBeUndefined();
  });

  it('takes the first of two members of one name, and says so', async () => {
    const index = await openMemberIndex(writeTar(tarBytes(['a.wav', 'b.wav', 'a.wav'])));
    expect(index.find('a.wav')?.offsetBytes).toBe(512);
    expect(index).toMatchObject({ memberCount: 2, isWhole: true, problem: { reason: 'duplicate_member' } });
  });

  it('has the whole members of a torn tar', async () => {
    const index = await openMemberIndex(writeTar(tarBytes(['a.wav', 'b.wav']).subarray(0, 1800)));
    expect(index).toMatchObject({ memberCount: 1, isWhole: false, problem: { reason: 'unreadable_tar' } });
    expect(index.problem?.message).toMatch(/truncated.*last whole member is "a.wav"/u);
    expect(index.find('a.wav')).toBeDefined();
    expect(index.find('b.wav')).toBeUndefined();
  });

  it('tells of a tar that was not ended, and refuses what is none, compressed or missing', async () => {
    const bytes = tarBytes(['a.wav']);
    const unfinished = await openMemberIndex(writeTar(bytes.subarray(0, bytes.length - 1024)));
    expect(unfinished).toMatchObject({ isWhole: true, memberCount: 1, problem: { reason: 'unfinished_tar' } });
    await expect(openMemberIndex(writeTar(gzipSync(bytes)))).rejects.toMatchObject({ hint: /gunzip/u });
    await expect(openMemberIndex(writeTar(Buffer.alloc(2000, 1)))).rejects.toThrow(/as a tar/u);
    await expect(openMemberIndex(path.join(folder, 'none.tar'))).rejects.toThrow(/there is no such file/u);
  });

  it('stops at the signal', async () => {
    const names = Array.from({ length: 1200 }, (_, k) => `${k}.wav`);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(openMemberIndex(writeTar(tarBytes(names, 1)), { signal })).rejects.toThrow('enough');
  });

  it('keeps any names, beside the tar, and finds them again', async () => {
    const part = fc.stringMatching(/^[a-zé鳥-][a-z.]{0,5}[a-z鳥]$/u);
    const name = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    const property = fc.asyncProperty(fc.uniqueArray(name, { maxLength: 40, minLength: 1 }), async (names) => {
      const tar = writeTar(tarBytes(names, 3));
      const made = await openMemberIndex(tar, { keep: 'beside' });
      const read = await openMemberIndex(tar);
      expect(read.origin).toEqual({ kind: 'read', path: `${tar}.members` });
      expect(read.memberCount).toBe(names.length);
      for (const wanted of [...names, 'q.q', 'q']) expect(read.find(wanted)).toEqual(made.find(wanted));
      for (const wanted of names) expect(read.find(wanted)?.name).toBe(wanted);
    });
    await fc.assert(property, { numRuns: 20 });
  });
});

describe('the file of an index', () => {
  it('lies in a folder under a name of its own for each tar, and keeps what was wrong with the tar', async () => {
    const cache = path.join(folder, 'cache');
    mkdirSync(cache);
    const torn = writeTar(tarBytes(['a.wav', 'b.wav']).subarray(0, 1800));
    const made = await openMemberIndex(torn, { keep: { folder: cache } });
    await openMemberIndex(writeTar(), { keep: { folder: cache } });
    expect(readdirSync(cache)).toHaveLength(2);
    const read = await openMemberIndex(torn, { keep: { folder: cache } });
    expect(read.origin.kind).toBe('read');
    expect(read).toMatchObject({ isWhole: false, memberCount: 1, problem: made.problem });
  });

  it('is made anew when the tar has changed', async () => {
    const tar = writeTar();
    await openMemberIndex(tar, { keep: 'beside' });
    utimesSync(tar, 1000, 1000);
    expect((await openMemberIndex(tar, { keep: 'beside' })).origin.kind).toBe('indexed');
    expect((await openMemberIndex(tar, { keep: 'beside' })).origin.kind).toBe('read');
    const { atime, mtime } = statSync(tar);
    writeFileSync(tar, tarBytes(['other.wav']));
    utimesSync(tar, atime, mtime);
    expect((await openMemberIndex(tar)).find('other.wav')).toBeDefined();
  });

  it('is not believed with any byte damaged, or cut', async () => {
    const tar = writeTar(tarBytes(['a.wav', 'b.wav']));
    await openMemberIndex(tar, { keep: 'beside' });
    const good = readFileSync(`${tar}.members`);
    const damaged = fc.oneof(
      fc.integer({ min: 0, max: good.length - 1 }).map((at) => {
        const bytes = Buffer.from(good);
        bytes[at] = (bytes[at] ?? 0) ^ 0x10;
        return bytes;
      }),
      fc.integer({ min: 0, max: good.length - 1 }).map((end) => good.subarray(0, end)),
    );
    const property = fc.asyncProperty(damaged, async (bytes) => {
      writeFileSync(`${tar}.members`, bytes);
      const index = await openMemberIndex(tar);
      expect(index.origin.kind).toBe('indexed');
      expect(index.find('b.wav')?.offsetBytes).toBe(1536);
    });
    await fc.assert(property, { numRuns: 40 });
  });

  it('does not take the place of another file, and where it cannot be kept the index serves all the same', async () => {
    const tar = writeTar();
    writeFileSync(`${tar}.members`, 'a list of people');
    const index = await openMemberIndex(tar, { keep: 'beside' });
    expect(index.origin).toEqual({ kind: 'indexed', notKept: `"${tar}.members" is another file` });
    expect(readFileSync(`${tar}.members`, 'utf8')).toBe('a list of people');
    const nowhere = await openMemberIndex(tar, { keep: { folder: path.join(folder, 'no/such') } });
    expect(nowhere.origin).toMatchObject({ notKept: /folder does not exist/u });
    expect(nowhere.find('a.flac')).toBeDefined();
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([]);
  });
});
