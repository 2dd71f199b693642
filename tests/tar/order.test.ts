import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { compareCodePoints } from '#cutroom/tar/order.js';

test('compareCodePoints() puts U+FF5E before U+1F600', () => {
  expect(compareCodePoints('\u{FF5E}', '\u{1F600}')).toBeLessThan(0);
  expect(compareCodePoints('a\u{1F600}', 'a\u{FF5E}')).toBeGreaterThan(0);
});

test('compareCodePoints() puts a start before what it starts', () => {
  expect(compareCodePoints('ab', 'ab.flac')).toBeLessThan(0);
  expect(compareCodePoints('', 'a')).toBeLessThan(0);
  expect(compareCodePoints('a', 'a')).toBe(0);
});

test('compareCodePoints() tells characters apart that share their first surrogate', () => {
  expect(compareCodePoints('\u{1F600}', '\u{1F601}')).toBeLessThan(0);
  expect(compareCodePoints('\u{1F601}b', '\u{1F601}a')).toBeGreaterThan(0);
});

test('compareCodePoints() agrees with the order of the UTF-8 bytes', () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom('a', '\u{FF5E}', '\u{1F600}', '\u{1F601}'),
      fc
        .integer({ min: 0, max: 0x10ffff })
        .filter((point) => point < 0xd800 || point > 0xdfff)
        .map((point) => String.fromCodePoint(point)),
    ),
  });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareCodePoints(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});
