// The bench reads what other programs print, and sets its figures as tables.
import { describe, expect, it } from 'vitest';
import { parseCuratorReport } from '../../bench/contestants.js';
import { printReport } from '../../bench/report.js';

const REPORT = `2026-11-29 21:43:49.629 | INFO | planning
import: cpu 6.52 s
ReadLongFormManifest: cpu 0.25 s, 12 tasks
2026-11-29 21:43:49.782 | INFO | writing
SnippetExtraction: cpu 2.75 s, 281 tasks
peak memory 821 MB
`;

describe('parseCuratorReport()', () => {
  it('sums the stages and leaves the imports out', () => {
    expect(parseCuratorReport(REPORT)).toEqual({
      cpuSeconds: 3,
      importSeconds: 6.52,
      stages: [
        { name: 'ReadLongFormManifest', cpuSeconds: 0.25, tasks: 12 },
        { name: 'SnippetExtraction', cpuSeconds: 2.75, tasks: 281 },
      ],
      peakBytes: 821 * 2 ** 20,
    });
  });

  it('refuses a report that breaks off', () => {
    expect(() => parseCuratorReport(REPORT.split('\n').slice(0, 5).join('\n'))).toThrow('no report');
  });
});

describe('printReport()', () => {
  const results = {
    machine: { cpu: 'A CPU', cores: 2, memoryGb: 8, kernel: '6.1', node: 'v20.19.0', ffmpeg: undefined },
    settings: { jobs: 2 },
    formats: [
      {
        format: 'mp3',
        hours: 2,
        cpuSeconds: 12,
        wallSeconds: 8,
        split: { decode: 5, resample: 3, encode: 2.5, other: 1.5 },
        peakBytes: 100 * 2 ** 20,
        parallelPeakBytes: 160 * 2 ** 20,
        ffmpeg: undefined,
        curator: { cpuSeconds: 24, ratio: 0.5, peakBytes: 2 ** 30 },
      },
    ],
    help: { wallSeconds: 0.12 },
    dryRun: { hours: 2, wallSeconds: 0.4 },
  };

  it('tells the speed, the ratios with their targets and the limits', () => {
    const text = printReport(results).replace(/ +/gu, ' ');
    expect(text).toContain('A CPU, 2 cores, 8 GB, Linux 6.1, Node.js v20.19.0, no ffmpeg');
    expect(text).toContain('| MP3 128 kbit/s | 2.00 | 10.0 | 15.0 | 100 MB | 160 MB |');
    expect(text).toContain('| MP3 128 kbit/s | 5.0 | 3.0 | 2.5 | 1.5 | 12.0 |');
    expect(text).toContain('| MP3 128 kbit/s | 12.0 | – | – | 24.0 | 0.50 (≤ 0.7) | 1024 MB |');
    expect(text).toContain('| memory of all processes, 2 jobs | 160 MB | ≤ 550 MB |');
  });
});
