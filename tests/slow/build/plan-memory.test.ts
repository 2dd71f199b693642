import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROWS = 200_000;
/** A row takes some 150 bytes in all, beside what Node.js and a plan's buffers take. */
const MAX_MEGABYTES = 350;

it('planBuild() holds no row in memory', ({ onTestFinished }) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'cutroom-plan-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(path.join(folder, 'a.wav'), 'x');
  const file = openSync(path.join(folder, 'm.tsv'), 'w');
  const text = 'words that make a row as long as rows are '.repeat(8);
  for (let from = 0; from < ROWS; from += 1000) {
    const lines = Array.from(
      { length: 1000 },
      (_, row) => `u${from + row}\ta.wav\t${text}\t${row}\t${1 + (row % 90) / 7}\n`,
    );
    writeSync(file, lines.join(''));
  }
  closeSync(file);
  const program = `
    import { planBuild } from ${JSON.stringify(fileURLToPath(new URL('../../../dist/index.js', import.meta.url)))};
    const plan = await planBuild({ input: process.argv[1], outputDir: process.argv[2], numTars: 64 });
    const micros = plan.shards.map((shard) => shard.micros);
    console.log(JSON.stringify({
      rows: plan.shards.reduce((sum, shard) => sum + shard.itemCount, 0),
      spread: Math.max(...micros) - Math.min(...micros),
      megabytes: process.resourceUsage().maxRSS / 1024,
    }));`;
  const printed = execFileSync(
    process.execPath,
    ['--input-type=module', '--eval', program, path.join(folder, 'm.tsv'), path.join(folder, 'out')],
    { encoding: 'utf8' },
  );
  const { rows, spread, megabytes } = JSON.parse(printed) as { rows: number; spread: number; megabytes: number };
  expect(rows).toBe(ROWS);
  expect(spread).toBeLessThan(15e6);
  expect(megabytes).toBeLessThan(MAX_MEGABYTES);
});
