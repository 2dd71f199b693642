import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

describe('standard output', () => {
  it('that cannot be written is told of', () => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [MAIN, '--help'], { stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    expect(status).toBe(2);
    expect(stderr.toString()).toMatch(
      /^error: Cannot write "standard output": no space left on the disk\nhint: Free /u,
    );
  });
});
