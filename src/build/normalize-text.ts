/** Scripts that are written without spaces between words: Han, Japanese, Yi, Bopomofo, and their punctuation; Hangul is not among them. */
const CJK =
  '\\p{Script_Extensions=Han}\\p{Script_Extensions=Hiragana}\\p{Script_Extensions=Katakana}\\p{Script_Extensions=Bopomofo}\\p{Script=Yi}' +
  '\\u3000-\\u303f\\ufe30-\\ufe4f\\uff01-\\uff0f\\uff1a-\\uff20\\uff3b-\\uff40\\uff5b-\\uff65';
const BETWEEN_CJK = new RegExp(`(?<=[${CJK}])\\s+(?=[${CJK}])`, 'gu');
const CJK_LETTER = `(?:(?=[${CJK}])[\\p{L}\\p{M}\\p{N}])`;
const OTHER_LETTER = `(?:(?![${CJK}\\p{Script=Hangul}])[\\p{L}\\p{M}\\p{N}])`;
const BEFORE_CJK = new RegExp(`(?<=${OTHER_LETTER})\\s*(?=${CJK_LETTER})`, 'gu');
const AFTER_CJK = new RegExp(`(?<=${CJK_LETTER})\\s*(?=${OTHER_LETTER})`, 'gu');

/**
 * Makes the spacing of Chinese and Japanese text consistent:
 *
 * - white space at either end goes; so does any between two characters of scripts without word spaces (`你好 世界` → `你好世界`);
 * - between a letter or digit of such a script and one of another there is one space (`a你b` → `a 你 b`, `我 love 你 们` → `我 love 你们`);
 * - all else stays: spaces of Korean (`한국어 텍스트`), doubled ones between Latin words.
 */
export function normalizeCjkText(text: string): string {
  const joined = text.replaceAll('\u3000', ' ').trim().replaceAll(BETWEEN_CJK, '');
  return joined.replaceAll(BEFORE_CJK, ' ').replaceAll(AFTER_CJK, ' ');
}
