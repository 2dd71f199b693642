// Memory models: what made the points is found again, and points that make no model are refused.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { assert, double, integer, pre, property } from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  fitMemoryModel,
  memoryOf,
  proposeBatchSize,
  readMemoryModel,
  type MemoryModel,
  type MemoryPoint,
} from '#cutroom/load/memory-model.js';

const GIGABYTE = 1e9;

function pointsOf(
  base: number,
  linear: number,
  quadratic: number,
  noise: (at: number) => number = () => 1,
): MemoryPoint[] {
  const steps = [5, 15, 30].flatMap((seconds) => [4, 16, 64].map((batchSize) => ({ seconds, batchSize })));
  return steps.map(({ seconds, batchSize }, at) => ({
    seconds,
    batchSize,
    memoryBytes: (base + batchSize * (linear * seconds + quadratic * seconds * seconds)) * noise(at),
  }));
}

function fit(points: readonly MemoryPoint[], limitBytes = 40 * GIGABYTE): MemoryModel {
  const model = fitMemoryModel(points, limitBytes);
  if ('problem' in model) throw new Error(model.problem);
  return model;
}

describe('fitMemoryModel()', () => {
  it('finds what made the points', () => {
    const coefficient = double({ min: 0, max: 1e8, noNaN: true });
    assert(
      property(double({ min: 1e8, max: 1e10, noNaN: true }), coefficient, coefficient, (base, linear, quadratic) => {
        pre(linear + quadratic > 1e4);
        const points = pointsOf(base, linear, quadratic);
        const model = fit(points);
        for (const { seconds, batchSize, memoryBytes } of points) {
          expect(memoryOf(model, seconds, batchSize) / memoryBytes).toBeCloseTo(1, 6);
        }
        expect(model.residualShare).toBeLessThan(1e-6);
      }),
      { numRuns: 100 },
    );
  });

  it('tells the residual, keeps free what a point lies above it, and has no coefficient below 0', () => {
    const model = fit(pointsOf(2e9, 1e7, 0, (at) => (at % 2 === 0 ? 1.04 : 0.96)));
    expect(model.residualShare).toBeGreaterThan(0.02);
    expect(model.residualShare).toBeLessThan(0.05);
    expect(model.reserveShare).toBeGreaterThan(0.02);
    expect(Math.min(model.baseBytes, model.linearBytes, model.quadraticBytes)).toBeGreaterThanOrEqual(0);
    for (const { seconds, batchSize, memoryBytes } of model.points) {
      const kept = memoryOf(model, seconds, batchSize) * (1 + model.reserveShare);
      expect(memoryBytes).toBeLessThanOrEqual(kept * (1 + 1e-9));
    }
  });

  it.each<[string, MemoryPoint[], RegExp]>([
    ['three points', pointsOf(1e9, 1e7, 0).slice(0, 3), /^3 points are too few/u],
    [
      'one duration',
      pointsOf(1e9, 1e7, 0).map((point) => ({ ...point, seconds: 5 })),
      /^all points have one duration/u,
    ],
    [
      'one size',
      pointsOf(1e9, 1e7, 0).map((point) => ({ ...point, batchSize: 5 })),
      /^all points have one batch size/u,
    ],
    [
      'two durations in few combinations',
      [5, 10].flatMap((seconds) => [seconds, seconds].map(() => ({ seconds, batchSize: seconds, memoryBytes: 1e9 }))),
      /^the points do not tell base, duration and its square apart/u,
    ],
    [
      'a larger step that takes less',
      pointsOf(1e9, 1e7, 0, (at) => (at === 8 ? 0.4 : 1)),
      /^64 × 30 s took 8\.08 GB, and 64 × 15 s took 10\.6 GB: the larger step took less/u,
    ],
    [
      'a point far from the others',
      pointsOf(1e9, 1e7, 0, (at) => (at === 8 ? 3 : 1)),
      /^\d+ × \d+ s took [\d.]+ GB, but the model that fits all points best says [\d.]+ GB/u,
    ],
  ])('refuses %s', (_, points, problem) => {
    const model = fitMemoryModel(points, 40 * GIGABYTE);
    expect('problem' in model ? model.problem : undefined).toMatch(problem);
  });
});

describe('proposeBatchSize()', () => {
  it('proposes the largest batch below the limit', () => {
    assert(
      property(double({ min: 0.5, max: 60, noNaN: true }), integer({ min: 2, max: 80 }), (seconds, limit) => {
        const model = fit(pointsOf(1e9, 5e6, 1e6), limit * GIGABYTE);
        const { batchSize, memoryBytes } = proposeBatchSize(model, seconds);
        expect(memoryBytes).toBe(memoryOf(model, seconds, batchSize));
        const room = (limit * GIGABYTE) / (1 + model.reserveShare);
        expect(memoryBytes).toBeLessThanOrEqual(Math.max(model.baseBytes, room) * (1 + 1e-12));
        expect(memoryOf(model, seconds, batchSize + 1)).toBeGreaterThan(room * (1 - 1e-12));
      }),
    );
  });

  it('says in what it lies beyond the points', () => {
    const model = fit(pointsOf(1e9, 1e7, 0), 15 * GIGABYTE);
    expect(proposeBatchSize(model, 30)).toMatchObject({ batchSize: 46, beyond: [] });
    expect(proposeBatchSize(model, 40).beyond).toEqual(['seconds']);
    expect(proposeBatchSize(model, 2).beyond).toEqual(['seconds', 'batchSize']);
    expect(proposeBatchSize({ ...model, limitBytes: 100 * GIGABYTE }, 15).beyond).toEqual(['batchSize', 'memory']);
  });

  it('proposes 0 where one item does not fit', () => {
    expect(proposeBatchSize(fit(pointsOf(1e9, 1e7, 0), GIGABYTE / 2), 5).batchSize).toBe(0);
  });
});

describe('readMemoryModel()', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cutroom-memory-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const write = (text: string): string => {
    const file = path.join(folder, 'memory.json');
    writeFileSync(file, text);
    return file;
  };

  it('reads points and the limit', async () => {
    const model = await readMemoryModel(write(JSON.stringify({ points: pointsOf(1e9, 1e7, 0), limitBytes: 4e10 })));
    expect(model.baseBytes / 1e9).toBeCloseTo(1, 6);
    expect(model.limitBytes).toBe(4e10);
  });

  it.each([
    ['{', /Cannot take memory from ".*memory\.json": /u],
    ['[]', /it holds no object/u],
    ['{"points": 3}', /"points" is no list/u],
    ['{"points": []}', /"limitBytes" is no number above 0/u],
    ['{"points": [3], "limitBytes": 1}', /point 1 is no object/u],
    ['{"points": [{"seconds": -1}], "limitBytes": 1}', /"seconds" of point 1 is no number above 0/u],
    ['{"points": [{"seconds": 1, "batchSize": 1.5}], "limitBytes": 1}', /"batchSize" of point 1 is no whole number/u],
    ['{"points": [{"seconds": 1, "batchSize": 1}], "limitBytes": 1}', /"memoryBytes" of point 1 is no number above 0/u],
    ['{"points": [], "limitBytes": 1}', /0 points are too few/u],
  ])('refuses %s', async (text, message) => {
    await expect(readMemoryModel(write(text))).rejects.toThrow(message);
  });

  it('refuses a file that is not there', async () => {
    await expect(readMemoryModel(path.join(folder, 'none.json'))).rejects.toMatchObject({
      code: 'input',
      message: expect.stringMatching(/none\.json": there is no such file$/u) as string,
    });
  });
});
