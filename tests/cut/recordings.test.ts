// What `cut()` makes of recordings that are not what they should be: each fails alone, under its own reason.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { getuid } from 'node:process';
import { describe, expect, test } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';
import {
  pngBytes,
  randomBytes,
  textBytes,
  truncated,
  withEncryptedEntry,
  zeroChannelWav,
} from '../support/broken-files.js';
import { damageAt, makeFolder, makeSegments, readOutputs, wavOfNoise, writeCorpus } from '../support/cut-runs.js';
import type { CorpusRecording } from '../support/cut-runs.js';
import { patchFile, writeEncoded, writeTwoStreams, writeVideoOnly, writeVideoWithAudio } from '../support/encode.js';
import type { EncodedKind } from '../support/encode.js';
import { chained } from '../support/ogg-pages.js';
import { makeNoise } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';

const RATE = 16_000;
const SECONDS = 4;
const noise = makeNoise(SECONDS * RATE, 1, 7, 0.3);
const signal = { samples: noise, sampleRate: RATE, channels: 1 };
/** Two snippets each, the second near the end. */
const segments = makeSegments(2, 2.5, 1);
const isRoot = getuid?.() === 0;

type Write = NonNullable<CorpusRecording['write']>;

const bytes =
  (content: Buffer | string): Write =>
  (file) =>
    writeFileSync(file, content);
const encoded =
  (kind: EncodedKind, patch: (encodedBytes: Buffer) => Buffer = (same) => same): Write =>
  (file) => {
    writeEncoded(file, signal, kind);
    patchFile(file, patch);
  };

/**
 * File name, what makes it, the reason that it fails for, and what the message says. Those that are damaged further in
 * keep their first snippet.
 */
const BAD: [string, Write | undefined, string, RegExp][] = [
  ['missing.wav', undefined, 'missing_recording', /no such file/],
  ['folder.wav', (file) => mkdirSync(file), 'unreadable_recording', /not a regular file/],
  ['pipe.wav', (file) => void spawnSync('mkfifo', [file]), 'unreadable_recording', /not a regular file/],
  ['empty.wav', bytes(''), 'empty_recording', /the file is empty/],
  ['no-samples.wav', bytes(buildWav(new Float64Array(0))), 'empty_recording', /no audio/],
  [
    'short.flac',
    encoded('flac', (flac) => truncated(flac, 0.6)),
    'truncated_recording',
    /64000 frames, the audio ends/,
  ],
  [
    'short.wav',
    bytes(truncated(buildWav(noise), 0.5)),
    'truncated_recording',
    /says 128000 bytes of audio, the file holds/,
  ],
  ['short.w64', bytes(truncated(buildWav(noise, { container: 'w64' }), 0.5)), 'truncated_recording', /the file holds/],
  ['short.m4a', encoded('aac', (m4a) => truncated(m4a, 0.5)), 'not_audio', /cannot be decoded|not an audio file/],
  ['text.wav', bytes(textBytes()), 'not_audio', /not an audio file/],
  ['page.mp3', bytes(textBytes()), 'not_audio', /not an audio file/],
  ['picture.flac', bytes(pngBytes()), 'not_audio', /not an audio file/],
  ['random.ogg', bytes(randomBytes()), 'not_audio', /not an audio file/],
  ['65-channels.wav', bytes(buildWav(noise, { channels: 65 })), 'not_audio', /has 65 channels, and at most 64/],
  ['no-channels.wav', bytes(zeroChannelWav(noise)), 'not_audio', /0 channels/],
  ['two.mka', (file) => writeTwoStreams(file, signal, signal, 'matroska'), 'ambiguous_streams', /2 audio streams/],
  ['two.m4a', (file) => writeTwoStreams(file, signal, signal, 'm4a'), 'ambiguous_streams', /2 audio streams/],
  ['film.mp4', (file) => writeVideoWithAudio(file, signal), 'ambiguous_streams', /a video with an audio track/],
  ['silent-film.mp4', (file) => writeVideoOnly(file), 'not_audio', /no audio stream/],
  ['locked.m4a', encoded('aac-encrypted'), 'encrypted', /its audio is encrypted/],
  ['locked-entry.m4a', encoded('aac', withEncryptedEntry), 'encrypted', /its audio is encrypted/],
  ['damaged.flac', encoded('flac', (flac) => damageAt(flac, 0.5)), 'corrupt_recording', /damaged at \d/],
  ['damaged.mp3', encoded('mp3-cbr', withJunkInside), 'corrupt_recording', /damaged at \d/],
  ['changing.ogg', writeChanging('vorbis', chained), 'format_changes', /rate, channels or codec change after 2\.000 s/],
  ['changing.mp3', writeChanging('mp3-cbr-bare', joined), 'format_changes', /changes to 24000 Hz with 1 channels/],
  [
    'changing.oga',
    writeChanging('flac-ogg', chained),
    'corrupt_recording',
    /nothing after 2\.000 s of audio can be decoded/,
  ],
];

describe('cut()', () => {
  test('fails each bad recording alone, under its own reason', async (context) => {
    const folder = await makeFolder(context);
    const recordings = BAD.map(([file, write], k) => ({ id: `bad-${k}`, file, segments, ...(write && { write }) }));
    const good = { id: 'good', file: 'good.wav', segments, write: wavOfNoise(SECONDS, 2) };
    const { options } = await writeCorpus(folder, [...recordings.slice(0, 9), good, ...recordings.slice(9)]);
    const { isWithinLimit } = await cut(options);
    expect(isWithinLimit).toBe(false);
    const outputs = await readOutputs(options.outputDir);
    const damaged = BAD.flatMap(([file], k) => (/^(?:short\.[fw]|damaged|changing)/u.test(file) ? [`bad-${k}`] : []));
    expect(damaged).toHaveLength(8);
    const rows = rowsOf(outputs.manifest).map(({ id, duration }) => [id, duration]);
    expect(rows).toEqual([...damaged.toSorted().map((id) => [id, 1]), ['good', 1], ['good', 1]]);
    const failures = rowsOf(outputs.failures);
    for (const [k, [file, , reason, message]] of BAD.entries()) {
      const found = failures.filter(({ id }) => id === `bad-${k}`);
      const lost = damaged.includes(`bad-${k}`) ? [reason] : [reason, reason];
      expect([file, ...found.map((failure) => failure['reason'])]).toEqual([file, ...lost]);
      for (const failure of found) {
        expect(failure).toMatchObject({ kind: 'snippet', file: path.join(options.audioDir ?? '', file) });
        expect(String(failure['message'])).toMatch(message);
      }
    }
    expectBalance(outputs.metrics, failures);
  });

  test.skipIf(isRoot)('fails a recording alone that it may not read', async (context) => {
    const write: Write = async (file) => {
      await wavOfNoise(SECONDS, 3)(file);
      chmodSync(file, 0);
    };
    const { options } = await writeCorpus(await makeFolder(context), [{ id: 'a', file: 'a.wav', segments, write }]);
    await cut(options);
    expect((await readOutputs(options.outputDir)).failures).toContain('unreadable_recording');
  });

  test('takes no list of other files or addresses for a recording', async (context) => {
    const folder = await makeFolder(context);
    const target = path.join(folder, 'audio', 'good.wav');
    const lists: Record<string, string> = {
      'list.m3u8': `#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n${target}\n#EXT-X-ENDLIST\n`,
      'list.wav': `#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n${target}\n#EXT-X-ENDLIST\n`,
      'list.ffconcat': `ffconcat version 1.0\nfile '${target}'\n`,
      'list.mp3': `ffconcat version 1.0\nfile 'good.wav'\n`,
      'list.sdp': 'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=audio 9 RTP/AVP 0\n',
      'list.mpd': '<?xml version="1.0"?><MPD><Period><AdaptationSet><Representation/></AdaptationSet></Period></MPD>',
    };
    const addresses = [
      'http://127.0.0.1:9/a.wav',
      'concat:good.wav',
      'file:good.wav',
      'pipe:0',
      'data:audio/wav;base64,UklGRg==',
    ];
    const rows: CorpusRecording[] = [
      { id: 'good', file: target, segments, write: () => wavOfNoise(SECONDS, 2)(target) },
      ...Object.entries(lists).map(([name, content]) => ({
        id: name,
        file: path.join(folder, 'audio', name),
        segments,
        write: () => writeFileSync(path.join(folder, 'audio', name), content),
      })),
      ...addresses.map((file) => ({ id: file, file, segments })),
    ];
    const { options } = await writeCorpus(folder, rows, { audioPathResolution: 'as_is', audioDir: undefined });
    await cut(options);
    const outputs = await readOutputs(options.outputDir);
    expect(rowsOf(outputs.manifest).map(({ id }) => id)).toEqual(['good', 'good']);
    const reasons = new Map(rowsOf(outputs.failures).map(({ id, reason }) => [id, reason]));
    expect(Object.fromEntries(reasons)).toEqual({
      ...Object.fromEntries(Object.keys(lists).map((name) => [name, 'not_audio'])),
      ...Object.fromEntries(addresses.map((address) => [address, 'missing_recording'])),
    });
  });

  test('goes by what a file holds, not by its name, tags or pictures', async (context) => {
    const cases: [string, Write][] = [
      ['flac.wav', encoded('flac')],
      ['wav.flac', wavOfNoise(SECONDS, 2)],
      ['mp3.wav', encoded('mp3-vbr')],
      ['opus', encoded('opus')],
      ['m4a.mp3', encoded('aac')],
      ['noise.dat', encoded('vorbis')],
      ['tags.mp3', encoded('mp3-cbr', (mp3) => Buffer.concat([id3Tag(), mp3, id3v1Tag()]))],
      [
        'tags.wav',
        async (file) => {
          await wavOfNoise(SECONDS, 2)(file);
          patchFile(file, (wav) => Buffer.concat([wav, riffId3Chunk()]));
        },
      ],
      ['cover.flac', encoded('flac', withCover)],
    ];
    const recordings = cases.map(([file, write], k) => ({ id: `r${k}`, file, segments, write }));
    const { options } = await writeCorpus(await makeFolder(context), recordings);
    const { isWithinLimit } = await cut(options);
    const outputs = await readOutputs(options.outputDir);
    expect(outputs.failures).toBe('');
    expect(isWithinLimit).toBe(true);
    expect(rowsOf(outputs.manifest).map(({ duration }) => duration)).toEqual(cases.flatMap(() => [1, 1]));
  });

  test('clamps snippets to the audio that is there, and their times to the snippet', async (context) => {
    const words = [{ text: 'x', start: 3.5, end: 9 }];
    const say = (start: number, end: number): object => ({ start, end, text: 'said', words });
    const rows = [
      { id: 'end', audio_filepath: 'a.wav', segments: [say(3, 4.9)] },
      { id: 'odd-end', audio_filepath: 'b.wav', segments: [say(3.000_01, 6)] },
      { id: 'past', audio_filepath: 'c.wav', segments: [say(4, 5), say(6, 7)] },
      { id: 'both', audio_filepath: 'd.wav', segments: [say(3.2, 3.7), say(4.2, 4.6)] },
      { id: 'negative', audio_filepath: 'e.wav', segments: [say(-0.5, 1)] },
      { id: 'resampled', audio_filepath: 'f.flac', segments: [say(3.3333, 4.5)] },
    ];
    const folder = await makeFolder(context);
    const { options } = await writeCorpus(folder, [], { maxDurationSeconds: 10, maxSegmentGapSeconds: 0.6 });
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await wavOfNoise(SECONDS, 2)(path.join(options.audioDir ?? '', `${name}.wav`));
    const flac = path.join(options.audioDir ?? '', 'f.flac');
    writeEncoded(flac, { samples: makeNoise(44_100 * SECONDS + 7), sampleRate: 44_100, channels: 1 }, 'flac');
    writeFileSync(options.inputManifest, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    await cut(options);
    const outputs = await readOutputs(options.outputDir);
    const found = new Map(rowsOf(outputs.manifest).map((row) => [row['id'], row]));
    expect([...found.keys()].map(String).toSorted()).toEqual(['both', 'end', 'negative', 'odd-end', 'resampled']);
    const durations = Object.fromEntries([...found].map(([id, { duration }]) => [id, Number(duration) * RATE]));
    expect(durations).toEqual({
      end: RATE,
      // The frame that holds 3.00001 s is frame 48,000.
      'odd-end': RATE,
      both: 0.8 * RATE,
      negative: RATE,
      resampled: Math.ceil(((44_100 * 4 + 7 - Math.floor(3.3333 * 44_100)) * 160) / 441),
    });
    expect(found.get('both')?.['segments']).toHaveLength(1);
    for (const { duration, segments: kept } of found.values()) {
      for (const { start, end, words: said } of kept as {
        start: number;
        end: number;
        words: { start: number; end: number }[];
      }[]) {
        for (const time of [start, end, ...said.flatMap((word) => [word.start, word.end])]) {
          expect(time).toBeGreaterThanOrEqual(0);
          expect(time).toBeLessThanOrEqual(duration as number);
        }
      }
    }
    const metrics = JSON.parse(outputs.metrics) as Metrics;
    expect(metrics.dropped).toMatchObject({ past_end: 2 });
    expectBalance(outputs.metrics, rowsOf(outputs.failures));
  });
});

interface Metrics {
  input_total_segments: number;
  output_total_segments: number;
  failed_segments: number;
  num_output_snippets: number;
  dropped: Record<string, number>;
  dropped_segments: Record<string, number>;
  failed_snippets: Record<string, number>;
  complete: boolean;
}

/** Each segment is in the output or counted under one reason, and each lost snippet has its line. */
function expectBalance(metricsText: string, failures: Record<string, unknown>[]): void {
  const metrics = JSON.parse(metricsText) as Metrics;
  const dropped = Object.values(metrics.dropped_segments).reduce((sum, count) => sum + count, 0);
  expect(metrics.complete).toBe(true);
  expect(metrics.output_total_segments + dropped + metrics.failed_segments).toBe(metrics.input_total_segments);
  const counted: Record<string, number> = {};
  for (const { reason } of failures) counted[String(reason)] = (counted[String(reason)] ?? 0) + 1;
  expect(metrics.failed_snippets).toEqual(counted);
}

function rowsOf(jsonLines: string): Record<string, unknown>[] {
  return jsonLines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Frames of an MP3 whose inside was overwritten: their headers are right, the rest is not. */
function withJunkInside(mp3: Buffer): Buffer {
  const out = Buffer.from(mp3);
  const junk = randomBytes(4000, 3);
  junk.copy(out, Math.floor(out.length / 2));
  return out;
}

/** Two seconds at one rate, then two at another. */
function writeChanging(kind: EncodedKind, join: (...parts: Buffer[]) => Buffer): Write {
  return (file) => {
    const parts = [RATE, 24_000].map((sampleRate) => {
      writeEncoded(file, { samples: makeNoise(2 * sampleRate), sampleRate, channels: 1 }, kind);
      return readFileSync(file);
    });
    writeFileSync(file, join(...parts));
  };
}

function joined(...parts: Buffer[]): Buffer {
  return Buffer.concat(parts);
}

/** An ID3v2.3 tag with a title and a picture (id3.org, ID3v2.3.0). */
function id3Tag(): Buffer {
  const frame = (id: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(10);
    head.write(id, 'latin1');
    head.writeUInt32BE(body.length, 4);
    return Buffer.concat([head, body]);
  };
  const picture = Buffer.concat([Buffer.from('\0image/png\0\x03\0', 'latin1'), pngBytes()]);
  const frames = Buffer.concat([frame('TIT2', Buffer.from('\0A title', 'latin1')), frame('APIC', picture)]);
  const head = Buffer.from('ID3\x03\0\0\0\0\0\0', 'latin1');
  // Sizes have seven bits a byte.
  for (let k = 0; k < 4; k += 1) head[9 - k] = (frames.length >> (7 * k)) & 0x7f;
  return Buffer.concat([head, frames]);
}

function id3v1Tag(): Buffer {
  const tag = Buffer.alloc(128);
  tag.write('TAGA title', 'latin1');
  return tag;
}

function riffId3Chunk(): Buffer {
  const body = id3Tag();
  const head = Buffer.from('id3 \0\0\0\0', 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

/** A PICTURE block behind STREAMINFO (RFC 9639, section 8.8). */
function withCover(flac: Buffer): Buffer {
  const uint32 = (value: number): Buffer => {
    const out = Buffer.alloc(4);
    out.writeUInt32BE(value);
    return out;
  };
  const png = pngBytes();
  const type = Buffer.from('image/png', 'latin1');
  const body = Buffer.concat([
    ...[uint32(3), uint32(type.length), type, uint32(0), uint32(1), uint32(1), uint32(32), uint32(0)],
    ...[uint32(png.length), png],
  ]);
  const head = uint32(body.length);
  head[0] = 6;
  // Behind STREAMINFO, which is then no longer the last block if it was.
  const out = Buffer.concat([flac.subarray(0, 42), head, body, flac.subarray(42)]);
  const isLast = ((flac[4] ?? 0) & 0x80) !== 0;
  out[4] = (flac[4] ?? 0) & 0x7f;
  if (isLast) out[42] = 0x86;
  return out;
}
