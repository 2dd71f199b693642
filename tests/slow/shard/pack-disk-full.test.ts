import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { TestContext } from 'vitest';
import { CutroomError, OutputError } from '#cutroom/errors.js';
import type { ProcessPool } from '#cutroom/run/process-pool.js';
import { PackMeter } from '#cutroom/shard/pack-meter.js';
import { packOne } from '#cutroom/shard/pack-one.js';
import { packShard } from '#cutroom/shard/pack-shard.js';
import type { PackShardJob } from '#cutroom/shard/pack-shard.js';
import { packShards } from '#cutroom/shard/pack-shards.js';
import type { PlannedItem } from '#cutroom/shard/plan.js';
import { readTarIndex } from '#cutroom/tar/reader.js';
import { TarAppender } from '#cutroom/tar/writer.js';
import { makeFolder } from '../../support/cut-runs.js';
import { expectTree, itemOf, makePlan, packOptions, placesOf, readTree, writeNoise } from '../../support/pack-runs.js';
import type { PackPlaces } from '../../support/pack-runs.js';
import { mountSmallDisk } from '../../support/small-disk.js';

const PAGE_BYTES = 4096;

/** Some 60 kB of copies, encodings and members of another tar in one shard. */
async function makeSmallPlan(context: TestContext): Promise<PackPlaces & { expected: Map<string, Buffer> }> {
  const folder = await makeFolder(context);
  await writeNoise(path.join(folder, 'a.wav'), 0.3, 1);
  const tar = path.join(folder, 'source.tar');
  const appender = await TarAppender.open(tar);
  await appender.appendBytes('in.wav', readFileSync(path.join(folder, 'a.wav')));
  await appender.finish();
  await appender.close();
  const [source] = (await readTarIndex(tar)).members;
  const inside = { offset: source?.offsetBytes ?? 0, size: source?.sizeBytes ?? 0, name: 'in.wav' };
  const items: PlannedItem[] = [0, 1].flatMap((k) => [
    itemOf(`copy${k}`, 'a.wav', { member: `copy${k}.wav`, duration: '0.3' }),
    itemOf(`encode${k}`, 'a.wav', { member: `encode${k}.wav`, how: 'encode' }),
    itemOf(`inside${k}`, tar, { member: `inside${k}.wav`, how: 'encode', inside }),
    itemOf(`gone${k}`, 'gone.wav'),
  ]);
  const places = await makePlan(folder, [items]);
  await packShards(packOptions(places));
  const expected = readTree(places.out);
  await rm(places.out, { recursive: true });
  return { ...places, expected };
}

/** Makes the shard in this process; answers which file could not be written, relative to the output folder. */
async function tryToPack(places: PackPlaces): Promise<string | undefined> {
  const pool = {
    run: async (job: PackShardJob) => ({ kind: 'done', value: await packShard(job, () => Promise.resolve()) }),
  } as unknown as ProcessPool;
  try {
    for (const folder of ['audios', 'manifests', '.work'])
      await mkdir(path.join(places.out, folder), { recursive: true });
    const options = packOptions(places);
    const meter = new PackMeter(places.plan, [0], undefined);
    await packOne({ ...options, pool, meter, checkpointMs: 0 }, 0, new AbortController().signal);
    return undefined;
  } catch (error) {
    if (!(error instanceof CutroomError)) return 'folders';
    expect(error).toBeInstanceOf(OutputError);
    expect(error.message).toMatch(/^Cannot .*: no space left on the disk$/);
    expect(error.hint).toMatch(/^Free .* there and run the same command again\.$/);
    return path.relative(places.out, (error as OutputError).path ?? '');
  }
}

test('a full disk ends a run with the name of the file, and the run goes on once there is room', async (context) => {
  const { plan, expected } = await makeSmallPlan(context);
  const disk = mountSmallDisk(context, 1 << 20);
  const places = placesOf(plan.path, path.join(disk, 'out'));
  const failed = new Set<string>();
  for (let pages = 4; ; pages += 1) {
    resize(disk, pages * PAGE_BYTES);
    const file = await tryToPack(places);
    if (file === undefined) break;
    failed.add(file);
    expect(
      readdirSync(path.join(places.out)).includes('manifests') &&
        readdirSync(path.join(places.out, 'manifests')).includes('0.jsonl'),
    ).toBe(false);
    resize(disk, 1 << 20);
    expect(await tryToPack(places)).toBeUndefined();
    expectTree(places.out, expected, `full at ${pages} pages`);
    await rm(places.out, { recursive: true });
  }
  expectTree(places.out, expected);
  for (const file of ['audios/0.tar.partial', '.work/000000.spool']) expect([...failed], file).toContain(file);
});

test('a run goes on from failure to failure, as room is made bit by bit', async (context) => {
  const { plan, expected } = await makeSmallPlan(context);
  const disk = mountSmallDisk(context, 1 << 20);
  const places = placesOf(plan.path, path.join(disk, 'out'));
  const ballast = path.join(disk, 'ballast');
  let failures = 0;
  for (let pages = 252; ; pages -= 2) {
    await rm(ballast, { force: true });
    const { bavail } = await statfs(disk);
    if (pages > 0) await writeFile(ballast, Buffer.alloc(Math.min(pages, bavail) * PAGE_BYTES));
    if ((await tryToPack(places)) === undefined) break;
    failures += 1;
  }
  expect(failures).toBeGreaterThan(5);
  expectTree(places.out, expected);
});

test('packShards() says of its processes what the disk said to them', async (context) => {
  const { plan, expected } = await makeSmallPlan(context);
  const disk = mountSmallDisk(context, 16 * PAGE_BYTES);
  const places = placesOf(plan.path, path.join(disk, 'out'));
  const failure = packShards(packOptions(places));
  await expect(failure).rejects.toThrow(OutputError);
  await expect(failure).rejects.toThrow('no space left on the disk');
  await expect(failure).rejects.toMatchObject({ path: expect.stringContaining(places.out) as string });
  resize(disk, 1 << 20);
  await packShards(packOptions(places));
  expectTree(places.out, expected);
});

function resize(disk: string, sizeBytes: number): void {
  const done = spawnSync('mount', ['-o', `remount,size=${sizeBytes}`, disk]);
  expect(done.status, done.stderr.toString()).toBe(0);
}
