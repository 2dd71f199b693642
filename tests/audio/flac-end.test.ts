import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFlacLength } from '#cutroom/audio/flac-end.js';
import { writeEncoded } from '../support/encode.js';
import { makeNoise } from '../support/signals.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-flac-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('readFlacLength()', () => {
  it('believes a header that the last frame bears out, and no other', () => {
    const file = path.join(folder, 'a.flac');
    writeEncoded(file, { samples: makeNoise(50_001), sampleRate: 16_000, channels: 1 }, 'flac');
    expect(readFlacLength(file)).toEqual({ sampleRate: 16_000, channels: 1, totalFrames: 50_001 });
    const bytes = readFileSync(file);
    writeFileSync(file, Buffer.concat([bytes, Buffer.alloc(128, 0x54)]));
    expect(readFlacLength(file)?.totalFrames).toBe(50_001);
    writeFileSync(file, bytes.subarray(0, bytes.length * 0.7));
    expect(readFlacLength(file)).toBeUndefined();
    bytes[25] = (bytes[25] ?? 0) + 1;
    writeFileSync(file, bytes);
    expect(readFlacLength(file)).toBeUndefined();
  });
});
