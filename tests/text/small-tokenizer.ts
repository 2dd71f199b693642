/** A `tokenizer.json` that knows three words and splits at spaces and punctuation; `changes` replaces its fields. */
export function makeTokenizerJson(changes: Record<string, unknown> = {}): string {
  return JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: { type: 'Whitespace' },
    post_processor: null,
    decoder: null,
    model: { type: 'WordLevel', vocab: { '[UNK]': 0, hello: 1, world: 2, there: 3 }, unk_token: '[UNK]' },
    ...changes,
  });
}

/** The same as a file's bytes, made longer than a socket's buffer by a vocabulary that nobody uses. */
export function makeLongTokenizer(words = 40_000): Buffer {
  const extra = Array.from({ length: words }, (_, index) => [`unused${index}`, index + 10]);
  const vocab = { '[UNK]': 0, hello: 1, world: 2, there: 3, ...Object.fromEntries(extra) };
  return Buffer.from(makeTokenizerJson({ model: { type: 'WordLevel', vocab, unk_token: '[UNK]' } }));
}
