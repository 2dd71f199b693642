import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { matchPaths } from '#cutroom/shard/path-pattern.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-pattern-'));
  const names = [
    ...[
      'a1.tar',
      'a2.tar',
      'a10.tar',
      'b1.tar',
      '.hidden.tar',
      'a.b.tar',
      'a+.tar',
      'd[1].tar',
      'd1.tar',
      'é.tar',
      '].tar',
    ],
    ...[
      'sub/a1.tar',
      'sub/deep/a1.tar',
      'sub/.git/a1.tar',
      'set[1]/x.tar',
      'set1/x.tar',
      'set{1,2}/y.tar',
      'q?.tar',
      'qx.tar',
    ],
  ];
  for (const name of names) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), '');
  }
  symlinkSync('sub', path.join(folder, 'link'));
  symlinkSync('..', path.join(folder, 'sub/up'));
  symlinkSync('nowhere', path.join(folder, 'broken.tar'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What a pattern finds, without the folder. */
async function find(pattern: string): Promise<string[]> {
  const { paths } = await matchPaths(`${folder}/${pattern}`);
  return paths.map((found) => path.relative(folder, found));
}

describe('matchPaths()', () => {
  it.each([
    ['a?.tar', ['a+.tar', 'a1.tar', 'a2.tar']],
    ['a*.tar', ['a+.tar', 'a.b.tar', 'a1.tar', 'a10.tar', 'a2.tar']],
    ['[ab]1.tar', ['a1.tar', 'b1.tar']],
    ['[!a]1.tar', ['b1.tar', 'd1.tar']],
    ['a[0-9].tar', ['a1.tar', 'a2.tar']],
    ['[]].tar', ['].tar']],
    ['[z-a].tar', []],
    ['.*.tar', ['.hidden.tar']],
    ['?.tar', ['].tar', 'é.tar']],
    ['a+.tar', ['a+.tar']],
    ['{b,a}1.tar', ['b1.tar', 'a1.tar']],
    ['{a,a}1.tar', ['a1.tar']],
    ['{a*,a1}.tar', ['a+.tar', 'a.b.tar', 'a1.tar', 'a10.tar', 'a2.tar']],
    ['*/a1.tar', ['link/a1.tar', 'sub/a1.tar']],
    ['sub/**/a1.tar', ['sub/a1.tar', 'sub/deep/a1.tar']],
    ['sub/deep/**', ['sub/deep/a1.tar']],
    ['broken.tar', ['broken.tar']],
    ['nowhere/*.tar', []],
    ['a1.tar/*', []],
  ])('finds %s', async (pattern, names) => {
    const found = (await find(pattern)).filter((name) => !name.includes('up/'));
    expect(found).toEqual(names);
  });

  it('takes a name that is there as it stands', async () => {
    expect(await find('d[1].tar')).toEqual(['d[1].tar']);
    expect(await find('d[12].tar')).toEqual(['d1.tar']);
    expect(await find('set[1]/*.tar')).toEqual(['set[1]/x.tar']);
    expect(await find('set{1,2}/*.tar')).toEqual(['set{1,2}/y.tar']);
    expect(await find('set[1]/{x,z}.tar')).toEqual(['set[1]/x.tar']);
    expect(await find('q?.tar')).toEqual(['q?.tar', 'qx.tar']);
  });

  it('follows links with **, and not round and round', async () => {
    const found = await find('**/deep/a1.tar');
    expect(found).toContain('link/deep/a1.tar');
    expect(found).toContain('sub/deep/a1.tar');
    expect(found.length).toBeLessThan(10);
  });

  it('tells the names that are spelled out and not there', async () => {
    const match = await matchPaths(`${folder}/a{1..3}.tar`);
    expect(match.paths.map((found) => path.basename(found))).toEqual(['a1.tar', 'a2.tar']);
    expect(match.missing).toEqual([`${folder}/a3.tar`]);
    expect((await matchPaths(`${folder}/z*.tar`)).missing).toEqual([]);
    expect((await matchPaths(`${folder}/${'z'.repeat(300)}.tar`)).paths).toEqual([]);
  });

  it('tells which names it asks for', async () => {
    const { matchesName } = await matchPaths(`${folder}/{a*,b1}.tar`);
    expect(['a9.tar', 'b1.tar', 'b2.tar', 'a9.tar.gz'].map((name) => matchesName(name))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('takes choices of absolute paths', async () => {
    const { paths } = await matchPaths(`{${folder}/a1,${folder}/sub/a1}.tar`);
    expect(paths).toEqual([`${folder}/a1.tar`, `${folder}/sub/a1.tar`]);
  });
});
