// Decoding in this process: what it gives, and what it says of items that cannot be decoded.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDecoder } from '#cutroom/load/decode-pool.js';
import type { DecodeRequest, UtteranceDecoder } from '#cutroom/load/decode-request.js';
import { END_OF_ARCHIVE, paddingBytes, tarHeader } from '#cutroom/tar/header.js';
import { openMemberIndex } from '#cutroom/tar/member-index.js';
import type { MemberIndex } from '#cutroom/tar/member-index.js';
import { buildWav } from '../support/wav-files.js';

const RATE = 16_000;
const LONG_NAME = `${'folder/'.repeat(40)}long.wav`;

let folder = '';
let index: MemberIndex;
let decoder: UtteranceDecoder;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-decode-'));
  writeFileSync(
    path.join(folder, 'a.tar'),
    tarOf({
      'one.wav': wavOf(0.25),
      'two.wav': wavOf(-0.5),
      'empty.wav': Buffer.alloc(0),
      'bad.wav': BAD,
      [LONG_NAME]: wavOf(0.125),
    }),
  );
  writeFileSync(path.join(folder, 'file.wav'), wavOf(0.75));
  index = await openMemberIndex(path.join(folder, 'a.tar'));
  decoder = createDecoder({ jobs: 0 });
});
afterAll(async () => {
  await decoder.close();
  rmSync(folder, { recursive: true });
});

const BAD = Buffer.from('no audio at all');

function wavOf(level: number): Buffer {
  return buildWav(new Float64Array(800).fill(level), { sampleRate: RATE, channels: 1 });
}

function tarOf(files: Readonly<Record<string, Buffer>>): Buffer {
  return Buffer.concat([
    ...Object.entries(files).flatMap(([name, bytes]) => [
      tarHeader({ name, sizeBytes: bytes.length }),
      bytes,
      Buffer.alloc(paddingBytes(bytes.length)),
    ]),
    END_OF_ARCHIVE,
  ]);
}

function requestOf(name: string, more: Partial<DecodeRequest> = {}): DecodeRequest {
  const common = { span: undefined, sampleRate: null, speed: 1, wantsBytes: false };
  return { path: index.tarPath, inside: index.find(name), ...common, ...more };
}

describe('createDecoder()', () => {
  it('gives members and files in the order of the requests', async () => {
    const file = requestOf('', { path: path.join(folder, 'file.wav') });
    const outcomes = await decoder.decode([requestOf('two.wav'), file, requestOf('one.wav'), requestOf(LONG_NAME)]);
    const levels = outcomes.map((outcome) => outcome.kind === 'decoded' && [...new Set(outcome.samples)]);
    expect(levels).toEqual([[-0.5], [0.75], [0.25], [0.125]]);
    expect(outcomes[0]).toMatchObject({ sampleRate: RATE, bytes: undefined });
    expect(await decoder.decode([])).toEqual([]);
  });

  it('gives the encoded bytes where they are wanted, each of its own', async () => {
    const file = requestOf('', { path: path.join(folder, 'file.wav'), wantsBytes: true });
    const wanted = [requestOf('one.wav', { wantsBytes: true }), requestOf('two.wav', { wantsBytes: true }), file];
    const outcomes = await decoder.decode(wanted);
    const bytes = outcomes.map((outcome) => outcome.kind === 'decoded' && outcome.bytes && Buffer.from(outcome.bytes));
    expect(bytes).toEqual([wavOf(0.25), wavOf(-0.5), wavOf(0.75)]);
  });

  it('names each fault, and goes on', async () => {
    const outcomes = await decoder.decode([
      requestOf('bad.wav'),
      requestOf('empty.wav'),
      requestOf('', { path: path.join(folder, 'none.wav') }),
      requestOf('one.wav', { path: path.join(folder, 'none.tar') }),
      requestOf('one.wav', { span: { startMicros: 2_000_000, endMicros: 3_000_000 } }),
      requestOf('one.wav'),
    ]);
    expect(outcomes.map((outcome) => (outcome.kind === 'failed' ? outcome.reason : 'decoded'))).toEqual([
      'not_audio',
      'empty_recording',
      'missing_recording',
      'missing_recording',
      'past_end',
      'decoded',
    ]);
    const tar = path.join(folder, 'a.tar');
    expect(outcomes[0]).toMatchObject({
      message: expect.stringContaining(`Cannot read "bad.wav" in "${tar}": not an`),
    });
  });

  it('does not take for a member what is none', async () => {
    const tar = path.join(folder, 'changed.tar');
    writeFileSync(tar, tarOf({ 'one.wav': wavOf(0.25), 'two.wav': wavOf(-0.5) }));
    const [one, two] = ['one.wav', 'two.wav'].map((name) => requestOf(name, { path: tar }));
    const before = readFileSync(tar);
    await using own = createDecoder({ jobs: 0 });
    const reasons = async (...requests: (DecodeRequest | undefined)[]): Promise<unknown[]> => {
      const outcomes = await own.decode(requests.filter((request) => request !== undefined));
      return outcomes.map((outcome) => (outcome.kind === 'failed' ? outcome.reason : 'decoded'));
    };
    expect(await reasons(one, two)).toEqual(['decoded', 'decoded']);
    writeFileSync(tar, tarOf({ 'two.wav': wavOf(-0.5), 'one.wav': wavOf(0.25) }));
    expect(await reasons(one, two)).toEqual(['changed_tar', 'changed_tar']);
    writeFileSync(tar, before.subarray(0, 3000));
    expect(await reasons(one, two)).toEqual(['decoded', 'changed_tar']);
    writeFileSync(tar, before);
    expect(await reasons(one, two)).toEqual(['decoded', 'decoded']);
  });

  it('stops at the signal', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(decoder.decode([requestOf('one.wav')], signal)).rejects.toThrow('enough');
  });

  it('refuses a number of jobs that is none', () => {
    for (const jobs of [-1, 0.5, NaN]) expect(() => createDecoder({ jobs })).toThrow(RangeError);
  });
});
