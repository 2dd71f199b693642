import type { Tokenizer } from './types.js';

/**
 * The built-in tokenizer, which needs no file. A token is a run of letters, marks and digits, apostrophes inside it included, without
 * regard to case; in scripts that are written without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) each character is one.
 */
export function createWordsTokenizer(): Tokenizer {
  return { fingerprint: 'words@1', encode: (text) => Promise.resolve(encodeWords(text)) };
}

/** The words of a text as ids: equal words get equal ids, numbered from 0 in order of first appearance. */
export function encodeWords(text: string): Int32Array {
  const folded = text.toLowerCase().normalize('NFC').replaceAll('\u2019', "'");
  const ids = new Int32Array(folded.length);
  const idsByWord = new Map<string, number>();
  let count = 0;

  const add = (word: string): void => {
    let id = idsByWord.get(word);
    if (id === undefined) {
      id = idsByWord.size;
      idsByWord.set(word, id);
    }
    ids[count] = id;
    count += 1;
  };

  let wordStart = -1;
  for (let index = 0; index < folded.length; index += 1) {
    const unit = folded.charCodeAt(index);
    const codePoint = unit >= 0xd800 && unit < 0xdc00 ? folded.codePointAt(index)! : unit;
    const kind = classify(codePoint);
    if (kind === LETTER) {
      if (wordStart < 0) wordStart = index;
    } else if (wordStart >= 0 && !(kind === MARK || (kind === APOSTROPHE && startsLetter(folded, index + 1)))) {
      add(folded.slice(wordStart, index));
      wordStart = -1;
    }
    if (kind === ALONE) add(String.fromCodePoint(codePoint));
    if (codePoint > 0xffff) index += 1;
  }
  if (wordStart >= 0) add(folded.slice(wordStart));
  return ids.subarray(0, count);
}

function startsLetter(text: string, index: number): boolean {
  return index < text.length && classify(text.codePointAt(index)!) === LETTER;
}

const SEPARATOR = 1;
const LETTER = 2;
/** Goes on with a word, but starts none. */
const MARK = 3;
/** A word of its own. */
const ALONE = 4;
const APOSTROPHE = 5;

const LETTER_OR_DIGIT = /^[\p{L}\p{N}]$/u;
// Zero-width joiners stand inside words of Persian and of Indic scripts.
const CONTINUING = /^[\p{M}\u200c\u200d]$/u;
const WRITTEN_WITHOUT_SPACES =
  /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\u30fc\uff70\uff9e\uff9f]$/u;

/**
 * Kinds of the code points met so far; 0 where none is known yet. `Intl.Segmenter` is not used because its rules and dictionaries
 * change with the release of ICU; the general category and the script of a character do not once it is in Unicode.
 */
const kinds = new Uint8Array(0x110000);

function classify(codePoint: number): number {
  const known = kinds[codePoint]!;
  if (known !== 0) return known;
  const kind = classifyAnew(codePoint);
  kinds[codePoint] = kind;
  return kind;
}

function classifyAnew(codePoint: number): number {
  if (codePoint === 0x27) return APOSTROPHE;
  const character = String.fromCodePoint(codePoint);
  const isLetter = LETTER_OR_DIGIT.test(character);
  const isMark = CONTINUING.test(character);
  if ((isLetter || isMark) && WRITTEN_WITHOUT_SPACES.test(character)) return ALONE;
  if (isLetter) return LETTER;
  return isMark ? MARK : SEPARATOR;
}
