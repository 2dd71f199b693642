// What holds for whole mixtures, whatever the groups, files and weights. Files are empty, and their lengths given: nothing is decoded.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBalancedDataset } from '#cutroom/sample/balanced-dataset.js';
import type { BalancedDataset } from '#cutroom/sample/balanced-dataset.js';

interface Group {
  /** As it is spelled. */
  weight: string;
  /** Of each file. */
  seconds: number[];
}

interface Mixture {
  groups: Group[];
  alpha: number;
  jitter: boolean;
  seed: number;
}

/** What a group draws: slot, epoch and place, without its place in the mixture. */
type Stream = readonly unknown[];

const MAX_GROUPS = 5;
const MAX_FILES = 4;
const RATE = 1000;
const RUNS = { numRuns: 40 };

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-mixtures-'));
  for (let group = 0; group < MAX_GROUPS; group += 1) {
    mkdirSync(path.join(folder, nameOf(group)));
    for (let file = 0; file < MAX_FILES; file += 1) writeFileSync(fileOf(group, file), '');
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

function nameOf(group: number): string {
  return `group-${group}`;
}

function fileOf(group: number, file: number): string {
  return path.join(folder, nameOf(group), `${file}.wav`);
}

const groups: fc.Arbitrary<Group> = fc.record({
  // A weight of two digits; their sum is the period.
  weight: fc.integer({ min: 1, max: 99 }).map((hundredths) => (hundredths / 100).toFixed(2)),
  seconds: fc.array(
    fc.integer({ min: 200, max: 30_000 }).map((frames) => frames / RATE),
    { minLength: 1, maxLength: MAX_FILES },
  ),
});

const mixtures: fc.Arbitrary<Mixture> = fc.record({
  groups: fc.array(groups, { minLength: 2, maxLength: MAX_GROUPS }),
  alpha: fc.constantFrom(0, 0.3, 0.5, 1),
  jitter: fc.boolean(),
  seed: fc.nat(1000),
});

/** Opens a mixture of some of the groups, in the order given. */
async function open(mixture: Mixture, order: readonly number[]): Promise<BalancedDataset> {
  const { alpha, jitter, seed } = mixture;
  const sources: Record<string, string[]> = {};
  const weights: Record<string, string> = {};
  const durations = new Map<string, number>();
  for (const group of order) {
    const { weight, seconds } = mixture.groups[group]!;
    sources[nameOf(group)] = seconds.map((_, file) => fileOf(group, file));
    weights[nameOf(group)] = weight;
    for (const [file, length] of seconds.entries()) durations.set(fileOf(group, file), length);
  }
  return await createBalancedDataset({
    ...{ sources, weights, durations, checkFiles: false, sampleRate: RATE, shuffleSeed: seed },
    window: { durationSeconds: 1, alpha, jitter },
  });
}

/** What each group has drawn after so many draws of the mixture. */
function streamsOf(dataset: BalancedDataset, draws: number): Map<string, Stream> {
  const streams = new Map<string, unknown[]>(dataset.groups.map((name) => [name, []]));
  for (let index = 0; index < draws; index += 1) {
    const { group, drawn } = dataset.describe(index);
    streams.get(group)?.push(drawn);
  }
  return streams;
}

describe('createBalancedDataset()', () => {
  it('draws the same within a group, whatever other groups there are, in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(mixtures, fc.nat(), async (mixture, choice) => {
        const all = mixture.groups.map((_, group) => group);
        const added = choice % all.length;
        await using without = await open(
          mixture,
          all.filter((group) => group !== added),
        );
        await using reversed = await open(mixture, all.toReversed());
        const [before, after] = [streamsOf(without, 200), streamsOf(reversed, 200)];
        for (const [name, stream] of before) {
          const other = after.get(name) ?? [];
          const common = Math.min(stream.length, other.length);
          expect(other.slice(0, common)).toEqual(stream.slice(0, common));
        }
        expect(after.has(nameOf(added)) && !before.has(nameOf(added))).toBe(true);
        expect([...before.values()].some((stream) => stream.length > 10)).toBe(true);
      }),
      RUNS,
    );
  });

  it('gives each group its share to within one draw, over any stretch from the start', async () => {
    await fc.assert(
      fc.asyncProperty(mixtures, async (mixture) => {
        await using dataset = await open(
          mixture,
          mixture.groups.map((_, group) => group),
        );
        const hundredths = mixture.groups.map(({ weight }) => Math.round(Number(weight) * 100));
        const sum = hundredths.reduce((a, b) => a + b, 0);
        const drawn = hundredths.map(() => 0);
        for (let index = 0; index < 2 * sum; index += 1) {
          drawn[dataset.groups.indexOf(dataset.describe(index).group)]! += 1;
          for (const [group, count] of drawn.entries()) {
            // Whole numbers: sum times the distance from the exact share.
            if (Math.abs(count * sum - (index + 1) * hundredths[group]!) >= sum) {
              throw new Error(`${count} of ${index + 1} draws are of ${nameOf(group)}`);
            }
          }
        }
        expect(drawn).toEqual(hundredths.map((weight) => 2 * weight));
      }),
      RUNS,
    );
  });

  it('draws each slot of a group once before any of them again', async () => {
    await fc.assert(
      fc.asyncProperty(mixtures, async (mixture) => {
        await using dataset = await open(
          mixture,
          mixture.groups.map((_, group) => group),
        );
        for (const stream of streamsOf(dataset, 400).values()) {
          const epochs = new Map<number, number[]>();
          for (const drawn of stream as readonly { epoch: number; slot: number }[]) {
            const slots = epochs.get(drawn.epoch) ?? [];
            slots.push(drawn.slot);
            epochs.set(drawn.epoch, slots);
          }
          const sizes = [...epochs.values()].map((slots) => new Set(slots).size);
          expect([...epochs.values()].map(({ length }) => length)).toEqual(sizes);
          expect([...epochs.keys()]).toEqual(sizes.map((_, epoch) => epoch));
          // All but the last are whole, and as large as the first.
          expect(sizes.slice(0, -1).every((size) => size === sizes[0])).toBe(true);
        }
      }),
      RUNS,
    );
  });
});
