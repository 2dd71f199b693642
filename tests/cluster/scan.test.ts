import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScanRequest } from '#cutroom/cluster/scan-kind.js';
import { scan } from '#cutroom/sample/scan.js';
import { expectBytesOfOneRun } from '../support/plan-runs.js';
import { makeSine } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-cluster-scan-'));
  mkdirSync(path.join(folder, 'audio'));
  for (let n = 0; n < 5; n += 1) {
    writeFileSync(path.join(folder, 'audio', `${n}.wav`), buildWav(makeSine(8000 * (n + 1), 8000, 300)));
  }
  writeFileSync(path.join(folder, 'audio', 'bad.wav'), 'no audio');
});
afterAll(() => rmSync(folder, { recursive: true }));

function requestOf(out: string, changes: Partial<ScanRequest> = {}): ScanRequest {
  return { sources: [path.join(folder, 'audio')], out: path.join(folder, out), jobs: 1, ...changes };
}

describe('the kind scan', () => {
  it('makes the bytes of one run, loudness included', async () => {
    const { onError, ...options } = requestOf('lufs', {
      loudness: { sampleRate: 8000 },
      onError: 'skip',
      base: folder,
    });
    const { tasks, end } = await expectBytesOfOneRun({
      kind: 'scan',
      request: { ...options, onError },
      out: options.out,
      planFolder: path.join(folder, 'plan'),
      local: () => scan(options),
    });
    const failures = tasks.flatMap((task) => ('outcome' in task ? [task.outcome.failures] : []));
    expect(failures).toContainEqual({ not_audio: 1 });
    expect(end.isWithinLimit).toBe(true);
  });
});
