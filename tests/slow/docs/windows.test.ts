import { describe, expect, it } from 'vitest';
import { RecordingTable } from '#cutroom/sample/recordings.js';
import { SlotTable } from '#cutroom/sample/slots.js';
import { readDocument } from '../../docs/markdown.js';
import { listSessions, testSession } from '../../docs/sessions.js';
import { listFields, listLiterals, listLiteralsOf, listSnakeCase } from '../../docs/source-fields.js';

const windows = readDocument('docs/windows.md');

/** Those of the names that stand nowhere in the document as code. */
function findMissing(names: Iterable<string>): string[] {
  return [...new Set(names)].filter((name) => !windows.includes(`\`${name}\``));
}

describe('docs/windows.md has every name', () => {
  it.each<[string, string[], string]>([
    ['of a row of a scan', listFields('sample/scan-row.ts', 'ScanRow'), 'frames'],
    ['of its loudness', listFields('sample/scan-row.ts', 'LoudnessRow'), 'range_lu'],
    ['of a failure of a scan', listFields('sample/scan-types.ts', 'ScanFailure'), 'hint'],
    ['of the metrics of a scan', listSnakeCase('sample/scan-metrics.ts'), 'silent_files'],
    ['of what a scan was made of', listFields('sample/scan-metrics.ts', 'ScanIdentity'), 'extensions'],
    ['of the summary of a scan', listSnakeCase('cli/scan-summary.ts'), 'kept_files'],
    ['of the ends of a scan', listLiteralsOf('sample/scan.ts', 'kind'), 'unchanged'],
    ['of a loudness cache', listFields('sample/lufs-cache.ts', 'CacheManifest'), 'file_sizes'],
    ['of the figures', listSnakeCase('cli/sample-summary.ts'), 'epoch_repeats'],
    ['of a draw', listFields('sample/draw-row.ts', 'DrawRow'), 'offset_frames'],
    ['of an explanation', listSnakeCase('cli/explain-draw.ts'), 'natural_windows'],
    ['of the metrics of an export', listFields('sample/export-finish.ts', 'ExportMetrics'), 'plan_hash'],
    ['of the summary of an export', listSnakeCase('cli/export-summary.ts'), 'wall_sec'],
    ['of the ends of an export', listLiteralsOf('sample/export-excerpts.ts', 'kind'), 'exported'],
    ['of the ways to fill up', listLiterals('sample/excerpt.ts', 'PadMode'), 'symmetric'],
    ['of the rules to stop', listLiteralsOf('cli/commands/sample.ts', 'stop'), 'all_exhausted'],
  ])('%s', (_, names, oneOfThem) => {
    expect(names).toContain(oneOfThem);
    expect(findMissing(names)).toEqual([]);
  });

  it('of the reasons that a scan has of its own', () => {
    const own = listLiteralsOf('sample/scan-process.ts', 'reason').filter((name) => name !== 'decoder_failed');
    expect(own).toContain('changed_while_read');
    expect(findMissing(own)).toEqual([]);
  });
});

describe('the diagram of docs/windows.md', () => {
  it.each([
    [1, 4],
    [0.5, 2],
    [0, 1],
  ])('has the slots of alpha %d', (alpha, count) => {
    const row = { path: 'a', group: 0, frames: 40, sampleRate: 10, channels: 1 };
    const slots = new SlotTable(RecordingTable.from([''], [row]), { durationSeconds: 1, alpha });
    expect(slots.length).toBe(count);
    const digits = Array.from({ length: count }, (_, slot) => {
      const [first, last] = [slots.startFrame(0, slot, 0), slots.startFrame(0, slot, 1)];
      return String(slot).repeat(last - first + 1);
    });
    expect(windows).toMatch(new RegExp(`^alpha ${alpha} +${count} slots? +${digits.join('')}$`, 'mu'));
  });
});

describe('the session of docs/windows.md', () => {
  testSession(listSessions('docs/windows.md', ['sh', 'js']));
});
