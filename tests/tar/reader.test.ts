import { randomBytes } from 'node:crypto';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { InputError } from '#cutroom/errors.js';
import { END_OF_ARCHIVE, headerChecksum, paddingBytes, tarHeader } from '#cutroom/tar/header.js';
import { members, readTarIndex } from '#cutroom/tar/reader.js';

let folder: string;
let fileCount = 0;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'cutroom-reader-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function writeTar(...parts: (Buffer | Readonly<Uint8Array>)[]): Promise<string> {
  const file = path.join(folder, `${fileCount++}.tar`);
  await writeFile(file, Buffer.concat(parts));
  return file;
}

function memberBytes(name: string, payload: Buffer): Buffer {
  return Buffer.concat([
    tarHeader({ name, sizeBytes: payload.length }),
    payload,
    Buffer.alloc(paddingBytes(payload.length)),
  ]);
}

/** A header with some fields changed, and its sum made right again. */
function changedHeader(name: string, sizeBytes: number, change: (block: Buffer) => void): Buffer {
  const block = tarHeader({ name, sizeBytes });
  change(block);
  block.write(`${headerChecksum(block).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

function extension(type: string, payload: Buffer): Buffer {
  const header = changedHeader('extension', payload.length, (block) => block.write(type, 156));
  return Buffer.concat([header, payload, Buffer.alloc(paddingBytes(payload.length))]);
}

async function failureOf(file: string): Promise<InputError> {
  const error: unknown = await readTarIndex(file).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(InputError);
  return error as InputError;
}

const first = memberBytes('a.flac', Buffer.alloc(700, 1));
const second = memberBytes('b.flac', Buffer.from('payload of b'));

describe('readTarIndex()', () => {
  test('finds names, places and sizes', async () => {
    const index = await readTarIndex(await writeTar(first, second, END_OF_ARCHIVE));
    expect(index).toEqual({
      members: [
        { name: 'a.flac', type: 'file', offsetBytes: 512, sizeBytes: 700, headerOffsetBytes: 0 },
        { name: 'b.flac', type: 'file', offsetBytes: 2048, sizeBytes: 12, headerOffsetBytes: 1536 },
      ],
      isComplete: true,
      endOffsetBytes: 2560,
    });
  });

  test('says that the end of the archive is missing', async () => {
    for (const end of [Buffer.alloc(0), Buffer.alloc(512)]) {
      const index = await readTarIndex(await writeTar(first, end));
      expect(index).toMatchObject({ isComplete: false, endOffsetBytes: 1536 });
      expect(index.members).toHaveLength(1);
    }
    expect(await readTarIndex(await writeTar())).toEqual({ members: [], isComplete: false, endOffsetBytes: 0 });
  });

  test('reads nothing behind the end of the archive', async () => {
    const index = await readTarIndex(await writeTar(first, END_OF_ARCHIVE, Buffer.alloc(9000, 7)));
    expect(index).toMatchObject({ isComplete: true, endOffsetBytes: 1536 });
  });

  test('refuses a file cut at any byte that is not the end of a member', async () => {
    const whole = Buffer.concat([first, second, END_OF_ARCHIVE]);
    const boundaries = new Set([0, 1536, 2560, 3072]);
    for (let sizeBytes = 1; sizeBytes < whole.length; sizeBytes += 31) {
      if (boundaries.has(sizeBytes)) continue;
      const file = await writeTar(whole.subarray(0, sizeBytes));
      const error = await failureOf(file);
      expect(error.message).toMatch(/is truncated/);
      expect(error.offsetBytes).toBeLessThanOrEqual(sizeBytes);
    }
  });

  test('names the member whose payload is truncated, and gives out those before it', async () => {
    const file = await writeTar(first, second.subarray(0, 700));
    const found: string[] = [];
    const listing = (async () => {
      for await (const member of members(file)) found.push(member.name);
    })();
    await expect(listing).rejects.toThrow('at byte 2,048: the payload of "b.flac" is truncated');
    expect(found).toEqual(['a.flac']);
  });

  test('refuses a header with any bit flipped', async () => {
    for (let byte = 0; byte < 512; byte += 3) {
      const damaged = Buffer.concat([first, second, END_OF_ARCHIVE]);
      damaged[1536 + byte] = (damaged[1536 + byte] ?? 0) ^ 4;
      const file = await writeTar(damaged);
      const error = await failureOf(file);
      expect(error).toMatchObject({ path: file, offsetBytes: 1536 });
      expect(error.message).toContain('at byte 1,536: a header has a bad checksum');
    }
  });

  test('refuses zeros in place of a header, which other readers take for the end', async () => {
    const error = await failureOf(await writeTar(first, Buffer.alloc(512), second, END_OF_ARCHIVE));
    expect(error.offsetBytes).toBe(1536);
  });

  test('tells a compressed tar from a damaged one', async () => {
    const compressed = await failureOf(await writeTar(gzipSync(randomBytes(2000))));
    expect(compressed.hint).toContain('gunzip');
    const other = await failureOf(await writeTar(Buffer.alloc(1024, 'RIFF')));
    expect(other.hint).toContain('not a tar');
  });

  test('names a file that is missing, and a folder', async () => {
    expect((await failureOf(path.join(folder, 'none.tar'))).message).toContain('there is no such file');
    expect((await failureOf(folder)).message).toContain('not a regular file');
  });

  test('reads names from pax headers, GNU long names and the ustar prefix', async () => {
    const names = [`${'ü'.repeat(200)}.flac`, `${'p'.repeat(120)}/${'n'.repeat(90)}`, 'x'.repeat(300)];
    const gnu = Buffer.concat([
      extension('L', Buffer.from(`${names[2]}\0`)),
      changedHeader('x'.repeat(100), 0, (block) => block.write('ustar  \0', 257, 'latin1')),
    ]);
    const parts = [memberBytes(names[0] ?? '', Buffer.from('1')), memberBytes(names[1] ?? '', Buffer.from('2')), gnu];
    const index = await readTarIndex(await writeTar(...parts, END_OF_ARCHIVE));
    expect(index.members.map((member) => member.name)).toEqual(names);
    expect(index.members.map((member) => member.headerOffsetBytes)).toEqual([0, 2048, 3072]);
  });

  test('takes no prefix from old GNU headers, which keep times there', async () => {
    const header = changedHeader('a', 0, (block) => {
      block.write('ustar  \0', 257, 'latin1');
      block.write('14000000000', 345, 'latin1');
    });
    expect((await readTarIndex(await writeTar(header, END_OF_ARCHIVE))).members[0]?.name).toBe('a');
  });

  test('applies global pax headers until one takes them back', async () => {
    const file = await writeTar(
      extension('g', Buffer.from('14 path=named\n')),
      memberBytes('a', Buffer.alloc(0)),
      extension('x', Buffer.from('8 path=\n')),
      memberBytes('b', Buffer.alloc(0)),
      END_OF_ARCHIVE,
    );
    expect((await readTarIndex(file)).members.map((member) => member.name)).toEqual(['named', 'b']);
  });

  test('refuses malformed and lonely extended headers', async () => {
    for (const records of ['14 path=name\n', '99 path=a\n', 'path=a\n', '12 size=1e3\n', '11 size=-1\n', '7 patha\n']) {
      const file = await writeTar(
        extension('x', Buffer.from(records)),
        memberBytes('a', Buffer.alloc(0)),
        END_OF_ARCHIVE,
      );
      expect((await failureOf(file)).message).toContain('an extended header is malformed');
    }
    const lonely = await failureOf(
      await writeTar(first, extension('x', Buffer.from('8 path=b\n'.replace('8', '9'))), END_OF_ARCHIVE),
    );
    expect(lonely.message).toContain('an extended header has no member');
    const huge = await failureOf(
      await writeTar(
        changedHeader('a', 2 ** 30, (block) => block.write('x', 156)),
        END_OF_ARCHIVE,
      ),
    );
    expect(huge.message).toContain('claims 1,073,741,824 bytes');
  });

  test('reads base-256 sizes, and refuses those beyond whole numbers', async () => {
    const base256 = (bytes: number[]) =>
      changedHeader('a', 0, (block) => {
        block.fill(0, 124, 136);
        block.set([0x80], 124);
        block.set(bytes, 136 - bytes.length);
      });
    const index = await readTarIndex(await writeTar(base256([2, 188]), Buffer.alloc(1024), END_OF_ARCHIVE));
    expect(index.members[0]).toMatchObject({ sizeBytes: 700, offsetBytes: 512 });
    const error = await failureOf(await writeTar(base256([1, 0, 0, 0, 0, 0, 0, 0]), END_OF_ARCHIVE));
    expect(error.message).toContain('bad size');
  });

  test('gives folders and links no payload, and refuses what it cannot place', async () => {
    const typed = (type: string, sizeBytes: number) => changedHeader('a', sizeBytes, (block) => block.write(type, 156));
    const index = await readTarIndex(
      await writeTar(typed('5', 99), typed('1', 99), typed('2', 0), typed('6', 0), second, END_OF_ARCHIVE),
    );
    expect(index.members.map(({ type, sizeBytes }) => [type, sizeBytes])).toEqual([
      ['folder', 0],
      ['hardlink', 0],
      ['symlink', 0],
      ['device', 0],
      ['file', 12],
    ]);
    expect((await failureOf(await writeTar(typed('S', 0), END_OF_ARCHIVE))).message).toContain('sparse');
    expect((await failureOf(await writeTar(typed('M', 0), END_OF_ARCHIVE))).message).toContain('multi-volume');
  });

  test('finds the member behind one of 9 GB', async () => {
    const sizeBytes = 9_000_000_001;
    const file = path.join(folder, 'large.tar');
    const handle = await open(file, 'w');
    const header = tarHeader({ name: 'large.wav', sizeBytes });
    const endBytes = header.length + sizeBytes + paddingBytes(sizeBytes);
    await handle.write(header, 0, header.length, 0);
    await handle.write(second, 0, second.length, endBytes);
    await handle.truncate(endBytes + second.length + 1024);
    await handle.close();
    const index = await readTarIndex(file);
    await rm(file);
    expect(index).toEqual({
      members: [
        { name: 'large.wav', type: 'file', offsetBytes: 1536, sizeBytes, headerOffsetBytes: 0 },
        { name: 'b.flac', type: 'file', offsetBytes: endBytes + 512, sizeBytes: 12, headerOffsetBytes: endBytes },
      ],
      isComplete: true,
      endOffsetBytes: endBytes + second.length,
    });
  });
});
