// What a stream of long recordings takes of memory, with all of its processes.
import { existsSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { measure } from '../../../bench/process-tree.js';
import { jsonLines } from '../../support/shard-files.js';
import { buildWav } from '../../support/wav-files.js';

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const RATE = 16_000;
const SECONDS = 1800;
const ROWS = 40;
const DATA_BYTES = 2 * RATE * SECONDS;
const WAV_HEADER_BYTES = 44;

const isLinux = existsSync('/proc/self/smaps_rollup');
let folder = '';
beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), 'cutroom-long-items-'))));
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(!isLinux)('a stream of recordings of half an hour', () => {
  it('holds a few of them at once, not a batch of 32', async () => {
    // Silence that takes no room on the disk.
    const wav = path.join(folder, 'long.wav');
    writeFileSync(
      wav,
      buildWav(new Float64Array(0), { sampleRate: RATE, dataSize: DATA_BYTES, riffSize: DATA_BYTES + 36 }),
    );
    truncateSync(wav, WAV_HEADER_BYTES + DATA_BYTES);
    const manifest = path.join(folder, 'long.json');
    const rows = Array.from({ length: ROWS }, (_, at) => ({ audio_filepath: wav, duration: SECONDS, id: `row-${at}` }));
    writeFileSync(manifest, jsonLines(rows));
    const command = '"$1" "$2" stream --manifest "$3" --jobs 2 --json 2>&1 >/dev/null';
    const { stdout, peakBytes } = await measure(['sh', '-c', command, 'sh', process.execPath, MAIN, manifest]);
    expect(JSON.parse(stdout)).toMatchObject({
      whole: true,
      items: ROWS,
      batches: ROWS,
      hours: (ROWS * SECONDS) / 3600,
    });
    // 32 of them are 1.8 GB as they are written alone.
    expect(peakBytes).toBeLessThan(900 << 20);
  });
});
