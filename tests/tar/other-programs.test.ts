import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { END_OF_ARCHIVE, paddingBytes, tarHeader } from '#cutroom/tar/header.js';
import { readTarIndex } from '#cutroom/tar/reader.js';
import { TarAppender } from '#cutroom/tar/writer.js';

const hasGnuTar = spawnSync('tar', ['--version'], { encoding: 'utf8' }).stdout?.includes('GNU tar') ?? false;
const hasPython = spawnSync('python3', ['-c', 'import tarfile']).status === 0;

/** Lengths around the limits of the name field, of the prefix and of both, and a character across the 100th byte. */
const NAMES = [
  ...[99, 100, 101, 155, 256, 300].map((length) => 'n'.repeat(length)),
  `${'p'.repeat(150)}/${'n'.repeat(100)}`,
  `${'p'.repeat(156)}/${'n'.repeat(90)}`,
  `${'n'.repeat(98)}\u{1F600}.flac`,
  `${'é'.repeat(60)}/${'ü'.repeat(40)}.flac`,
  `${'\u{FF5E}'.repeat(60)}.flac`,
  'plain.flac',
];

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'cutroom-programs-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function writeNames(file: string): Promise<void> {
  const tar = await TarAppender.open(file);
  for (const name of NAMES) await tar.appendBytes(name, Buffer.from(name));
  await tar.finish();
  await tar.close();
}

/** A tar of a sparse member of 9 GB and a small one behind it. */
async function writeLarge(file: string): Promise<number> {
  const sizeBytes = 9_000_000_001;
  const header = tarHeader({ name: 'large.wav', sizeBytes });
  const endBytes = header.length + sizeBytes + paddingBytes(sizeBytes);
  const rest = Buffer.concat([tarHeader({ name: 'b', sizeBytes: 0 }), END_OF_ARCHIVE]);
  const handle = await open(file, 'w');
  await handle.write(header, 0, header.length, 0);
  await handle.write(rest, 0, rest.length, endBytes);
  await handle.close();
  return sizeBytes;
}

describe.skipIf(!hasGnuTar)('GNU tar (skipped where it is missing)', () => {
  test('lists our names of every length', async () => {
    const file = path.join(folder, 'names.tar');
    await writeNames(file);
    const listed = execFileSync('tar', ['--quoting-style=literal', '-tf', file], { encoding: 'utf8' });
    expect(listed.split('\n').slice(0, -1)).toEqual(NAMES);
  });

  test('lists our member of 9 GB', async () => {
    const file = path.join(folder, 'large.tar');
    const sizeBytes = await writeLarge(file);
    const listed = execFileSync('tar', ['-tvf', file], { encoding: 'utf8' }).trim().split('\n');
    await rm(file);
    expect(listed.map((line) => line.split(/ +/)[2])).toEqual([String(sizeBytes), '0']);
  });

  test.each(['gnu', 'pax', 'ustar', 'oldgnu', 'v7'])('writes what our reader reads, format %s', async (format) => {
    const source = path.join(folder, format);
    await mkdir(path.join(source, 'd'.repeat(80)), { recursive: true });
    const longest = format === 'v7' ? 99 : format === 'ustar' ? 170 : 230;
    const names = ['a.flac', 'é.wav', `${'d'.repeat(80)}/${'n'.repeat(longest - 81)}`];
    for (const name of names) await writeFile(path.join(source, name), Buffer.from(name.repeat(30)));
    const file = path.join(folder, `${format}.tar`);
    execFileSync('tar', [`--format=${format}`, '-cf', file, '-C', source, ...names]);
    const bytes = await readFile(file);
    const index = await readTarIndex(file);
    expect(index.isComplete).toBe(true);
    expect(index.members.map(({ name, type }) => [name, type])).toEqual(names.map((name) => [name, 'file']));
    for (const { name, offsetBytes, sizeBytes } of index.members) {
      expect(bytes.toString('utf8', offsetBytes, offsetBytes + sizeBytes)).toBe(name.repeat(30));
    }
  });

  test('writes base-256 sizes that our reader reads', async () => {
    const large = path.join(folder, 'large.bin');
    await writeFile(large, '');
    await truncate(large, 2 ** 33);
    // Only the headers are wanted: 8 GiB of zeros are not worth their time.
    const head = spawnSync('sh', ['-c', 'tar --format=gnu -cf - -C "$0" large.bin | head -c 512', folder]);
    const file = path.join(folder, 'base256.tar');
    await writeFile(file, head.stdout);
    await truncate(file, 512 + 2 ** 33 + 1024);
    const index = await readTarIndex(file);
    await rm(file);
    expect(index.members).toMatchObject([{ name: 'large.bin', offsetBytes: 512, sizeBytes: 2 ** 33 }]);
    expect(index.isComplete).toBe(true);
  });
});

describe.skipIf(!hasPython)('Python tarfile (skipped where it is missing)', () => {
  function listWithPython(file: string): { name: string; size: number; offset: number }[] {
    const program =
      'import json, sys, tarfile\n' +
      'print(json.dumps([dict(name=m.name, size=m.size, offset=m.offset_data) for m in tarfile.open(sys.argv[1], "r:")]))';
    return JSON.parse(execFileSync('python3', ['-c', program, file], { encoding: 'utf8' })) as ReturnType<
      typeof listWithPython
    >;
  }

  test('reads our names of every length, at the same places', async () => {
    const file = path.join(folder, 'python.tar');
    await writeNames(file);
    const found = listWithPython(file);
    expect(found.map(({ name }) => name)).toEqual(NAMES);
    const { members } = await readTarIndex(file);
    expect(found.map(({ offset }) => offset)).toEqual(members.map(({ offsetBytes }) => offsetBytes));
  });

  test('reads our member of 9 GB', async () => {
    const file = path.join(folder, 'python-large.tar');
    const sizeBytes = await writeLarge(file);
    const found = listWithPython(file);
    await rm(file);
    expect(found.map(({ name, size }) => [name, size])).toEqual([
      ['large.wav', sizeBytes],
      ['b', 0],
    ]);
  });
});
