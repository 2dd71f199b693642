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
      isSeekable: true,
    };
  }
}

/** Calls a second, of the processor time that they take, after a first round that the compiler needs. */
function ratePerSecond(calls: number, call: (at: number) => number): number {
  let sum = 0;
  for (let at = 0; at < 200_000; at += 1) sum += call(at);
  const before = process.cpuUsage();
  for (let at = 0; at < calls; at += 1) sum += call(at);
  const { user, system } = process.cpuUsage(before);
  expect(sum).toBeGreaterThan(0);
  return calls / ((user + system) / 1e6);
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
    expect(ratePerSecond(1_500_000, (index) => plan.describe(index).startFrame)).toBeGreaterThan(1_000_000);
  });
});

describe('createPermutation()', () => {
  it('gives 2,000,000 numbers a second, at any length', () => {
    for (const length of [3, 1000, 10 ** 6, 2 ** 40]) {
      const permutation = createPermutation(length, 1, 'speed', 0);
      const rate = ratePerSecond(1_500_000, (at) => permutation(at % length));
      expect(rate, `${length}`).toBeGreaterThan(2_000_000);
    }
  });
});
