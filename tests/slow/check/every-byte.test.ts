import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { checkTar } from '#cutroom/check/tar-file.js';
import { tarBytes } from '../../support/shard-files.js';
import { makeContext, makeFolder } from '../../check/dataset-context.js';

it('checkTar() tells of the last good member at whatever byte a tar is cut', async (context) => {
  const file = path.join(makeFolder(context), 'x.tar');
  // The second has a pax header before it.
  const names = ['a.flac', `${'b'.repeat(120)}.flac`];
  const bytes = tarBytes(names, 300);
  const ends = [1024, 3072];
  expect(bytes.length).toBe(3072 + 1024);
  for (let size = 1; size < bytes.length; size += 1) {
    writeFileSync(file, bytes.subarray(0, size));
    const found = makeContext();
    await checkTar(file, found);
    const findings = found.findings.filter(({ kind }) => kind !== 'long_name');
    const wholeCount = ends.filter((end) => end <= size).length;
    const isBetween = ends.includes(size) || size === bytes.length - 512;
    expect(findings, `cut at ${size}`).toMatchObject([{ kind: isBetween ? 'unfinished_tar' : 'unreadable_tar' }]);
    if (isBetween || wholeCount === 0) continue;
    expect(findings[0]?.message).toContain(`the last whole member is ${JSON.stringify(names[wholeCount - 1])}`);
  }
});
