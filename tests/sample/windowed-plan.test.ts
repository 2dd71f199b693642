import { array, assert, boolean, constantFrom, integer, nat, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeptStarts } from '#cutroom/sample/kept-starts.js';
import { WindowedPlan, type PlannedWindow, type WindowedPlanOptions } from '#cutroom/sample/windowed-plan.js';
import { tableOf } from './recording-facts.js';

function epochOf(plan: WindowedPlan, epoch: number): PlannedWindow[] {
  return Array.from({ length: plan.slots.length }, (_, at) => plan.describe(epoch * plan.slots.length + at));
}

function spotsOf(plan: WindowedPlan, indices: readonly number[]): number[][] {
  return indices.map((index) => {
    const { file, slotInFile, startFrame } = plan.describe(index);
    return [file, slotInFile, startFrame];
  });
}

const PAGE = [64_000, 640_000];
const options = { durationSeconds: 1, numEpochs: null } satisfies WindowedPlanOptions;

describe('WindowedPlan', () => {
  it('stays what it was', () => {
    const indices = [0, 1, 2, 3, 44, 45, 1_000_000];
    expect({
      jitter: spotsOf(new WindowedPlan(tableOf(PAGE), { ...options, shuffleSeed: 42 }), indices),
      phase: spotsOf(new WindowedPlan(tableOf(PAGE), { ...options, jitter: false, group: 'speech' }), indices),
    }).toEqual({
      jitter: [
        [1, 3, 52084],
        [1, 19, 309633],
        [1, 13, 203850],
        [1, 35, 547603],
        [1, 37, 587768],
        [1, 21, 334279],
        [0, 0, 7178],
      ],
      phase: [
        [1, 12, 187200],
        [1, 32, 499200],
        [1, 27, 421200],
        [1, 38, 592800],
        [0, 3, 48000],
        [1, 18, 296399],
        [1, 7, 115239],
      ],
    });
  });

  it('draws each slot once an epoch, in another order each time', () => {
    const plan = new WindowedPlan(tableOf(PAGE), options);
    const orders = [0, 1, 7].map((epoch) => epochOf(plan, epoch).map(({ slot }) => slot));
    for (const order of orders) {
      expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 44 }, (_, slot) => slot));
    }
    expect(new Set(orders.map(String)).size).toBe(3);
  });

  it('says of an index all that it draws', () => {
    const plan = new WindowedPlan(tableOf([300, 48_000]), { ...options, shuffleSeed: 3, excerptSeed: 4, group: 'g' });
    const drawn = epochOf(plan, 2);
    for (const [position, window] of drawn.entries()) {
      expect(window).toEqual({
        index: 8 + position,
        epoch: 2,
        position,
        slot: window.slot,
        ...plan.slots.placeOf(window.slot),
        startFrame: window.startFrame,
        frames: window.file === 0 ? 300 : 16_000,
        windowFrames: 16_000,
        seeds: { shuffle: 3, excerpt: 4, group: 'g' },
      });
      expect(plan.indexOf(2, window.slot)).toBe(window.index);
    }
  });

  it('never runs past the end', () => {
    const frames = array(integer({ min: 1, max: 500_000 }), { minLength: 1, maxLength: 5 });
    assert(
      property(
        frames,
        constantFrom(0, 0.5, 1),
        boolean(),
        boolean(),
        nat(2 ** 50),
        (lengths, alpha, jitter, grid, index) => {
          const plan = new WindowedPlan(tableOf(lengths), { ...options, alpha, jitter, grid, hopSeconds: 0.4 });
          const window = plan.describe(index);
          const length = lengths[window.file]!;
          expect(window.frames).toBe(Math.min(16_000, length));
          expect(window.startFrame >= 0 && window.startFrame + window.frames <= length).toBe(true);
          expect(plan.indexOf(window.epoch, window.slot)).toBe(index);
        },
      ),
    );
  });

  it('hangs on the index alone, not on what was asked before', () => {
    const plan = new WindowedPlan(tableOf(PAGE), options);
    const forwards = Array.from({ length: 200 }, (_, index) => plan.describe(index));
    const backwards = Array.from({ length: 200 }, (_, at) => plan.describe(199 - at)).toReversed();
    const alone = [199, 3].map((index) => new WindowedPlan(tableOf(PAGE), options).describe(index));
    expect(backwards).toEqual(forwards);
    expect(alone).toEqual([forwards[199], forwards[3]]);
  });

  it('moves offsets with the excerpt seed, and the order with the shuffle seed', () => {
    const of = (seeds: Partial<WindowedPlanOptions>): PlannedWindow[] =>
      epochOf(new WindowedPlan(tableOf(PAGE), { ...options, ...seeds }), 0);
    const slots = (windows: PlannedWindow[]): number[] => windows.map(({ slot }) => slot);
    const starts = (windows: PlannedWindow[]): number[] =>
      windows.toSorted((a, b) => a.slot - b.slot).map(({ startFrame }) => startFrame);
    const base = of({ shuffleSeed: 1, excerptSeed: 1 });
    const moved = of({ shuffleSeed: 1, excerptSeed: 2 });
    const shuffled = of({ shuffleSeed: 2, excerptSeed: 1 });
    expect(slots(moved)).toEqual(slots(base));
    expect(starts(moved)).not.toEqual(starts(base));
    expect(slots(shuffled)).not.toEqual(slots(base));
    expect(starts(shuffled)).toEqual(starts(base));
    expect(slots(of({ shuffleSeed: 1, group: 'other' }))).not.toEqual(slots(base));
    expect(of({ shuffleSeed: 1 })).toEqual(base);
  });

  it('keeps seed s in epoch 1 apart from seed s + 1 in epoch 0', () => {
    const one = epochOf(new WindowedPlan(tableOf(PAGE), { ...options, shuffleSeed: 5 }), 1);
    const other = epochOf(new WindowedPlan(tableOf(PAGE), { ...options, shuffleSeed: 6 }), 0);
    expect(one.map(({ slot }) => slot)).not.toEqual(other.map(({ slot }) => slot));
    expect(one.map(({ startFrame }) => startFrame)).not.toEqual(other.map(({ startFrame }) => startFrame));
  });

  it('walks recording by recording without shuffling, and by phases without jitter', () => {
    const plan = new WindowedPlan(tableOf([64_000]), { ...options, shuffle: false, jitter: false });
    expect(epochOf(plan, 0).map(({ startFrame }) => startFrame)).toEqual([0, 12_000, 24_000, 36_000]);
    expect(epochOf(plan, 1).map(({ startFrame }) => startFrame)).toEqual([11_999, 23_999, 35_999, 48_000]);
    expect(epochOf(plan, 2).map(({ startFrame }) => startFrame)).toEqual([6000, 18_000, 30_000, 42_000]);
  });

  it('draws each tenth of a recording as often as alpha says', () => {
    const lengths = [30_000, 160_000, 1_600_000];
    const spans = KeptStarts.from([
      [0, 7000],
      [0, 50_000, 90_000, 140_000],
      [100_000, 700_000, 900_000, 901_000],
    ]);
    for (const kept of [undefined, spans]) {
      for (const alpha of [0, 0.5, 1]) {
        const plan = new WindowedPlan(tableOf(lengths), { ...options, hopSeconds: 0.5, alpha, kept });
        const epochs = Math.ceil(15_000 / plan.slots.length);
        const counts = lengths.map(() => new Float64Array(10));
        for (let index = 0; index < epochs * plan.slots.length; index += 1) {
          const { file, startFrame } = plan.describe(index);
          counts[file]![Math.floor(shareBefore(file, startFrame, plan, kept) * 10)]! += 1;
        }
        for (const [file, tenths] of counts.entries()) {
          const slots = plan.slots.slotsOf(file);
          expect(tenths.reduce((sum, count) => sum + count)).toBe(epochs * slots);
          const expected = (epochs * slots) / 10;
          // Draws are independent, and spread over parts no worse than at random: five standard deviations, and the
          // rounding of places.
          const bound = 5 * Math.sqrt(expected) + epochs * slots * 0.001;
          for (const count of tenths) expect(Math.abs(count - expected)).toBeLessThan(bound);
        }
      }
    }
  });

  it('has as many indices as slots and epochs, or no end', () => {
    expect(new WindowedPlan(tableOf(PAGE), { durationSeconds: 1 }).length).toBe(44);
    expect(new WindowedPlan(tableOf(PAGE), { durationSeconds: 1, numEpochs: 3 }).length).toBe(132);
    const endless = new WindowedPlan(tableOf(PAGE), options);
    expect(endless.length).toBe(Number.POSITIVE_INFINITY);
    expect(endless.describe(2 ** 53 - 1).epoch).toBe(Math.floor((2 ** 53 - 1) / 44));
  });

  it('refuses indices, epochs and options out of range', () => {
    const plan = new WindowedPlan(tableOf(PAGE), { durationSeconds: 1 });
    for (const index of [-1, 44, 0.5, Number.NaN]) expect(() => plan.describe(index)).toThrow(RangeError);
    expect(() => plan.indexOf(1, 0)).toThrow('There is no epoch 1');
    expect(() => plan.indexOf(0, 44)).toThrow('There is no slot 44');
    expect(() => new WindowedPlan(tableOf([]), { durationSeconds: 1 })).toThrow('no recording to sample from');
    const kept = KeptStarts.from([[], []]);
    expect(() => new WindowedPlan(tableOf(PAGE), { durationSeconds: 1, kept })).toThrow(
      'No recording has a place left',
    );
    expect(() => new WindowedPlan(tableOf(PAGE), { durationSeconds: 1, numEpochs: 0 })).toThrow(RangeError);
    expect(() => new WindowedPlan(tableOf(PAGE), { durationSeconds: 1, numEpochs: 1.5 })).toThrow(TypeError);
    expect(() => new WindowedPlan(tableOf(PAGE), { durationSeconds: 1, shuffleSeed: 0.5 })).toThrow(RangeError);
    expect(() => new WindowedPlan(tableOf(PAGE), { durationSeconds: 1, excerptSeed: 0.5 })).toThrow(RangeError);
  });
});

/** The share of a recording's natural windows that lies before a start. */
function shareBefore(file: number, startFrame: number, plan: WindowedPlan, kept: KeptStarts | undefined): number {
  const { slots } = plan;
  const hop = slots.hopFrames(file);
  let before = 0;
  const last = plan.recordings.frames(file) - slots.windowFrames(file);
  const from = kept?.firstSpan[file] ?? 0;
  const to = kept?.firstSpan[file + 1] ?? 1;
  for (let span = from; span < to; span += 1) {
    const start = kept?.starts[span] ?? 0;
    const places = (kept?.ends[span] ?? last + 1) - start;
    const windows = Math.floor((places - 1) / hop) + 1;
    if (startFrame < start + places)
      return (before + ((startFrame - start) / places) * windows) / slots.naturalWindows(file);
    before += windows;
  }
  throw new Error(`No window may start at ${startFrame}`);
}
