import { execFileSync, spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { checkTar } from '#cutroom/check/tar-file.js';
import { END_OF_ARCHIVE, headerChecksum, paddingBytes, tarHeader } from '#cutroom/tar/header.js';
import { tarBytes } from '../support/shard-files.js';
import { kindsOf, makeContext, makeFolder } from './dataset-context.js';

const hasGnuTar = spawnSync('tar', ['--version'], { encoding: 'utf8' }).stdout?.includes('GNU tar') ?? false;
const hasBsdTar = spawnSync('bsdtar', ['--version']).status === 0;
const hasPython = spawnSync('python3', ['-c', 'import tarfile']).status === 0;

let folder: string;
let file: string;

beforeEach((context) => {
  folder = makeFolder(context);
  file = path.join(folder, 'x.tar');
});

type Context = ReturnType<typeof makeContext>;

async function checked(bytes?: Buffer): Promise<Context> {
  if (bytes !== undefined) writeFileSync(file, bytes);
  const context = makeContext();
  await checkTar(file, context);
  return context;
}

/** The bytes of a member; `edit` changes its header, of which the sum is set right again. */
function member(name: string, content = 'x'.repeat(100), edit?: (block: Buffer) => void): Buffer {
  const payload = Buffer.from(content);
  const header = Buffer.from(tarHeader({ name: 'placeholder', sizeBytes: payload.length }));
  header.fill(0, 0, 100);
  header.write(name, 0, 100);
  edit?.(header);
  header.write(`${headerChecksum(header).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return Buffer.concat([header, payload, Buffer.alloc(paddingBytes(payload.length))]);
}

const typed = (type: string) => (block: Buffer) => void block.write(type, 156);
const tarOf = (...members: Buffer[]): Buffer => Buffer.concat([...members, END_OF_ARCHIVE]);
const good = member('good.flac');

describe('checkTar()', () => {
  it('names the last whole member, wherever a tar is cut', async () => {
    const names = ['a.flac', 'b.flac', 'c.flac'];
    const whole = tarOf(...names.map((name) => member(name)));
    const memberBytes = 1024;
    for (let length = memberBytes; length < names.length * memberBytes + 1024; length += 128) {
      const { findings } = await checked(whole.subarray(0, length));
      const last = names[Math.min(names.length, Math.floor(length / memberBytes)) - 1];
      expect(findings, `${length} bytes`).toHaveLength(1);
      expect(findings[0]?.message, `${length} bytes`).toMatch(new RegExp(`; the last whole member is "${last}"$`, 'u'));
    }
  });

  it('finds nothing wrong with samples of several files, folders and dots in folders', async () => {
    const folderMember = member('d.1/', '', typed('5'));
    const bytes = tarOf(
      folderMember,
      member('d.1/a.flac'),
      member('d.1/a.json'),
      member('b.WAV'),
      member('__info__/x'),
    );
    expect((await checked(bytes)).findings).toEqual([]);
  });

  test.each([
    ['a file of macOS', 'junk_member', tarOf(good, member('._good.flac'))],
    ['such a file in a folder', 'junk_member', tarOf(good, member('d/._good.flac'))],
    ['a .DS_Store', 'junk_member', tarOf(good, member('d/.DS_Store'))],
    ['a folder of macOS', 'junk_member', tarOf(good, member('__MACOSX/d/good.flac'))],
    ['a symbolic link', 'not_a_file', tarOf(good, member('a.flac', '', typed('2')))],
    ['a hard link', 'not_a_file', tarOf(good, member('a.flac', '', typed('1')))],
    ['a device', 'not_a_file', tarOf(good, member('a.flac', '', typed('3')))],
    ['an absolute name', 'unsafe_name', tarOf(good, member('/a.flac'))],
    ['a name above its folder', 'unsafe_name', tarOf(good, member('d/../../a.flac'))],
    ['a drive', 'unsafe_name', tarOf(good, member('C:/a.flac'))],
    ['a backslash', 'unsafe_name', tarOf(good, member('d\\a.flac'))],
    ['a line break', 'control_in_name', tarOf(good, member('a\nb.flac'))],
    [
      'bytes that are not UTF-8',
      'name_not_utf8',
      tarOf(
        good,
        member('', undefined, (block) => block.write('\u00e9.flac', 'latin1')),
      ),
    ],
    ['a name of 101 bytes', 'long_name', tarBytes([`${'é'.repeat(48)}.flac`])],
    ['a name in two fields', 'long_name', tarBytes([`${'d'.repeat(90)}/${'n'.repeat(50)}.flac`])],
    ['an empty member', 'empty_member', tarOf(good, member('a.flac', ''))],
    ['a name without an extension', 'unread_member', tarOf(good, member('README'))],
    ['a name twice', 'duplicate_member', tarOf(good, member('a.flac'), member('a.flac'))],
    ['two files of one id', 'duplicate_member', tarOf(good, member('a.flac'), member('a.wav'))],
    ['parts of a sample apart', 'split_sample', tarOf(member('a.flac'), good, member('a.json'))],
    ['ids with dots', 'dotted_name', tarOf(member('s.1.flac'), member('s.2.flac'))],
    ['a capital letter behind a dot', 'dotted_name', tarOf(good, member('a.B.flac'))],
    ['no end', 'unfinished_tar', good],
    ['no sample', 'empty_shard', tarOf()],
    ['only half of the end', 'unfinished_tar', Buffer.concat([good, Buffer.alloc(512)])],
    ['another tar behind the end', 'bytes_after_end', Buffer.concat([tarOf(good), Buffer.alloc(3000), tarOf(good)])],
    ['bytes behind the end', 'bytes_after_end', Buffer.concat([tarOf(good), Buffer.from('junk')])],
    ['a sparse file', 'unreadable_tar', tarOf(good, member('a.flac', 'x', typed('S')))],
    ['a bad sum', 'unreadable_tar', tarOf(good, Buffer.from(good).fill(0x41, 148, 154))],
    ['text', 'unreadable_tar', Buffer.from('no tar at all\n'.repeat(100))],
    ['a compressed tar', 'compressed_tar', gzipSync(tarOf(good, member('b.flac')))],
  ])('tells of %s: %s, and of nothing else', async (_what, kind, bytes) => {
    const context = await checked(bytes);
    expect(kindsOf(context)).toEqual([kind]);
    expect(context.findings).toHaveLength(1);
  });

  it('does not take the zeros that fill a record for more than the end', async () => {
    expect((await checked(Buffer.concat([tarOf(good), Buffer.alloc(2_100_000)]))).findings).toEqual([]);
  });

  it('tells of the place of each', async () => {
    const { findings } = await checked(tarOf(good, member('/a.flac'), member('b.flac', '')));
    expect(findings).toMatchObject([
      { kind: 'unsafe_name', file, offsetBytes: good.length, member: '/a.flac', severity: 'error' },
      { kind: 'empty_member', file, offsetBytes: 2 * good.length, member: 'b.flac', severity: 'error' },
    ]);
    const { findings: tail } = await checked(Buffer.concat([tarOf(good), Buffer.alloc(700), Buffer.from('x')]));
    expect(tail).toMatchObject([{ kind: 'bytes_after_end', offsetBytes: good.length + 1024 + 700 }]);
  });

  it('looks into compressed tars, too', async () => {
    const context = await checked(gzipSync(tarOf(good, member('a.flac', ''), member('./c/../d.flac'), good)));
    expect(kindsOf(context)).toEqual(['empty_member', 'unsafe_name', 'compressed_tar', 'duplicate_member']);
  });

  it('tells of the last good member where a small tar is cut, at and beside each border of blocks', async () => {
    const names = ['a.flac', 'b.flac'];
    const bytes = tarBytes(names, 300);
    const ends = [1024, 2048];
    for (let size = 1; size < bytes.length; size += 1) {
      if (Math.abs(size - Math.round(size / 512) * 512) > 1) continue;
      const { findings } = await checked(bytes.subarray(0, size));
      const wholeCount = ends.filter((end) => end <= size).length;
      const isBetween = ends.includes(size) || size === bytes.length - 512;
      expect(findings).toMatchObject([{ kind: isBetween ? 'unfinished_tar' : 'unreadable_tar' }]);
      if (isBetween || wholeCount === 0) continue;
      expect(findings[0]?.message).toContain(`the last whole member is "${names[wholeCount - 1]}"`);
    }
  });

  it('tells of a compressed tar that is cut, with the last member that is whole', async () => {
    const random = Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * index * 7919) % 251));
    const parts = ['a.flac', 'b.flac'].flatMap((name) => [
      ...[tarHeader({ name, sizeBytes: random.length }), random, Buffer.alloc(paddingBytes(random.length))],
    ]);
    const bytes = gzipSync(Buffer.concat([...parts, END_OF_ARCHIVE]));
    for (let size = 30; size < bytes.length; size += 1501) {
      const context = await checked(bytes.subarray(0, size));
      expect(kindsOf(context)).toEqual(['compressed_tar', 'unreadable_tar']);
    }
  });

  it('finds no fault in names that are fit for members', async () => {
    const part = fc.stringMatching(/^[a-z0-9_äé世-]{1,8}$/u);
    const names = fc.uniqueArray(
      fc.tuple(part, part).map(([a, b]) => `${a}/${b}.flac`),
      { minLength: 1, maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(names, async (given) => {
        expect((await checked(tarBytes(given))).findings).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });
});

/** Files in a folder for others to pack: `long` names have more than 100 bytes. */
function writeSource(): string {
  const source = path.join(folder, 'source');
  mkdirSync(path.join(source, 'd'), { recursive: true });
  for (const name of ['a.flac', 'é.flac', 'd/c.flac', `${'l'.repeat(120)}.flac`]) {
    writeFileSync(path.join(source, name), name.repeat(20));
  }
  return source;
}

describe.skipIf(!hasGnuTar)('checkTar() of tars by GNU tar (skipped where it is missing)', () => {
  test.each(['gnu', 'pax', 'oldgnu'])('finds the long name alone, format %s', async (format) => {
    const source = writeSource();
    execFileSync('tar', [`--format=${format}`, '-cf', file, '-C', source, '.', '--transform=s,^\\./,,']);
    expect(kindsOf(await checked())).toEqual(['long_name']);
  });

  it('finds links, which --dereference follows', async () => {
    const source = writeSource();
    symlinkSync('a.flac', path.join(source, 'link.flac'));
    linkSync(path.join(source, 'a.flac'), path.join(source, 'hard.flac'));
    const names = ['a.flac', 'link.flac', 'hard.flac'];
    execFileSync('tar', ['-cf', file, '-C', source, ...names]);
    const { findings } = await checked();
    expect(findings.map(({ kind, member: name }) => [kind, name])).toEqual([
      ['not_a_file', 'link.flac'],
      ['not_a_file', 'hard.flac'],
    ]);
    execFileSync('tar', ['-cf', file, '--dereference', '--hard-dereference', '-C', source, ...names]);
    expect((await checked()).findings).toEqual([]);
  });

  it('finds sparse files', async () => {
    const source = writeSource();
    execFileSync('truncate', ['-s', '1M', path.join(source, 'hole.flac')]);
    execFileSync('tar', ['-cf', file, '--sparse', '-C', source, 'a.flac', 'hole.flac']);
    const { findings } = await checked();
    expect(findings).toMatchObject([{ kind: 'unreadable_tar' }]);
    expect(findings[0]?.message).toContain('sparse file; the last whole member is "a.flac"');
  });

  it('finds a second archive, as "cat" joins them', async () => {
    const source = writeSource();
    execFileSync('tar', ['-cf', file, '-C', source, 'a.flac']);
    const other = path.join(folder, 'y.tar');
    execFileSync('tar', ['-cf', other, '-C', source, 'd/c.flac']);
    const { findings } = await checked(Buffer.concat([readFileSync(file), readFileSync(other)]));
    expect(findings).toMatchObject([{ kind: 'bytes_after_end', offsetBytes: 10_240 }]);
    expect(findings[0]?.message).toContain('"d/c.flac"');
  });
});

describe.skipIf(!hasBsdTar)('checkTar() of tars by bsdtar (skipped where it is missing)', () => {
  test.each(['ustar', 'pax', 'gnutar'])('finds the long name alone, format %s', async (format) => {
    const source = writeSource();
    const names = ['a.flac', 'd/c.flac', ...(format === 'ustar' ? [] : [`${'l'.repeat(120)}.flac`])];
    execFileSync('bsdtar', [`--format=${format}`, '-cf', file, '-C', source, ...names]);
    expect(kindsOf(await checked())).toEqual(format === 'ustar' ? [] : ['long_name']);
  });
});

describe.skipIf(!hasPython)('checkTar() of tars by Python (skipped where it is missing)', () => {
  test.each(['USTAR', 'GNU', 'PAX'])(
    'finds nothing wrong, format %s, and notes headers that DALI cannot read',
    async (format) => {
      const source = writeSource();
      const program =
        'import sys, tarfile, os\n' +
        `with tarfile.open(sys.argv[1], "w", format=tarfile.${format}_FORMAT) as t:\n` +
        '  for n in sys.argv[3:]:\n    i = t.gettarinfo(os.path.join(sys.argv[2], n), n)\n' +
        '    t.addfile(i, open(os.path.join(sys.argv[2], n), "rb"))\n';
      execFileSync('python3', ['-c', program, file, source, 'a.flac', 'é.flac', 'd/c.flac']);
      const context = makeContext();
      const { notes = [] } = await checkTar(file, context);
      expect(context.findings).toEqual([]);
      const hasPax = format === 'PAX';
      expect(notes.some((note) => note.startsWith('3 members have pax'))).toBe(hasPax);
    },
  );
});
