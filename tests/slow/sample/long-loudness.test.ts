import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execPath } from 'node:process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildWavAround } from '../../support/wav-files.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-long-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

it('measureLoudness() of 10 hours takes less than 300 MB', () => {
  const rate = 8000;
  const bytes = 2 * rate * 36_000;
  const file = path.join(folder, 'a.wav');
  const { head } = buildWavAround(bytes, { sampleRate: rate });
  writeFileSync(file, head);
  // The samples are never written: silence costs as much to measure.
  truncateSync(file, head.length + bytes);
  const program = `
    import { measureLoudness } from ${JSON.stringify(new URL('../../../dist/audio/loudness.js', import.meta.url).href)};
    import { setImmediate } from 'node:timers/promises';
    const options = { windowSeconds: 1, sampleRate: null, mono: true };
    const { windows, measure } = await measureLoudness(${JSON.stringify(file)}, options, () => setImmediate());
    console.log(JSON.stringify([windows.length, measure.frames, process.resourceUsage().maxRSS]));`;
  const printed = execFileSync(execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  const [windows, frames, peakKilobytes] = JSON.parse(printed) as [number, number, number];
  expect([windows, frames]).toEqual([36_000, rate * 36_000]);
  expect(peakKilobytes).toBeLessThan(300_000);
});
