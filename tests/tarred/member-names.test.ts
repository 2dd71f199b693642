import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { flattenPath, hashSuffix, spanSuffix, spellFloat } from '#cutroom/tarred/member-names.js';

describe('flattenPath()', () => {
  it.each([
    ['/data/d/file.wav', '_data_d_file', '.wav'],
    ['audio/b-2/c.d/utt 1.FLAC', 'audio_b-2_c_d_utt 1', '.FLAC'],
    ['./x.y.wav', '__x_y', '.wav'],
    ['a.d/noextension', 'a_d_noextension', ''],
    ['a/.hidden', 'a__hidden', ''],
    ['a/..x.wav', 'a___x', '.wav'],
    ['a/..wav', 'a___wav', ''],
    ['talk-sub12.wav', 'talk_sub12', '.wav'],
    ['a-sub1/b-sub2-subject.wav', 'a_sub1_b_sub2-subject', '.wav'],
  ])('makes of %s what the converter makes, without its marks', (given, stem, extension) => {
    expect(flattenPath(given)).toEqual({ stem, extension });
  });

  it('leaves no slash and no dot in a stem, and no mark of a repeated file', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '/', '.', '-sub', '1', 'é') }), (given) => {
        const { stem, extension } = flattenPath(given);
        expect(stem).not.toMatch(/[/.]|-sub\d/u);
        expect(given.endsWith(extension)).toBe(true);
      }),
    );
  });
});

describe('spanSuffix()', () => {
  it.each([
    [12, 3.5, '_12_0_3_5'],
    [0, 0.461, '_0_0_0_461'],
    [0.00001, 1e-7, '_0_00001_0_0000001'],
    [1.5, Number.NaN, '_1_5_end'],
  ])('%d s and %d s', (offset, duration, expected) => {
    expect(spanSuffix(offset, duration)).toBe(expected);
  });

  it('spells numbers so that they read back as they are, without exponents', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e9, noNaN: true }), (value) => {
        expect(spellFloat(value)).toMatch(/^\d+\.\d+$/u);
        expect(Math.abs(Number(spellFloat(value)) - value)).toBeLessThan(1e-19);
      }),
    );
  });
});

describe('hashSuffix()', () => {
  it('depends on the path alone', () => {
    // printf 'a/b_c.wav' | sha256sum
    expect(hashSuffix('a/b_c.wav')).toBe('-x66e9901d');
    expect(hashSuffix('a_b/c.wav')).not.toBe(hashSuffix('a/b_c.wav'));
  });
});
