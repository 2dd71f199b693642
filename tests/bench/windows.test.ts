// The bench of windows reads what audiotree prints, and sets its figures as tables.
import { describe, expect, it } from 'vitest';
import { parseAudiotreeReport } from '../../bench/window-contestants.js';
import { printWindowReport } from '../../bench/window-report.js';

const REPORT = '610 windows a second, 2.80 ms of CPU each\nloudness cache: cpu 23.4 s\n';

describe('parseAudiotreeReport()', () => {
  it('takes the figures', () => {
    expect(parseAudiotreeReport(REPORT)).toEqual({ windowsASecond: 610, cpuMs: 2.8, loudnessCpuSeconds: 23.4 });
  });

  it('refuses a report that breaks off', () => {
    expect(() => parseAudiotreeReport(REPORT.split('\n')[0] ?? '')).toThrow('no report');
  });
});

describe('printWindowReport()', () => {
  const took = { wallSeconds: 4, cpuSeconds: 3, peakBytes: 100 * 2 ** 20 };
  const draw = { windows: 3000, wallSeconds: 4, cpuSeconds: 3, processBytes: 60 * 2 ** 20 };
  const results = {
    machine: { cpu: 'A CPU', cores: 2, memoryGb: 8, kernel: '6.1', node: 'v20.19.0' },
    settings: { minutes: 60, hours: 10 },
    describe: [{ files: 1000, slots: 10_000_000, count: 2_000_000, wallSeconds: 1, cpuSeconds: 0.8, bytes: 2 ** 24 }],
    short: [
      { format: 'flac', draw, kept: { ...draw, cpuSeconds: 3.6 }, peer: { cpuMs: 2.5 }, headers: took, loudness: took },
      { format: 'mp3', draw, kept: undefined, peer: undefined, headers: took, loudness: took },
    ],
    long: [{ format: 'ogg', first: took, start: draw, end: { ...draw, cpuSeconds: 3.3 }, processBytes: 2 ** 26 }],
    scans: [{ name: 'one job', files: 20_000, ...took }],
    loudness: {
      hours: 2,
      ours: took,
      start: { ...took, cpuSeconds: 0.6 },
      parallel: took,
      peer: { loudnessCpuSeconds: 12, startCpuSeconds: 3, peakBytes: 2 ** 30 },
    },
  };

  it('tells the ratios with their targets, and both ends of a long file', () => {
    const text = printWindowReport(results).replace(/ +/gu, ' ');
    expect(text).toContain('| FLAC 48 kHz stereo | 750 | 1.00 | 2.50 | 0.40 (≤ 0.5) | 60 MB |');
    expect(text).toContain('| FLAC 48 kHz stereo, excerpts kept | 750 | 1.20 | 2.50 | 0.48 (≤ 0.5) | 60 MB |');
    expect(text).toContain('| MP3 128 kbit/s | 750 | 1.00 | – | 0.40 (≤ 1.0), its FLAC | 60 MB |');
    expect(text).toContain('| Vorbis, quality 4 | 1.00 | 1.10 | 1.10 | 750 | 4.000 | 64 MB |');
    expect(text).toContain('| 1,000 files | 10,000,000 | 2,000,000 | 2,500,000 | ≥ 1,000,000 | 16 MB | < 200 MB |');
    expect(text).toContain('| one job | 20,000 | 4.00 | 5,000 | ≥ 2,000 | 3.00 | 100 MB |');
    expect(text).toContain('| 2 h of FLAC, one job | 4.0 | 3.0 | 0.20 (≤ 0.5) | 100 MB (< 300 MB) |');
    expect(text).toContain(
      '| the same, without the start of the command | – | 2.4 | 0.20 (≤ 0.5) | 100 MB (< 300 MB) |',
    );
    expect(text).toContain('| audiotree, the same 2 h | – | 15.0 | – | 1024 MB |');
  });

  it('leaves out what was not compared', () => {
    const short = results.short.map((row) => ({ ...row, peer: undefined }));
    const text = printWindowReport({ ...results, short, loudness: { ...results.loudness, peer: undefined } });
    expect(text.replace(/ +/gu, ' ')).toContain('| FLAC 48 kHz stereo | 750 | 1.00 | – | – | 60 MB |');
    expect(text).not.toContain('audiotree, the same');
  });

  it('has no table of parts that were not measured', () => {
    const text = printWindowReport({ ...results, short: [], long: [], scans: [], loudness: undefined });
    expect(text.split('\n').filter((line) => line.startsWith('| -'))).toHaveLength(1);
    expect(text).toContain('| describe');
  });
});
