import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Batch } from '#cutroom/load/batch.js';
import { createLoader } from '#cutroom/load/create-loader.js';
import type { LoaderOptions } from '#cutroom/load/loader-options.js';
import { smallItems, wavOf, writeDataset } from '../../load/loader-shards.js';

let folder: string;
let list: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-loader-'));
  const items = smallItems(400).map((item) => {
    if (item.number % 97 === 5) return { ...item, bytes: Buffer.from('RIFF and nothing else') };
    return item.number % 3 === 0 ? { ...item, wav: { channels: 2, sampleRate: 16_000 } } : item;
  });
  list = writeDataset(path.join(folder, 'data'), items, 5);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** All batches of an epoch, their audio as a digest. */
async function collect(options: LoaderOptions): Promise<(Omit<Batch, 'audio'> & { audio: string })[]> {
  await using loader = await createLoader(options);
  const batches: (Omit<Batch, 'audio'> & { audio: string })[] = [];
  for await (const batch of loader.batches()) batches.push({ ...batch, audio: hash('sha256', batch.audio) });
  return batches;
}

describe('a loader with processes', () => {
  it('gives the same bytes as one without, however many they are and however far they are ahead', async () => {
    const noise = path.join(folder, 'noise.wav');
    writeFileSync(noise, wavOf({ number: 100, samples: 4000 }));
    const options: LoaderOptions = {
      ...{ source: list, sampleRate: 8000, maxDuration: 2, bucketCount: 4, speeds: [0.9, 1, 1.1], numCopies: 2 },
      augment: { volume: { gainDb: [-6, 6] }, noise: { probability: 0.5, snrsDb: [5, 15], files: [noise] } },
    };
    const alone = await collect({ ...options, jobs: 0, prefetch: 1 });
    expect(alone.flatMap(({ failures }) => failures)).toHaveLength(5);
    expect(await collect({ ...options, jobs: 2, prefetch: 6 })).toEqual(alone);
    expect(await collect({ ...options, jobs: 3, prefetch: 2, indexes: { folder } })).toEqual(alone);
  });

  it('takes no more memory over many epochs than over a few', async () => {
    await using loader = await createLoader({
      source: list,
      sampleRate: 48_000,
      maxDuration: 20,
      jobs: 2,
      prefetch: 2,
    });
    let batches = 0;
    let early = 0;
    let late = 0;
    for await (const { epoch } of loader.stream()) {
      batches += 1;
      const usedBytes = process.memoryUsage.rss();
      if (epoch < 6) early = Math.max(early, usedBytes);
      else late = Math.max(late, usedBytes);
      if (epoch === 30) break;
    }
    expect(batches).toBeGreaterThan(60);
    expect(late - early).toBeLessThan(80e6);
    expect(loader.failures.first.length).toBeLessThanOrEqual(40);
  });
});
