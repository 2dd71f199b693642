import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'vitest';

/**
 * Mounts a file system of a few kilobytes in memory, to be filled up, until the test is over. Skips the test where mounting is not permitted.
 *
 * @returns its folder.
 */
export function mountSmallDisk(context: TestContext, sizeBytes: number, options: { readOnly?: boolean } = {}): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'cutroom-disk-'));
  const access = options.readOnly === true ? 'ro' : 'rw';
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `${access},size=${sizeBytes}`, 'tmpfs', folder]);
  context.onTestFinished(() => {
    if (mounted.status === 0) spawnSync('umount', ['--lazy', folder]);
    rmdirSync(folder);
  });
  if (mounted.status !== 0) return context.skip('a small disk cannot be mounted here: it needs root on Linux');
  return folder;
}
