import { array, assert, property, string, stringMatching } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWordsTokenizer, encodeWords } from '#cutroom/text/words.js';

const encode = (text: string): number[] => [...encodeWords(text)];

describe('encodeWords()', () => {
  it.each([
    ['', []],
    [' \n\t.,!?- ', []],
    ['one two one', [0, 1, 0]],
    ['One ONE one', [0, 0, 0]],
    ["don't don\u2019t don t", [0, 0, 1, 2]],
    ["'quoted' quoted rock'n'roll ' x", [0, 0, 1, 2]],
    ["dogs' dogs ''dogs", [0, 0, 0]],
    ['room 101, 101st', [0, 1, 2]],
    ['e\u0301te\u0301 \u00e9t\u00e9', [0, 0]],
    ['Straße STRASSE', [0, 1]],
    ['ΟΔΟΣ οδος', [0, 0]],
    ['मैं मैं हूँ', [0, 0, 1]],
    ['漢字漢', [0, 1, 0]],
    ['日本語です。日本', [0, 1, 2, 3, 4, 0, 1]],
    ['スーパー', [0, 1, 2, 1]],
    ['GPU漢gpu', [0, 1, 0]],
    ['𠮷𠮷𝒳', [0, 0, 1]],
    ['กำกำ', [0, 1, 0, 1]],
    ['မြန်', [0, 1, 2, 3]],
    ['😀 hello 😀', [0]],
    ['a\ud800b', [0, 1]],
    ['\ud800', []],
    ['\u0301 x\u0301', [0]],
  ])('encodeWords() splits %j', (text, ids) => {
    expect(encode(text)).toEqual(ids);
  });

  it('encodeWords() numbers words by first appearance without gaps', () => {
    assert(
      property(string({ unit: 'binary', maxLength: 200 }), (text) => {
        const ids = encode(text);
        let next = 0;
        for (const id of ids) {
          expect(id).toBeLessThanOrEqual(next);
          if (id === next) next += 1;
        }
      }),
    );
  });

  it('encodeWords() gives equal ids to equal words only', () => {
    assert(
      property(array(stringMatching(/^[a-z]{1,4}$/), { maxLength: 40 }), (words) => {
        const ids = encode(words.join(', '));
        const expected = words.map((word) => [...new Set(words)].indexOf(word));
        expect(ids).toEqual(expected);
      }),
    );
  });
});

describe('createWordsTokenizer()', () => {
  it('createWordsTokenizer() names its rules in the fingerprint and counts a loop', async () => {
    const tokenizer = createWordsTokenizer();
    expect(tokenizer.fingerprint).toBe('words@1');
    expect(Array.from(await tokenizer.encode('yes Yes yes.'))).toEqual([0, 0, 0]);
  });
});
