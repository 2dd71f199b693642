import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Encoding, Tokenizer as NativeTokenizer } from 'tokenizers';
import { InputError, UsageError, errorMessage } from '../errors.js';
import type { Tokenizer } from './types.js';

/**
 * Loads a `tokenizer.json` of Hugging Face's tokenizers. Truncation, padding, special tokens and BPE dropout that it may ask for are
 * left out: the tokens are those of the whole text, always the same.
 *
 * @throws InputError when the file cannot be read or is no tokenizer.
 */
export async function loadPretrainedTokenizer(path: string): Promise<Tokenizer> {
  const content = await readTokenizerFile(path);
  const { text, settings } = parseSettings(path, content);
  const native = await createNative(path, text, settings);
  return {
    fingerprint: `sha256:${createHash('sha256').update(content).digest('hex')}`,
    encode: createEncode(path, native, findUnknown(native, settings)),
  };
}

async function readTokenizerFile(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new InputError(`Cannot read tokenizer "${path}": ${errorMessage(error)}`, { path, cause: error });
  }
}

/** The parts of `tokenizer.json` that matter here. */
interface Settings {
  model?: { dropout?: unknown; unk_token?: unknown; unk_id?: unknown; vocab?: unknown } | null;
}

function parseSettings(path: string, content: Buffer): { text: string; settings: Settings } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    const settings: unknown = JSON.parse(text);
    if (typeof settings === 'object' && settings !== null && 'model' in settings) {
      return { text, settings: settings as Settings };
    }
  } catch (error) {
    throw brokenFile(path, errorMessage(error), error);
  }
  throw brokenFile(path, 'it has no "model"', undefined);
}

function brokenFile(path: string, reason: string, cause: unknown): InputError {
  return new InputError(`Cannot load tokenizer "${path}": ${reason}`, {
    path,
    hint: 'The file must be a whole tokenizer.json of a fast tokenizer; delete it from a cache to have it fetched anew.',
    cause,
  });
}

async function createNative(path: string, text: string, settings: Settings): Promise<NativeTokenizer> {
  const library = await importNative();
  const { model } = settings;
  const isRandom = typeof model?.dropout === 'number' && model.dropout > 0;
  const fixed = isRandom ? JSON.stringify({ ...settings, model: { ...model, dropout: null } }) : text;
  try {
    const native = library.Tokenizer.fromString(fixed);
    native.disableTruncation();
    native.disablePadding();
    return native;
  } catch (error) {
    throw brokenFile(path, errorMessage(error), error);
  }
}

async function importNative(): Promise<typeof import('tokenizers')> {
  try {
    return await import('tokenizers');
  } catch (error) {
    throw new UsageError(`Cannot load the tokenizer library: ${errorMessage(error)}`, {
      hint: 'It may not exist for this system; without --tokenizer-path the built-in tokenizer is used.',
      cause: error,
    });
  }
}

/** The token that stands for all that a vocabulary does not hold. */
interface UnknownToken {
  id: number;
  text: string;
}

function findUnknown(native: NativeTokenizer, { model }: Settings): UnknownToken | undefined {
  if (typeof model?.unk_token === 'string') {
    const id = native.tokenToId(model.unk_token);
    return id === null ? undefined : { id, text: model.unk_token };
  }
  if (typeof model?.unk_id !== 'number') return undefined;
  const text = native.idToToken(model.unk_id);
  return text === null ? undefined : { id: model.unk_id, text };
}

function createEncode(path: string, native: NativeTokenizer, unknown: UnknownToken | undefined): Tokenizer['encode'] {
  const normalizer = native.getNormalizer();
  const normalize = (surface: string): string => normalizer?.normalizeString(surface) ?? surface;
  return async (text) => {
    try {
      const encoding = await native.encode(text, null, { addSpecialTokens: false });
      const ids = encoding.getIds();
      return unknown === undefined || !ids.includes(unknown.id)
        ? ids
        : nameUnknowns(encoding, ids, text, unknown, normalize);
    } catch (error) {
      throw new InputError(`Cannot split a text with tokenizer "${path}": ${errorMessage(error)}`, {
        path,
        hint: 'The tokenizer is at odds with itself: its unknown token may be missing from its vocabulary.',
        cause: error,
      });
    }
  };
}

/** Above every id of a vocabulary, and a 32-bit integer with room above it. */
const FIRST_UNKNOWN_ID = 2 ** 30;

/**
 * The ids with each unknown token's replaced by one of its own: equal for equal surfaces, so that a row of different unknown words does
 * not look like one word repeated. An unknown token that the text spells out keeps its id.
 */
function nameUnknowns(
  encoding: Encoding,
  ids: number[],
  text: string,
  unknown: UnknownToken,
  normalize: (surface: string) => string,
): number[] {
  const offsets = encoding.getOffsets();
  const slice = createCharacterSlice(text);
  const idsBySurface = new Map([[unknown.text, unknown.id]]);
  return ids.map((id, index) => {
    if (id !== unknown.id) return id;
    const [start = 0, end = 0] = offsets[index] ?? [];
    const raw = slice(start, end).trim();
    const surface = raw === unknown.text ? raw : normalize(raw).trim();
    let own = idsBySurface.get(surface);
    if (own === undefined) {
      own = FIRST_UNKNOWN_ID + idsBySurface.size;
      idsBySurface.set(surface, own);
    }
    return own;
  });
}

/** Slices by characters, which the library counts, instead of UTF-16 units: a character beyond U+FFFF is two of those. */
function createCharacterSlice(text: string): (start: number, end: number) => string {
  if (!/[\ud800-\udfff]/.test(text)) return (start, end) => text.slice(start, end);
  const characters = Array.from(text);
  return (start, end) => characters.slice(start, end).join('');
}
