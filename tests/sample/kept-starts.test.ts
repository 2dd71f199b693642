import { describe, expect, it } from 'vitest';
import { KeptStarts } from '#cutroom/sample/kept-starts.js';

describe('KeptStarts', () => {
  it('holds the spans of each recording', () => {
    const kept = KeptStarts.from([[0, 5, 7, 8], [], [3, 4]]);
    expect(kept.length).toBe(3);
    expect([...kept.firstSpan]).toEqual([0, 2, 2, 3]);
    expect([...kept.starts]).toEqual([0, 7, 3]);
    expect([...kept.ends]).toEqual([5, 8, 4]);
    expect(kept.sizeBytes).toBe(64);
  });

  it('refuses spans that are empty, out of order, touching or half', () => {
    for (const spans of [[3, 3], [5, 9, 0, 2], [0, 5, 5, 9], [0, 5, 3, 9], [-1, 2], [0], [0, 1.5]]) {
      expect(() => KeptStarts.from([[], spans])).toThrow('Recording 1 keeps starts');
    }
  });
});
