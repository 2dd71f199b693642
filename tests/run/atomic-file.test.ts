import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { OutputError } from '#cutroom/errors.js';
import { checkWritable, ensureFolder, partialPath, publishFile, writeFileAtomic } from '#cutroom/run/atomic-file.js';
import { mountSmallDisk } from '../support/small-disk.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'cutroom-atomic-'));
});
afterEach(() => rm(folder, { recursive: true }));

function writeText(file: string, text: string): Promise<void> {
  return writeFileAtomic(file, (write) => write(text));
}

describe('writeFileAtomic()', () => {
  test('writes strings and bytes in order, over its buffer', async () => {
    const file = path.join(folder, 'a.jsonl');
    const pieces = Array.from({ length: 3000 }, (_, index) => `${index} é\u{1F600} ${'x'.repeat(index % 400)}\n`);
    await writeFileAtomic(file, async (write) => {
      for (const [index, piece] of pieces.entries()) await write(index % 3 === 0 ? Buffer.from(piece) : piece);
      await write(Buffer.alloc(700_000, 'y'));
    });
    expect(await readFile(file, 'utf8')).toBe(pieces.join('') + 'y'.repeat(700_000));
    expect(await readdir(folder)).toEqual(['a.jsonl']);
  });

  test('keeps the order of writes that are not awaited', async () => {
    const file = path.join(folder, 'a');
    await writeFileAtomic(file, async (write) => {
      await Promise.all(Array.from({ length: 200 }, (_, index) => write(`${index},`.padEnd(5000, '.'))));
    });
    const numbers = (await readFile(file, 'utf8')).match(/\d+/g);
    expect(numbers).toEqual(Array.from({ length: 200 }, (_, index) => String(index)));
  });

  test('shows nothing at the final place before the end', async () => {
    const file = path.join(folder, 'a');
    await writeText(file, 'earlier');
    await writeFileAtomic(file, async (write) => {
      await write('x'.repeat(1 << 20));
      expect(await readFile(file, 'utf8')).toBe('earlier');
      expect((await readdir(folder)).toSorted()).toEqual(['a', 'a.partial']);
    });
    expect((await stat(file)).size).toBe(1 << 20);
  });

  test('passes on what the writer throws, and leaves the earlier file and no partial one', async () => {
    const file = path.join(folder, 'a');
    await writeText(file, 'earlier');
    const failure = new RangeError('row 3');
    const written = writeFileAtomic(file, async (write) => {
      await write('new');
      throw failure;
    });
    await expect(written).rejects.toBe(failure);
    expect(await readFile(file, 'utf8')).toBe('earlier');
    expect(await readdir(folder)).toEqual(['a']);
  });

  test('replaces what a killed run left', async () => {
    const file = path.join(folder, 'a');
    await writeFile(partialPath(file), 'longer than the new content');
    await writeText(file, 'new');
    expect(await readFile(file, 'utf8')).toBe('new');
    expect(await readdir(folder)).toEqual(['a']);
  });

  test('refuses writes after the writer has ended', async () => {
    let late: ((chunk: string) => Promise<void>) | undefined;
    await writeFileAtomic(path.join(folder, 'a'), async (write) => {
      late = write;
      await write('x');
    });
    expect(() => late?.('y')).toThrow(TypeError);
  });

  test.each([
    ['a folder', (file: string) => mkdir(file), 'it is a folder'],
    ['a partial file that is a folder', (file: string) => mkdir(`${file}.partial`), 'it is a folder'],
    ['a device', (file: string) => symlink('/dev/null', file), 'it is not a regular file'],
  ])('refuses %s', async (_, prepare, message) => {
    const file = path.join(folder, 'a');
    await prepare(file);
    const failure = writeText(file, 'x');
    await expect(failure).rejects.toThrow(OutputError);
    await expect(failure).rejects.toThrow(message);
    expect((await readdir(folder)).length).toBe(1);
  });

  test.each([
    ['none/a', 'its folder does not exist'],
    ['file/a', 'a part of the path is a file'],
    ['n'.repeat(250), 'the name is too long'],
  ])('names what is wrong with the path %s', async (name, message) => {
    await writeFile(path.join(folder, 'file'), '');
    const file = path.join(folder, name);
    const failure = writeText(file, 'x');
    await expect(failure).rejects.toThrow(message);
    await expect(failure).rejects.toMatchObject({ code: 'output', hint: expect.any(String) as string });
    await expect(checkWritable(file)).rejects.toThrow(message);
    expect(await readdir(folder)).toEqual(['file']);
  });

  test('says how much to free on a full disk, and leaves the earlier file and no partial one', async (context) => {
    const disk = mountSmallDisk(context, 64 * 1024);
    const file = path.join(disk, 'a');
    await writeText(file, 'earlier');
    const failure = writeText(file, 'x'.repeat(100_000));
    await expect(failure).rejects.toMatchObject({
      code: 'output',
      path: `${file}.partial`,
      message: `Cannot write "${file}.partial": no space left on the disk`,
      hint: expect.stringMatching(/^Free at least [\d,]+ bytes there/) as string,
    });
    expect(await readdir(disk)).toEqual(['a']);
    expect(await readFile(file, 'utf8')).toBe('earlier');
  });
});

describe('publishFile()', () => {
  test('gives a file its final name', async () => {
    const file = path.join(folder, 'a.tar');
    await writeFile(`${file}.partial`, 'whole');
    await publishFile(`${file}.partial`, file);
    expect(await readdir(folder)).toEqual(['a.tar']);
    expect(await readFile(file, 'utf8')).toBe('whole');
  });

  test('keeps the partial file when the final place is taken', async () => {
    const file = path.join(folder, 'a.tar');
    await writeFile(`${file}.partial`, 'whole');
    await mkdir(file);
    await expect(publishFile(`${file}.partial`, file)).rejects.toThrow('it is a folder');
    expect(await readFile(`${file}.partial`, 'utf8')).toBe('whole');
  });

  test('names a partial file that is missing', async () => {
    const file = path.join(folder, 'a.tar');
    await expect(publishFile(`${file}.partial`, file)).rejects.toMatchObject({
      code: 'output',
      path: `${file}.partial`,
    });
  });
});

describe('checkWritable()', () => {
  test('accepts a new file and a file to replace, and leaves nothing behind', async () => {
    await writeFile(path.join(folder, 'b'), 'b');
    await checkWritable(path.join(folder, 'a'));
    await checkWritable(path.join(folder, 'b'));
    expect(await readdir(folder)).toEqual(['b']);
    expect(await readFile(path.join(folder, 'b'), 'utf8')).toBe('b');
  });

  test('removes what a process left that was killed while it asked, and asks along with others', async () => {
    await writeFile(path.join(folder, '.cutroom-probe'), '');
    await checkWritable(path.join(folder, 'a'));
    await Promise.all(Array.from({ length: 20 }, (_, k) => checkWritable(path.join(folder, `${k}`))));
    expect(await readdir(folder)).toEqual([]);
  });

  test('refuses a folder as the file', async () => {
    await expect(checkWritable(folder)).rejects.toThrow(OutputError);
    await expect(checkWritable(folder)).rejects.toThrow(`Cannot write "${folder}": it is a folder`);
  });

  test('refuses a read-only file system', async (context) => {
    const disk = mountSmallDisk(context, 64 * 1024, { readOnly: true });
    await expect(checkWritable(path.join(disk, 'a'))).rejects.toMatchObject({
      message: `Cannot write to the folder "${disk}": the file system is read-only`,
      hint: 'Choose a folder on a file system that can be written to.',
    });
  });
});

describe('ensureFolder()', () => {
  test.skipIf(!existsSync('/proc/self'))('ends where a file system takes no folders', async () => {
    await expect(ensureFolder('/proc/cutroom/deep')).rejects.toThrow('Cannot make the folder "/proc/cutroom/deep"');
  });

  test('makes folders, and accepts one that is there', async () => {
    const deep = path.join(folder, 'x', 'y', 'z');
    await ensureFolder(deep);
    await ensureFolder(deep);
    expect((await stat(deep)).isDirectory()).toBe(true);
  });

  test.each(['file', 'file/x'])('refuses %s below a file', async (name) => {
    await writeFile(path.join(folder, 'file'), '');
    await expect(ensureFolder(path.join(folder, name))).rejects.toMatchObject({
      code: 'output',
      hint: 'Choose another path, or move that file away.',
    });
  });
});
