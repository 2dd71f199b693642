import { describe, expect, it } from 'vitest';
import { JsonObject, parseJsonObject } from '#cutroom/manifest/json-object.js';
import { fillText } from '#cutroom/shard/segment-text.js';

function filled(row: object): string {
  const parsed = parseJsonObject(JSON.stringify(row));
  if (!(parsed instanceof JsonObject)) throw new Error(parsed.message);
  fillText(parsed);
  return parsed.stringify();
}

const segments = [{ text: ' one' }, { text: '' }, { start: 1 }, { text: 'two \n' }, { text: 3 }, 'no object'];

describe('fillText()', () => {
  it('joins the texts of segments that have one, by one space', () => {
    expect(filled({ id: 'a', segments })).toBe(JSON.stringify({ id: 'a', segments, text: 'one two' }));
    expect(filled({ text: null, segments })).toBe(JSON.stringify({ text: 'one two', segments }));
    expect(filled({ segments: [{ text: '"é"' }] })).toBe('{"segments":[{"text":"\\"é\\""}],"text":"\\"é\\""}');
  });

  it('leaves a row alone that has a text, or whose segments have none', () => {
    for (const row of [{ text: '', segments }, { text: 'own', segments }, { segments: [{ text: ' ' }] }, { id: 'a' }]) {
      expect(filled(row)).toBe(JSON.stringify(row));
    }
    expect(filled({ segments: 'one' })).toBe('{"segments":"one"}');
  });
});
