// Where packets lie in compressed files: found without keeping the event loop, kept for the next process, and found anew where that is of no use.
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatIndex, parseIndex } from '#cutroom/audio/index-bytes.js';
import { IndexFolder, removeOtherIndexes } from '#cutroom/audio/index-folder.js';
import { keepIndex } from '#cutroom/audio/keep-index.js';
import { indexSteps } from '#cutroom/audio/open-block-source.js';
import { PacketIndexBuilder } from '#cutroom/audio/packet-index.js';
import type { PacketIndex } from '#cutroom/audio/packet-index.js';
import { PacketIndexes } from '#cutroom/audio/packet-indexes.js';
import type { IndexSteps } from '#cutroom/audio/packet-indexes.js';
import { WindowReader } from '#cutroom/audio/window-reader.js';
import { MediaWriter } from '../../scripts/media-writer.js';
import { decodeFile } from '../support/decode.js';
import { hashUniform, makeNoise, toInt16 } from '../support/signals.js';
import { withJump } from '../support/ogg-pages.js';
import { worstDifference } from './cut-to-memory.js';

const RATE = 48_000;
let folder = '';
/** More than a mebibyte of Vorbis with blocks of both sizes. */
let long = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-indexes-'));
  long = path.join(folder, 'long.ogg');
  const frames = 18 * RATE + 321;
  const noise = makeNoise(2 * frames, 1, 5, 0.5).map((x, n) => (n % 20_011 < 300 ? 1.9 * x : 0.4 * x));
  const track = { codec: 'libvorbis', sampleRate: RATE, channels: 2, quality: 10 };
  const writer = new MediaWriter(long, { container: 'ogg', tracks: [track], muxerOptions: { serial_offset: '7' } });
  writer.write(toInt16(noise));
  writer.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

function all(steps: IndexSteps | undefined): PacketIndex | undefined {
  for (;;) {
    const step = steps?.next();
    if (step === undefined || step.done === true) return step?.value;
  }
}

function someIndex(packets: number): PacketIndex {
  const builder = new PacketIndexBuilder('plain', 0, 0);
  for (let k = 0; k < packets; k += 1) builder.add(100 + 7 * k, 7, 500 + (k % 3));
  return builder.finish(500 * packets)!;
}

function* stepsTo(index: PacketIndex, count: number): IndexSteps {
  for (let k = 0; k < count; k += 1) yield undefined;
  return index;
}

describe('indexSteps()', () => {
  it('finds in Vorbis what decoding all of it gives, and windows of it to the last bit', () => {
    const whole = decodeFile(long);
    const index = all(indexSteps(long));
    expect(index?.totalFrames).toBe(whole.frames);
    // Blocks of both sizes: not all packets give as many frames.
    expect(typeof index?.parts.frames).toBe('object');
    using reader = new WindowReader({ sampleRate: null, mono: false });
    for (let k = 0; k < 40; k += 1) {
      const first = Math.floor(hashUniform(k, 3) * (whole.frames - 2000));
      const { waveform } = reader.read(long, first, 2000);
      const left = waveform.subarray(0, 2000);
      const wanted = Float32Array.from({ length: 2000 }, (_, n) => whole.samples[2 * (first + n)] ?? NaN);
      expect([first, worstDifference(left, wanted)]).toEqual([first, 0]);
    }
  });

  it('decodes Vorbis whose pages tell of other positions than its blocks, with the same result', () => {
    const gap = path.join(folder, 'gap.ogg');
    writeFileSync(gap, withJump(readFileSync(long), 128));
    const whole = decodeFile(gap);
    const index = all(indexSteps(gap));
    expect(index?.totalFrames).toBe(whole.frames);
    expect(index?.packets).toBe(all(indexSteps(long))?.packets);
  });

  it('gives no other length than decoding where a page is damaged', () => {
    const bytes = readFileSync(long);
    const middle = bytes.indexOf('OggS', bytes.length / 2);
    bytes[middle + 500] = (bytes[middle + 500] ?? 0) ^ 255;
    const damaged = path.join(folder, 'damaged.ogg');
    writeFileSync(damaged, bytes);
    using reader = new WindowReader({ sampleRate: null, mono: true });
    expect(all(indexSteps(damaged))?.totalFrames ?? reader.frames(damaged)).toBe(decodeFile(damaged).frames);
  });

  it('gives nothing for a file that needs no index', () => {
    const flac = path.join(folder, 'a.flac');
    const writer = new MediaWriter(flac, {
      container: 'flac',
      tracks: [{ codec: 'flac', sampleRate: RATE, channels: 1 }],
    });
    writer.write(toInt16(makeNoise(5000, 1, 5, 0.5)));
    writer.close();
    expect(indexSteps(flac)).toBeUndefined();
  });
});

describe('PacketIndexes', () => {
  it('prepare() lets other work be done between steps, and makes an index once for all that ask', async () => {
    const indexes = new PacketIndexes(2 ** 20, undefined);
    const index = someIndex(100);
    let [turns, made] = [0, 0];
    const make = (): IndexSteps => {
      made += 1;
      return stepsTo(index, 5);
    };
    const between = async (): Promise<void> => {
      turns += 1;
      await setImmediate();
    };
    await Promise.all([indexes.prepare('a', make, between), indexes.prepare('a', make, between)]);
    expect([turns, made]).toEqual([5, 1]);
    expect(indexes.get('a', make)).toBe(index);
    expect(made).toBe(1);
  });

  it('prepare() ends where `between` throws, gives back what the steps hold, and can be asked again', async () => {
    const indexes = new PacketIndexes(2 ** 20, undefined);
    let isClosed = false;
    const make = function* (): IndexSteps {
      try {
        return yield* stepsTo(someIndex(10), 3);
      } finally {
        isClosed = true;
      }
    };
    const stopped = indexes.prepare('a', make, () => Promise.reject(new Error('stopped')));
    const next = indexes.prepare('a', make, () => Promise.resolve());
    await expect(stopped).rejects.toThrow('stopped');
    expect(isClosed).toBe(true);
    await next;
    expect(indexes.get('a', () => stepsTo(someIndex(1), 0))?.packets).toBe(10);
  });
});

describe('parseIndex()', () => {
  const key = { path: '/a', sizeBytes: 5, mtimeNanos: '17', producer: 'test' };

  it.each([
    ['an index', someIndex(300)],
    ['that there can be none', undefined],
  ])('reads back %s', (_, index) => {
    const kept = parseIndex(formatIndex(key, { index }));
    expect(kept?.key).toEqual(key);
    expect(kept?.index?.parts).toEqual(index?.parts);
  });

  it('refuses a file of which any byte is another, or that ends early', () => {
    const bytes = formatIndex(key, { index: someIndex(40) });
    for (let at = 0; at < bytes.length; at += 1) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      expect(parseIndex(damaged)).toBeUndefined();
    }
    for (const length of [0, 10, 50, bytes.length - 1]) expect(parseIndex(bytes.subarray(0, length))).toBeUndefined();
  });
});

describe('IndexFolder', () => {
  const turn = (): Promise<void> => setImmediate();

  it('keeps an index, which another reader uses, and makes it anew where it is damaged or the recording changed', async () => {
    const kept = path.join(folder, 'kept');
    const copy = path.join(folder, 'copy.ogg');
    writeFileSync(copy, readFileSync(long));
    const { frames } = decodeFile(long);
    const notices: string[] = [];
    const store = new IndexFolder(kept, (message) => void notices.push(message));
    expect(await keepIndex(copy, frames, store, turn)).toBe(true);
    expect(await keepIndex(copy, frames, store, turn)).toBe(false);
    const [name = ''] = readdirSync(kept);
    const indexFile = path.join(kept, name);
    expect(store.load(copy)?.index?.totalFrames).toBe(frames);

    let turns = 0;
    using reader = new WindowReader({ sampleRate: null, mono: true, indexFolder: kept });
    await reader.prepare(copy, () => Promise.resolve(void (turns += 1)));
    expect([turns, reader.frames(copy), notices]).toEqual([0, frames, []]);

    const bytes = readFileSync(indexFile);
    writeFileSync(indexFile, bytes.subarray(0, 1000));
    expect(await keepIndex(copy, frames, store, turn)).toBe(true);
    expect(notices.splice(0)).toEqual([`The index "${indexFile}" of "${copy}" is made anew: it is damaged`]);
    expect(readFileSync(indexFile).equals(bytes)).toBe(true);

    appendFileSync(copy, 'x');
    expect(store.load(copy)).toBeUndefined();
    expect(notices).toEqual([`The index "${indexFile}" of "${copy}" is made anew: the recording was changed since`]);
  });

  it('keeps that there is no index where the length is another than decoding gave', async () => {
    const store = new IndexFolder(path.join(folder, 'other'), undefined);
    expect(await keepIndex(long, 5, store, turn)).toBe(true);
    expect(store.load(long)).toEqual({ index: undefined });
  });

  it('says so where nothing can be kept, once, and goes on', async () => {
    const file = path.join(folder, 'a-file');
    writeFileSync(file, '');
    const notices: string[] = [];
    const store = new IndexFolder(path.join(file, 'sub'), (message) => void notices.push(message));
    const keep = store.begin(long);
    keep(someIndex(3));
    keep(someIndex(3));
    expect(notices.filter((message) => message.startsWith('Indexes cannot be kept in '))).toHaveLength(1);
    using reader = new WindowReader({ sampleRate: null, mono: true, indexFolder: path.join(file, 'sub') });
    await reader.prepare(long, turn);
    expect(reader.frames(long)).toBeGreaterThan(18 * RATE);
  });

  it('removeOtherIndexes() leaves those of the recordings that are named', async () => {
    const kept = path.join(folder, 'many');
    const store = new IndexFolder(kept, undefined);
    await keepIndex(long, 1, store, turn);
    writeFileSync(path.join(kept, `${'0'.repeat(40)}.index`), '');
    writeFileSync(path.join(kept, 'own.index'), '');
    const partials = ['1-1', '1-2'].map((name) => path.join(kept, `${'0'.repeat(40)}.${name}.index.partial`));
    for (const partial of partials) writeFileSync(partial, '');
    utimesSync(partials[0] ?? '', 1, 1);
    removeOtherIndexes(kept, [long]);
    expect(readdirSync(kept)).toHaveLength(3);
    removeOtherIndexes(kept, []);
    expect(readdirSync(kept)).toEqual([path.basename(partials[1] ?? ''), 'own.index']);
    removeOtherIndexes(path.join(folder, 'none'), []);
    expect(existsSync(path.join(folder, 'none'))).toBe(false);
  });
});
