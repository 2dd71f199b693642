// The same command in two folders that hold the same files.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTree } from '../support/pack-runs.js';
import { makeSine } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';
import { runCli } from './run-cli.js';

const before = process.cwd();
let outer: string;
let places: string[];
beforeAll(() => {
  outer = realpathSync(mkdtempSync(path.join(tmpdir(), 'cutroom-two-')));
  places = ['here', 'elsewhere/deep'].map((name) => path.join(outer, name));
  for (const place of places) {
    mkdirSync(path.join(place, 'wavs'), { recursive: true });
    const names = ['a', 'b', 'c'];
    for (const [index, name] of names.entries()) {
      writeFileSync(path.join(place, 'wavs', `${name}.wav`), buildWav(makeSine(800 * (index + 1), 8000, 300)));
    }
    writeFileSync(path.join(place, 'train.tsv'), names.map((name) => `${name}\twavs/${name}.wav\t${name}\n`).join(''));
    const rows = names.map((name, index) => ({
      audio_filepath: `${name}.wav`,
      duration: (index + 1) / 10,
      text: name,
    }));
    writeFileSync(path.join(place, 'train.json'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
});
afterAll(() => {
  process.chdir(before);
  rmSync(outer, { recursive: true });
});

/** Expects the same files, and the same bytes in all but those that are named. */
function expectTree(folder: string, expected: ReadonlyMap<string, Buffer>, but: readonly string[]): void {
  const found = readTree(folder);
  expect([...found.keys()]).toEqual([...expected.keys()]);
  for (const [name, bytes] of expected) {
    if (!but.includes(name)) expect(found.get(name)?.toString('latin1'), name).toBe(bytes.toString('latin1'));
  }
}

async function runIn(folder: string, args: readonly string[]): Promise<string> {
  process.chdir(folder);
  try {
    const { exitCode, stderr } = await runCli(args);
    expect(exitCode, stderr).toBe(0);
    return stderr;
  } finally {
    process.chdir(before);
  }
}

describe('the same command in two folders', () => {
  it('makes the same bytes with "build", but for the base of the plan and the paths of the list', async () => {
    const args = ['build', '--input', 'train.tsv', '--output-dir', 'out', '--num-tars', '2'];
    for (const place of places) await runIn(place, args);
    const [one, two] = places.map((place) => path.join(place, 'out'));
    expectTree(two!, readTree(one!), ['plan.jsonl', 'data.lst']);
    const plans = [one!, two!].map((folder) => readFileSync(path.join(folder, 'plan.jsonl'), 'utf8').split('\n'));
    expect(JSON.parse(plans[0]![0]!)).toMatchObject({ base: places[0] });
    expect(plans[1]!.slice(1, -3)).toEqual(plans[0]!.slice(1, -3));
  });

  it('makes the same bytes with "tar", its index and its metrics included', async () => {
    const args = ['tar', '--manifest-path', 'train.json', '--base', 'wavs', '--target-dir', 'tarred'];
    for (const place of places) await runIn(place, [...args, '--num-shards', '2', '--index', 'wids']);
    const [one, two] = places.map((place) => path.join(place, 'tarred'));
    expect([...readTree(one!).keys()]).toContain('wids.json');
    // NeMo's metadata tell the time.
    expectTree(two!, readTree(one!), ['metadata.yaml']);
    const moved = path.join(outer, 'moved');
    renameSync(places[1]!, moved);
    expect(await runIn(moved, [...args, '--num-shards', '2'])).toMatch(/finished already/u);
  });
});
