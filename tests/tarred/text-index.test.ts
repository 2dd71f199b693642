import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextColumn } from '#cutroom/tarred/text-column.js';
import { TextIndex } from '#cutroom/tarred/text-index.js';

describe('TextIndex', () => {
  it('finds what was noted first, as a map does', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 3 }), { maxLength: 200 }), (texts) => {
        const index = new TextIndex((number) => texts[number] ?? '');
        const first = new Map<string, number>();
        for (const [number, text] of texts.entries()) {
          if (!first.has(text)) first.set(text, number);
          expect(index.firstNumberOf(text, number)).toBe(first.get(text));
        }
      }),
    );
  });

  it('grows', () => {
    const numbers = Array.from({ length: 5000 }, (_, number) => number);
    const index = new TextIndex((number) => `text ${number}`);
    expect(numbers.map((number) => index.firstNumberOf(`text ${number}`, number))).toEqual(numbers);
    expect(numbers.map((number) => index.firstNumberOf(`text ${number}`, 9999))).toEqual(numbers);
  });
});

describe('TextColumn', () => {
  it('gives back what was put in', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (texts) => {
        const column = new TextColumn();
        for (const text of texts) column.push(text);
        expect(texts.map((_, index) => column.at(index))).toEqual(texts);
        expect(() => column.at(texts.length)).toThrow(RangeError);
      }),
    );
    const long = new TextColumn();
    long.push('x'.repeat(200_000));
    long.push('ü');
    expect(long.at(1)).toBe('ü');
  });
});
