import { describe, expect, it } from 'vitest';
import { judgePack, packSegments, type PackLimits } from '#cutroom/cut/pack.js';
import { toMicros, toSeconds } from '#cutroom/audio/times.js';

type Piece = [start: number, end: number, text?: string];

/** The spans that become snippets, and the reasons of those that do not. */
function pack(pieces: readonly Piece[], max: number, min: number, gap: number): (string | [number, number])[] {
  const limits: PackLimits = {
    maxDurationMicros: toMicros(max),
    minDurationMicros: toMicros(min),
    maxGapMicros: toMicros(gap),
  };
  const segments = pieces.map(([start, end, text = 'x']) => ({
    startMicros: toMicros(start),
    endMicros: toMicros(end),
    text,
  }));
  return packSegments(segments, limits).map((packed) => {
    const verdict = judgePack(packed, limits);
    return 'dropped' in verdict ? verdict.dropped : [toSeconds(packed.startMicros), toSeconds(packed.endMicros)];
  });
}

describe('packSegments()', () => {
  it.each<[string, Piece[], number, number, number, (string | [number, number])[]]>([
    ['nothing', [], 30, 0.5, 30, []],
    ['one segment', [[0, 5]], 30, 0.5, 30, [[0, 5]]],
    ['one segment that is too long', [[0, 50]], 30, 0.5, 30, ['too_long']],
    ['one segment that is too short', [[0, 0.2]], 30, 0.5, 30, ['too_short']],
    ['one segment without text', [[0, 5, '']], 30, 0.5, 30, ['no_text']],
    [
      'segments up to the maximum',
      [
        [0, 5],
        [5, 10],
        [10, 15],
        [15, 20],
      ],
      20,
      0.5,
      30,
      [[0, 20]],
    ],
    [
      'segments beyond the maximum',
      [
        [0, 8],
        [8, 14],
        [14, 20],
      ],
      15,
      0.5,
      30,
      [
        [0, 14],
        [14, 20],
      ],
    ],
    [
      'a gap equal to the limit',
      [
        [0, 3],
        [5, 8],
      ],
      30,
      0.5,
      2,
      [[0, 8]],
    ],
    [
      'a gap beyond the limit',
      [
        [0, 3],
        [5.5, 8],
      ],
      30,
      0.5,
      2,
      [
        [0, 3],
        [5.5, 8],
      ],
    ],
    [
      'no gap allowed',
      [
        [0, 3],
        [3, 5],
        [5.1, 7],
      ],
      30,
      0.5,
      0,
      [
        [0, 5],
        [5.1, 7],
      ],
    ],
    [
      'one of each',
      [
        [0, 5],
        [10, 60],
        [70, 70.1],
        [100, 105, ''],
      ],
      30,
      0.5,
      1,
      [[0, 5], 'too_long', 'too_short', 'no_text'],
    ],
    ['a span of the maximum that float noise makes longer', [[2.2, 32.2]], 30, 0.5, 30, [[2.2, 32.2]]],
    [
      'two segments whose span is the maximum but for float noise',
      [
        [2.2, 10],
        [11, 32.2],
      ],
      30,
      0.5,
      30,
      [[2.2, 32.2]],
    ],
    ['a span of the minimum that float noise makes shorter', [[0.2, 0.7]], 30, 0.5, 30, [[0.2, 0.7]]],
    [
      'a gap of the limit that float noise makes longer',
      [
        [0, 1.1],
        [1.4, 2],
      ],
      30,
      0.5,
      0.3,
      [[0, 2]],
    ],
    [
      'an overlap that was left in',
      [
        [0, 5],
        [4.8, 9],
      ],
      30,
      0.5,
      0,
      [[0, 9]],
    ],
    ['no instant, which holds no audio, even with no minimum', [[3, 3]], 30, 0, 30, ['too_short']],
    [
      'a segment without text beside one with text',
      [
        [0, 1, ''],
        [1, 2],
      ],
      30,
      0.5,
      30,
      [[0, 2]],
    ],
  ])('packs %s', (_, pieces, max, min, gap, expected) => {
    expect(pack(pieces, max, min, gap)).toEqual(expected);
  });

  it('gives the joined text of what it keeps', () => {
    const limits = { maxDurationMicros: 10, minDurationMicros: 0, maxGapMicros: 10 };
    const segments = [
      { startMicros: 0, endMicros: 2, text: 'a' },
      { startMicros: 2, endMicros: 5, text: 'b' },
    ];
    const [packed] = packSegments(segments, limits);
    expect(packed && judgePack(packed, limits)).toEqual({ text: 'a b' });
  });
});
