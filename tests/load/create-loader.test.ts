import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLoader } from '#cutroom/load/create-loader.js';
import { levelOf, nameOf, smallItems, writeDataset } from './loader-shards.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-loader-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('createLoader()', () => {
  it('gives each row of a dataset once, as batches of its audio with all fields', async () => {
    const list = writeDataset(path.join(folder, 'plain'), smallItems(30), 3);
    await using loader = await createLoader({ source: list, sampleRate: 8000, maxDuration: 0.5, jobs: 0 });
    const seen: number[] = [];
    for await (const { audio, shape, audioLengths, rows, ids, text, source } of loader.batches()) {
      expect((shape[0] * shape[1]) / 8000).toBeLessThanOrEqual(0.5);
      for (const [at, row] of rows.entries()) {
        const number = Number(row['n']);
        seen.push(number);
        expect(row['nested']).toEqual({ a: [1, null] });
        expect(ids[at]).toBe(nameOf(number));
        expect(text[at]).toBe(`text ${number}`);
        expect(source[at]).toBe(list);
        const samples = audio.subarray(at * shape[1], (at + 1) * shape[1]);
        const length = audioLengths[at]!;
        expect(length).toBe(400 + (number % 5) * 160);
        expect(samples.subarray(0, length).every((sample) => sample === levelOf(number))).toBe(true);
        expect(samples.subarray(length).every((sample) => sample === 0)).toBe(true);
      }
    }
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, number) => number));
    expect(loader.failures.count).toBe(0);
    expect(loader.warnings).toEqual([]);
  });
});
