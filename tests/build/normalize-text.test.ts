import { describe, expect, it } from 'vitest';
import { normalizeCjkText } from '#cutroom/build/normalize-text.js';

describe('normalizeCjkText()', () => {
  it.each([
    ['你好 世界', '你好世界'],
    ['  你\u3000好 ', '你好'],
    ['a你b', 'a 你 b'],
    ['我 love 你 们', '我 love 你们'],
    ['我love你', '我 love 你'],
    ['第3課', '第 3 課'],
    ['你好 。 世界', '你好。世界'],
    ['カタ カナ ひら がな', 'カタカナひらがな'],
    ['한국어 텍스트 입니다', '한국어 텍스트 입니다'],
    ['한국漢字', '한국漢字'],
    ['hello  world', 'hello  world'],
    ['', ''],
  ])('makes %j %j', (given, wanted) => {
    expect(normalizeCjkText(given)).toBe(wanted);
  });

  it('changes nothing the second time', () => {
    for (const text of ['我love你 们 a', 'x 你  好x', '３ 你']) {
      const once = normalizeCjkText(text);
      expect(normalizeCjkText(once)).toBe(once);
    }
  });
});
