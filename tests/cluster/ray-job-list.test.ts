import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { objectsInArray } from '#cutroom/cluster/ray-job-list.js';
import { LOG_TAIL_BYTES, readLogTail } from '#cutroom/cluster/ray-log-tail.js';

async function* pieces(text: string, length: number): AsyncGenerator<string> {
  await Promise.resolve();
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
}

async function collect(text: string, length = 7): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const value of objectsInArray(pieces(text, length))) found.push(value);
  return found;
}

describe('objectsInArray()', () => {
  it('finds the objects of any array, cut anywhere', async () => {
    const objects = fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }));
    await fc.assert(
      fc.asyncProperty(objects, fc.integer({ min: 1, max: 40 }), fc.nat(2), async (values, length, indent) => {
        const text = JSON.stringify(values, null, indent);
        expect(await collect(text, length)).toEqual(JSON.parse(text));
      }),
      { numRuns: 30 },
    );
  });

  it.each(['', '[', '[{"a":1}', '[{"a":"}]', '{"a":1}', '<html>', '[1]', '[{}] x'])('refuses %j', async (text) => {
    await expect(collect(text)).rejects.toThrow(SyntaxError);
  });
});

describe('readLogTail()', () => {
  it('gives a short log whole', async () => {
    const logs = 'one\n"two" \\ \u0007 äöü 🎧\n';
    expect(await readLogTail(pieces(JSON.stringify({ logs }), 5))).toBe(logs);
    expect(await readLogTail(pieces('{"logs": ""}', 5))).toBeUndefined();
  });

  it('gives the last lines of a long one, whatever is in them', async () => {
    for (const line of ['plain words', '\\"\u0007\n\\\\', 'äöü 🎧 \\u00e9']) {
      const logs = Array.from({ length: 60_000 }, (_, n) => `${n} ${line}`).join('\n');
      // As Python writes it.
      const raw = JSON.stringify({ logs }).replaceAll(
        /[\u0080-\uffff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
      const tail = (await readLogTail(pieces(raw, 65_536))) ?? '';
      expect(logs.endsWith(tail)).toBe(true);
      expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(LOG_TAIL_BYTES);
      expect(Buffer.byteLength(tail)).toBeGreaterThan(LOG_TAIL_BYTES / 2);
    }
  });

  it('refuses what is no log', async () => {
    for (const text of ['{"other":1}', 'null', '<html>', 'x'.repeat(1_000_000)]) {
      await expect(readLogTail(pieces(text, 65_536))).rejects.toThrow(SyntaxError);
    }
  });
});
