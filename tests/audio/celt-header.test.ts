import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCeltHeader } from '#cutroom/audio/celt-header.js';
import type { CeltHeader } from '#cutroom/audio/celt-header.js';
import { FileChunks } from '#cutroom/audio/file-chunks.js';
import { OggPackets } from '#cutroom/audio/ogg-packets.js';
import { MediaWriter } from '../../scripts/media-writer.js';
import { makeNoise, toInt16 } from '../support/signals.js';

const RATE = 48_000;
const FRAMES = 2 * RATE;
/** Packets before the audio. */
const HEADERS = 2;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-celt-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function headersOf(
  signal: Float64Array,
  options: Record<string, string>,
  bitRate = 64_000,
): (CeltHeader | undefined)[] {
  const file = path.join(folder, 'recording.opus');
  const track = { codec: 'libopus', sampleRate: RATE, channels: 1, bitRate, options };
  const writer = new MediaWriter(file, { container: 'ogg', tracks: [track] });
  writer.write(toInt16(signal));
  writer.close();
  using chunks = new FileChunks(file);
  const packets = new OggPackets(chunks, 0);
  const headers: (CeltHeader | undefined)[] = [];
  for (let at = 0, data = packets.next(); data !== undefined; at += 1, data = packets.next()) {
    if (at >= HEADERS) headers.push(readCeltHeader(data));
  }
  return headers;
}

/** Pulses of a period, in frames. */
function pulses(period: number): Float64Array {
  return Float64Array.from({ length: FRAMES }, (_, n) => 0.9 * Math.exp(-(n % period) / 16));
}

describe('readCeltHeader()', () => {
  it.each([
    ['2.5', 120],
    ['5', 240],
    ['10', 480],
    ['20', 960],
  ])('tells the length of frames of %s ms', (length, frames) => {
    const headers = headersOf(makeNoise(FRAMES, 1, 3, 0.4), { application: 'lowdelay', frame_duration: length });
    expect(new Set(headers.map((header) => header?.frames))).toEqual(new Set([frames]));
    expect(headers.some((header) => header?.isIntra === false)).toBe(true);
  });

  it('tells the period of what repeats, and short blocks', () => {
    const headers = headersOf(pulses(400), { application: 'lowdelay' }).slice(10, -2);
    for (const header of headers) expect(header).toMatchObject({ isTransient: true });
    const periods = headers.filter((header) => (header?.gain ?? 0) > 0).map((header) => header?.periodFrames ?? 0);
    expect(periods.length).toBeGreaterThan(headers.length / 2);
    for (const period of periods) expect(Math.abs(period - 400 * Math.round(period / 400))).toBeLessThanOrEqual(2);
    for (const header of headers) expect(header?.gain).toBeLessThanOrEqual(0.75);
  });

  it('tells steady noise from short blocks', () => {
    const headers = headersOf(makeNoise(FRAMES, 1, 3, 0.4), { application: 'lowdelay' }).slice(5);
    expect(headers.filter((header) => header?.isTransient).length).toBeLessThan(headers.length / 10);
  });

  it('does not tell of speech, and of packets of several frames', () => {
    const noise = makeNoise(FRAMES, 1, 3, 0.4);
    expect(headersOf(noise, { application: 'voip' }, 14_000).at(20)).toBeUndefined();
    expect(headersOf(noise, { application: 'audio', frame_duration: '60' }).at(10)).toBeUndefined();
    expect(readCeltHeader(Buffer.alloc(0))).toBeUndefined();
  });

  it('takes a frame of no bytes for silence', () => {
    expect(readCeltHeader(Buffer.from([0xf8]))).toEqual({
      frames: 960,
      isIntra: true,
      isTransient: false,
      gain: 0,
      periodFrames: 0,
    });
  });
});
