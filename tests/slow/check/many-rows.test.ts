import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const FEW_ROWS = 10_000;
const MANY_ROWS = 200_000;
const MEGABYTE = 2 ** 20;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-check-many-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function writeManifest(rows: number): string {
  const target = path.join(folder, `${rows}.json`);
  const lines: string[] = [];
  for (let k = 0; k < rows; k += 1) {
    lines.push(
      `{"audio_filepath":"/corpus/s${k % 997}/utt_${k}.flac","text":"the text of number ${k}","duration":${2 + (k % 700) / 100}}`,
    );
  }
  writeFileSync(target, `${lines.join('\n')}\n`);
  return target;
}

/** Checks a manifest in a process of its own; answers the memory that it took at most. */
function checkApart(target: string, more = ''): { peakBytes: number; counts: Record<string, number> } {
  const library = new URL('../../../dist/check/check.js', import.meta.url).href;
  const script = `
    const { check } = await import(${JSON.stringify(library)});
    const { paths } = await check({ paths: [${JSON.stringify(target)}]${more} });
    const counts = Object.fromEntries(paths[0].findings.map(({ kind, count }) => [kind, count]));
    console.log(JSON.stringify({ peakBytes: process.resourceUsage().maxRSS * 1024, counts }));`;
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(run.stderr);
  return JSON.parse(run.stdout) as ReturnType<typeof checkApart>;
}

describe('check() of many rows', () => {
  it('takes no more memory than an index of their paths', () => {
    const few = checkApart(writeManifest(FEW_ROWS));
    const many = checkApart(writeManifest(MANY_ROWS));
    expect(few.counts).toEqual({ audio_missing: FEW_ROWS });
    expect(many.counts).toEqual({ audio_missing: MANY_ROWS });
    // 24 bytes a row for digests and times, 32 to 64 for the index and half of that while it grows, and what the collector leaves.
    expect(many.peakBytes - few.peakBytes).toBeLessThan(MANY_ROWS * 130 + 120 * MEGABYTE);
  });

  it('takes no more while it writes a corrected copy', () => {
    const copy = path.join(folder, 'copy.json');
    const { peakBytes } = checkApart(writeManifest(MANY_ROWS / 2), `, fixOut: ${JSON.stringify(copy)}`);
    expect(peakBytes).toBeLessThan(400 * MEGABYTE);
  });
});
