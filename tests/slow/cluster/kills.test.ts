// Tasks that are killed, in a store that has another name where they run, and ends that are made twice at once.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { build } from '#cutroom/build/build.js';
import { openPlanFolder } from '#cutroom/cluster/plan-folder.js';
import type { KindName } from '#cutroom/cluster/task-kind.js';
import { scan } from '#cutroom/sample/scan.js';
import { tarDataset } from '#cutroom/tarred/tar-dataset.js';
import { MediaWriter } from '../../../scripts/media-writer.js';
import { planWork, runAll, treeOf } from '../../support/plan-runs.js';
import { makeNoise, toInt16 } from '../../support/signals.js';
import { buildWav } from '../../support/wav-files.js';

const FILES = 24;

let parent: string;
/** As the machine that plans names the store, and as the workers name it. */
let store: string;
let mount: string;
beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), 'cutroom-kills-'));
  store = path.join(parent, 'store');
  mount = path.join(parent, 'mount');
  mkdirSync(path.join(store, 'audio'), { recursive: true });
  const rows: Record<string, unknown>[] = [];
  for (let n = 0; n < FILES; n += 1) {
    const file = path.join(store, 'audio', `${n}.wav`);
    writeFileSync(file, buildWav(makeNoise(16_000 + n * 100, 1, n), { sampleRate: 16_000 }));
    rows.push({ id: `u${n}`, audio_filepath: file, text: 'x', duration: (16_000 + n * 100) / 16_000 });
  }
  // Long enough to be read by an index, which a scan keeps.
  const track = { codec: 'libmp3lame', sampleRate: 48_000, channels: 1, bitRate: 320_000 };
  const writer = new MediaWriter(path.join(store, 'audio', 'long.mp3'), { container: 'mp3', tracks: [track] });
  writer.write(toInt16(makeNoise(28 * 48_000, 1, 5, 0.5)));
  writer.close();
  writeFileSync(path.join(store, 'audio', 'bad.wav'), 'no audio');
  rows.push({ id: 'bad', audio_filepath: path.join(store, 'audio', 'bad.wav'), text: 'x', duration: 1 });
  writeFileSync(path.join(store, 'm.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
});
afterEach(() => rmSync(parent, { recursive: true }));

interface Job {
  task?: number;
  dieAtUnits?: number;
}

async function drive(job: Job): Promise<{ signal: NodeJS.Signals | null; ended: Record<string, string> | undefined }> {
  const driver = fileURLToPath(new URL('../../support/plan-driver.js', import.meta.url));
  const child = spawn(execPath, [driver, JSON.stringify({ folder: path.join(mount, 'plan'), ...job })]);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const [, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { signal, ended: text === '' ? undefined : (JSON.parse(text) as Record<string, string>) };
}

const works: [KindName, () => { request: object; local: () => Promise<unknown> }][] = [
  [
    'build',
    () => {
      const request = { input: path.join(store, 'm.jsonl'), outputDir: path.join(store, 'out'), numTars: 6 };
      return { request, local: () => build({ ...request, jobs: 2 }) };
    },
  ],
  [
    'tar',
    () => {
      const paths = { manifestPaths: [path.join(store, 'm.jsonl')], targetDir: path.join(store, 'out') };
      const request = { ...paths, numShards: 6, forceCodec: 'flac' as const, index: ['wids' as const] };
      return { request, local: () => tarDataset({ ...request, jobs: 2 }) };
    },
  ],
  [
    'scan',
    () => {
      const request = { sources: [path.join(store, 'audio')], out: path.join(store, 'out'), loudness: {} };
      return { request, local: () => scan({ ...request, jobs: 2 }) };
    },
  ],
];

describe.each(works)('tasks of %s', (kind, workOf) => {
  it('go on after kills, elsewhere, and end in the bytes of one run, whoever ends them', async () => {
    const { request, local } = workOf();
    const out = path.join(store, 'out');
    await local();
    const expected = treeOf(out);
    const indexes = Object.keys(expected).filter((name) => name.startsWith('indexes/'));
    expect(indexes).toHaveLength(kind === 'scan' ? 1 : 0);
    rmSync(out, { recursive: true });
    const map = [{ local: store, remote: mount }];
    await planWork(path.join(store, 'plan'), kind, request, { division: { count: 3 }, map });
    // From here on the store has its other name alone.
    renameSync(store, `${store}-moved`);
    symlinkSync(`${store}-moved`, mount);
    for (const dieAtUnits of [1, 2]) {
      expect(await drive({ task: 1, dieAtUnits })).toMatchObject({ signal: 'SIGKILL' });
    }
    const plan = await openPlanFolder(path.join(mount, 'plan'));
    const results = await runAll(plan);
    expect(results.map((result) => result.kind)).toEqual(['done', 'done', 'done']);
    const ends = await Promise.all([drive({}), drive({})]);
    const kinds = ends.map(({ ended }) => ended?.['kind'] ?? ended?.['error']);
    expect(kinds).toContain('finished');
    // The other came too late, or while the first was at it.
    for (const other of kinds) expect(other).toMatch(/^(?:finished|already_done)$|finish\.lock": process/u);
    expect((await drive({})).ended).toEqual({ kind: 'already_done' });
    expect(treeOf(path.join(mount, 'out'))).toEqual(expected);
    renameSync(`${store}-moved`, store);
    expect(await local()).toMatchObject({ kind: kind === 'scan' ? 'unchanged' : 'already_done' });
  });
});
