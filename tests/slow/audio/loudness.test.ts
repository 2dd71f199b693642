import { describe, expect, it } from 'vitest';
import { channelWeights } from '#cutroom/audio/channel-weights.js';
import type { LoudnessSummary } from '#cutroom/audio/loudness-meter.js';
import { measureSignal, measureStereo, RATE, toneOf, type Part } from '../../audio/ebu-signals.js';

// Cases 7 and 8 of EBU Tech 3341, and 5 and 6 of EBU Tech 3342, are programmes and not signals that can be made. The others are as table 1 of each
// document has them (version of November 2023).

function repeat(parts: readonly Part[], times: number): Part[] {
  return Array.from({ length: times }, () => parts).flat();
}

describe('EBU Tech 3341', () => {
  it.each<[number, number, Part[]]>([
    [
      3,
      -23,
      [
        [10, -36],
        [60, -23],
        [10, -36],
      ],
    ],
    [
      4,
      -23,
      [
        [10, -72],
        [10, -36],
        [60, -23],
        [10, -36],
        [10, -72],
      ],
    ],
    [
      5,
      -23,
      [
        [20, -26],
        [20.1, -20],
        [20, -26],
      ],
    ],
  ])('case %i: integrated loudness', (_, expected, parts) => {
    expect(Math.abs(measureStereo(parts).integratedLufs - expected)).toBeLessThanOrEqual(0.1);
  });

  it('case 2: a steady tone, ten decibels lower', () => {
    const { integratedLufs, maxMomentaryLufs, maxShortTermLufs } = measureStereo([[20, -33]]);
    for (const measured of [integratedLufs, maxMomentaryLufs, maxShortTermLufs])
      expect(Math.abs(measured + 33)).toBeLessThanOrEqual(0.1);
  });

  it('cases 9 and 12: short-term and momentary loudness stay the same, wherever they are measured', () => {
    const [slow, fast] = [
      toneOf(
        repeat(
          [
            [1.34, -20],
            [1.66, -30],
          ],
          3,
        ),
      ),
      toneOf(
        repeat(
          [
            [0.18, -20],
            [0.22, -30],
          ],
          10,
        ),
      ),
    ];
    for (let tenth = 0; tenth < 30; tenth += 1) {
      const measured = (tone: Float32Array, seconds: number): LoudnessSummary => {
        const part = tone.subarray(tenth * 4800, tenth * 4800 + seconds * RATE);
        return measureSignal([part, part]);
      };
      expect(Math.abs(measured(slow, 3).maxShortTermLufs + 23)).toBeLessThanOrEqual(0.1);
      expect(Math.abs(measured(fast, 0.4).maxMomentaryLufs + 23)).toBeLessThanOrEqual(0.1);
    }
  });

  it('case 6: five channels, the surround ones weighted', () => {
    const [front, centre, surround] = [-28, -24, -30].map((level) => toneOf([[20, level]]));
    const channels = [front, front, centre, surround, surround].filter((samples) => samples !== undefined);
    const { integratedLufs } = measureSignal(channels, channelWeights(5, undefined));
    expect(Math.abs(integratedLufs + 23)).toBeLessThanOrEqual(0.1);
  });

  it('case 10: short-term loudness of a tone of 3 s, whenever it begins', () => {
    for (let number = 0; number < 20; number += 1) {
      const { maxShortTermLufs } = measureStereo([[number * 0.15], [3, -23], [1]]);
      expect(Math.abs(maxShortTermLufs + 23)).toBeLessThanOrEqual(0.1);
    }
  });

  it('case 11: short-term loudness of tones that become louder', () => {
    const parts: Part[] = [];
    for (let number = 0; number < 20; number += 1) {
      parts.push([number * 0.15], [3, -38 + number], [3 - number * 0.15]);
      const { maxShortTermLufs } = measureStereo(parts.slice(-6));
      expect(Math.abs(maxShortTermLufs - (-38 + number))).toBeLessThanOrEqual(0.1);
    }
  });

  it('case 12: momentary loudness of a level that changes', () => {
    const { maxMomentaryLufs } = measureStereo(
      repeat(
        [
          [0.18, -20],
          [0.22, -30],
        ],
        25,
      ),
    );
    expect(Math.abs(maxMomentaryLufs + 23)).toBeLessThanOrEqual(0.1);
  });

  it('case 13: momentary loudness of a tone of 400 ms, whenever it begins', () => {
    for (let number = 0; number < 20; number += 1) {
      const { maxMomentaryLufs } = measureStereo([[number * 0.02], [0.4, -23], [1]]);
      expect(Math.abs(maxMomentaryLufs + 23)).toBeLessThanOrEqual(0.1);
    }
  });

  it('case 14: momentary loudness of tones that become louder', () => {
    const parts: Part[] = [];
    for (let number = 0; number < 20; number += 1) {
      parts.push([number * 0.02], [0.4, -38 + number], [0.4 - number * 0.02]);
      const { maxMomentaryLufs } = measureStereo(parts);
      expect(Math.abs(maxMomentaryLufs - (-38 + number))).toBeLessThanOrEqual(0.1);
    }
  });
});

describe('EBU Tech 3342', () => {
  it.each([
    [1, [-20, -30], 10],
    [2, [-20, -15], 5],
    [3, [-40, -20], 20],
    [4, [-50, -35, -20, -35, -50], 15],
  ])('case %i: the range of steps of %j dB', (_, levels, expected) => {
    const { rangeLu } = measureStereo(levels.map((level) => [20, level]));
    expect(Math.abs((rangeLu ?? 0) - expected)).toBeLessThanOrEqual(1);
  });
});
