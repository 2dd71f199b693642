// Test signals as interleaved `Float64Array`s in [-1, 1). Each is a pure function of its arguments: a sample's value
// hangs on its index alone, so that a test can name the value of any sample of any file.

/** A hash of a counter, uniform in [0, 1): the finalizer of MurmurHash3 over the index, with the seed mixed in. */
export function hashUniform(index: number, seed: number): number {
  let h = (index ^ Math.imul(seed, 0x9e3779b1)) | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
}

/** White noise, `frames` × `channels`, uniform in ±`amplitude`; no two channels alike. */
export function makeNoise(frames: number, channels = 1, seed = 1, amplitude = 0.5): Float64Array {
  return new Float64Array(frames * channels).map((_, k) => (hashUniform(k, seed) * 2 - 1) * amplitude);
}

/** A sine of one channel. */
export function makeSine(frames: number, sampleRate: number, frequencyHz: number, amplitude = 0.5): Float64Array {
  return new Float64Array(frames).map((_, n) => amplitude * Math.sin((2 * Math.PI * frequencyHz * n) / sampleRate));
}

/** A sine whose frequency rises evenly from `startHz` to `endHz`, of one channel. */
export function makeSweep(
  frames: number,
  sampleRate: number,
  startHz: number,
  endHz: number,
  amplitude = 0.5,
): Float64Array {
  const risePerSample = (endHz - startHz) / frames;
  return new Float64Array(frames).map((_, n) => {
    const cycles = (startHz * n + (risePerSample * n * n) / 2) / sampleRate;
    return amplitude * Math.sin(2 * Math.PI * cycles);
  });
}

/** Silence but for one sample, of one channel. */
export function makeImpulse(frames: number, atFrame: number, amplitude = 0.5): Float64Array {
  const samples = new Float64Array(frames);
  samples[atFrame] = amplitude;
  return samples;
}

export interface BurstOptions {
  /** Lengths of a burst and of the pause after it, in seconds. */
  burstSeconds?: number;
  pauseSeconds?: number;
  seed?: number;
  amplitude?: number;
}

/** Voiced-like bursts with digital silence between them: decaying pulses at 120 Hz with some noise, of one channel. */
export function makeSpeechBursts(frames: number, sampleRate: number, options: BurstOptions = {}): Float64Array {
  const { burstSeconds = 0.4, pauseSeconds = 0.2, seed = 1, amplitude = 0.5 } = options;
  const burst = Math.round(burstSeconds * sampleRate);
  const period = burst + Math.round(pauseSeconds * sampleRate);
  const pitch = Math.round(sampleRate / 120);
  return new Float64Array(frames).map((_, n) => {
    const at = n % period;
    if (at >= burst) return 0;
    const sincePulseSeconds = (at % pitch) / sampleRate;
    const ringing = Math.exp(-400 * sincePulseSeconds) * Math.sin(2 * Math.PI * 700 * sincePulseSeconds);
    const envelope = Math.sin((Math.PI * at) / burst);
    return amplitude * envelope * (0.9 * ringing + 0.1 * (hashUniform(n, seed) * 2 - 1));
  });
}

/** Puts signals of one channel and equal length side by side. */
export function interleaveChannels(...channels: Float64Array[]): Float64Array {
  const frames = channels[0]?.length ?? 0;
  const out = new Float64Array(frames * channels.length);
  for (const [c, channel] of channels.entries()) {
    for (let n = 0; n < frames; n += 1) out[n * channels.length + c] = channel[n] ?? 0;
  }
  return out;
}

/** Where two signals differ first: the index, their common length if one goes on where the other ends, or -1. */
export function firstDifference(a: Float64Array, b: Float64Array): number {
  const length = Math.min(a.length, b.length);
  for (let k = 0; k < length; k += 1) if (!Object.is(a[k], b[k]) && a[k] !== b[k]) return k;
  return a.length === b.length ? -1 : length;
}

/** Rounds to the grid of `bits`-bit integers (half to even) and clips, so that a lossless file keeps the values exactly. */
export function quantize(samples: Float64Array, bits: number): Float64Array {
  const scale = 2 ** (bits - 1);
  return samples.map((x) => Math.max(-scale, Math.min(scale - 1, roundHalfEven(x * scale))) / scale);
}

/** 16-bit integers: ×32768, rounded half to even, clipped. */
export function toInt16(samples: Float64Array): Int16Array {
  return Int16Array.from(quantize(samples, 16), (x) => x * 2 ** 15);
}

/** 32-bit integers that hold `bits` significant bits at the top, as FFmpeg's `s32` does. */
export function toInt32(samples: Float64Array, bits = 32): Int32Array {
  return Int32Array.from(quantize(samples, bits), (x) => x * 2 ** 31);
}

function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  if (rest !== 0.5) return rest < 0.5 ? floor : floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}
