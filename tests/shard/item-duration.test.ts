import { describe, expect, test } from 'vitest';
import { plannedMicros, spellDuration } from '#cutroom/shard/item-duration.js';
import { itemOf } from '../support/pack-runs.js';

describe('spellDuration()', () => {
  test.for([
    ['7.025', 112_400, '7.025'],
    ['7.0250', 112_400, '7.0250'],
    ['7.02503', 112_400, '7.02503'],
    ['7.0251', 112_400, '7.025'],
    ['1e1', 160_000, '1e1'],
    ['-1', 16_000, '1'],
    [undefined, 1, '0.0000625'],
    [undefined, 48_000, '3'],
  ] as const)('of %s and %i samples at 16 kHz is %s', ([spelling, samples, expected]) => {
    expect(spellDuration(spelling, { samples, sampleRate: 16_000 })).toBe(expected);
  });
});

describe('plannedMicros()', () => {
  test('takes the duration, else the span, else nothing', () => {
    expect(plannedMicros(itemOf('a', 'a.wav', { duration: '1.5' }))).toBe(1_500_000);
    expect(plannedMicros(itemOf('a', 'a.wav', { duration: '-1', span: { start: 2, end: 5 } }))).toBe(3);
    expect(plannedMicros(itemOf('a', 'a.wav', { span: { start: 2, end: null } }))).toBe(0);
    expect(plannedMicros(itemOf('a', 'a.wav'))).toBe(0);
  });
});
