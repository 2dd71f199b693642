import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAudioHeader } from '#cutroom/check/audio-header.js';
import { buildWav, listChunk } from '../support/wav-files.js';
import { CheckFolder, countsOf } from './check-folder.js';

let folder: CheckFolder;
beforeEach(() => {
  folder = new CheckFolder();
});
afterEach(() => folder.remove());

/** The first bytes of a FLAC file: its marker and STREAMINFO. */
function flacHead(rate: number, samples: number): Buffer {
  const head = Buffer.alloc(42);
  head.write('fLaC', 'latin1');
  head.writeUInt8(0x80, 4);
  head.writeUIntBE(34, 5, 3);
  head.writeBigUInt64BE((BigInt(rate) << 44n) | (1n << 41n) | (15n << 36n) | BigInt(samples), 18);
  return head;
}

describe('readAudioHeader()', () => {
  const samples = new Float64Array(12_000);

  it('reads the length of WAV, whatever stands before the audio', () => {
    const target = folder.write('a.wav', buildWav(samples, { sampleRate: 8000, before: [listChunk(101)] }));
    expect(readAudioHeader(target)).toEqual({ seconds: 1.5 });
    const large = folder.write(
      'b.wav',
      buildWav(samples, { sampleRate: 8000, channels: 2, container: 'rf64', encoding: 's24' }),
    );
    expect(readAudioHeader(large)).toEqual({ seconds: 0.75 });
  });

  it('reads the length of FLAC, of more than 2^32 samples, too', () => {
    expect(readAudioHeader(folder.write('a.flac', flacHead(16_000, 24_000)))).toEqual({ seconds: 1.5 });
    expect(readAudioHeader(folder.write('b.flac', flacHead(96_000, 2 ** 33)))).toEqual({ seconds: 2 ** 33 / 96_000 });
    expect(readAudioHeader(folder.write('c.flac', flacHead(16_000, 0)))).toEqual({ seconds: undefined });
  });

  it('tells of files that are empty or torn', () => {
    expect(readAudioHeader(folder.write('a.wav', '')).fault).toBe('the file is empty');
    const whole = buildWav(samples, { sampleRate: 8000 });
    expect(readAudioHeader(folder.write('b.wav', whole.subarray(0, 1000))).fault).toContain('24000 bytes');
    expect(readAudioHeader(folder.write('c.wav', whole.subarray(0, 30))).fault).toBe('it ends before its audio begins');
    expect(readAudioHeader(folder.write('d.flac', flacHead(16_000, 5).subarray(0, 20))).fault).toContain('FLAC');
  });

  it('says nothing of other files', () => {
    expect(readAudioHeader(folder.write('a.mp3', 'ID3 and so on'))).toEqual({ seconds: undefined });
  });
});

describe('check() of the audio of rows', () => {
  it('tells of files that cannot be read, and that lengths of others are not compared', async () => {
    folder.write('a.wav', '');
    folder.write('b.mp3', 'ID3');
    const row = { text: 'hello', duration: 1 };
    const rows = ['a.wav', 'b.mp3'].map((name) => ({ audio_filepath: name, ...row }));
    const result = await folder.check(folder.rows('train.json', rows));
    expect(countsOf(result)).toEqual({ unreadable_audio: 1 });
    expect(result.notes).toEqual(['lengths of files other than WAV and FLAC are compared with --deep alone']);
  });
});
