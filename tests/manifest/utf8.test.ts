import { describe, expect, it } from 'vitest';
import { decodeUtf8 } from '#cutroom/manifest/utf8.js';

describe('decodeUtf8()', () => {
  it('decodes characters of every size', () => {
    expect(decodeUtf8(Buffer.from('aé你😀'))).toBe('aé你😀');
  });

  it.each([
    ['a stray byte', [0x61, 0xff], 2],
    ['a character that is cut off', [0xc3, 0xa9, 0xe4, 0xbd], 2],
    ['a lone continuation byte', [0x61, 0x62, 0x80, 0x63], 3],
    ['an overlong form', [0xc0, 0x80], 1],
    ['half a surrogate pair', [0x61, 0xed, 0xa0, 0x80], 2],
    ['a bad byte after characters of four bytes', [0xf0, 0x9f, 0x98, 0x80, 0xf0, 0x9f, 0x98, 0x80, 0xfe], 3],
  ])('names the column of %s', (_, bytes, column) => {
    expect(decodeUtf8(Buffer.from(bytes))).toBe(column);
  });
});
