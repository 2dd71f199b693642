import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { DeepChecker, deepCheck, type DeepItem } from '#cutroom/check/deep-audio.js';
import { checkNemoFolder } from '#cutroom/check/dataset-nemo.js';
import { checkTar } from '#cutroom/check/tar-file.js';
import { END_OF_ARCHIVE, paddingBytes, tarHeader } from '#cutroom/tar/header.js';
import { textBytes, truncated, withZeroTotalSamples } from '../../support/broken-files.js';
import { HAS_PROC, isSoon, listChildren } from '../../support/cut-runs.js';
import { writeEncoded } from '../../support/encode.js';
import { makeNoise, makeSine } from '../../support/signals.js';
import { buildWav } from '../../support/wav-files.js';
import { kindsOf, makeContext, makeFolder } from '../../check/dataset-context.js';

const RATE = 16_000;

let folder: string;

beforeEach((context) => {
  folder = makeFolder(context);
});

function flac(samples: Float64Array, sampleRate = RATE): Buffer {
  const file = path.join(folder, 'one.flac');
  writeEncoded(file, { samples, sampleRate, channels: 1 }, 'flac');
  return readFileSync(file);
}

const noise = (seed: number, frames = RATE): Float64Array => makeNoise(frames, 1, seed);
const wav = (samples: Float64Array, sampleRate = RATE): Buffer => buildWav(samples, { sampleRate });

function writeTar(file: string, files: Readonly<Record<string, Buffer>>): void {
  const parts = Object.entries(files).flatMap(([name, bytes]) => [
    ...[tarHeader({ name, sizeBytes: bytes.length }), bytes, Buffer.alloc(paddingBytes(bytes.length))],
  ]);
  writeFileSync(file, Buffer.concat([...parts, END_OF_ARCHIVE]));
}

/** Paths of what a process has open, as far as can be told. */
function listOpenFiles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch {
    // Files are closed while they are listed.
    return [];
  }
}

describe('checks that decode', () => {
  it('tell of each member of a tar that is not as it should be, and of no other', async () => {
    const file = path.join(folder, 'x.tar');
    const silence = new Float64Array(RATE);
    const clipped = makeSine(RATE, RATE, 200, 3).map((x) => Math.max(-1, Math.min(32_767 / 32_768, x)));
    writeTar(file, {
      'a.flac': flac(noise(1)),
      'b.wav': wav(noise(2)),
      'silent.flac': flac(silence),
      'clipped.wav': wav(clipped),
      'nan.wav': buildWav(noise(3).with(5000, NaN), { sampleRate: RATE, encoding: 'f32' }),
      'rate.wav': wav(noise(4), 8_000),
      'text.flac': textBytes(),
      'torn.flac': truncated(flac(noise(5)), 0.6),
      'torn_too.wav': truncated(wav(noise(6)), 0.6),
      'unknown.flac': withZeroTotalSamples(flac(noise(7))),
    });
    const context = makeContext({ deep: true, jobs: 2 });
    await checkTar(file, context);
    expect(context.findings.map(({ kind, member }) => [kind, member])).toEqual([
      ['silent_audio', 'silent.flac'],
      ['clipped_audio', 'clipped.wav'],
      ['invalid_samples', 'nan.wav'],
      ['undecodable_audio', 'text.flac'],
      ['undecodable_audio', 'torn.flac'],
      ['undecodable_audio', 'torn_too.wav'],
      ['mixed_rates', 'rate.wav'],
    ]);
    for (const { message } of context.findings) expect(message).not.toContain('cutroom-check-');
    expect(context.findings.at(-1)?.message).toContain('1 of the samples has 8,000 Hz, where 6 have 16,000 Hz');
  });

  it('tell of lengths that are not those of the rows, by a millisecond', async () => {
    const names = ['exact', 'rounded', 'long', 'short', 'none'];
    writeTar(
      path.join(folder, 'audio_0.tar'),
      Object.fromEntries(names.map((name, k) => [`${name}.flac`, flac(noise(k + 1))])),
    );
    const durations = { exact: 1, rounded: 1.0009, long: 1.0011, short: 0.9, none: null };
    const rows = names.map((name) => {
      const duration = durations[name as keyof typeof durations];
      return JSON.stringify({ audio_filepath: `${name}.flac`, text: 'x', duration, shard_id: 0 });
    });
    writeFileSync(path.join(folder, 'tarred_audio_manifest.json'), rows.join('\n'));
    const context = makeContext({ deep: true });
    await checkNemoFolder(folder, context);
    expect(context.findings.map(({ kind, line }) => [kind, line])).toEqual([
      ['duration_mismatch', 3],
      ['duration_mismatch', 4],
    ]);
    expect(context.findings[0]?.message).toContain(
      'it decodes to 1 s (16,000 samples at 16,000 Hz), and its row says 1.0011 s',
    );
  });

  it('let silence be where a row has no text', async () => {
    const file = path.join(folder, 'silent.flac');
    writeFileSync(file, flac(new Float64Array(RATE)));
    const item: DeepItem = {
      ...{ audioPath: file, startSeconds: 0, durationSeconds: 1, hasText: false },
      ...{ file: 'manifest.json', line: 1, id: 'a' },
    };
    const context = makeContext({ deep: true });
    await deepCheck([item, { ...item, line: 2, hasText: true }], context);
    expect(context.findings).toMatchObject([{ kind: 'silent_audio', line: 2, file: 'manifest.json' }]);
  });

  it('take the span of a row, and tell where the audio ends before it does', async () => {
    const file = path.join(folder, 'long.flac');
    writeFileSync(file, flac(Float64Array.from([...new Float64Array(RATE), ...noise(2)])));
    const item: DeepItem = {
      ...{ audioPath: file, startSeconds: 1, durationSeconds: 1, hasText: true },
      ...{ file: 'manifest.json', line: 1, id: undefined },
    };
    const context = makeContext({ deep: true });
    await deepCheck(
      [item, { ...item, startSeconds: 1.5, line: 2 }, { ...item, startSeconds: 0, durationSeconds: 2 }],
      context,
    );
    expect(context.findings).toMatchObject([{ kind: 'duration_mismatch', line: 2 }]);
  });

  it('tell of a header that lies', async () => {
    const file = path.join(folder, 'lying.wav');
    mkdirSync(path.dirname(file), { recursive: true });
    const frames = 12_000;
    const bytes = flac(noise(1, frames));
    // STREAMINFO's total is the last 36 bits of the 8 bytes from byte 18 on.
    bytes.writeUInt32BE(frames + 5000, 22);
    writeFileSync(file.replace('.wav', '.flac'), bytes);
    const item: DeepItem = {
      ...{ audioPath: file.replace('.wav', '.flac'), startSeconds: 0, durationSeconds: frames / RATE, hasText: true },
      ...{ file: 'manifest.json', line: 1, id: undefined },
    };
    const context = makeContext({ deep: true });
    await deepCheck([item], context);
    expect(['lying_header', 'undecodable_audio']).toContain(context.findings[0]?.kind);
    expect(context.findings).toHaveLength(1);
  });

  it.skipIf(!HAS_PROC)('blame the audio that a decoder died at, and go on behind it (needs /proc)', async () => {
    const small = path.join(folder, 'small.flac');
    writeFileSync(small, flac(noise(1)));
    const large = path.join(folder, 'large.wav');
    const hour = wav(noise(2, RATE * 30));
    writeFileSync(
      large,
      Buffer.concat([hour.subarray(0, 44), ...Array.from({ length: 600 }, () => hour.subarray(44))]),
    );
    const bytes = readFileSync(large);
    bytes.writeUInt32LE(bytes.length - 44, 40);
    bytes.writeUInt32LE(bytes.length - 8, 4);
    writeFileSync(large, bytes);
    const item = (audioPath: string, line: number): DeepItem => ({
      ...{ audioPath, startSeconds: 0, durationSeconds: undefined, hasText: true },
      ...{ file: 'manifest.json', line, id: undefined },
    });
    const context = makeContext({ deep: true, jobs: 1 });
    const checker = new DeepChecker(context, 'x');
    await checker.check([item(small, 1), item(large, 2), item(small, 3)]);
    const before = new Set(listChildren(process.pid));
    const finishing = checker.finish();
    const decoderOfLarge = (): number | undefined =>
      listChildren(process.pid).find((pid) => !before.has(pid) && listOpenFiles(pid).includes(large));
    expect(await isSoon(() => decoderOfLarge() !== undefined, 20_000)).toBe(true);
    process.kill(decoderOfLarge()!, 'SIGSEGV');
    await finishing;
    await checker.close();
    expect(context.findings).toMatchObject([{ kind: 'crashing_audio', line: 2 }]);
    expect(kindsOf(context)).toEqual(['crashing_audio']);
  });
});
