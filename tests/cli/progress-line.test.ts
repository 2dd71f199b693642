import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { count, duration, formatCutProgress } from '#cutroom/cli/cut-progress.js';
import { nearest } from '#cutroom/text/nearest.js';
import { ProgressLine } from '#cutroom/cli/progress-line.js';

describe('ProgressLine', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  const record = (isTerminal: boolean, isQuiet = false): { line: ProgressLine; text: () => string } => {
    let text = '';
    const line = new ProgressLine({ write: (part) => void (text += part), isTerminal }, isQuiet);
    return { line, text: () => text };
  };

  it('writes a plain line every 10 s into a log', () => {
    const { line, text } = record(false);
    for (let second = 1; second <= 25; second += 1) {
      vi.advanceTimersByTime(1000);
      line.show(() => `at ${second}`);
    }
    line.end();
    expect(text()).toBe('at 10\nat 20\n');
  });

  it('renews one line on a terminal and takes it away at the end', () => {
    const { line, text } = record(true);
    vi.advanceTimersByTime(100);
    line.show(() => 'a');
    line.show(() => 'too soon');
    line.note('stays');
    vi.advanceTimersByTime(100);
    line.show(() => 'b');
    line.end();
    line.end();
    expect(text()).toBe('\r\u001b[Ka\r\u001b[Kstays\n\r\u001b[Kb\r\u001b[K');
  });

  it('keeps to the width of the terminal', () => {
    let text = '';
    const line = new ProgressLine({ write: (part) => void (text += part), isTerminal: true, columns: 6 }, false);
    vi.advanceTimersByTime(100);
    line.show(() => '123456789');
    line.end();
    expect(text).toBe('\r\u001b[K12345\r\u001b[K');
  });

  it('is silent when quiet', () => {
    const { line, text } = record(true, true);
    vi.advanceTimersByTime(1000);
    line.show(() => 'a');
    line.note('b');
    line.end();
    expect(text()).toBe('');
  });
});

describe('formatCutProgress()', () => {
  it('counts the speed of this run and not of an earlier one', () => {
    const text = formatCutProgress({
      stage: 'cut',
      recordings: 3,
      totalRecordings: 1200,
      hours: 3,
      totalHours: 12,
      resumedHours: 1,
      seconds: 72,
    });
    expect(text).toBe('cutting: 3 of 1,200 recordings, 3.00 of 12.00 h, 100 × real time, 5 min 24 s left');
  });
});

describe('count() and duration()', () => {
  it('write numbers the same in every locale', () => {
    expect([0, 999, 1000, 1234567].map(count)).toEqual(['0', '999', '1,000', '1,234,567']);
    expect([0.4, 59.4, 59.6, 245, 7380].map(duration)).toEqual([
      '0 s',
      '59 s',
      '1 min 00 s',
      '4 min 05 s',
      '2 h 03 min',
    ]);
  });
});

describe('nearest()', () => {
  it('finds a name with a slip in it, and none for another word', () => {
    expect(nearest('output-dri', ['output-dir', 'input-manifest'])).toBe('output-dir');
    expect(nearest('jbos', ['jobs', 'json'])).toBe('jobs');
    expect(nearest('colour', ['jobs', 'json'])).toBeUndefined();
  });
});
