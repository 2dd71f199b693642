import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expandFilePatterns, expandWords } from '#cutroom/load/tar-patterns.js';

const OPENING = ['{', '(', '[', '<', '_OP_'];
const CLOSING = ['}', ')', ']', '>', '_CL_'];

interface Piece {
  text: string;
  words: string[];
}

const literal = fc
  .array(fc.constantFrom('a', 'b-', '7', '.', 'é', '..', '_'), { maxLength: 4 })
  .map((parts): Piece => ({ text: parts.join(''), words: [parts.join('')] }));

const opening = fc.constantFrom(...OPENING);
const closing = fc.constantFrom(...CLOSING);

const range = fc
  .tuple(
    opening,
    closing,
    fc.integer({ min: 0, max: 120 }),
    fc.integer({ min: 0, max: 9 }),
    fc.integer({ min: 0, max: 4 }),
  )
  .map(([open, close, first, span, width]): Piece => {
    const last = first + span;
    const pad = (number: number): string => String(number).padStart(width, '0');
    const numbers = Array.from({ length: span + 1 }, (_, at) => first + at);
    const isPadded = /^0\d/u.test(pad(first)) || /^0\d/u.test(pad(last));
    // As braceexpand and bash do it: padded to the wider end, where one has a zero in front.
    const size = isPadded ? Math.max(pad(first).length, pad(last).length) : 0;
    return {
      text: `${open}${pad(first)}..${pad(last)}${close}`,
      words: numbers.map((number) => String(number).padStart(size, '0')),
    };
  });

/** Brackets of a name: neither a range nor a choice. */
const realName = fc
  .tuple(fc.nat({ max: OPENING.length - 1 }), fc.constantFrom('v2', 'x', ''))
  .map(([kind, inside]): Piece => {
    const text = `${OPENING[kind]!}${inside}${CLOSING[kind]!}`;
    return { text, words: [text] };
  });

const leaf = fc.oneof({ arbitrary: literal, weight: 3 }, { arbitrary: range, weight: 2 }, realName);

const choice = fc
  .tuple(opening, closing, fc.array(fc.array(leaf, { maxLength: 2 }).map(sequence), { minLength: 2, maxLength: 3 }))
  .map(([open, close, options]): Piece => {
    const text = `${open}${options.map((option) => option.text).join(',')}${close}`;
    return { text, words: options.flatMap((option) => option.words) };
  });

function sequence(pieces: readonly Piece[]): Piece {
  return pieces.reduce<Piece>(
    (before, piece) => ({
      text: before.text + piece.text,
      words: before.words.flatMap((head) => piece.words.map((tail) => head + tail)),
    }),
    { text: '', words: [''] },
  );
}

describe('expandWords()', () => {
  test('expands every form of braces as it is meant', () => {
    const pattern = fc.array(fc.oneof({ arbitrary: leaf, weight: 3 }, choice), { maxLength: 4 }).map(sequence);
    fc.assert(
      fc.property(pattern, ({ text, words }) => {
        expect(expandWords(text)).toEqual(words);
      }),
      { numRuns: 400 },
    );
  });

  test.each([
    ['a__OP_0..2_CL_.tar', ['a_0.tar', 'a_1.tar', 'a_2.tar']],
    ['(08..10]', ['08', '09', '10']],
    ['<0..10..5>', ['0', '5', '10']],
    ['[b..d]', ['b', 'c', 'd']],
    ['{2..0}', ['2', '1', '0']],
    ['{a,b{1..2}}', ['a', 'b1', 'b2']],
    ['a(v2)_{0..1}', ['a(v2)_0', 'a(v2)_1']],
    ['a)_{0..1}', ['a)_0', 'a)_1']],
    ['(a_{0..1}', ['(a_0', '(a_1']],
    ['plain', ['plain']],
  ])('expands %s', (text, words) => {
    expect(expandWords(text)).toEqual(words);
  });
});

describe('expandFilePatterns()', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cutroom-patterns-'));
    for (const place of ['set(0..1)', 'set0', 'set1', 'v<2>']) {
      mkdirSync(path.join(folder, place));
      for (const name of ['a_0.tar', 'a_1.tar', 'b,c.tar', 'x[0..1].tar'])
        writeFileSync(path.join(folder, place, name), '');
    }
    mkdirSync(path.join(folder, '_OP_5_CL_'));
    writeFileSync(path.join(folder, '_OP_5_CL_', 'audio__OP_0..3_CL_.tar'), '');
  });

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const expand = async (...patterns: string[]): Promise<{ paths: string[]; missing: string[] }> => {
    const found = await expandFilePatterns(patterns.map((pattern) => path.join(folder, pattern)));
    const relative = (file: string): string => path.relative(folder, file);
    return { paths: found.paths.map(relative), missing: found.missing.map(relative) };
  };

  test('takes a folder, or a path, that is there as it is spelled for itself', async () => {
    expect(await expand('set(0..1)/a_(0..1).tar')).toEqual({
      paths: ['set(0..1)/a_0.tar', 'set(0..1)/a_1.tar'],
      missing: [],
    });
    expect((await expand('v<2>/x[0..1].tar')).paths).toEqual(['v<2>/x[0..1].tar']);
    expect((await expand('_OP_5_CL_/audio__OP_0..3_CL_.tar')).paths).toEqual(['_OP_5_CL_/audio__OP_0..3_CL_.tar']);
    expect((await expand('v<2>/b,c.tar')).paths).toEqual(['v<2>/b,c.tar']);
  });

  test('expands patterns over folders, in brackets that hold a slash too', async () => {
    expect(await expand('set{1,0}/a_[0..2].tar')).toEqual({
      paths: ['set1/a_0.tar', 'set1/a_1.tar', 'set1/a_2.tar', 'set0/a_0.tar', 'set0/a_1.tar', 'set0/a_2.tar'],
      missing: ['set1/a_2.tar', 'set0/a_2.tar'],
    });
    expect((await expand('set{0/a_0,1/a_<0..1>}.tar')).paths).toEqual(['set0/a_0.tar', 'set1/a_0.tar', 'set1/a_1.tar']);
    expect((await expand('v<2>/{a,b}_{0..1}.tar')).missing).toEqual(['v<2>/b_0.tar', 'v<2>/b_1.tar']);
    expect(await expand('set0/a_*.tar', 'set?/z*.tar')).toEqual({
      paths: ['set0/a_0.tar', 'set0/a_1.tar'],
      missing: ['set?/z*.tar'],
    });
  });

  test('splits a text at commas outside of brackets', async () => {
    const text = `${folder}/set0/a_{0,1}.tar, ${folder}/set1/a_0.tar`;
    expect((await expandFilePatterns([text])).paths.map((file) => path.relative(folder, file))).toEqual([
      ...['set0/a_0.tar', 'set0/a_1.tar', 'set1/a_0.tar'],
    ]);
  });

  test.each(['pipe:cat a.tar', '-', 's3://bucket/{0..1}.tar', 'zcat a.gz |', ''])('refuses %j', async (pattern) => {
    await expect(expandFilePatterns([pattern])).rejects.toMatchObject({ code: 'usage' });
  });
});
