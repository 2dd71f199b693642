import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { acquireLock } from '#cutroom/run/lock.js';

// What FAT and some FUSE mounts answer.
vi.mock('node:fs/promises', async (importOriginal) => ({
  ...(await importOriginal<typeof import('node:fs/promises')>()),
  link: () => Promise.reject(Object.assign(new Error('operation not permitted'), { code: 'EPERM' })),
}));

const OPTIONS = { identity: { host: 'here', pid: process.pid }, heartbeatMs: 20, staleMs: 100, graceMs: 60 };

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'cutroom-lock-'));
  file = path.join(folder, 'run.lock');
});
afterEach(() => rm(folder, { recursive: true }));

test('acquireLock() excludes others on a file system without hard links', async () => {
  const lock = await acquireLock(file, OPTIONS);
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ host: 'here', token: lock.holder.token });
  await expect(acquireLock(file, OPTIONS)).rejects.toThrow(`process ${process.pid} on here has held it`);
  await lock.release();
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ['missing', undefined],
  ['torn', ''],
  [
    'stale',
    JSON.stringify({ host: 'elsewhere', pid: 1, token: 'feedfacefeedface', started: '2026-01-02T03:04:05.000Z' }),
  ],
])('acquireLock() lets exactly one of many win a %s lock on a file system without hard links', async (_, text) => {
  for (let round = 0; round < 5; round++) {
    if (text !== undefined) await writeFile(file, text);
    const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => acquireLock(file, OPTIONS)));
    const won = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
    expect(won).toHaveLength(1);
    await won[0]?.confirm();
    await won[0]?.release();
    expect(await readdir(folder)).toEqual([]);
  }
});
