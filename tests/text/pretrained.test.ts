import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputError } from '#cutroom/errors.js';
import { loadPretrainedTokenizer } from '#cutroom/text/pretrained.js';
import { sha256Of } from './fake-hub.js';
import { makeTokenizerJson } from './small-tokenizer.js';

const GOLDEN = fileURLToPath(new URL('../../../shared/data/curator-golden/tokenizer/tokenizer.json', import.meta.url));
const UNK = 2 ** 30;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cutroom-text-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function encodeWith(json: string | Buffer, text: string): Promise<number[]> {
  const path = join(folder, 'tokenizer.json');
  await writeFile(path, json);
  return Array.from(await (await loadPretrainedTokenizer(path)).encode(text));
}

/** Ids with those of unknown words counted from 100. */
async function encodeSmall(text: string, changes: Record<string, unknown> = {}): Promise<number[]> {
  const ids = await encodeWith(makeTokenizerJson(changes), text);
  return ids.map((id) => (id >= UNK ? id - UNK + 99 : id));
}

describe('loadPretrainedTokenizer()', () => {
  it('loadPretrainedTokenizer() gives the ids of the vocabulary', async () => {
    expect(await encodeSmall('hello world, hello')).toEqual([1, 2, 100, 1]);
    expect(await encodeSmall('')).toEqual([]);
  });

  it('loadPretrainedTokenizer() takes its fingerprint from the bytes of the file', async () => {
    const path = join(folder, 'fingerprint.json');
    await writeFile(path, makeTokenizerJson());
    const { fingerprint } = await loadPretrainedTokenizer(path);
    expect(fingerprint).toBe(`sha256:${sha256Of(Buffer.from(makeTokenizerJson()))}`);
  });

  it('loadPretrainedTokenizer() gives 13 different unknown words 13 ids', async () => {
    const words = Array.from({ length: 13 }, (_, index) => `zyx${'abcdefghijklm'[index]}`);
    const ids = await encodeSmall(words.join(' '));
    expect(new Set(ids).size).toBe(13);
    expect(await encodeSmall(`${words[0]} ${words[1]} ${words[0]}`)).toEqual([100, 101, 100]);
  });

  it('loadPretrainedTokenizer() finds the words behind characters of two UTF-16 units', async () => {
    expect(await encodeSmall('😀 hello 𝒳𝒴 foo 😀 bar foo é')).toEqual([100, 1, 101, 102, 100, 103, 102, 104]);
    expect(await encodeSmall('a\ud800b foo a foo')).toEqual([100, 101, 102, 103, 100, 103]);
  });

  it('loadPretrainedTokenizer() keeps the id of an unknown token that the text spells out', async () => {
    const token = {
      id: 0,
      content: '[UNK]',
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    };
    expect(await encodeSmall('[UNK] foo [UNK] bar', { added_tokens: [token] })).toEqual([0, 100, 0, 101]);
  });

  it('loadPretrainedTokenizer() compares unknown words as the tokenizer normalises them', async () => {
    expect(await encodeSmall('Foo foo FOO bar', { normalizer: { type: 'Lowercase' } })).toEqual([100, 100, 100, 101]);
    expect(await encodeSmall('Foo foo FOO bar')).toEqual([100, 101, 102, 103]);
  });

  it('loadPretrainedTokenizer() ignores truncation, padding and special tokens', async () => {
    const changes = {
      truncation: { direction: 'Right', max_length: 2, strategy: 'LongestFirst', stride: 0 },
      padding: {
        strategy: { Fixed: 20 },
        direction: 'Right',
        pad_to_multiple_of: null,
        pad_id: 0,
        pad_type_id: 0,
        pad_token: '[PAD]',
      },
      post_processor: {
        type: 'TemplateProcessing',
        single: [{ SpecialToken: { id: 'there', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
        pair: [],
        special_tokens: { there: { id: 'there', ids: [3], tokens: ['there'] } },
      },
    };
    expect(await encodeSmall('hello world hello world', changes)).toEqual([1, 2, 1, 2]);
  });

  it('loadPretrainedTokenizer() leaves BPE dropout out', async () => {
    const vocab = { a: 0, b: 1, ab: 2, abab: 3 };
    const model = { type: 'BPE', vocab, merges: ['a b', 'ab ab'], dropout: 0.5, unk_token: null };
    expect(await encodeSmall('abab '.repeat(50), { model })).toEqual(Array.from({ length: 50 }, () => 3));
  });

  it('loadPretrainedTokenizer() reads the unknown token of a Unigram model', async () => {
    const model = {
      type: 'Unigram',
      unk_id: 0,
      vocab: [
        ['<unk>', 0],
        ['hello', -1],
        ['world', -2],
      ],
      byte_fallback: false,
    };
    expect(await encodeSmall('hello xyz world qrs xyz', { model })).toEqual([1, 100, 2, 101, 100]);
  });

  it('loadPretrainedTokenizer() reads the unknown token of a WordPiece model', async () => {
    const vocab = { '[UNK]': 0, hel: 1, '##lo': 2 };
    const model = {
      type: 'WordPiece',
      vocab,
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 20,
    };
    expect(await encodeSmall('hello foo bar foo', { model })).toEqual([1, 2, 100, 101, 100]);
  });

  it('loadPretrainedTokenizer() gives the same ids when texts are encoded at once', async () => {
    const path = join(folder, 'parallel.json');
    await writeFile(path, makeTokenizerJson());
    const tokenizer = await loadPretrainedTokenizer(path);
    const texts = Array.from({ length: 200 }, (_, index) => `hello ${'world '.repeat(index % 7)}foo`);
    const alone = [];
    for (const text of texts) alone.push(await tokenizer.encode(text));
    expect(await Promise.all(texts.map((text) => tokenizer.encode(text)))).toEqual(alone);
  });

  it.each([
    ['an empty file', ''],
    ['a torn file', makeTokenizerJson().slice(0, -30)],
    ['another object', '{"vocab": {}}'],
    ['an array', '[]'],
    ['no model', '{"model": null}'],
    ['an unknown model', makeTokenizerJson({ model: { type: 'Oracle' } })],
    ['an unknown part', makeTokenizerJson({ normalizer: { type: 'Oracle' } })],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  ])('loadPretrainedTokenizer() refuses %s', async (_, content) => {
    const path = join(folder, 'broken.json');
    await writeFile(path, content);
    const error = await loadPretrainedTokenizer(path).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InputError);
    expect(error).toMatchObject({ path, hint: expect.stringContaining('tokenizer.json') as string });
    expect((error as Error).message).toMatch(/^Cannot load tokenizer ".*broken\.json": ./);
  });

  it('loadPretrainedTokenizer() says when a tokenizer cannot name an unknown word', async () => {
    const model = { type: 'WordLevel', vocab: { hello: 1 }, unk_token: '[UNK]' };
    await expect(encodeSmall('hello foo', { model })).rejects.toThrow(/^Cannot split a text with tokenizer/);
  });

  it.skipIf(!existsSync(GOLDEN))(
    'loadPretrainedTokenizer() encodes with the golden tokenizer (needs ../shared)',
    async () => {
      const { native, tokenizer } = await loadGolden();
      const texts = [
        'The quick brown fox.',
        'so what do you think about that',
        'Ωμέγα naïve 漢字 😀',
        "it's 3:45 p.m.",
        '',
      ];
      for (const text of texts) {
        const ids = Array.from(await tokenizer.encode(text));
        const expected = (await native.encode(text, null, { addSpecialTokens: false })).getIds();
        expect(ids.map((id) => (id >= UNK ? 0 : id))).toEqual(expected);
        const pieces = ids.map((id) => native.idToToken(id) ?? '');
        if (/^[\x20-\x7e]*$/.test(text)) expect(pieces.join('').replaceAll('Ġ', ' ')).toBe(text);
      }
    },
  );
});

async function loadGolden() {
  const { Tokenizer } = await import('tokenizers');
  return { native: Tokenizer.fromFile(GOLDEN), tokenizer: await loadPretrainedTokenizer(GOLDEN) };
}
