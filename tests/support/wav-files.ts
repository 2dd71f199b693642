// WAV files built byte by byte, good and faulty. Layouts: Microsoft's "Multiple Channel Audio Data and WAVE Files" (RIFF,
// WAVE_FORMAT_EXTENSIBLE), EBU Tech 3306 (RF64, BW64 is ITU-R BS.2088), Sony's Wave64 specification, ITU-T G.711.

export type WavEncoding = 'u8' | 's16' | 's24' | 's32' | 'f32' | 'f64' | 'alaw' | 'mulaw';

export type WavContainer = 'riff' | 'rf64' | 'bw64' | 'w64';

/** A chunk beside `fmt ` and `data`; an odd body gets its padding byte. */
export interface WavChunk {
  /** Four characters. */
  id: string;
  body: Buffer;
}

export interface WavOptions {
  encoding?: WavEncoding;
  channels?: number;
  /** Hz. */
  sampleRate?: number;
  container?: WavContainer;
  /** 16 is plain, 18 adds an empty extension, 40 is WAVE_FORMAT_EXTENSIBLE. */
  fmtBytes?: 16 | 18 | 40;
  /** Speakers of WAVE_FORMAT_EXTENSIBLE; 0 names none. */
  channelMask?: number;
  /** Written in the header in place of the size of the data in bytes; with `rf64` and `bw64`, into `ds64`. */
  dataSize?: number;
  /** Written in place of the size of the RIFF chunk. */
  riffSize?: number;
  /** Written in `fmt ` in place of the number of channels. */
  headerChannels?: number;
  before?: WavChunk[];
  after?: WavChunk[];
}

const BYTES_PER_SAMPLE: Readonly<Record<WavEncoding, number>> = {
  u8: 1,
  s16: 2,
  s24: 3,
  s32: 4,
  f32: 4,
  f64: 8,
  alaw: 1,
  mulaw: 1,
};
const FORMAT_TAGS: Readonly<Record<WavEncoding, number>> = {
  u8: 1,
  s16: 1,
  s24: 1,
  s32: 1,
  f32: 3,
  f64: 3,
  alaw: 6,
  mulaw: 7,
};
const EXTENSIBLE_TAG = 0xfffe;
/** Tail of the GUIDs of WAVE sub-formats; the format tag stands before it. */
const SUBFORMAT_TAIL = Buffer.from('000000001000800000aa00389b71', 'hex');
/** Stands in a 32-bit size field for "see elsewhere" or "not known yet". */
const UNKNOWN_SIZE = 0xffffffff;
const W64_RIFF_GUID = Buffer.from('726966662e91cf11a5d628db04c10000', 'hex');
/** Follows the four characters of every other chunk of Wave64. */
const W64_GUID_TAIL = Buffer.from('f3acd3118cd100c04f8edb8a', 'hex');

/** A LIST/INFO chunk of `bodyBytes` bytes. */
export function listChunk(bodyBytes = 26): WavChunk {
  const body = Buffer.alloc(bodyBytes, 0x41);
  body.write('INFOISFT', 'latin1');
  if (bodyBytes >= 12) body.writeUInt32LE(bodyBytes - 12, 8);
  return { id: 'LIST', body };
}

/**
 * A whole WAV file.
 *
 * @param samples Interleaved, in [-1, 1); kept exactly by encodings whose grid they lie on.
 */
export function buildWav(samples: Float64Array, options: WavOptions = {}): Buffer {
  const data = encodeWavSamples(samples, options.encoding ?? 's16');
  const { head, tail } = buildWavAround(data.length, options);
  return Buffer.concat([head, data, tail]);
}

/** What stands before and after `dataBytes` bytes of data: for files too large to hold in memory (sparse ones). */
export function buildWavAround(dataBytes: number, options: WavOptions = {}): { head: Buffer; tail: Buffer } {
  const { container = 'riff', before = [], after = [] } = options;
  if (container === 'w64') return buildWave64Around(dataBytes, options);
  const isRiff = container === 'riff';
  const chunks = [riffChunk('fmt ', buildFmt(options)), ...before.map(({ id, body }) => riffChunk(id, body))];
  const tail = Buffer.concat([Buffer.alloc(dataBytes % 2), ...after.map(({ id, body }) => riffChunk(id, body))]);
  const bodyBytes = 4 + (isRiff ? 0 : 36) + Buffer.concat(chunks).length + 8 + dataBytes + tail.length;
  const riffSize = options.riffSize ?? bodyBytes;
  const dataSize = options.dataSize ?? dataBytes;
  if (!isRiff) chunks.unshift(riffChunk('ds64', buildDs64(riffSize, dataSize, dataBytes, options)));
  const head = Buffer.concat([
    Buffer.from(isRiff ? 'RIFF' : container.toUpperCase(), 'latin1'),
    uint32(isRiff ? riffSize : UNKNOWN_SIZE),
    Buffer.from('WAVE', 'latin1'),
    ...chunks,
    Buffer.from('data', 'latin1'),
    uint32(isRiff ? dataSize : UNKNOWN_SIZE),
  ]);
  return { head, tail };
}

/** Samples in [-1, 1) as the bytes of an encoding; integers are rounded and clipped. */
export function encodeWavSamples(samples: Float64Array, encoding: WavEncoding): Buffer {
  const step = BYTES_PER_SAMPLE[encoding];
  const out = Buffer.alloc(samples.length * step);
  for (const [k, x] of samples.entries()) {
    const at = k * step;
    switch (encoding) {
      case 'u8':
        out[at] = toInteger(x, 8) + 128;
        break;
      case 's16':
      case 's24':
      case 's32':
        out.writeIntLE(toInteger(x, step * 8), at, step);
        break;
      case 'f32':
        out.writeFloatLE(x, at);
        break;
      case 'f64':
        out.writeDoubleLE(x, at);
        break;
      case 'alaw':
        out[at] = encodeALaw(toInteger(x, 16));
        break;
      case 'mulaw':
        out[at] = encodeMuLaw(toInteger(x, 16));
        break;
    }
  }
  return out;
}

function buildFmt(options: WavOptions): Buffer {
  const { encoding = 's16', channels = 1, sampleRate = 16_000, fmtBytes = 16, channelMask = 0 } = options;
  const sampleBytes = BYTES_PER_SAMPLE[encoding];
  const tag = FORMAT_TAGS[encoding];
  const fmt = Buffer.alloc(fmtBytes);
  fmt.writeUInt16LE(fmtBytes === 40 ? EXTENSIBLE_TAG : tag, 0);
  fmt.writeUInt16LE(options.headerChannels ?? channels, 2);
  fmt.writeUInt32LE(sampleRate, 4);
  fmt.writeUInt32LE(sampleRate * channels * sampleBytes, 8);
  fmt.writeUInt16LE(channels * sampleBytes, 12);
  fmt.writeUInt16LE(sampleBytes * 8, 14);
  if (fmtBytes === 40) {
    fmt.writeUInt16LE(22, 16);
    fmt.writeUInt16LE(sampleBytes * 8, 18);
    fmt.writeUInt32LE(channelMask, 20);
    fmt.writeUInt16LE(tag, 24);
    SUBFORMAT_TAIL.copy(fmt, 26);
  }
  return fmt;
}

function buildDs64(riffSize: number, dataSize: number, dataBytes: number, options: WavOptions): Buffer {
  const { encoding = 's16', channels = 1 } = options;
  const frames = Math.floor(dataBytes / (BYTES_PER_SAMPLE[encoding] * channels));
  return Buffer.concat([uint64(riffSize), uint64(dataSize), uint64(frames), uint32(0)]);
}

/** Sizes of Wave64 chunks count their own header of 24 bytes; chunks start at multiples of 8. */
function buildWave64Around(dataBytes: number, options: WavOptions): { head: Buffer; tail: Buffer } {
  const { before = [], after = [] } = options;
  const chunks = [wave64Chunk('fmt ', buildFmt(options)), ...before.map(({ id, body }) => wave64Chunk(id, body))];
  const tail = Buffer.concat([
    Buffer.alloc(paddingTo8(dataBytes)),
    ...after.map(({ id, body }) => wave64Chunk(id, body)),
  ]);
  const dataHead = wave64Head('data', options.dataSize ?? dataBytes);
  const rest = Buffer.concat([wave64Guid('wave'), ...chunks, dataHead]);
  const riffSize = options.riffSize ?? 24 + rest.length + dataBytes + tail.length;
  return { head: Buffer.concat([W64_RIFF_GUID, uint64(riffSize), rest]), tail };
}

function wave64Chunk(id: string, body: Buffer): Buffer {
  return Buffer.concat([wave64Head(id, body.length), body, Buffer.alloc(paddingTo8(body.length))]);
}

function wave64Head(id: string, bodyBytes: number): Buffer {
  return Buffer.concat([wave64Guid(id), uint64(24 + bodyBytes)]);
}

function wave64Guid(id: string): Buffer {
  return Buffer.concat([Buffer.from(id, 'latin1'), W64_GUID_TAIL]);
}

function paddingTo8(bytes: number): number {
  return (8 - (bytes % 8)) % 8;
}

function riffChunk(id: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(id, 'latin1'), uint32(body.length), body, Buffer.alloc(body.length % 2)]);
}

function uint32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32LE(value);
  return out;
}

function uint64(value: number): Buffer {
  const out = Buffer.alloc(8);
  out.writeBigUInt64LE(BigInt(value));
  return out;
}

function toInteger(x: number, bits: number): number {
  const scale = 2 ** (bits - 1);
  return Math.max(-scale, Math.min(scale - 1, Math.round(x * scale)));
}

/** G.711 A-law of a 16-bit sample: sign, 3 bits of exponent, 4 of mantissa, even bits inverted. */
function encodeALaw(sample: number): number {
  const sign = sample >= 0 ? 0x80 : 0;
  const magnitude = Math.min((sample >= 0 ? sample : -sample - 1) >> 4, 0x7ff);
  const exponent = Math.max(0, 28 - Math.clz32(magnitude));
  const mantissa = (magnitude >> Math.max(0, exponent - 1)) & 0xf;
  return (sign | (exponent << 4) | mantissa) ^ 0x55;
}

/** G.711 µ-law of a 16-bit sample: 33 is added to its 14 bits, all bits are inverted. */
function encodeMuLaw(sample: number): number {
  const sign = sample >= 0 ? 0 : 0x80;
  const magnitude = Math.min(Math.abs(sample) >> 2, 8158) + 33;
  const exponent = 26 - Math.clz32(magnitude);
  const mantissa = (magnitude >> (exponent + 1)) & 0xf;
  return ~(sign | (exponent << 4) | mantissa) & 0xff;
}
