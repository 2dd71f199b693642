import { array, assert, integer, property, record, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordingTable, type RecordingFacts } from '#cutroom/sample/recordings.js';

const facts = {
  path: string({ unit: 'binary', maxLength: 20 }),
  group: integer({ min: 0, max: 2 }),
  frames: integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  sampleRate: integer({ min: 1, max: 192_000 }),
  channels: integer({ min: 1, max: 255 }),
};

function factsOf(table: RecordingTable): RecordingFacts[] {
  return Array.from({ length: table.length }, (_, file) => ({
    path: table.path(file),
    group: table.group(file),
    frames: table.frames(file),
    sampleRate: table.sampleRate(file),
    channels: table.channels(file),
  }));
}

describe('RecordingTable', () => {
  it('gives back what was added', () => {
    assert(
      property(array(record(facts), { maxLength: 30 }), (recordings) => {
        expect(factsOf(RecordingTable.from(['a', 'b', 'c'], recordings))).toEqual(recordings);
      }),
    );
  });

  it('grows', () => {
    const recordings = Array.from({ length: 5000 }, (_, at) => ({
      path: `${'long/'.repeat(10)}${at}`,
      group: 0,
      frames: at + 1,
      sampleRate: at % 2 === 0 ? 16_000 : 44_100,
      channels: 1,
    }));
    const table = RecordingTable.from(['g'], recordings);
    expect(factsOf(table)).toEqual(recordings);
    expect(table.rates).toEqual([16_000, 44_100]);
    expect(table.sizeBytes).toBe(5000 * 16);
  });

  it('refuses facts out of range', () => {
    const good = { path: 'a.wav', group: 0, frames: 1, sampleRate: 16_000, channels: 1 };
    for (const wrong of [
      { frames: 0 },
      { frames: 1.5 },
      { sampleRate: 0 },
      { channels: 0 },
      { channels: 256 },
      { group: 1 },
    ]) {
      expect(() => RecordingTable.from(['g'], [{ ...good, ...wrong }])).toThrow('Cannot sample "a.wav" with');
    }
  });
});
