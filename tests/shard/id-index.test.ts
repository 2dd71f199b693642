import { describe, expect, it } from 'vitest';
import { IdIndex } from '#cutroom/shard/id-index.js';

describe('IdIndex', () => {
  it('remembers the shard in which an id was met first, however many there are', () => {
    const index = new IdIndex();
    for (let number = 0; number < 20_000; number += 1) {
      expect(index.firstShardOf(`utt-${number}`, number % 7)).toBe(number % 7);
    }
    expect(index.count).toBe(20_000);
    for (let number = 0; number < 20_000; number += 1) {
      expect(index.firstShardOf(`utt-${number}`, 99)).toBe(number % 7);
    }
    expect(index.count).toBe(20_000);
    expect(index.firstShardOf('', 99)).toBe(99);
  });

  it('knows ids apart as a set does, whatever they look like', () => {
    const index = new IdIndex();
    const seen = new Set<string>();
    const shapes: ((number: number) => string)[] = [
      (number) => String(number),
      (number) => `${'a'.repeat(number % 30)}${number}`,
      (number) => `speaker${number % 100}/${Math.floor(number / 100)}`,
      (number) => `世界${number.toString(36)}`,
      (number) => (number / 7).toFixed(5),
      (number) => '\0'.repeat(number % 40),
    ];
    for (let number = 0; number < 30_000; number += 1) {
      const id = shapes[number % shapes.length]!(number);
      expect(index.firstShardOf(id, number) === number).toBe(!seen.has(id));
      seen.add(id);
    }
    expect(index.count).toBe(seen.size);
  });
});
