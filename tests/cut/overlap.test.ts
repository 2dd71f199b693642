import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dropEmpty, findOverlaps, sortByTime, type Interval } from '#cutroom/cut/overlap.js';
import { toMicros } from '#cutroom/audio/times.js';

type Span = [start: number, end: number];

/** The positions, in the order given, of the spans that overlap. */
function listOverlapping(spans: readonly Span[], minOverlapSeconds = 0.5): number[] {
  const sorted = sortByTime(
    spans.map(([start, end], position) => ({ startMicros: toMicros(start), endMicros: toMicros(end), position })),
  );
  const overlaps = findOverlaps(sorted, toMicros(minOverlapSeconds));
  return sorted
    .filter((_, at) => overlaps[at])
    .map(({ position }) => position)
    .toSorted((a, b) => a - b);
}

describe('findOverlaps()', () => {
  it.each<[string, Span[], number[]]>([
    [
      'spans apart',
      [
        [0, 1],
        [2, 3],
        [4, 5],
      ],
      [],
    ],
    [
      'a long overlap',
      [
        [0, 5],
        [4, 8],
      ],
      [0, 1],
    ],
    [
      'a short overlap',
      [
        [0, 5],
        [4.7, 8],
      ],
      [],
    ],
    [
      'containment, however short',
      [
        [0, 10],
        [4, 4.1],
      ],
      [0, 1],
    ],
    [
      'a chain',
      [
        [0, 5],
        [4, 9],
        [8, 12],
      ],
      [0, 1, 2],
    ],
    [
      'an overlap equal to the limit',
      [
        [0, 5],
        [4.5, 8],
      ],
      [0, 1],
    ],
    [
      'an overlap equal to the limit but for float noise',
      [
        [1, 2.3],
        [1.8, 4],
      ],
      [0, 1],
    ],
    [
      'spans out of order',
      [
        [10, 12],
        [0, 5],
        [4, 8],
      ],
      [1, 2],
    ],
    ['no spans', [], []],
    ['one span', [[0, 5]], []],
    [
      'the same span twice',
      [
        [0, 5],
        [0, 5],
      ],
      [0, 1],
    ],
    [
      'a longer chain',
      [
        [0, 5],
        [4, 9],
        [8, 13],
        [12, 17],
      ],
      [0, 1, 2, 3],
    ],
    [
      'a chain of short overlaps',
      [
        [0, 5],
        [4.8, 9],
        [8.8, 12],
      ],
      [],
    ],
    [
      'one span over ten',
      [[0, 100], ...Array.from({ length: 10 }, (_, k): Span => [10 * k + 1, 10 * k + 2])],
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    ],
    [
      'two equal instants',
      [
        [3, 3],
        [3, 3],
      ],
      [],
    ],
    [
      'an instant inside',
      [
        [0, 5],
        [3, 3],
      ],
      [0, 1],
    ],
    [
      'an instant at the start',
      [
        [3, 3],
        [3, 5],
      ],
      [],
    ],
    [
      'an instant at the end',
      [
        [0, 5],
        [5, 5],
      ],
      [],
    ],
    [
      'equal starts',
      [
        [0, 5],
        [0, 0.2],
      ],
      [0, 1],
    ],
    [
      'equal ends',
      [
        [0, 5],
        [4.9, 5],
      ],
      [0, 1],
    ],
  ])('judges %s', (_, spans, expected) => {
    expect(listOverlapping(spans)).toEqual(expected);
  });

  it('keeps 200 spans apart', () => {
    expect(listOverlapping(Array.from({ length: 200 }, (_, k): Span => [2 * k, 2 * k + 1]))).toEqual([]);
  });

  it.each([0, -1])('takes any overlap at a limit of %d, but no touch', (minOverlap) => {
    expect(
      listOverlapping(
        [
          [0, 5],
          [4.999_999, 8],
        ],
        minOverlap,
      ),
    ).toEqual([0, 1]);
    expect(
      listOverlapping(
        [
          [0, 5],
          [5, 8],
        ],
        minOverlap,
      ),
    ).toEqual([]);
  });

  it('marks exactly the pairs that the rule names', () => {
    const interval = fc
      .tuple(fc.nat(30), fc.nat(12))
      .map(([start, length]): Interval => ({ startMicros: start, endMicros: start + length }));
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 12 }), fc.integer({ min: -1, max: 6 }), (intervals, limit) => {
        const sorted = sortByTime(intervals);
        const expected = sorted.map((a, i) =>
          sorted.some((b, j) => {
            const [first, second] = i < j ? [a, b] : [b, a];
            if (i === j || first.endMicros <= second.startMicros) return false;
            const shared = Math.min(a.endMicros, b.endMicros) - Math.max(a.startMicros, b.startMicros);
            return shared >= limit || contains(a, b) || contains(b, a);
          }),
        );
        expect(findOverlaps(sorted, limit)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});

function contains(outer: Interval, inner: Interval): boolean {
  return outer.startMicros <= inner.startMicros && outer.endMicros >= inner.endMicros;
}

describe('dropEmpty()', () => {
  it('drops segments with neither text nor words', () => {
    const a = { text: 'a', hasWords: false };
    const b = { text: '', hasWords: true };
    expect(dropEmpty([a, { text: '', hasWords: false }, b])).toEqual([a, b]);
  });
});
