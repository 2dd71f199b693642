const RIFF_HEAD_BYTES = 12;
const PCM_TAG = 1;
const FLOAT_TAG = 3;
const FULL_SCALE = 32_768;
/** Above it, as floats, the 32-bit sizes of RIFF do not hold the file. */
const MAX_SAMPLES = 0xffff_ff00 / Float32Array.BYTES_PER_ELEMENT;

/**
 * A mono WAV that holds samples exactly: of 16 bits where each of them is a whole number of 1 / 32,768 that they reach, else of 32-bit floats.
 * Source: Multimedia Programming Interface 1.0, "Waveform Audio File Format"; for floats its format tag 3, with a `fact` chunk.
 *
 * @param samples are taken over: the file's own lie in their memory. Those of 16 bits are left as they are.
 * @returns header and samples, which are one behind the other.
 * @throws {RangeError} when the file would be larger than a WAV can be.
 */
export function encodeWavSamples(
  samples: Float32Array | Int16Array,
  sampleRate: number,
): [header: Buffer, data: Uint8Array] {
  if (samples.length > MAX_SAMPLES) throw new RangeError('A WAV cannot hold more than 4 GiB of audio');
  const integers = samples instanceof Int16Array ? samples : toIntegers(samples);
  if (integers === undefined) return [wavHeader(FLOAT_TAG, 4, samples.length, sampleRate), bytesOf(samples)];
  return [wavHeader(PCM_TAG, 2, samples.length, sampleRate), bytesOf(integers)];
}

/**
 * Turns samples into numbers of 16 bits where they lie, at the start of their memory; undefined, and all as it was, where one is none.
 * Memory of its own would cost more than the turning. Going up, number k lies over samples that were read before it; going back down,
 * sample k lies over numbers that were read before it.
 */
function toIntegers(samples: Float32Array): Int16Array | undefined {
  const integers = new Int16Array(samples.buffer, samples.byteOffset, samples.length);
  for (let at = 0; at < samples.length; at += 1) {
    const value = samples[at]! * FULL_SCALE;
    // A shift takes the whole 32 bits, of which the sign of the lower 16 must be that of all.
    if ((value << 16) >> 16 !== value) {
      for (let back = at - 1; back >= 0; back -= 1) samples[back] = integers[back]! / FULL_SCALE;
      return undefined;
    }
    integers[at] = value;
  }
  return integers;
}

function wavHeader(tag: number, sampleBytes: number, count: number, sampleRate: number): Buffer {
  const isFloat = tag === FLOAT_TAG;
  const dataBytes = count * sampleBytes;
  const format = Buffer.alloc(isFloat ? 26 : 24);
  format.write('fmt ', 0, 'latin1');
  format.writeUInt32LE(format.length - 8, 4);
  format.writeUInt16LE(tag, 8);
  format.writeUInt16LE(1, 10);
  format.writeUInt32LE(sampleRate, 12);
  format.writeUInt32LE(sampleRate * sampleBytes, 16);
  format.writeUInt16LE(sampleBytes, 20);
  format.writeUInt16LE(8 * sampleBytes, 22);
  const fact = isFloat ? chunkHead('fact', 4, count) : Buffer.alloc(0);
  const chunks = [format, fact, chunkHead('data', dataBytes)];
  const headBytes = chunks.reduce((sum, { length }) => sum + length, RIFF_HEAD_BYTES);
  const riff = Buffer.alloc(RIFF_HEAD_BYTES);
  riff.write('RIFF', 0, 'latin1');
  riff.writeUInt32LE(headBytes - 8 + dataBytes, 4);
  riff.write('WAVE', 8, 'latin1');
  return Buffer.concat([riff, ...chunks]);
}

function chunkHead(id: string, sizeBytes: number, body?: number): Buffer {
  const chunk = Buffer.alloc(body === undefined ? 8 : 12);
  chunk.write(id, 0, 'latin1');
  chunk.writeUInt32LE(sizeBytes, 4);
  if (body !== undefined) chunk.writeUInt32LE(body, 8);
  return chunk;
}

/** As they lie in memory; machines of the other byte order, of which the codec library knows none, would have to turn them. */
function bytesOf(array: Int16Array | Float32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
