import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { array, assert, integer, property, tuple } from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileChunks } from '#cutroom/audio/file-chunks.js';

const BYTES = Buffer.from(Array.from({ length: 1000 }, (_, at) => (at * 37 + (at >> 4)) & 0xff));

let folder: string;
let file: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-file-chunks-'));
  file = path.join(folder, 'bytes');
  writeFileSync(file, BYTES);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('FileChunks', () => {
  it('gives the bytes of any places in any order, and those that were to be kept', () => {
    const place = tuple(integer({ min: 0, max: 1100 }), integer({ min: 0, max: 200 }), integer({ min: 0, max: 150 }));
    assert(
      property(integer({ min: 1, max: 100 }), array(place, { maxLength: 20 }), (chunkBytes, places) => {
        using chunks = new FileChunks(file, chunkBytes);
        for (const [offset, length, back] of places) {
          const keepFrom = Math.max(0, offset - back);
          const wanted = BYTES.subarray(offset, offset + length);
          expect(chunks.reach(offset, length, keepFrom)).toBe(wanted.length);
          const at = chunks.placeOf(offset);
          expect(chunks.room.subarray(at, at + wanted.length)).toEqual(wanted);
          expect(chunks.bytes(offset, length)).toEqual(wanted);
        }
      }),
    );
  });

  it('does not read again what was to be kept', () => {
    using chunks = new FileChunks(file, 100);
    expect(chunks.reach(90, 20, 80)).toBe(20);
    expect(chunks.reach(170, 30, 150)).toBe(30);
    writeFileSync(file, Buffer.alloc(BYTES.length));
    try {
      // 150 to 250 were read before the file changed.
      expect(chunks.bytes(150, 30)).toEqual(BYTES.subarray(150, 180));
      expect(chunks.reach(260, 30, 150)).toBe(30);
      expect(chunks.room.subarray(chunks.placeOf(150), chunks.placeOf(250))).toEqual(BYTES.subarray(150, 250));
      expect(chunks.bytes(260, 30)).toEqual(Buffer.alloc(30));
    } finally {
      writeFileSync(file, BYTES);
    }
  });
});
