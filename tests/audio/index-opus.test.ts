// Where packets of Opus lie, as pages alone tell: the same as the codec library's demuxer has it, or nothing.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileChunks } from '#cutroom/audio/file-chunks.js';
import { indexByTimestamps } from '#cutroom/audio/index-by-timestamps.js';
import { indexOpus } from '#cutroom/audio/index-opus.js';
import { indexSteps } from '#cutroom/audio/open-block-source.js';
import type { PacketIndex } from '#cutroom/audio/packet-index.js';
import type { IndexSteps } from '#cutroom/audio/packet-indexes.js';
import { SequentialSource } from '#cutroom/audio/sequential-source.js';
import { MediaWriter } from '../../scripts/media-writer.js';
import { decodeFile } from '../support/decode.js';
import { chained, withJump, withOpusPreSkip, withShiftedGranules, withoutLastPages } from '../support/ogg-pages.js';
import { makeNoise, toInt16 } from '../support/signals.js';

const RATE = 48_000;
/** Five pages, of a second each but for the last. */
const FRAMES = 4 * RATE + 123;
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-index-opus-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function encoded(options: Record<string, string>, channels = 1, frames = FRAMES, bitRate = 64_000): string {
  const file = path.join(folder, `${JSON.stringify(options).replaceAll(/\W/gu, '')}-${channels}-${frames}.opus`);
  if (existsSync(file)) return file;
  const track = { codec: 'libopus', sampleRate: RATE, channels, bitRate: bitRate * channels, options };
  const writer = new MediaWriter(file, { container: 'opus', tracks: [track] });
  writer.write(toInt16(makeNoise(channels * frames, 1, 5, 0.3)));
  writer.close();
  return file;
}

function changed(change: (opus: Buffer) => Buffer): string {
  const file = path.join(folder, 'changed.opus');
  writeFileSync(file, change(readFileSync(encoded({}))));
  return file;
}

function all(steps: IndexSteps): PacketIndex | undefined {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function byPages(file: string): PacketIndex | undefined {
  using source = new SequentialSource(file);
  using chunks = new FileChunks(file);
  const first = source.firstBlock();
  return first && all(indexOpus(file, chunks, first));
}

function byDemuxer(file: string): PacketIndex | undefined {
  using chunks = new FileChunks(file);
  return all(indexByTimestamps(file, chunks));
}

describe('indexOpus()', () => {
  it.each(['2.5', '20', '120'])('finds packets of %s ms where the demuxer has them', (length) => {
    const file = encoded({ application: 'lowdelay', frame_duration: length });
    const index = byPages(file);
    expect(index?.totalFrames).toBe(FRAMES);
    expect(index?.parts).toEqual(byDemuxer(file)?.parts);
  });

  it.each([1, 959])('finds the end of what is %s frames longer than whole packets', (more) => {
    const file = encoded({}, 1, 2 * RATE + 960 - 312 + more);
    expect(byPages(file)?.parts).toEqual(byDemuxer(file)?.parts);
    expect(byPages(file)?.totalFrames).toBe(decodeFile(file).frames);
  });

  it.each([0, 960, 4000])('begins where the decoder does behind a delay of %s frames', (preSkip) => {
    const file = changed((opus) => withOpusPreSkip(opus, preSkip));
    const parts = byPages(file)?.parts;
    expect(parts?.totalFrames).toBe(decodeFile(file).frames);
    expect(parts).toEqual(byDemuxer(file)?.parts);
  });

  it('takes a stream that was cut out of a longer one', () => {
    const file = changed((opus) => withShiftedGranules(opus, 123_456));
    expect(byPages(file)?.parts).toEqual(byPages(encoded({}))?.parts);
  });

  it.each<[string, (opus: Buffer) => Buffer]>([
    ['whose positions jump', (opus) => withJump(opus, 480)],
    ['whose last page is missing', (opus) => withoutLastPages(opus, 1)],
    ['that was cut off', (opus) => opus.subarray(0, -100)],
    ['behind which something stands', (opus) => Buffer.concat([opus, Buffer.from('TAG')])],
    ['that was joined to another', (opus) => chained(opus, opus)],
    ['of damaged pages', (opus) => withByteChanged(opus, Math.floor(opus.length / 2))],
    ['without positions at the start', (opus) => withShiftedGranules(opus, -1000)],
  ])('gives nothing for a stream %s', (_, change) => {
    expect(byPages(changed(change))).toBeUndefined();
  });

  it('gives nothing for speech', () => {
    expect(byPages(encoded({ application: 'voip' }, 1, FRAMES, 14_000))).toBeUndefined();
  });
});

describe('indexSteps()', () => {
  it('finds what the demuxer has where pages do not tell', () => {
    const file = changed((opus) => withoutLastPages(opus, 1));
    expect(all(indexSteps(file)!)?.parts).toEqual(byDemuxer(file)?.parts);
  });

  it('gives no index of six channels, whose packets hold several streams', () => {
    expect(all(indexSteps(encoded({}, 6, RATE))!)).toBeUndefined();
    expect(all(indexSteps(encoded({}, 2, RATE))!)).toBeDefined();
  });
});

function withByteChanged(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(255 ^ copy.readUInt8(at), at);
  return copy;
}
