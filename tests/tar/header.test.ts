import { describe, expect, test } from 'vitest';

import { END_OF_ARCHIVE, headerChecksum, paddingBytes, tarHeader } from '#cutroom/tar/header.js';
import { parseHeader } from '#cutroom/tar/header-parser.js';
import { memberNameFault, truncateToBytes } from '#cutroom/tar/member-name.js';

const GIB = 1024 ** 3;

describe('tarHeader()', () => {
  test('writes plain ustar without clock, user or machine', () => {
    const block = tarHeader({ name: 'ep1-0-30000.flac', sizeBytes: 1000 });
    expect(block).toHaveLength(512);
    const field = (start: number, end: number) => block.toString('latin1', start, end);
    expect(field(0, 100).replace(/\0+$/, '')).toBe('ep1-0-30000.flac');
    expect(field(100, 108)).toBe('0000644\0');
    expect(field(108, 124)).toBe('0000000\0'.repeat(2));
    expect(field(124, 136)).toBe('00000001750\0');
    expect(field(136, 148)).toBe('00000000000\0');
    expect(field(156, 157)).toBe('0');
    expect(field(157, 257)).toBe('\0'.repeat(100));
    expect(field(257, 265)).toBe('ustar\x0000');
    expect(field(265, 329)).toBe('\0'.repeat(64));
    expect(field(345, 512)).toBe('\0'.repeat(167));
  });

  test('sums its bytes with the field of the sum as blanks', () => {
    const block = tarHeader({ name: 'ä.flac', sizeBytes: 7 });
    const blanked = Buffer.from(block);
    blanked.fill(' ', 148, 156);
    const sum = blanked.reduce((total, byte) => total + byte, 0);
    expect(block.toString('latin1', 148, 156)).toBe(`${sum.toString(8).padStart(6, '0')}\0 `);
    expect(headerChecksum(block)).toBe(sum);
  });

  test('puts 100 bytes into the name field and 101 into an extended header', () => {
    expect(tarHeader({ name: 'a'.repeat(100), sizeBytes: 1 })).toHaveLength(512);
    const extended = tarHeader({ name: 'a'.repeat(101), sizeBytes: 1 });
    expect(extended).toHaveLength(3 * 512);
    expect(extended.toString('latin1', 0, 100)).toBe(`PaxHeaders/${'a'.repeat(89)}`);
    expect(extended.toString('latin1', 156, 157)).toBe('x');
    expect(extended.toString('latin1', 512, 1024).replace(/\0+$/, '')).toBe(`111 path=${'a'.repeat(101)}\n`);
    expect(extended.toString('latin1', 1024, 1124)).toBe('a'.repeat(100));
  });

  test('splits a long name at a slash while both parts fit', () => {
    const name = `${'p'.repeat(155)}/${'n'.repeat(100)}`;
    const block = tarHeader({ name, sizeBytes: 1 });
    expect(block).toHaveLength(512);
    expect(block.toString('latin1', 0, 100)).toBe('n'.repeat(100));
    expect(block.toString('latin1', 345, 500)).toBe('p'.repeat(155));
    expect(parseHeader(block)).toEqual({ name, sizeBytes: 1, type: '0' });
    expect(tarHeader({ name: `p${name}`, sizeBytes: 1 })).toHaveLength(3 * 512);
    expect(tarHeader({ name: `${name}n`, sizeBytes: 1 })).toHaveLength(3 * 512);
  });

  test('never cuts a character in two', () => {
    const extended = tarHeader({ name: `${'a'.repeat(99)}é.flac`, sizeBytes: 1 });
    expect(extended.toString('utf8', 1024, 1124)).toBe(`${'a'.repeat(99)}\0`);
  });

  test('counts bytes, not characters', () => {
    expect(tarHeader({ name: 'é'.repeat(50), sizeBytes: 1 })).toHaveLength(512);
    expect(tarHeader({ name: 'é'.repeat(51), sizeBytes: 1 })).toHaveLength(3 * 512);
  });

  test('puts sizes from 8 GiB on into an extended header', () => {
    expect(tarHeader({ name: 'a', sizeBytes: 8 * GIB - 1 })).toHaveLength(512);
    const extended = tarHeader({ name: 'a', sizeBytes: 8 * GIB });
    expect(extended.toString('latin1', 512, 1024).replace(/\0+$/, '')).toBe('19 size=8589934592\n');
  });

  test.each([
    ['', 'it is empty'],
    ['/a', 'it starts with a slash'],
    ['a/', 'it ends in a slash'],
    ['a/../b', 'it holds ".."'],
    ['a\0b', 'it holds a NUL'],
    ['a\u{D83D}', 'it holds half a surrogate pair'],
  ])('refuses the name %j', (name, fault) => {
    expect(memberNameFault(name)).toContain(fault);
    expect(() => tarHeader({ name, sizeBytes: 1 })).toThrow(RangeError);
  });

  test.each([-1, 0.5, Number.NaN, 2 ** 53])('refuses a size of %d bytes', (sizeBytes) => {
    expect(() => tarHeader({ name: 'a', sizeBytes })).toThrow(RangeError);
  });
});

test('memberNameFault() accepts dots, blanks and characters of any plane', () => {
  for (const name of ['a.b.flac', '..a', 'a b', '\u{1F600}/\u{FF5E}']) expect(memberNameFault(name)).toBeUndefined();
});

test('truncateToBytes() keeps whole characters', () => {
  expect(truncateToBytes('a\u{1F600}b', 4)).toBe('a');
  expect(truncateToBytes('a\u{1F600}b', 5)).toBe('a\u{1F600}');
  expect(truncateToBytes('ab', 9)).toBe('ab');
});

test('paddingBytes() fills up the last block', () => {
  expect([0, 1, 511, 512, 513].map((sizeBytes) => paddingBytes(sizeBytes))).toEqual([0, 511, 1, 0, 511]);
});

test('END_OF_ARCHIVE is two blocks of zeros', () => {
  expect(Buffer.from(END_OF_ARCHIVE)).toEqual(Buffer.alloc(1024));
});
