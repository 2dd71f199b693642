import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A file system of a few kilobytes, to be filled up. */
export interface SmallDisk {
  folder: string;
  /** Call it in any case: a mount outlives the tests. */
  unmount(): void;
}

/** Mounts a small file system in memory; undefined where that is not permitted. */
export function mountSmallDisk(sizeBytes: number, options: { readOnly?: boolean } = {}): SmallDisk | undefined {
  const folder = mkdtempSync(path.join(tmpdir(), 'cutroom-disk-'));
  const access = options.readOnly === true ? 'ro' : 'rw';
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `${access},size=${sizeBytes}`, 'tmpfs', folder]);
  if (mounted.status !== 0) {
    rmdirSync(folder);
    return undefined;
  }
  return {
    folder,
    unmount() {
      spawnSync('umount', ['--lazy', folder]);
      rmdirSync(folder);
    },
  };
}
