import { mkdtemp, open, rm, truncate, writeFile, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RowWindows } from '#cutroom/cut/row-windows.js';
import { InputError } from '#cutroom/errors.js';

const ROW_BYTES = 100;
const ROWS = 10_000;

let folder: string;
let file: string;
let handle: FileHandle;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'cutroom-rows-'));
  file = path.join(folder, 'rows.jsonl');
  await writeFile(file, Array.from({ length: ROWS }, (_, k) => `${rowOf(k)}\n`).join(''));
  handle = await open(file);
});
afterEach(async () => {
  await handle.close();
  await rm(folder, { recursive: true });
});

function rowOf(k: number): string {
  return `{"row":${k}}`.padEnd(ROW_BYTES - 1, '.');
}

async function readRow(windows: RowWindows, k: number): Promise<string> {
  return (await windows.read(k * ROW_BYTES, ROW_BYTES - 1)).toString();
}

describe('RowWindows', () => {
  it('reads rows in two places of a file with few calls, and keeps those that it gave out', async () => {
    const read = vi.spyOn(handle, 'read');
    const windows = new RowWindows(handle, file);
    const first = await windows.read(0, ROW_BYTES - 1);
    for (let k = 0; k < ROWS - 8; k += 1) {
      const both = await Promise.all([readRow(windows, k + 8), readRow(windows, k)]);
      expect(both).toEqual([rowOf(k + 8), rowOf(k)]);
    }
    expect(first.toString()).toBe(rowOf(0));
    expect(read.mock.calls.length).toBeLessThan(ROWS / 500);
  });

  it('reads rows in any order, and rows longer than a window', async () => {
    const windows = new RowWindows(handle, file);
    for (const k of [ROWS - 1, 0, 5_000, 4_999, 1]) expect(await readRow(windows, k)).toBe(rowOf(k));
    const long = await windows.read(0, 3_000 * ROW_BYTES - 1);
    expect(long.toString().split('\n')).toHaveLength(3_000);
    expect(long.toString().endsWith(rowOf(2_999))).toBe(true);
  });

  it('refuses a file that has become shorter, by its name and the place', async () => {
    const windows = new RowWindows(handle, file);
    await truncate(file, 50 * ROW_BYTES + 10);
    expect(await readRow(windows, 49)).toBe(rowOf(49));
    const reading = readRow(windows, 50);
    await expect(reading).rejects.toThrow(InputError);
    await expect(reading).rejects.toMatchObject({ path: file, offsetBytes: 50 * ROW_BYTES });
  });
});
