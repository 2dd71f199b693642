import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatMillis, formatNameTime, nameSnippet, roundMillis, toSafeId } from '#cutroom/cut/snippet-name.js';
import { memberNameFault } from '#cutroom/tar/member-name.js';

describe('formatNameTime()', () => {
  it.each([
    [0.0625, '0_062'],
    [0.3125, '0_312'],
    [0.1875, '0_188'],
    [0.4375, '0_438'],
    [-0.0625, '-0_062'],
    [59.9995, '59_999'],
    [0.0005, '0_001'],
    [1.0005, '1_000'],
    [2.0005, '2_001'],
    [1234.5675, '1234_568'],
    [99_999.9995, '100000_000'],
    [3101.25, '3101_250'],
    [1e6, '1000000_000'],
    [-1.5, '-1_500'],
    [-0, '-0_000'],
    [0, '0_000'],
    [-0.0001, '-0_000'],
    [0.9996, '1_000'],
    [4_398_046_511_104.0625, '4398046511104_062'],
    [562_949_953_421_311.9375, '562949953421311_938'],
    [1e21, '1000000000000000000000_000'],
    [1e22, '10000000000000000000000_000'],
    [1.7e23, '169999999999999995805696_000'],
    [Number.NaN, 'nan'],
    [Infinity, 'inf'],
    [-Infinity, '-inf'],
  ])('writes %d as %s', (seconds, expected) => {
    expect(formatNameTime(seconds)).toBe(expected);
  });

  it('is the decimal next to the exact binary value, ties to even', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e12, max: 1e12, noNaN: true }), (seconds) => {
        // A double is a whole number of 2^-1074; compare in those.
        const scale = 2n ** 1074n;
        const exact = exactValue(seconds) * 1000n;
        const millis = BigInt(formatMillis(seconds).replace('.', '')) * scale;
        const distance = exact > millis ? exact - millis : millis - exact;
        expect(distance * 2n <= scale).toBe(true);
        if (distance * 2n === scale) expect((millis / scale) % 2n).toBe(0n);
      }),
      { numRuns: 300 },
    );
  });

  it('rounds every odd sixteenth to even', () => {
    for (let sixteenths = 1; sixteenths < 2000; sixteenths += 2) {
      expect(Number(formatMillis(sixteenths / 16).at(-1)) % 2).toBe(0);
    }
  });
});

/** A double in units of 2^-1074, the smallest there is. */
function exactValue(value: number): bigint {
  let scaled = value;
  let exponent = 0n;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    exponent += 1n;
  }
  return BigInt(scaled) * 2n ** (1074n - exponent);
}

describe('nameSnippet()', () => {
  it.each([
    ['XYZ', 11.708_468, 13.969_718, 'XYZ-11_708-13_970'],
    ['X', 1, 2.5, 'X-1_000-2_500'],
    ['source-id_with-dashes', 3101.25, 3109.94, 'source-id_with-dashes-3101_250-3109_940'],
    ['meeting.wav', 0, 30, 'meeting_wav-0_000-30_000'],
    ['session.1.2', 1, 2.5, 'session_1_2-1_000-2_500'],
    ['shard1/utt001', 0, 5, 'shard1_utt001-0_000-5_000'],
    ['dirA\\sub\\utt', 1, 2, 'dirA_sub_utt-1_000-2_000'],
    ['X', -1.5, 2, 'X--1_500-2_000'],
  ])('names %s from %d to %d s', (id, start, end, expected) => {
    expect(nameSnippet(toSafeId(id), start, end)).toBe(expected);
  });

  it('tells spans apart that differ by milliseconds', () => {
    expect(nameSnippet('X', 12.123, 13)).not.toBe(nameSnippet('X', 12.127, 13));
  });
});

describe('toSafeId()', () => {
  it('leaves everything but separators as it is', () => {
    expect(toSafeId(' a:b\n你😀-')).toBe(' a:b\n你😀-');
  });

  it('replaces what no tar can hold', () => {
    expect(toSafeId('a\0b')).toBe('a_b');
    expect(toSafeId('a\ud800b')).toBe('a\ufffdb');
  });

  it('makes any id fit for the name of a member', () => {
    const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1 });
    fc.assert(
      fc.property(units, (codes) => {
        const name = `${nameSnippet(toSafeId(String.fromCharCode(...codes)), 1, 2)}.flac`;
        expect(memberNameFault(name)).toBeUndefined();
        expect(name.split('.')).toHaveLength(2);
      }),
    );
  });
});

describe('roundMillis()', () => {
  it('rounds as Python does', () => {
    expect([roundMillis(2356.0535), roundMillis(0.0005), roundMillis(0.0625), roundMillis(48)]).toEqual([
      2356.053, 0.001, 0.062, 48,
    ]);
  });
});
