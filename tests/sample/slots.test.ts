import { array, assert, boolean, constantFrom, double, integer, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeptStarts } from '#cutroom/sample/kept-starts.js';
import { slotCount, SlotTable } from '#cutroom/sample/slots.js';
import { phaseOf } from '#cutroom/sample/window-offsets.js';
import { keptWhole, tableOf } from './recording-facts.js';

const RATE = 1000;
const cases = record({
  frames: array(integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 6 }),
  window: integer({ min: 1, max: 400 }),
  hop: integer({ min: 1, max: 500 }),
  alpha: constantFrom(0, 0.3, 0.5, 0.8, 1),
  grid: boolean(),
});

/** The slots of recordings at 1,000 Hz, of windows and hops in frames. */
function slotsOf(
  frames: readonly number[],
  window: number,
  hop: number,
  alpha: number,
  grid = false,
  kept?: KeptStarts,
): SlotTable {
  const seconds = { durationSeconds: `${window}e-3`, hopSeconds: `${hop}e-3` };
  return new SlotTable(tableOf(frames, RATE), { ...seconds, alpha, grid, kept });
}

describe('SlotTable', () => {
  it("has the counts of audiotree's page", () => {
    const totals = [0, 0.5, 1].map(
      (alpha) => new SlotTable(tableOf([64_000, 640_000]), { durationSeconds: 1, hopSeconds: 1, alpha }).length,
    );
    expect(totals).toEqual([2, 8, 44]);
  });

  it('loses no window to the error of doubles', () => {
    const counts = Array.from({ length: 399 }, (_, at) => {
      const tenths = at + 1;
      return new SlotTable(tableOf([tenths * 1600]), { durationSeconds: 0.1 }).length - tenths;
    });
    expect(counts.every((difference) => difference === 0)).toBe(true);
  });

  it('counts slots by the formula, and finds the recording of each', () => {
    assert(
      property(cases, ({ frames, window, hop, alpha, grid }) => {
        const slots = slotsOf(frames, window, hop, alpha, grid);
        let slot = 0;
        for (const [file, length] of frames.entries()) {
          const n = length <= window ? 1 : Math.floor((length - window) / hop) + 1;
          expect(slots.naturalWindows(file)).toBe(n);
          expect(slots.slotsOf(file)).toBe(Math.max(1, Math.round(n ** alpha)));
          expect(slots.firstSlot(file)).toBe(slot);
          for (let at = 0; at < slots.slotsOf(file); at += 1) {
            expect(slots.placeOf(slot)).toEqual({ file, slotInFile: at });
            slot += 1;
          }
        }
        expect(slots.length).toBe(slot);
      }),
    );
  });

  it('parts the starts by the formula, and never runs past the end', () => {
    assert(
      property(cases, double({ min: 0, max: 1, noNaN: true }), ({ frames, window, hop, alpha }, phase) => {
        const slots = slotsOf(frames, window, hop, alpha);
        for (const [file, length] of frames.entries()) {
          const starts = Math.max(0, length - window) + 1;
          const m = slots.slotsOf(file);
          for (let at = 0; at < m; at += 1) {
            const first = Math.floor((at * starts) / m);
            const last = Math.floor(((at + 1) * starts) / m) - 1;
            expect(slots.startFrame(file, at, 0)).toBe(first);
            expect(slots.startFrame(file, at, 1)).toBe(last);
            const start = slots.startFrame(file, at, phase);
            expect(start >= first && start <= last).toBe(true);
          }
          expect(slots.startFrame(file, m - 1, 1)).toBe(Math.max(0, length - window));
        }
      }),
    );
  });

  it('gives a recording shorter than a window, or as long, one slot at 0', () => {
    const slots = slotsOf([5, 10, 11], 10, 1, 1);
    expect([0, 1, 2].map((file) => slots.slotsOf(file))).toEqual([1, 1, 2]);
    for (const phase of [0, 0.5, 1]) expect([0, 1].map((file) => slots.startFrame(file, 0, phase))).toEqual([0, 0]);
  });

  it('starts at multiples of the hop on a grid', () => {
    const slots = slotsOf([47], 10, 10, 1, true);
    expect([0, 1, 2, 3].map((at) => slots.startFrame(0, at, 0.7))).toEqual([0, 10, 20, 30]);
    const thinned = slotsOf([105], 10, 5, 0.5, true);
    expect(thinned.slotsOf(0)).toBe(4);
    expect([0, 1, 2, 3].map((at) => thinned.startFrame(0, at, 0))).toEqual([0, 25, 50, 75]);
    expect([0, 1, 2, 3].map((at) => thinned.startFrame(0, at, 1))).toEqual([20, 45, 70, 95]);
  });

  it('covers every frame in two epochs without jitter at alpha 1, and at any alpha in as many as its bound says', () => {
    assert(
      property(cases, ({ frames, window, hop, alpha }) => {
        const slots = slotsOf(frames, window, Math.min(hop, window), alpha);
        for (const [file, length] of frames.entries()) {
          const longestPart = Math.ceil((Math.max(0, length - window) + 1) / slots.slotsOf(file));
          const epochs = alpha === 1 ? 2 : 1 + 2 ** Math.max(0, Math.ceil(Math.log2(longestPart / window)));
          const isCovered = new Uint8Array(length);
          for (let epoch = 0; epoch < epochs; epoch += 1) {
            for (let at = 0; at < slots.slotsOf(file); at += 1) {
              const start = slots.startFrame(file, at, phaseOf(epoch));
              isCovered.fill(1, start, start + window);
            }
          }
          expect(isCovered.every((value) => value === 1)).toBe(true);
        }
      }),
    );
  });

  it('is the same with a filter that keeps everything', () => {
    assert(
      property(cases, double({ min: 0, max: 1, noNaN: true }), ({ frames, window, hop, alpha, grid }, phase) => {
        const plain = slotsOf(frames, window, hop, alpha, grid);
        const kept = slotsOf(frames, window, hop, alpha, grid, keptWhole(frames, window));
        expect(kept.length).toBe(plain.length);
        for (let slot = 0; slot < plain.length; slot += 1) {
          const { file, slotInFile } = plain.placeOf(slot);
          expect(kept.startFrame(file, slotInFile, phase)).toBe(plain.startFrame(file, slotInFile, phase));
        }
      }),
    );
  });

  it('stays inside what a filter keeps, and takes every start of it', () => {
    const spans = [[0, 1, 40, 41, 60, 95], [], [3, 10], [1, 2, 4, 5, 7, 8]];
    for (const alpha of [0, 0.5, 1]) {
      const slots = slotsOf([120, 120, 30, 30], 10, 10, alpha, false, KeptStarts.from(spans));
      expect([0, 1, 2, 3].map((file) => slots.naturalWindows(file))).toEqual([6, 0, 1, 3]);
      expect(slots.slotsOf(1)).toBe(0);
      for (const [file, flat] of spans.entries()) {
        const wanted = new Set<number>();
        for (let at = 0; at < flat.length; at += 2) {
          for (let start = flat[at]!; start < flat[at + 1]!; start += 1) wanted.add(start);
        }
        const taken = new Set<number>();
        for (let epoch = 0; epoch <= 128; epoch += 1) {
          for (let at = 0; at < slots.slotsOf(file); at += 1) taken.add(slots.startFrame(file, at, phaseOf(epoch)));
        }
        expect([...taken].toSorted((a, b) => a - b)).toEqual([...wanted]);
      }
    }
  });

  it('counts a kept second as much in a short span as in a long one', () => {
    // Three windows of their own, and one span of 35 starts that holds seven of a hop of 5.
    const slots = slotsOf([200], 10, 5, 0, false, KeptStarts.from([[0, 1, 20, 21, 40, 41, 60, 95]]));
    expect([slots.length, slots.naturalWindows(0)]).toEqual([1, 10]);
    const starts = Array.from({ length: 1000 }, (_, at) => slots.startFrame(0, 0, (at + 0.5) / 1000));
    expect([0, 20, 40].map((start) => starts.filter((value) => value === start).length)).toEqual([100, 100, 100]);
    expect([60, 94].map((start) => starts.filter((value) => value === start).length)).toEqual([20, 20]);
  });

  it('keeps the windows of a grid that start inside', () => {
    const slots = slotsOf([100], 10, 10, 1, true, KeptStarts.from([[0, 1, 5, 9, 15, 31, 80, 91]]));
    expect(Array.from({ length: slots.length }, (_, at) => slots.startFrame(0, at, 0.9))).toEqual([0, 20, 30, 80, 90]);
  });

  it('holds no more for many slots than for few', () => {
    const frames = Array.from({ length: 1000 }, (_, at) => 16_000 * (at + 1) * 3600);
    const [few, many] = [0, 1].map((alpha) => new SlotTable(tableOf(frames), { durationSeconds: 0.01, alpha }));
    expect(many!.length / few!.length).toBeGreaterThan(10 ** 6);
    expect(many!.sizeBytes).toBe(few!.sizeBytes);
    expect(many!.sizeBytes).toBeLessThanOrEqual(13 * frames.length);
  });

  it('refuses options out of range', () => {
    const table = tableOf([1000]);
    for (const alpha of [-0.1, 1.1, Number.NaN]) {
      expect(() => new SlotTable(table, { durationSeconds: 1, alpha })).toThrow('alpha must be from 0 to 1');
    }
    expect(() => new SlotTable(table, { durationSeconds: 0 })).toThrow('The duration must be more than 0 seconds');
    expect(() => new SlotTable(table, { durationSeconds: 1, hopSeconds: -1 })).toThrow('The hop must be more than 0');
    expect(() => new SlotTable(table, { durationSeconds: 1e-5 })).toThrow('less than a frame at 16000 Hz');
    expect(() => new SlotTable(table, { durationSeconds: Number.NaN })).toThrow(RangeError);
    const keptOf = (kept: KeptStarts): unknown => new SlotTable(table, { durationSeconds: 0.01, kept });
    expect(() => keptOf(KeptStarts.from([]))).toThrow('of 0 recordings, and there are 1');
    expect(() => keptOf(KeptStarts.from([[0, 842]]))).toThrow('no window fits');
    const long = tableOf([2 ** 40]);
    expect(() => new SlotTable(long, { durationSeconds: 1, hopSeconds: '0.0001' })).toThrow('at most 2^32');
    for (const slot of [-1, 1, 0.5])
      expect(() => new SlotTable(table, { durationSeconds: 1 }).fileOf(slot)).toThrow(RangeError);
  });
});

describe('slotCount()', () => {
  it('rounds the power, and gives one at least', () => {
    expect([1, 2, 6, 7, 40].map((n) => slotCount(n, 0.5))).toEqual([1, 1, 2, 3, 6]);
    expect([0, 1, 9].map((n) => slotCount(n, 0))).toEqual([0, 1, 1]);
    expect([0, 1, 9].map((n) => slotCount(n, 1))).toEqual([0, 1, 9]);
  });
});
