import { describe, expect, it } from 'vitest';
import { joinTexts, stripText } from '#cutroom/cut/segment-text.js';

describe('stripText()', () => {
  it.each([
    ['hello', 'hello'],
    ['  hi  ', 'hi'],
    ['', ''],
    [' \t\r\n\u000b\f', ''],
    ['\u001c\u001d\u001e\u001fa\u0085\u00a0', 'a'],
    ['\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000a', 'a'],
    ['\ufeffa\u200b', '\ufeffa\u200b'],
    ['\u0084a\u0086', '\u0084a\u0086'],
    [' a  b ', 'a  b'],
    [' 😀 ', '😀'],
  ])('strips %j as Python does', (text, expected) => {
    expect(stripText(text)).toBe(expected);
  });
});

describe('joinTexts()', () => {
  it('puts one space between texts, and two around a segment without text', () => {
    expect(joinTexts([{ text: 'a' }, { text: 'b' }])).toBe('a b');
    expect(joinTexts([{ text: 'a' }, { text: '' }, { text: 'b' }])).toBe('a  b');
    expect(joinTexts([{ text: '' }, { text: 'a' }, { text: '' }])).toBe('a');
    expect(joinTexts([{ text: '' }, { text: '' }])).toBe('');
    expect(joinTexts([])).toBe('');
  });
});
