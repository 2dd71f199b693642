import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

let out = '';
beforeAll(() => {
  out = mkdtempSync(path.join(tmpdir(), 'cutroom-stdout-'));
});
afterAll(() => rmSync(out, { recursive: true }));

describe('standard error', () => {
  it('that is a terminal without a width shows whole lines of progress', () => {
    const command = `${process.execPath} ${MAIN} sample samples --duration 1 --sample-rate 8000 --export ${out} --count 30`;
    const { stdout, stderr } = spawnSync('script', ['-qec', command, '/dev/null'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect(stderr.toString()).toBe('');
    expect(stdout.toString()).toMatch(/packing: 0 of 1 shard, \d+ of 30 items/u);
  });
});

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
