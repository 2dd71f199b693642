import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ItemRows } from '#cutroom/load/item-rows.js';
import { openSources } from '#cutroom/load/open-sources.js';

const ROWS = 200_000;
const SHARDS = 256;
const WORDS = 'the quick river doctors engineers children reading mountains sign checked'.split(' ');

let folder: string;
let manifest: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-many-rows-'));
  manifest = path.join(folder, 'tarred_audio_manifest.json');
  mkdirSync(path.join(folder, 'tars'));
  for (let shard = 0; shard < SHARDS; shard += 1) writeFileSync(path.join(folder, 'tars', `audio_${shard}.tar`), '');
  const file = openSync(manifest, 'w');
  let lines = '';
  for (let row = 0; row < ROWS; row += 1) {
    const text = Array.from({ length: 3 + (row % 28) }, (_, at) => WORDS[(row * 7 + at * 3) % WORDS.length]).join(' ');
    const name = `_data_corpus_speaker${row % 997}_utterance${row}.flac`;
    lines += `${JSON.stringify({ audio_filepath: name, duration: 0.5 + (row % 4001) / 200, text, shard_id: row % SHARDS })}\n`;
    if (row % 5000 === 4999) {
      writeSync(file, lines);
      lines = '';
    }
  }
  closeSync(file);
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const source = () => ({
  type: 'nemo_tarred' as const,
  manifests: [manifest],
  tars: [path.join(folder, 'tars', `audio__OP_0..${SHARDS - 1}_CL_.tar`)],
});

describe('openSources() of 200,000 rows', () => {
  test('is done in seconds and holds less than 200 MB', () => {
    const module = new URL('../../../dist/load/open-sources.js', import.meta.url).href;
    const program = `
      const { openSources } = await import(${JSON.stringify(module)});
      const started = process.cpuUsage();
      const table = await openSources(${JSON.stringify(source())}, { needsTokens: true });
      const { user, system } = process.cpuUsage(started);
      const { maxRSS } = process.resourceUsage();
      console.log(JSON.stringify({ rows: table.rowCount, cpuSeconds: (user + system) / 1e6, megabytes: maxRSS / 1024 }));`;
    const run = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
    expect(run.stderr).toBe('');
    const measured = JSON.parse(run.stdout) as { rows: number; cpuSeconds: number; megabytes: number };
    expect(measured.rows).toBe(ROWS);
    expect(measured.megabytes).toBeLessThan(200);
    // 0.8 s on a free machine: the bound is for ones that are busy.
    expect(measured.cpuSeconds).toBeLessThan(6);
  });

  test('gives any rows again, of all their shards', async () => {
    const table = await openSources(source());
    await using rows = new ItemRows(table);
    const items = Array.from({ length: 2000 }, (_, at) => (at * 7919) % ROWS);
    const found = await rows.read(items);
    for (const [at, item] of items.entries()) {
      expect(found[at]!.id).toBe(`_data_corpus_speaker${item % 997}_utterance${item}`);
      expect(table.parts[found[at]!.part]!.tarPath).toBe(path.join(folder, 'tars', `audio_${item % SHARDS}.tar`));
    }
  });
});
