// Memory of batches and of samples is used again, and changes nothing of what batches hold.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AugmentOptions } from '#cutroom/load/augment-options.js';
import { SampleChunks } from '#cutroom/load/sample-chunks.js';
import { SampleRooms } from '#cutroom/load/sample-rooms.js';
import type { ItemTable } from '#cutroom/load/item-table.js';
import { FakeDecoder, fakeLoader, tableOf } from './fake-parts.js';
import type { FakeLoaderOptions } from './fake-parts.js';

describe('SampleRooms', () => {
  it('gives no room to two at a time', () => {
    const rooms = new SampleRooms({ stepSamples: 4 });
    const first = rooms.take(10);
    const second = rooms.take(10);
    expect(first.buffer).not.toBe(second.buffer);
    rooms.giveBack(first);
    rooms.giveBack(first);
    const buffers = [rooms.take(12), rooms.take(12)].map(({ buffer }) => buffer);
    expect(buffers[0]).toBe(first.buffer);
    expect(buffers[1]).not.toBe(first.buffer);
  });

  it('leaves memory of others alone, and rooms that are far too large', () => {
    const rooms = new SampleRooms({ stepSamples: 1 });
    const foreign = new Float32Array(10);
    rooms.giveBack(foreign);
    expect(rooms.take(10).buffer).not.toBe(foreign.buffer);
    const large = rooms.take(100);
    rooms.giveBack(large);
    expect(rooms.take(24).buffer).not.toBe(large.buffer);
    expect(rooms.take(25).buffer).toBe(large.buffer);
  });

  it('lets go of what waited for the longest once there is too much', () => {
    const rooms = new SampleRooms({ stepSamples: 1, maxBytes: 100 });
    const given = [10, 11, 12].map((samples) => rooms.take(samples));
    for (const room of given) rooms.giveBack(room);
    const taken = [12, 11, 10].map((samples) => rooms.take(samples).buffer);
    expect(taken[0]).toBe(given[2]?.buffer);
    expect(taken[1]).toBe(given[1]?.buffer);
    expect(taken[2]).not.toBe(given[0]?.buffer);
  });
});

describe('SampleChunks', () => {
  it('gives no sample to two at a time, whatever is given back', () => {
    const step = fc.record({ samples: fc.nat({ max: 400_000 }), givesBack: fc.boolean(), which: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const chunks = new SampleChunks();
        const held: { room: Float32Array; mark: number }[] = [];
        for (const [mark, { samples, givesBack, which }] of steps.entries()) {
          const room = chunks.take(samples);
          expect(room).toHaveLength(samples);
          for (const at of [0, samples - 1]) if (samples > 0) room[at] = mark;
          held.push({ room, mark });
          if (!givesBack) continue;
          const [given] = held.splice(which % held.length, 1);
          for (let times = 0; times < 2; times += 1) chunks.giveBack(given?.room.subarray(0, 1) ?? room);
        }
        for (const { room, mark } of held) {
          if (room.length > 0) expect([room[0], room.at(-1)]).toEqual([mark, mark]);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('uses a chunk again once all of it was given back, for items of other lengths', () => {
    const chunks = new SampleChunks();
    const lengths = [[700_000, 300_000], [400_000, 500_000], [1_000_000]];
    const buffers = lengths.map((items) => {
      const rooms = items.map((samples) => chunks.take(samples));
      const { buffer } = chunks.take(1_000_000);
      for (const room of rooms) chunks.giveBack(room);
      expect(buffer).not.toBe(rooms[0]?.buffer);
      return rooms[0]?.buffer;
    });
    expect(new Set(buffers).size).toBe(1);
  });

  it('leaves memory of others alone', () => {
    const chunks = new SampleChunks();
    const foreign = new Float32Array(10);
    chunks.giveBack(foreign);
    expect(chunks.take(10).buffer).not.toBe(foreign.buffer);
  });
});

describe('a batch whose items are decoded into its memory', () => {
  /** Item k has k % 5 + 1 samples of 1,000 Hz. */
  const exact = tableOf(Array.from({ length: 40 }, (_, item) => ((item % 5) + 1) / 1000));
  const tooLong = tableOf(Array.from({ length: 40 }, () => 1));
  const endless = tableOf(Array.from({ length: 40 }, () => 1e9));
  const tooShort = tableOf(Array.from({ length: 40 }, () => 0.002));

  async function batchesOf(table: ItemTable, options: FakeLoaderOptions, usesPlaces: boolean) {
    const decoder = new FakeDecoder([3, 20, 21]);
    decoder.usesPlaces = usesPlaces;
    await using loader = fakeLoader(table, decoder, { size: 4, ...options });
    const batches = [];
    for await (const { audio, shape, audioLengths, ids } of loader.batches()) {
      expect(audio.buffer.byteLength).toBe(audio.byteLength);
      batches.push({ audio: [...audio], shape, audioLengths: [...audioLengths], ids });
    }
    return { batches, placedCount: decoder.placedCount };
  }

  const cases = [
    { durations: 'exact', table: exact, leastPlaced: 37 },
    { durations: 'too long', table: tooLong, leastPlaced: 3 },
    { durations: 'too short', table: tooShort, leastPlaced: 1 },
    { durations: 'beyond all memory', table: endless, leastPlaced: 0 },
  ];
  it.each(cases)('holds the same where durations are $durations', async ({ table, leastPlaced }) => {
    for (const options of [{ onItemError: 'drop' }, { onItemError: 'replace' }, { speeds: [0.5, 1, 2] }] as const) {
      const { batches, placedCount } = await batchesOf(table, options, true);
      const apart = await batchesOf(table, options, false);
      expect(batches).toEqual(apart.batches);
      expect(placedCount).toBeGreaterThanOrEqual('speeds' in options ? Math.min(1, leastPlaced) : leastPlaced);
      expect(apart.placedCount).toBe(0);
    }
  });

  it('is not one of several copies', async () => {
    const { batches, placedCount } = await batchesOf(exact, { copies: 2 }, true);
    expect(batches).toEqual((await batchesOf(exact, { copies: 2 }, false)).batches);
    expect(placedCount).toBe(0);
  });
});

describe('Loader.recycle()', () => {
  const table = tableOf(Array.from({ length: 40 }, () => 1));
  /** Louder by a random gain, in place. */
  const augment: AugmentOptions = { volume: { probability: 0.5, gainDb: [-6, 6] } };

  /** Batches that lie in the memory of earlier ones are `reused`: where one waits while the next is made, those after it at least. */
  async function audioOf(isRecycled: boolean): Promise<{ audio: number[][]; reused: number }> {
    await using loader = fakeLoader(table, new FakeDecoder([3, 20]), { size: 4, copies: 2, augment, prefetch: 1 });
    const audio: number[][] = [];
    const rooms = new Set<ArrayBufferLike>();
    let reused = 0;
    for await (const batch of loader.batches()) {
      audio.push([...batch.audio]);
      if (rooms.has(batch.audio.buffer)) reused += 1;
      rooms.add(batch.audio.buffer);
      if (!isRecycled) continue;
      loader.recycle(batch);
      expect(batch.audio).toHaveLength(0);
      loader.recycle(batch);
    }
    return { audio, reused };
  }

  it('changes nothing of the batches that follow, padding among it', async () => {
    const kept = await audioOf(false);
    const recycled = await audioOf(true);
    expect(recycled.audio).toEqual(kept.audio);
    expect(kept.audio.flat()).toContain(0);
    expect(kept.reused).toBe(0);
    expect(recycled.reused).toBeGreaterThan(0);
  });
});
