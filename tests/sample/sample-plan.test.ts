// Draws of one group and of mixtures, and what they add up to.
import { array, assert, boolean, constantFrom, integer, nat, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rowOfDraw } from '#cutroom/sample/draw-row.js';
import { chartsOf } from '#cutroom/sample/histogram.js';
import { KeptStarts } from '#cutroom/sample/kept-starts.js';
import { figuresOf } from '#cutroom/sample/sample-figures.js';
import { SamplePlan, type SampledGroup, type SamplePlanOptions } from '#cutroom/sample/sample-plan.js';
import { tableOf } from './recording-facts.js';

const RATE = 16_000;
const options = { durationSeconds: 1 } satisfies SamplePlanOptions;

function groupOf(
  name: string,
  frames: readonly number[],
  weight: number | string = 1,
  kept?: KeptStarts,
): SampledGroup {
  return { name, weight, recordings: tableOf(frames, RATE), kept };
}

const PAGE = [groupOf('', [4 * RATE, 40 * RATE])];
const MIXED = [groupOf('speech', [RATE / 2, 3 * RATE, 8 * RATE], '0.7'), groupOf('music', [40 * RATE], '0.3')];

describe('SamplePlan', () => {
  it('tells apart draws by epoch and index, with one group and with several', () => {
    for (const plan of [
      new SamplePlan(PAGE, { ...options, numEpochs: 3 }),
      new SamplePlan(MIXED, { ...options, numEpochs: null }),
    ]) {
      for (const number of [0, 1, plan.epochLength - 1, plan.epochLength, 2 * plan.epochLength + 5]) {
        const { draw, epoch, index } = plan.at(number);
        expect({ draw, sum: epoch * plan.epochLength + index }).toEqual({ draw: number, sum: number });
        expect(index).toBeLessThan(plan.epochLength);
      }
      expect(() => plan.at(-1)).toThrow('There is no draw -1');
      expect(() => plan.at(plan.length)).toThrow(RangeError);
    }
  });

  it('gives each group whole within an epoch, or ends with the first that is', () => {
    // Windows: 1 + 3 + 8 of speech, 40 of music, which is 0.3 of the draws.
    const all = new SamplePlan(MIXED, { ...options, numEpochs: 1, stop: 'all_exhausted' });
    expect(all.drawsOf(all.epochLength)[1]).toBe(40);
    expect(all.length).toBe(all.epochLength);
    const first = new SamplePlan(MIXED, { ...options, numEpochs: 1 });
    expect(first.drawsOf(first.length)[0]).toBe(12);
    expect(first.length).toBe(first.epochLength);
    const forever = new SamplePlan(MIXED, { ...options, numEpochs: null });
    expect([forever.epochLength, forever.length, forever.stop]).toEqual([all.epochLength, Infinity, 'forever']);
  });

  it('counts the draws of each group in any number of them', () => {
    const plan = new SamplePlan(MIXED, { ...options, numEpochs: null });
    assert(
      property(nat(200), (draws) => {
        const counts = [0, 0];
        for (let draw = 0; draw < draws; draw += 1) counts[plan.at(draw).group]! += 1;
        expect(plan.drawsOf(draws)).toEqual(counts);
      }),
      { numRuns: 30 },
    );
  });

  it('names the group that has nothing to sample', () => {
    expect(() => new SamplePlan([groupOf('a', [RATE]), groupOf('b', [])], options)).toThrow(
      'There is no recording to sample from in group "b"',
    );
    const none = groupOf('quiet', [RATE, RATE], 1, KeptStarts.from([[], []]));
    expect(() => new SamplePlan([none], options)).toThrow(
      'The loudness filter leaves no place for a window in group "quiet": "0.wav", "1.wav"',
    );
  });
});

describe('figuresOf()', () => {
  it.each([
    [0, 2],
    [0.5, 8],
    [1, 44],
  ])("tells the page's slots at alpha %s", (alpha, slots) => {
    const figures = figuresOf(new SamplePlan(PAGE, { ...options, alpha }), 1);
    expect(figures.all).toMatchObject({ files: 2, slots, draws: slots, passes: 1, audioSeconds: 44, paddingShare: 0 });
    expect(figures.all.repeats).toBeCloseTo(slots / 44, 12);
    expect(figures.totalDraws).toBe(slots);
  });

  it('tells what draws hold: shares, padding, and how often a second is drawn', () => {
    const plan = new SamplePlan(MIXED, { ...options, numEpochs: null });
    const { groups, all } = figuresOf(plan, 1);
    const rows = Array.from({ length: plan.epochLength }, (_, draw) => rowOfDraw(plan, plan.at(draw)));
    const padding = rows.reduce((sum, row) => sum + row.padding, 0);
    expect(all.draws).toBe(rows.length);
    expect(all.drawnSeconds).toBe(rows.length);
    // Passes are no whole number: a short file's one slot is drawn as often as any other but for one.
    expect(Math.abs(all.paddingShare * all.drawnSeconds - padding)).toBeLessThanOrEqual(0.5);
    expect(groups[0]).toMatchObject({ name: 'speech', shortFiles: 1, slots: 12, weightShare: 0.7 });
    expect(groups[0]?.drawnShare).toBeCloseTo(rows.filter(({ group }) => group === 'speech').length / rows.length, 12);
    expect(groups[0]?.repeats).toBeCloseTo(((groups[0]?.draws ?? 0) * (1 - 0.5 / 12)) / 11.5, 12);
    expect(groups[1]).toMatchObject({ draws: 40, passes: 1, repeats: 1, paddingShare: 0 });
  });

  it('counts as reachable just the frames that some window may hold', () => {
    const WINDOW = 8;
    const spans = array(nat(6), { maxLength: 6 });
    const file = record({ frames: integer({ min: 1, max: 40 }), gaps: spans });
    assert(
      property(array(file, { minLength: 1, maxLength: 4 }), boolean(), constantFrom(3, 8, 11), (files, grid, hop) => {
        const kept = files.map(({ frames, gaps }) => keptOf(Math.max(0, frames - WINDOW) + 1, gaps));
        const recordings = tableOf(
          files.map(({ frames }) => frames),
          1,
        );
        const starts = files.map((_, at) => startsOf(kept[at]!, grid ? hop : 1));
        if (starts.every(({ length }) => length === 0)) return;
        const group = { name: '', weight: 1, recordings, kept: KeptStarts.from(kept) };
        const plan = new SamplePlan([group], { durationSeconds: WINDOW, hopSeconds: hop, grid });
        const reached = starts.map((ofFile, at) => {
          const frames = new Set<number>();
          const length = Math.min(WINDOW, files[at]!.frames);
          for (const start of ofFile) for (let frame = 0; frame < length; frame += 1) frames.add(start + frame);
          return frames.size;
        });
        const { all } = figuresOf(plan, WINDOW);
        expect(all.reachableSeconds).toBe(reached.reduce((sum, count) => sum + count, 0));
        expect(all.removedFiles).toBe(starts.filter(({ length }) => length === 0).length);
      }),
      { numRuns: 200 },
    );
  });

  it('names the first files that the filter removes, and the share that is kept', () => {
    const quiet = Array.from({ length: 7 }, () => 4 * RATE);
    const kept = KeptStarts.from([[0, 3 * RATE + 1], ...quiet.map(() => [])]);
    const { all, groups } = figuresOf(new SamplePlan([groupOf('', [4 * RATE, ...quiet], 1, kept)], options), 1);
    expect(all).toMatchObject({ removedFiles: 7, reachableSeconds: 4 });
    expect(all.keptShare).toBeCloseTo(1 / 8, 12);
    expect(groups[0]?.firstRemoved).toEqual(['1.wav', '2.wav', '3.wav', '4.wav', '5.wav']);
  });
});

describe('chartsOf()', () => {
  it('shares out files, audio and draws by length, and tells how often a second is drawn', () => {
    const [byLength, bySecond] = chartsOf(new SamplePlan(PAGE, { ...options, alpha: 0.5 }));
    expect(byLength?.bars).toEqual([
      { label: '3–10 s', values: [0.5, 4 / 44, 0.25] },
      { label: '30–60 s', values: [0.5, 40 / 44, 0.75] },
    ]);
    expect(bySecond?.bars).toEqual([
      { label: '3–10 s', values: [0.5] },
      { label: '30–60 s', values: [0.15] },
    ]);
  });

  it('shows that all parts of recordings but their very ends are drawn alike', () => {
    const chart = chartsOf(new SamplePlan([groupOf('', [100 * RATE])], { ...options, numEpochs: 200 })).at(-1);
    const values = chart?.bars.map((bar) => bar.values[0] ?? 0) ?? [];
    expect(chart?.title).toBe('where in the recording the audio of all 20,000 draws lies');
    expect(values).toHaveLength(20);
    expect(values.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 9);
    for (const value of values.slice(1, -1)) expect(Math.abs(value - 0.05)).toBeLessThan(0.002);
  });
});

/** Spans of starts between the gaps, as `[start, end, …]`. */
function keptOf(places: number, gaps: readonly number[]): number[] {
  const kept: number[] = [];
  let at = 0;
  for (const gap of gaps) {
    const end = Math.min(places, at + gap);
    if (end > at) kept.push(at, end);
    at += gap + 1 + (gap % 3);
    if (at >= places) break;
  }
  return kept;
}

function startsOf(kept: readonly number[], step: number): number[] {
  const starts: number[] = [];
  for (let at = 0; at < kept.length; at += 2) {
    for (let start = kept[at]!; start < kept[at + 1]!; start += 1) if (start % step === 0) starts.push(start);
  }
  return starts;
}
