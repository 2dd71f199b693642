import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { appendFile, mkdir, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { pid } from 'node:process';
import { describe, expect, test } from 'vitest';
import type { TestContext } from 'vitest';
import { CanceledError, InputError, OutputError } from '#cutroom/errors.js';
import { acquireLock } from '#cutroom/run/lock.js';
import type { JobOutcome, ProcessPool } from '#cutroom/run/process-pool.js';
import { clearWork, readOutcomes } from '#cutroom/shard/outcome-file.js';
import { PackMeter } from '#cutroom/shard/pack-meter.js';
import { packOne } from '#cutroom/shard/pack-one.js';
import { packShard } from '#cutroom/shard/pack-shard.js';
import type { PackShardJob } from '#cutroom/shard/pack-shard.js';
import { packShards } from '#cutroom/shard/pack-shards.js';
import type { PackShardsOptions } from '#cutroom/shard/pack-shards.js';
import type { PackProgress } from '#cutroom/shard/progress.js';
import { makeFolder } from '../support/cut-runs.js';
import { expectTree, itemOf, makePlan, packOptions, placesOf, readTree } from '../support/pack-runs.js';
import type { PackPlaces } from '../support/pack-runs.js';

/** A plan of small copies, three shards of two items and one that fails. */
async function setUp(context: TestContext): Promise<PackPlaces & { source: string }> {
  const folder = await makeFolder(context);
  const source = path.join(folder, 'a.wav');
  await writeFile(source, 'bytes of a');
  const shards = [0, 1, 2].map((shard) => [
    itemOf(`a${shard}`, 'a.wav', { member: `a${shard}.wav`, duration: '1.5' }),
    itemOf(`b${shard}`, 'a.wav', { member: `b${shard}.wav`, duration: '2' }),
    itemOf(`gone${shard}`, 'gone.wav', { duration: '0.5' }),
  ]);
  return { ...(await makePlan(folder, shards)), source };
}

/** Makes shards without other processes. */
async function packHere(
  places: PackPlaces,
  changes: Partial<PackShardsOptions> = {},
  answer: Parameters<typeof poolOf>[0] = () => undefined,
): Promise<void> {
  const { plan, out, workFolder } = places;
  for (const folder of ['audios', 'manifests']) await mkdir(path.join(out, folder), { recursive: true });
  await mkdir(workFolder, { recursive: true });
  const { pool } = poolOf(answer);
  const options = packOptions(places, changes);
  const parts = { ...options, pool, meter: new PackMeter(plan, options.shards, undefined), checkpointMs: 2000 };
  for (const shard of options.shards) await packOne(parts, shard, new AbortController().signal);
}

/** What stands in for the pool: does the jobs in this process, unless `answer` has another end for them. */
function poolOf(answer: (job: PackShardJob, time: number) => JobOutcome<unknown> | undefined | void): {
  pool: ProcessPool;
  jobs: PackShardJob[];
} {
  const jobs: PackShardJob[] = [];
  const run = async (job: PackShardJob): Promise<JobOutcome<unknown>> => {
    jobs.push(structuredClone(job));
    const value = await packShard(job, () => Promise.resolve());
    return answer(job, jobs.length) ?? { kind: 'done', value };
  };
  return { pool: { run } as unknown as ProcessPool, jobs };
}

describe('packShards()', () => {
  test('makes shards in processes, tells how far they are, and makes nothing again', async (context) => {
    const places = await setUp(context);
    const progress: PackProgress[] = [];
    const outcomes = await packShards(
      packOptions(places, { shards: [2, 0, 1], jobs: 2, onProgress: (what) => progress.push(what) }),
    );
    expect(outcomes.map(({ shard, members, rows, copied }) => [shard, members, rows, copied])).toEqual([
      [2, 2, 2, 2],
      [0, 2, 2, 2],
      [1, 2, 2, 2],
    ]);
    expect(outcomes.map(({ failures }) => failures.map(({ id, shard }) => [id, shard]))).toEqual([
      [['gone2', 2]],
      [['gone0', 0]],
      [['gone1', 1]],
    ]);
    expect(progress.at(-1)).toMatchObject({
      stage: 'pack',
      shards: 3,
      totalShards: 3,
      items: 9,
      totalItems: 9,
      resumedItems: 0,
    });
    expect([...readTree(places.out).keys()]).toEqual([
      '.work/000000.json',
      '.work/000001.json',
      '.work/000002.json',
      'audios/0.tar',
      'audios/1.tar',
      'audios/2.tar',
      'manifests/0.jsonl',
      'manifests/1.jsonl',
      'manifests/2.jsonl',
    ]);
    expect(await readOutcomes(places.plan, places.workFolder)).toEqual([outcomes[1], outcomes[2], outcomes[0]]);
    const tar = path.join(places.out, 'audios', '1.tar');
    const { mtimeMs, ino } = statSync(tar);
    // Nothing of it is needed any more.
    await rm(places.source);
    progress.length = 0;
    const again = await packShards(packOptions(places, { onProgress: (what) => progress.push(what) }));
    expect(again).toEqual([outcomes[1], outcomes[2], outcomes[0]]);
    expect(statSync(tar)).toMatchObject({ mtimeMs, ino });
    expect(progress).toMatchObject([{ shards: 3, items: 9, resumedItems: 9 }]);
    await clearWork(places.workFolder);
    expect(existsSync(places.workFolder)).toBe(false);
    await clearWork(places.workFolder);
  });

  test('refuses what another plan or program made before anything is done, and replaces it when told to', async (context) => {
    const places = await setUp(context);
    await packHere(places);
    const expected = readTree(places.out);
    const other = await makePlan(path.dirname(places.plan.path), [[], [itemOf('other', 'a.wav', { duration: '9' })]]);
    await rm(path.join(places.out, 'audios', '0.tar'));
    await rm(path.join(places.out, 'manifests', '0.jsonl'));
    const refused = packShards(packOptions(other));
    await expect(refused).rejects.toThrow(OutputError);
    await expect(refused).rejects.toThrow(
      `Cannot write "${path.join(places.out, 'audios', '1.tar')}": a file stands there that this plan did not make`,
    );
    await expect(refused).rejects.toMatchObject({ hint: expect.stringContaining('--overwrite') as string });
    expect(readdirSync(path.join(places.out, 'audios'))).toEqual(['1.tar', '2.tar']);
    const [, outcome] = await packShards(packOptions(other, { overwrite: true }));
    expect(outcome).toMatchObject({ members: 1, durationMicros: 9_000_000 });
    expect(readFileSync(path.join(places.out, 'manifests', '1.jsonl'), 'utf8')).toContain(
      '"words of other"'.slice(1, -1),
    );
    // Not touched: it is none of that plan's shards.
    expect(readFileSync(path.join(places.out, 'audios', '2.tar'))).toEqual(expected.get('audios/2.tar'));
  });

  test('refuses a tar that was changed since it was made', async (context) => {
    const places = await setUp(context);
    await packHere(places);
    const expected = readTree(places.out);
    const tar = path.join(places.out, 'audios', '1.tar');
    await truncate(tar, 512);
    const refused = packShards(packOptions(places));
    await expect(refused).rejects.toThrow(`Cannot write "${tar}": it has 512 bytes, of `);
    await packHere(places, { overwrite: true });
    expectTree(places.out, expected);
    // What is gone is made again without a word.
    await rm(tar);
    await packHere(places);
    expectTree(places.out, expected);
  });

  test('refuses a plan that is damaged, or that has no such shard', async (context) => {
    const places = await setUp(context);
    await expect(packShards(packOptions(places, { shards: [3] }))).rejects.toThrow(RangeError);
    const bytes = readFileSync(places.plan.path);
    bytes[bytes.indexOf('words of b1')] = 0x57;
    await writeFile(places.plan.path, bytes);
    const damaged = placesOf(places.plan.path, places.out);
    await expect(packShards(packOptions(damaged))).rejects.toThrow(InputError);
    await expect(packShards(packOptions(damaged))).rejects.toThrow('it is damaged');
    expect(existsSync(places.out)).toBe(false);
  });

  test('does not make a shard that another run has', async (context) => {
    const places = await setUp(context);
    await mkdir(places.workFolder, { recursive: true });
    const lock = await acquireLock(path.join(places.workFolder, '000001.lock'), {
      identity: { host: hostname(), pid },
    });
    const blocked = packShards(packOptions(places, { shards: [1] }));
    await expect(blocked).rejects.toThrow(`process ${pid} on ${hostname()} has held it since`);
    expect(readdirSync(path.join(places.out, 'audios'))).toEqual([]);
    await lock.release();
    await packHere(places);
    expect(readdirSync(places.workFolder)).toEqual(['000000.json', '000001.json', '000002.json']);
  });

  test('stops when it is told to', async (context) => {
    const places = await setUp(context);
    await expect(packShards(packOptions(places, { signal: AbortSignal.abort(new Error('stop')) }))).rejects.toThrow(
      CanceledError,
    );
    const stop = new AbortController();
    const stopped = packShards(packOptions(places, { signal: stop.signal }));
    setTimeout(() => stop.abort(new Error('SIGINT')), 20);
    await expect(stopped).rejects.toThrow(CanceledError);
    await packHere(places);
    expect(await packShards(packOptions(places))).toHaveLength(3);
  });

  test('sweeps what a run left that was killed at its very end', async (context) => {
    const places = await setUp(context);
    await packHere(places);
    const expected = readTree(places.out);
    const lock = { host: hostname(), pid: 2 ** 30, token: 'ab', started: 'then' };
    await writeFile(path.join(places.workFolder, '000001.lock'), JSON.stringify(lock));
    await writeFile(path.join(places.workFolder, '000001.writer'), JSON.stringify(lock));
    await appendFile(path.join(places.workFolder, '000001.journal'), 'x');
    await writeFile(path.join(places.workFolder, '000002.at'), '0');
    await packShards(packOptions(places, { isProcessAlive: () => false }));
    expectTree(places.out, expected);
  });
});

describe('packOne()', () => {
  /** Makes the first shard with what stands in for the pool. */
  async function packFirst(places: PackPlaces, answer: Parameters<typeof poolOf>[0]) {
    const { pool, jobs } = poolOf(answer);
    const { plan, out, workFolder } = places;
    for (const folder of ['audios', 'manifests']) await mkdir(path.join(out, folder), { recursive: true });
    await mkdir(workFolder, { recursive: true });
    const meter = new PackMeter(plan, [0], undefined);
    const made = packOne({ ...packOptions(places), pool, meter, checkpointMs: 2000 }, 0, new AbortController().signal);
    return { made, jobs };
  }

  /** Notes that the process was at an item, as one that dies does. */
  const diesAt = (places: PackPlaces, items: readonly number[]) => (_job: PackShardJob, time: number) => {
    const item = items[time - 1];
    if (item === undefined) return undefined;
    appendAt(places, item);
    return { kind: 'died', how: 'SIGSEGV' } as const;
  };

  test('leaves an item out after the second death at it', async (context) => {
    const places = await setUp(context);
    const { made, jobs } = await packFirst(places, diesAt(places, [0, 1, 0, 1]));
    const { outcome } = (await made) as Extract<Awaited<typeof made>, { outcome: unknown }>;
    const how = 'process died 2 times (SIGSEGV)';
    expect(jobs.map(({ dead }) => dead)).toEqual([
      [],
      [],
      [],
      [{ item: 0, reason: 'decoder_crashed', how }],
      [
        { item: 0, reason: 'decoder_crashed', how },
        { item: 1, reason: 'decoder_crashed', how },
      ],
    ]);
    expect(outcome.failures.map(({ reason }) => reason)).toContain('missing_recording');
  });

  test('leaves an item out after one silence at it', async (context) => {
    const places = await setUp(context);
    const { made, jobs } = await packFirst(places, (_job, time) => {
      if (time > 1) return undefined;
      appendAt(places, 1);
      return { kind: 'hung', seconds: 7 };
    });
    await made;
    expect(jobs[1]?.dead).toEqual([{ item: 1, reason: 'decoder_hung', how: 'said nothing for 7 s' }]);
  });

  test('gives nothing a name once its lock is lost', async (context) => {
    const places = await setUp(context);
    const { made } = await packFirst(places, () => rmSync(path.join(places.workFolder, '000000.lock')));
    await expect(made).rejects.toThrow('Lost the lock');
    expect(readdirSync(path.join(places.out, 'audios'))).toEqual(['0.tar.partial']);
  });

  test('goes on where a run was killed while it gave the files their names', async (context) => {
    const places = await setUp(context);
    await packHere(places);
    const expected = readTree(places.out);
    await rm(places.out, { recursive: true });
    const killed = packHere(places, { shards: [0] }, () => rmSync(path.join(places.workFolder, '000000.lock')));
    await expect(killed).rejects.toThrow('Lost the lock');
    const tar = path.join(places.out, 'audios', '0.tar');
    await rename(`${tar}.partial`, tar);
    // Its audio is not needed any more.
    await rm(places.source);
    await packHere(places, { shards: [0] });
    await writeFile(places.source, 'bytes of a');
    await packHere(places);
    expectTree(places.out, expected);
  });

  test('gives up where processes die while they are at no item', async (context) => {
    const places = await setUp(context);
    const { made, jobs } = await packFirst(places, diesAt(places, [-1, -1]));
    const tar = path.join(places.out, 'audios', '0.tar');
    await expect(made).rejects.toThrow(`Cannot make "${tar}": its process died 2 times (SIGSEGV)`);
    expect(jobs).toHaveLength(2);
    expect(readdirSync(places.workFolder)).not.toContain('000000.lock');
  });
});

/** Makes the next job begin anew, at whose end the process was at that item. */
function appendAt({ workFolder, out }: PackPlaces, item: number): void {
  const at = path.join(workFolder, '000000.at');
  writeFileSync(at, String(item).padStart(16));
  rmSync(path.join(workFolder, '000000.journal'), { force: true });
  rmSync(path.join(out, 'audios', '0.tar.partial'), { force: true });
}
