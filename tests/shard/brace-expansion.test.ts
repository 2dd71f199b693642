import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expandBraces } from '#cutroom/shard/brace-expansion.js';
import { UsageError } from '#cutroom/errors.js';

describe('expandBraces()', () => {
  it.each([
    ['a.tar', ['a.tar']],
    ['{b,a}.tar', ['b.tar', 'a.tar']],
    ['{a,}x', ['ax', 'x']],
    ['x{a,b{c,d}}', ['xa', 'xbc', 'xbd']],
    ['{a,b}{1,2}', ['a1', 'a2', 'b1', 'b2']],
    ['{8..11}', ['8', '9', '10', '11']],
    ['{008..011}', ['008', '009', '010', '011']],
    ['{1..003}', ['001', '002', '003']],
    ['{-01..1}', ['-01', '000', '001']],
    ['{3..1}', ['3', '2', '1']],
    ['{0..10..5}', ['0', '5', '10']],
    ['{10..0..-5}', ['10', '5', '0']],
    ['{a..c}', ['a', 'b', 'c']],
    ['{a..e..2}', ['a', 'c', 'e']],
    ['{{1..2},x}', ['1', '2', 'x']],
  ])('expands %s', (pattern, words) => {
    expect(expandBraces(pattern)).toEqual(words);
  });

  it.each(['{}', '{a}', 'a{b', 'a}b', '{1..}', '{1..b}', '{ab..cd}'])('leaves %s as it is', (pattern) => {
    expect(expandBraces(pattern)).toEqual([pattern]);
  });

  it('expands what stands behind braces that are none', () => {
    expect(expandBraces('{x}{1,2}')).toEqual(['{x}1', '{x}2']);
    expect(expandBraces('{x{1,2}')).toEqual(['{x1', '{x2']);
  });

  it.each(['{0..1000000}', '{1..2000}{1..2000}', '{0..999999999999}'])('refuses %s', (pattern) => {
    expect(() => expandBraces(pattern)).toThrow(UsageError);
  });

  it('gives as many words as there are choices', () => {
    const word = fc.stringMatching(/^[a-z]{0,3}$/u);
    fc.assert(
      fc.property(fc.array(fc.array(word, { minLength: 2, maxLength: 4 }), { maxLength: 4 }), (choices) => {
        const pattern = choices.map((words) => `{${words.join(',')}}`).join('-');
        const expected = choices.reduce<string[][]>(
          (heads, words) => heads.flatMap((head) => words.map((last) => [...head, last])),
          [[]],
        );
        expect(expandBraces(pattern)).toEqual(expected.map((words) => words.join('-')));
      }),
    );
  });
});
