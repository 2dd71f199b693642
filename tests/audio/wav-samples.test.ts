// WAV of samples in memory: 16 bits where they hold them, else floats.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeWavSamples } from '#cutroom/audio/wav-samples.js';

const RATE = 16_000;

function fieldsOf(samples: Float32Array): {
  tag: number;
  bits: number;
  riffBytes: number;
  data: Buffer;
  bytes: Buffer;
} {
  const bytes = Buffer.concat(encodeWavSamples(samples, RATE));
  const at = bytes.indexOf('data', 12, 'latin1') + 8;
  expect(bytes.readUInt32LE(at - 4)).toBe(bytes.length - at);
  expect([bytes.readUInt16LE(22), bytes.readUInt32LE(24)]).toEqual([1, RATE]);
  const [tag, bits] = [bytes.readUInt16LE(20), bytes.readUInt16LE(34)];
  return { tag, bits, riffBytes: bytes.readUInt32LE(4), data: bytes.subarray(at), bytes };
}

describe('encodeWavSamples()', () => {
  it('holds samples of 16 bits as these', () => {
    const integers = fc.array(fc.integer({ min: -32_768, max: 32_767 }), { maxLength: 200 });
    fc.assert(
      fc.property(integers, (values) => {
        const { tag, bits, riffBytes, data, bytes } = fieldsOf(Float32Array.from(values, (value) => value / 32_768));
        expect([tag, bits, riffBytes, bytes.length]).toEqual([1, 16, bytes.length - 8, 44 + 2 * values.length]);
        expect(values.map((_, at) => data.readInt16LE(2 * at))).toEqual(values);
      }),
    );
  });

  it('leaves samples of 16 bits as they are', () => {
    const values = [-32_768, -1, 0, 1, 32_767];
    const integers = Int16Array.from(values);
    const [header, data] = encodeWavSamples(integers, RATE);
    const floats = encodeWavSamples(
      Float32Array.from(values, (value) => value / 32_768),
      RATE,
    );
    expect(Buffer.concat([header, data])).toEqual(Buffer.concat(floats));
    expect(data.buffer).toBe(integers.buffer);
  });

  it.each([
    ['between two of 16 bits', 0.5 / 32_768],
    ['of full scale', 1],
    ['beyond full scale', -1.5],
    ['that is no number', Number.NaN],
  ])('holds all as floats where one is %s', (_state, value) => {
    const values = [0.25, -0.5, 1 / 32_768, -1, value, -1];
    const samples = Float32Array.from(values);
    const { tag, bits, riffBytes, data, bytes } = fieldsOf(samples);
    expect([tag, bits, riffBytes]).toEqual([3, 32, bytes.length - 8]);
    expect(values.map((_, at) => data.readFloatLE(4 * at))).toEqual([...Float32Array.from(values)]);
  });
});
