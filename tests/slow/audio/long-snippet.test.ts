// A snippet far longer than what is kept in memory.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pid } from 'node:process';
import { expect, test } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';
import { HAS_PROC, listChildren, listParts, makeFolder, readOutputs, writeCorpus } from '../../support/cut-runs.js';
import { decodeFile } from '../../support/decode.js';
import { firstDifference, makeNoise, quantize } from '../../support/signals.js';
import { buildWav, buildWavAround, encodeWavSamples } from '../../support/wav-files.js';

const RATE = 16_000;
const MINUTES = 20;

test.skipIf(!HAS_PROC)(
  'cut() of 20 minutes into one snippet needs no more memory than of one (needs /proc)',
  async (context) => {
    const peaksMb: number[] = [];
    for (const minutes of [1, MINUTES]) {
      const folder = await makeFolder(context);
      const samples = quantize(makeNoise(60 * RATE, 1, 3, 0.9), 16);
      const data = encodeWavSamples(samples, 's16');
      const write = (file: string): void => {
        const { head } = buildWavAround(data.length * minutes, { sampleRate: RATE });
        writeFileSync(file, Buffer.concat([head, ...Array.from({ length: minutes }, () => data)]));
      };
      const segments = [{ start: 0, end: 60 * minutes, text: 'a very long sentence' }];
      const corpus = await writeCorpus(folder, [{ id: 'long', file: 'long.wav', segments, write }], {
        maxDurationSeconds: 3600,
        outputFormat: 'wav',
        jobs: 1,
      });
      let peakMb = 0;
      let spilled = false;
      const watch = setInterval(() => {
        for (const child of listChildren(pid)) peakMb = Math.max(peakMb, peakOf(child));
        spilled ||= listParts(corpus.options.outputDir).some((file) => /\.part\.\d+$/u.test(file));
      }, 5);
      try {
        await cut(corpus.options);
      } finally {
        clearInterval(watch);
      }
      peaksMb.push(peakMb);
      expect(spilled).toBe(minutes === MINUTES);
      const { tar, manifest } = await readOutputs(corpus.options.outputDir);
      expect(JSON.parse(manifest)).toMatchObject({ duration: 60 * minutes });
      // One member: a header of 512 bytes, then the file.
      const member = tar.subarray(512, 512 + 44 + data.length * minutes);
      const last = path.join(folder, 'last.wav');
      writeFileSync(
        last,
        Buffer.concat([buildWav(samples).subarray(0, 44), member.subarray(member.length - data.length)]),
      );
      expect(firstDifference(decodeFile(last).samples, samples)).toBe(-1);
      expect(member.readUInt32LE(40)).toBe(data.length * minutes);
    }
    const [short = 0, long = Infinity] = peaksMb;
    expect(short).toBeGreaterThan(20);
    // 20 minutes are 37 MB of samples; what is kept of a snippet is 8 MB.
    expect(long - short).toBeLessThan(25);
  },
);

/** The largest resident size of a process so far, in MB; 0 once it is gone. */
function peakOf(child: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${child}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
