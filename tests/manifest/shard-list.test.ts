import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatShardLine, hoursOfMicros, parseShardLine, shardPathFault } from '#cutroom/manifest/shard-list.js';

describe('parseShardLine()', () => {
  it('reads the example of the page', () => {
    const line = '/data/tars/audios/train.000000.tar /data/tars/manifests/train.000000.jsonl 1.234 1500';
    expect(parseShardLine(line)).toEqual({
      tarPath: '/data/tars/audios/train.000000.tar',
      manifestPath: '/data/tars/manifests/train.000000.jsonl',
      hours: 1.234,
      sampleCount: 1500,
    });
  });

  it.each([
    ['tabs and several blanks', ' a.tar\t\u3000 a.jsonl  1  2\r', 1, 2],
    ['two columns', 'a.tar a.jsonl', undefined, undefined],
    ['three columns', 'a.tar a.jsonl 0.5', 0.5, undefined],
    ['a fifth column', 'a.tar a.jsonl 1e-3 7 more', 0.001, 7],
  ])('reads %s', (_, line, hours, sampleCount) => {
    expect(parseShardLine(line)).toEqual({ tarPath: 'a.tar', manifestPath: 'a.jsonl', hours, sampleCount });
  });

  it.each([
    [' \u00a0', 'blank'],
    ['a.tar', 'one column'],
    ['a.tar a.jsonl x 1', '"x", is no number of hours'],
    ['a.tar a.jsonl -1 1', 'no number of hours'],
    ['a.tar a.jsonl nan 1', 'no number of hours'],
    ['a.tar a.jsonl 0x10 1', 'no number of hours'],
    ['a.tar a.jsonl 1 1.5', '"1.5", is no number of samples'],
    ['a.tar a.jsonl 1 -1', 'no number of samples'],
    ['/my talks/a.tar /b.jsonl 1 1', 'no number of hours'],
  ])('says what is wrong with %j', (line, fault) => {
    expect(parseShardLine(line)).toContain(fault);
  });
});

describe('formatShardLine()', () => {
  it('writes hours with six decimals', () => {
    const entry = { tarPath: '/a.tar', manifestPath: '/a.jsonl', hours: 1.5, sampleCount: 3 };
    expect(formatShardLine(entry)).toBe('/a.tar /a.jsonl 1.500000 3');
    expect(formatShardLine({ ...entry, sampleCount: undefined })).toBe('/a.tar /a.jsonl 1.500000');
    expect(formatShardLine({ ...entry, hours: undefined, sampleCount: undefined })).toBe('/a.tar /a.jsonl');
  });

  it.each([
    [{ tarPath: '/my talks/a.tar' }, 'white space (U+0020)'],
    [{ manifestPath: '/a\u3000b.jsonl' }, 'white space (U+3000)'],
    [{ manifestPath: '' }, 'it is empty'],
    [{ hours: -1 }, '-1 hours'],
    [{ hours: NaN }, 'NaN hours'],
    [{ hours: undefined }, 'undefined hours'],
    [{ sampleCount: 1.5 }, '1.5 samples'],
  ])('refuses %j', (change, message) => {
    const entry = { tarPath: '/a.tar', manifestPath: '/a.jsonl', hours: 1, sampleCount: 1, ...change };
    expect(() => formatShardLine(entry)).toThrow(message);
  });

  const paths = fc.string({ minLength: 1, unit: 'binary' }).filter((path) => shardPathFault(path) === undefined);

  it('writes what parseShardLine() reads back', () => {
    fc.assert(
      fc.property(paths, paths, fc.nat(1e12), fc.maxSafeNat(), (tarPath, manifestPath, microHours, sampleCount) => {
        const entry = { tarPath, manifestPath, hours: microHours / 1e6, sampleCount };
        const line = formatShardLine(entry);
        expect(parseShardLine(line)).toEqual(entry);
        expect(line.split(' ')).toHaveLength(4);
      }),
    );
  });

  it('gives the same line again for a line that was read', () => {
    fc.assert(
      fc.property(paths, paths, fc.maxSafeNat(), fc.nat(), (tarPath, manifestPath, micros, sampleCount) => {
        const line = formatShardLine({ tarPath, manifestPath, hours: hoursOfMicros(BigInt(micros)), sampleCount });
        const entry = parseShardLine(line);
        expect(typeof entry === 'string' ? entry : formatShardLine(entry)).toBe(line);
      }),
    );
  });
});

describe('hoursOfMicros()', () => {
  it.each([
    [0n, '0.000000'],
    [1_799n, '0.000000'],
    [1_800n, '0.000001'],
    [3_600_000_000n, '1.000000'],
    [3_709_500_000_000n, '1030.416667'],
    // A sum of doubles in microseconds has lost the last digit by here.
    [9_007_199_254_741_799n, '2501999.792984'],
    [1_000_000_000_000_001n * 3600n, '1000000000.000001'],
  ])('gives %s µs as %s h', (micros, hours) => {
    expect(hoursOfMicros(micros).toFixed(6)).toBe(hours);
  });
});

describe('shardPathFault()', () => {
  it('knows the white space that Python splits at, and no other', () => {
    const found: number[] = [];
    for (let code = 0; code < 0x10000; code += 1) {
      if (shardPathFault(`a${String.fromCharCode(code)}b`) !== undefined) found.push(code);
    }
    // The characters c of the basic plane with c.isspace() in Python 3.11.
    const separators = [0x20, 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000];
    const ranges = [range(0x09, 0x0d), range(0x1c, 0x1f), range(0x2000, 0x200a)];
    expect(found).toEqual([...separators, ...ranges.flat()].toSorted((a, b) => a - b));
  });
});

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
