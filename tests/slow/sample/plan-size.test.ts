import { describe, expect, it } from 'vitest';
import { createPermutation } from '#cutroom/random/permutation.js';
import { RecordingTable, type RecordingFacts } from '#cutroom/sample/recordings.js';
import { WindowedPlan } from '#cutroom/sample/windowed-plan.js';

function* recordings(count: number): Generator<RecordingFacts> {
  for (let at = 0; at < count; at += 1) {
    yield {
      path: `/data/speech/speaker_${at % 4000}/session_${at % 17}/recording_${at}.flac`,
      group: 0,
      frames: 16_000 * (10 + ((at * 7919) % 20_000)),
      sampleRate: 16_000,
      channels: 1,
    };
  }
}

const ROUNDS = 5;
const CALLS_A_ROUND = 300_000;

/** Calls a second of the processor time that they take: the best of some rounds, for other work on the machine makes processors slower too. */
function ratePerSecond(call: (at: number) => number): number {
  let sum = 0;
  const rates = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    for (let at = 0; at < CALLS_A_ROUND; at += 1) sum += call(at);
    const { user, system } = process.cpuUsage(before);
    return CALLS_A_ROUND / ((user + system) / 1e6);
  });
  expect(sum).toBeGreaterThan(0);
  return Math.max(...rates);
}

describe('WindowedPlan', () => {
  it('holds 1,000,000 recordings with 10,000,000,000 slots in less than 200 MB', () => {
    const before = process.memoryUsage();
    const plan = new WindowedPlan(RecordingTable.from(['g'], recordings(1_000_000)), { durationSeconds: 1 });
    globalThis.gc?.();
    const after = process.memoryUsage();
    expect(plan.slots.length).toBeGreaterThan(10 ** 10);
    expect(plan.recordings.sizeBytes + plan.slots.sizeBytes).toBeLessThan(120e6);
    const grownBytes = after.heapUsed - before.heapUsed + after.arrayBuffers - before.arrayBuffers;
    expect(grownBytes).toBeLessThan(200e6);
    expect(plan.describe(plan.length - 1).epoch).toBe(0);
  });

  it('describes 1,000,000 windows a second', () => {
    const table = RecordingTable.from(['g'], recordings(10_000));
    const plan = new WindowedPlan(table, { durationSeconds: 1, numEpochs: null });
    expect(ratePerSecond((index) => plan.describe(index).startFrame)).toBeGreaterThan(1_000_000);
  });
});

describe('createPermutation()', () => {
  it('gives 1,000,000 numbers a second, at any length', () => {
    for (const length of [3, 1000, 10 ** 6, 2 ** 40]) {
      const permutation = createPermutation(length, 1, 'speed', 0);
      const rate = ratePerSecond((at) => permutation(at % length));
      expect(rate, `${length}`).toBeGreaterThan(1_000_000);
    }
  });
});
