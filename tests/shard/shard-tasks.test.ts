import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { array, assert, integer, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '#cutroom/errors.js';
import type { PlannedShard } from '#cutroom/shard/plan.js';
import { PlanFile } from '#cutroom/shard/plan-file.js';
import { divideShards } from '#cutroom/shard/shard-tasks.js';
import { itemOf, makePlan } from '../support/pack-runs.js';

function shardOf({ micros, itemCount }: { micros: number; itemCount: number }): PlannedShard {
  return { tar: 't', manifest: 'm', itemCount, micros, offsetBytes: 0, sizeBytes: 0 };
}

const anyShards = (leastMicros: number) =>
  array(record({ micros: integer({ min: leastMicros, max: 1e9 }), itemCount: integer({ min: 1, max: 50 }) }), {
    minLength: 1,
    maxLength: 60,
  }).map((shards) => shards.map(shardOf));

describe('divideShards()', () => {
  it('gives every shard to one task, in order, and no task more than its share and a shard', () => {
    assert(
      property(anyShards(1), integer({ min: 1, max: 80 }), (shards, count) => {
        const extents = divideShards(shards, { count });
        expect(extents.flatMap(({ first, end }) => Array.from({ length: end - first }, (_, at) => first + at))).toEqual(
          shards.map((_, shard) => shard),
        );
        expect(extents).toHaveLength(Math.min(count, shards.length));
        expect(extents.every(({ first, end }) => end > first)).toBe(true);
        const total = shards.reduce((sum, { micros }) => sum + micros, 0);
        expect(extents.reduce((sum, { micros = 0 }) => sum + micros, 0)).toBe(total);
        const heaviest = Math.max(...shards.map(({ micros }) => micros));
        const most = Math.max(...extents.map(({ micros = 0 }) => micros));
        expect(most).toBeLessThanOrEqual(total / extents.length + heaviest);
      }),
    );
  });

  it('makes tasks of so many hours, and counts items where not all durations are known', () => {
    const hour = 3600e6;
    const shards = [1, 1, 1, 1].map((hours) => shardOf({ micros: hours * hour, itemCount: 1 }));
    expect(divideShards(shards, { hours: 2 }).map(({ micros }) => micros)).toEqual([2 * hour, 2 * hour]);
    const unknown = [shardOf({ micros: 0, itemCount: 30 }), ...shards.slice(1)];
    expect(divideShards(unknown, { count: 2 })).toEqual([
      { task: 0, first: 0, end: 1, micros: undefined, bytes: undefined },
      { task: 1, first: 1, end: 4, micros: undefined, bytes: undefined },
    ]);
    expect(() => divideShards(unknown, { hours: 2 })).toThrow(UsageError);
    expect(() => divideShards(shards, { hours: 0 })).toThrow(RangeError);
  });
});

describe('PlanFile', () => {
  it('digests a stretch of its shards by what they are made by, and by nothing else', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'cutroom-digest-'));
    const items = ['a', 'b', 'c'].map((id) => [itemOf(id, `${id}.wav`)]);
    const { plan } = await makePlan(folder, items);
    const digests = [plan.digestShards(0, 1), plan.digestShards(1, 3)];
    const text = readFileSync(plan.path, 'latin1');
    writeFileSync(plan.path, text.replace('words of c', 'WORDS of c'), 'latin1');
    const changed = PlanFile.open(plan.path);
    expect(changed?.digestShards(0, 1)).toBe(digests[0]);
    expect(changed?.digestShards(1, 3)).not.toBe(digests[1]);
    rmSync(folder, { recursive: true });
  });
});
