import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitObjects } from '#cutroom/check/json-objects.js';
import { ScannedRow } from '#cutroom/check/scanned-row.js';

const objects = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 30 });

describe('ScannedRow', () => {
  it('keeps keys, values and their places', () => {
    fc.assert(
      fc.property(objects, fc.constantFrom(undefined, 1, '\t'), (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        const row = ScannedRow.scan(text);
        const parsed = JSON.parse(text) as Record<string, unknown>;
        expect(row?.keys.toSorted()).toEqual(Object.keys(parsed).sort());
        expect(row?.hasDuplicates).toBe(false);
        for (const [place, key] of (row?.keys ?? []).entries()) {
          const { keyStart, keyEnd, valueStart, valueEnd } = row!.boundsAt(place);
          expect(JSON.parse(text.slice(keyStart, keyEnd))).toBe(key);
          expect(JSON.parse(text.slice(valueStart, valueEnd))).toEqual(parsed[key]);
        }
      }),
    );
  });

  it('takes the last of two values of a key', () => {
    const row = ScannedRow.scan('{"a": 1, "b": 2, "\\u0061": 3}');
    expect(row).toMatchObject({ keys: ['a', 'b', 'a'], hasDuplicates: true });
    expect(row?.value('a')).toBe(3);
    const many = `{${Array.from({ length: 40 }, (_, k) => `"k${k % 39}": ${k}`).join(',')}}`;
    expect(ScannedRow.scan(many)?.hasDuplicates).toBe(true);
  });

  it.each(['', '[]', '5', '{"a": 1', '{"a": 1}{', '{"a"}', '{a: 1}', '{"a": 1,}', '{"a": 1 "b": 2}'])(
    'refuses %j',
    (text) => {
      expect(ScannedRow.scan(text)).toBeUndefined();
    },
  );
});

describe('splitObjects()', () => {
  it('finds the objects between brackets, commas and space', () => {
    fc.assert(
      fc.property(fc.array(objects, { maxLength: 5 }), fc.constantFrom(undefined, 2), (list, indent) => {
        const text = JSON.stringify(list, null, indent);
        const pieces = splitObjects(Buffer.from(text), 1);
        expect(pieces.map(({ kind }) => kind)).toEqual(list.map(() => 'object'));
        const values = pieces.map(({ bytes }): unknown => JSON.parse(bytes.toString('utf8')));
        expect(values).toEqual(JSON.parse(text));
      }),
    );
  });

  it('tells the lines on which they begin, and what is none', () => {
    const pieces = splitObjects(Buffer.from('{"a":1}\n x{"b":\n2}\noops, {\n{"c'), 7);
    expect(pieces.map(({ kind, line, bytes }) => [kind, line, bytes.toString()])).toEqual([
      ['object', 7, '{"a":1}'],
      ['other', 8, 'x'],
      ['object', 8, '{"b":\n2}'],
      ['other', 10, 'oops, '],
      ['unfinished', 10, '{\n{"c'],
    ]);
  });
});
