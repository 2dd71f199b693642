import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InputError } from '#cutroom/errors.js';
import { FileTable } from '#cutroom/tarred/file-table.js';
import { RowTable } from '#cutroom/tarred/row-table.js';

const LINES = ['{"a":1}', `{"long":"${'ü'.repeat(50_000)}"}`, '{"a": 3}'];

let folder: string;
let file: string;
let handle: FileHandle;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-row-table-'));
  file = path.join(folder, 'm.json');
  writeFileSync(file, LINES.join('\n'));
  handle = await open(file);
});
afterEach(async () => {
  await handle.close();
  rmSync(folder, { recursive: true });
});

function tableOf(maxHeldBytes: number | undefined): RowTable {
  const hash = createHash('sha256');
  const inputs = [{ path: file, folder, handle, shards: undefined, hash, isCopy: false }];
  const table = new RowTable(inputs, new FileTable([folder], { base: undefined, current: folder }), maxHeldBytes);
  let offsetBytes = 0;
  for (const [index, line] of LINES.entries()) {
    const lengthBytes = Buffer.byteLength(line);
    const place = { input: 0, line: index + 1, offsetBytes, lengthBytes };
    table.push({ ...place, file: 0, durationSeconds: 1, offsetSeconds: Number.NaN });
    offsetBytes += lengthBytes + 1;
  }
  return table;
}

describe('RowTable', () => {
  it.each([undefined, 0])('reads rows again in any order, with at most %s bytes held', (maxHeldBytes) => {
    const table = tableOf(maxHeldBytes);
    for (const row of [2, 1, 0, 1]) {
      const key = row === 1 ? 'long' : 'a';
      expect(`{"${key}":${table.read(row).raw(key)}}`).toBe(LINES[row]?.replace(' ', ''));
    }
  });

  it.each([undefined, 0])('tells of a manifest that has changed, with at most %s bytes held', (maxHeldBytes) => {
    const table = tableOf(maxHeldBytes);
    truncateSync(file, 20);
    expect(table.read(0).raw('a')).toBe('1');
    expect(() => table.read(2)).toThrow(InputError);
    expect(() => table.read(2)).toThrow(/line 3 .* again: the file has changed/u);
  });
});
