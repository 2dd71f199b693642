import { describe, expect, it } from 'vitest';
import { withFlagNames } from '#cutroom/cli/option-flags.js';

describe('withFlagNames()', () => {
  it.each([
    ['batchSize is 4', '--batch-size is 4'],
    ['Give bucketCount, 2 or more.', 'Give --buckets, 2 or more.'],
    ['Raise the limit, or let oversized be "alone".', 'Raise the limit, or give --oversized alone.'],
    ['Raise it, or let oversized be "drop" or "alone".', 'Raise it, or give --oversized drop or --oversized alone.'],
    [
      'Resume on 2 ranks, or let bucketOrder be "synced_randomized".',
      'Resume on 2 ranks, or give --bucket-order synced_randomized.',
    ],
    ['Use strategy "exact".', 'Give --strategy exact.'],
    ['let strict2d be false.', 'Give --lenient-bins.'],
    ['the speeds of a source', 'The speeds of a source'],
  ])('makes %j a sentence of flags', (text, named) => {
    expect(withFlagNames(text)).toBe(named);
  });
});
