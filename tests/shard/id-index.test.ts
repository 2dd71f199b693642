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
});
