import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { kill, pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { TestContext } from 'vitest';
import { packShards } from '#cutroom/shard/pack-shards.js';
import type { PlannedItem } from '#cutroom/shard/plan.js';
import { readTarIndex } from '#cutroom/tar/reader.js';
import { TarAppender } from '#cutroom/tar/writer.js';
import { truncated } from '../../support/broken-files.js';
import { HAS_PROC, isAlive, isSoon, listChildren, makeFolder } from '../../support/cut-runs.js';
import { patchFile } from '../../support/encode.js';
import {
  expectTree,
  itemOf,
  makePlan,
  packOptions,
  readRows,
  readTree,
  startPackDriver,
  writeNoise,
} from '../../support/pack-runs.js';
import type { PackPlaces } from '../../support/pack-runs.js';
import { makeNoise } from '../../support/signals.js';
import { buildWavAround, encodeWavSamples } from '../../support/wav-files.js';

/** Checkpoints as often as can be: what a run of hours does in two seconds. */
const OFTEN = { jobs: 2, checkpointMs: 5 };

/**
 * Shards of which each has members of all kinds: copies, encodings, members of other tars, long ones, long names, rows that share, and items that
 * fail and that are warned of.
 */
async function makeMixedPlan(folder: string): Promise<PackPlaces> {
  const audio = path.join(folder, 'audio');
  await mkdir(audio);
  for (let k = 0; k < 6; k += 1) await writeNoise(path.join(audio, `${k}.wav`), 1 + k / 3, k + 1);
  await writeNoise(path.join(audio, 'long.wav'), 15, 9);
  await writeNoise(path.join(audio, 'torn.wav'), 4, 10);
  patchFile(path.join(audio, 'torn.wav'), (bytes) => truncated(bytes, 0.7));
  const tar = path.join(audio, 'source.tar');
  const appender = await TarAppender.open(tar);
  for (let k = 0; k < 6; k += 1) await appender.appendBytes(`in${k}.wav`, readFileSync(path.join(audio, `${k}.wav`)));
  await appender.finish();
  await appender.close();
  const { members } = await readTarIndex(tar);
  const shards = [0, 1, 2].map((shard) => {
    const items: PlannedItem[] = [];
    for (let round = 0; round < 3; round += 1) {
      const add = (id: string, file: string, changes: Partial<PlannedItem>): void => {
        const member = `${id}-${shard}-${round}.flac`;
        items.push(itemOf(`${id}-${shard}-${round}`, file, { member, line: items.length + 1, ...changes }));
      };
      const k = (shard + round) % 6;
      const source = members[k];
      const inside = { offset: source?.offsetBytes ?? 0, size: source?.sizeBytes ?? 0, name: source?.name ?? '' };
      const shared = { member: `enc-${shard}-${round}.flac`, duration: '0.5' };
      add('copy', `${audio}/${k}.wav`, { duration: '1.5', member: `${'folder/'.repeat(40)}${shard}-${round}.wav` });
      add('enc', `${audio}/${k}.wav`, { how: 'encode' });
      add('gone', 'gone.wav', { how: 'encode' });
      add('sub', `${audio}/${k}.wav`, { how: 'share', ...shared });
      add('torn', `${audio}/torn.wav`, { how: 'encode', duration: '4' });
      add('inside', tar, { inside, duration: '1', member: `inside-${shard}-${round}.wav` });
      add('fit', tar, { inside, how: 'fit', as: 'wav', member: `fit-${shard}-${round}.wav` });
      add('short', `${audio}/${k}.wav`, { how: 'encode', span: { start: 500_000, end: 9_000_000 } });
      if (round === 1) add('long', `${audio}/long.wav`, { how: 'encode', duration: '15' });
    }
    return items;
  });
  return await makePlan(folder, shards, { format: 'flac', sampleRate: 16_000 });
}

async function makeUndisturbed(places: PackPlaces): Promise<{ expected: Map<string, Buffer>; runMs: number }> {
  const startMs = performance.now();
  const end = await startPackDriver(places, OFTEN).ended;
  const runMs = performance.now() - startMs;
  expect(end.error).toBeUndefined();
  const expected = readTree(places.out);
  await rm(places.out, { recursive: true });
  expect(end.outcomes?.map(({ members, rows, failures }) => [members, rows, failures.length])).toEqual(
    Array.from({ length: 3 }, () => [16, 19, 6]),
  );
  return { expected, runMs };
}

/** Starts a run and signals it alone after a while, so that its processes outlive it for a moment; answers whether it was ended by that. */
async function signalAfter(places: PackPlaces, afterMs: number, signal: NodeJS.Signals): Promise<boolean> {
  const driver = startPackDriver(places, OFTEN);
  const timer = setTimeout(() => driver.kill(signal), afterMs);
  const end = await driver.ended;
  clearTimeout(timer);
  return end.outcomes === undefined;
}

async function finish(places: PackPlaces, expected: Map<string, Buffer>, label: string): Promise<void> {
  const end = await startPackDriver(places, OFTEN).ended;
  expect(end.error, label).toBeUndefined();
  expectTree(places.out, expected, label);
  await rm(places.out, { recursive: true });
}

describe('a run that is killed and started again', () => {
  test('leaves the bytes of one that was not', async (context) => {
    const places = await makeMixedPlan(await makeFolder(context));
    const { expected, runMs } = await makeUndisturbed(places);
    let kills = 0;
    // How long a run takes changes with what else the machine does: until enough of them were killed.
    for (let moment = 0; moment < 7 || kills < 4; moment += 1) {
      const afterMs = (((moment % 7) + Math.random()) / 7) * runMs;
      if (await signalAfter(places, afterMs, 'SIGKILL')) kills += 1;
      await finish(places, expected, `killed after ${afterMs} of ${runMs} ms`);
    }
  });

  test('leaves the same bytes after any number of kills', async (context) => {
    const places = await makeMixedPlan(await makeFolder(context));
    const { expected, runMs } = await makeUndisturbed(places);
    const moments: number[] = [];
    for (let link = 0; link < 4; link += 1) {
      // Long enough to begin, too short to end.
      moments.push(runMs * (0.25 + 0.35 * Math.random()));
      await signalAfter(places, moments.at(-1) ?? 0, 'SIGKILL');
    }
    await finish(places, expected, `killed after ${moments.join(', ')} ms`);
  });

  test('leaves the same bytes after SIGTERM and SIGINT at any moment', async (context) => {
    const places = await makeMixedPlan(await makeFolder(context));
    const { expected, runMs } = await makeUndisturbed(places);
    for (let moment = 0; moment < 2; moment += 1) {
      const afterMs = ((moment + Math.random()) / 2) * runMs;
      await signalAfter(places, afterMs, moment % 2 === 0 ? 'SIGTERM' : 'SIGINT');
      // The run gives its own locks back. Its processes are killed, maybe while they take theirs: the next run clears up after them.
      expect(readdirIfThere(places.workFolder).filter((name) => /\.lock/u.test(name))).toEqual([]);
      await finish(places, expected, `stopped after ${afterMs} of ${runMs} ms`);
    }
  });
});

test('two runs at once make each shard once, and the one that finds a shard taken says so', async (context) => {
  const places = await makeMixedPlan(await makeFolder(context));
  const { expected } = await makeUndisturbed(places);
  const ends = await Promise.all([0, 1].map(() => startPackDriver(places, { ...OFTEN, jobs: 1 }).ended));
  expectTree(places.out, expected);
  expect(ends.some(({ error }) => error === undefined)).toBe(true);
  for (const { error } of ends)
    if (error !== undefined) expect(error.message).toMatch(/^Cannot lock .* has held it since/);
});

describe.skipIf(!HAS_PROC)('a run of which processes die (needs /proc)', () => {
  test('leaves the same bytes without being started again', async (context) => {
    const places = await makeMixedPlan(await makeFolder(context));
    const { expected, runMs } = await makeUndisturbed(places);
    let kills = 0;
    for (let round = 0; round < 3 || kills === 0; round += 1) {
      const driver = startPackDriver(places, OFTEN);
      await sleep(runMs * (0.2 + 0.6 * Math.random()));
      kills += killOne(driver.pid);
      const end = await driver.ended;
      expect(end.error).toBeUndefined();
      expectTree(places.out, expected);
      await rm(places.out, { recursive: true });
    }
  });

  /** Of an item that is met while it is made. */
  const SECONDS = 600;

  /** A plan of which the second item takes long enough to be met. */
  async function makeLongPlan(context: TestContext): Promise<PackPlaces> {
    const folder = await makeFolder(context);
    await writeNoise(path.join(folder, 'short.wav'), 0.5, 1);
    const second = encodeWavSamples(makeNoise(16_000), 's16');
    const { head } = buildWavAround(SECONDS * second.length, { sampleRate: 16_000 });
    await writeFile(
      path.join(folder, 'long.wav'),
      Buffer.concat([head, ...Array.from({ length: SECONDS }, () => second)]),
    );
    const ids = ['a', 'long', 'b'];
    const items = ids.map((id) =>
      itemOf(id, id === 'long' ? 'long.wav' : 'short.wav', { member: `${id}.flac`, how: 'encode', duration: '1' }),
    );
    return await makePlan(folder, [items], { format: 'flac', sampleRate: 16_000 });
  }

  const atItem = ({ workFolder }: PackPlaces, item: number, child: number | undefined): boolean => {
    const [now] = listChildren(pid);
    if (now === undefined || now === child) return false;
    return (
      readdirIfThere(workFolder).includes('000000.at') &&
      readFileSync(path.join(workFolder, '000000.at'), 'latin1').trim() === `${item}`
    );
  };

  test.for(['SIGSEGV', 'SIGKILL'] as const)('fails an item alone at which they die of %s', async (signal, context) => {
    const places = await makeLongPlan(context);
    const run = packShards(packOptions(places));
    let child: number | undefined;
    for (let death = 0; death < 2; death += 1) {
      expect(await isSoon(() => atItem(places, 1, child), 20_000)).toBe(true);
      [child] = listChildren(pid);
      kill(child ?? 0, signal);
    }
    const [outcome] = await run;
    expect(outcome?.failures).toMatchObject([{ id: 'long', reason: 'decoder_crashed' }]);
    expect(outcome?.failures[0]?.message).toContain(`its decoder process died 2 times (${signal}`);
    expect(readRows(path.join(places.out, 'manifests', '0.jsonl')).map((row) => row['audio_filepath'])).toEqual([
      'a.flac',
      'b.flac',
    ]);
    expect((await readTarIndex(path.join(places.out, 'audios', '0.tar'))).members.map(({ name }) => name)).toEqual([
      'a.flac',
      'b.flac',
    ]);
  });

  test('fails an item alone at which one hangs', async (context) => {
    const places = await makeLongPlan(context);
    const run = packShards(packOptions(places, { silenceSeconds: 2 }));
    expect(await isSoon(() => atItem(places, 1, undefined), 20_000)).toBe(true);
    for (const child of listChildren(pid)) kill(child, 'SIGSTOP');
    const [outcome] = await run;
    expect(outcome?.failures).toMatchObject([{ id: 'long', reason: 'decoder_hung' }]);
    expect(outcome?.failures[0]?.message).toContain('its decoder said nothing for 2 s');
    expect(outcome?.members).toBe(2);
    expect(listChildren(pid)).toEqual([]);
  });

  test('waits for a process that outlives its run, and names it where it does not end', async (context) => {
    const places = await makeLongPlan(context);
    const driver = startPackDriver(places);
    let orphan = 0;
    expect(
      await isSoon(() => {
        orphan = listChildren(driver.pid)[0] ?? 0;
        return orphan > 0 && readdirIfThere(places.workFolder).includes('000000.at');
      }, 20_000),
    ).toBe(true);
    kill(orphan, 'SIGSTOP');
    driver.kill('SIGKILL');
    await driver.ended;
    const refused = packShards(packOptions(places, { silenceSeconds: 1 }));
    await expect(refused).rejects.toThrow(`process ${orphan} on`);
    await expect(refused).rejects.toMatchObject({ hint: expect.stringContaining(`ps -fp ${orphan}`) as string });
    const waiting = packShards(packOptions(places, { silenceSeconds: 20 }));
    await sleep(500);
    expect(isAlive(orphan)).toBe(true);
    kill(orphan, 'SIGCONT');
    expect((await waiting)[0]?.members).toBe(3);
    expect(isAlive(orphan)).toBe(false);
  });
});

function killOne(parent: number): number {
  const [child] = listChildren(parent);
  if (child === undefined || !isAlive(child)) return 0;
  spawnSync('kill', ['-KILL', `${child}`]);
  return 1;
}

function readdirIfThere(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
