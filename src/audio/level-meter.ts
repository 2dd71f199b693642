import {
  AV_SAMPLE_FMT_DBL,
  AV_SAMPLE_FMT_DBLP,
  AV_SAMPLE_FMT_FLT,
  AV_SAMPLE_FMT_FLTP,
  AV_SAMPLE_FMT_S16,
  AV_SAMPLE_FMT_S16P,
  AV_SAMPLE_FMT_S32,
  AV_SAMPLE_FMT_S32P,
  AV_SAMPLE_FMT_U8,
  AV_SAMPLE_FMT_U8P,
} from 'node-av/constants';
import type { Frame } from 'node-av/lib';

type Samples = Uint8Array | Int16Array | Int32Array | Float32Array | Float64Array;

/** How the samples of a format are held. */
interface SampleKind {
  isPlanar: boolean;
  view: new (buffer: ArrayBufferLike, offsetBytes: number, length: number) => Samples;
  /** What stands for silence. */
  zero: number;
  /** Divides a sample so that full scale is 1. */
  scale: number;
  /** Distance from silence from which on a sample is at full scale. */
  full: number;
}

const u8 = { view: Uint8Array, zero: 128, scale: 128, full: 127 };
const s16 = { view: Int16Array, zero: 0, scale: 2 ** 15, full: 2 ** 15 - 1 };
/** Samples of 20 and 24 bits stand in 32, with zeros behind them. */
const s32 = { view: Int32Array, zero: 0, scale: 2 ** 31, full: 2 ** 31 - 2 ** 12 };
const flt = { view: Float32Array, zero: 0, scale: 1, full: 1 - 2 ** -15 };
const dbl = { view: Float64Array, zero: 0, scale: 1, full: 1 - 2 ** -15 };

const KINDS: ReadonlyMap<number, SampleKind> = new Map<number, SampleKind>([
  [AV_SAMPLE_FMT_U8, { ...u8, isPlanar: false }],
  [AV_SAMPLE_FMT_U8P, { ...u8, isPlanar: true }],
  [AV_SAMPLE_FMT_S16, { ...s16, isPlanar: false }],
  [AV_SAMPLE_FMT_S16P, { ...s16, isPlanar: true }],
  [AV_SAMPLE_FMT_S32, { ...s32, isPlanar: false }],
  [AV_SAMPLE_FMT_S32P, { ...s32, isPlanar: true }],
  [AV_SAMPLE_FMT_FLT, { ...flt, isPlanar: false }],
  [AV_SAMPLE_FMT_FLTP, { ...flt, isPlanar: true }],
  [AV_SAMPLE_FMT_DBL, { ...dbl, isPlanar: false }],
  [AV_SAMPLE_FMT_DBLP, { ...dbl, isPlanar: true }],
]);

/** Samples in a row at full scale that tell of clipping: fewer may be a peak that just reaches it. */
const CLIPPED_RUN_SAMPLES = 3;

/** Measures levels and faults over the blocks of a recording, in the decoder's own format. */
export class LevelMeter {
  invalidSamples = 0;
  clippedRuns = 0;
  readonly channels: number;
  #peak = 0;
  #power = 0;
  #count = 0;
  /** Samples at full scale with which each channel's last block ended. */
  readonly #runs: Uint32Array;

  constructor(channels: number) {
    this.channels = channels;
    this.#runs = new Uint32Array(channels);
  }

  /** The largest distance from silence; 1 is full scale, which floats may pass. */
  get peak(): number {
    return this.#peak;
  }

  /** Of all channels' samples, in dB of full scale; -Infinity for digital silence. */
  get rmsDb(): number {
    return this.#count === 0 ? -Infinity : 10 * Math.log10(this.#power / this.#count);
  }

  /** Takes the frames from `from` to `to` of a block. */
  add(block: Frame, from: number, to: number): void {
    const kind = KINDS.get(block.format);
    const planes = block.extendedData ?? block.data ?? [];
    if (kind === undefined) throw new Error(`No audio decoder gives samples of format ${block.format}`);
    const step = kind.isPlanar ? 1 : this.channels;
    for (let plane = 0; plane < (kind.isPlanar ? this.channels : 1); plane += 1) {
      const bytes = planes[plane];
      if (bytes === undefined) throw new Error('A block of the codec library has no samples');
      this.#addPlane(viewOf(bytes, kind, to * step), from * step, step, plane, kind);
    }
  }

  /** Takes plain samples of 16 bits, of all channels in turn. */
  addPcm16(samples: Int16Array): void {
    this.#addPlane(samples, 0, this.channels, 0, { ...s16, isPlanar: false });
  }

  #addPlane(samples: Samples, from: number, step: number, plane: number, kind: SampleKind): void {
    const { zero, scale, full } = kind;
    let peak = 0;
    let power = 0;
    for (let index = from; index < samples.length; index += 1) {
      const sample = (samples[index] ?? 0) - zero;
      const magnitude = Math.abs(sample);
      if (magnitude > peak) peak = magnitude;
      power += sample * sample;
    }
    this.#count += samples.length - from;
    if (!Number.isFinite(power)) [peak, power] = this.#addInvalid(samples, from);
    this.#peak = Math.max(this.#peak, peak / scale);
    this.#power += power / scale ** 2;
    for (let channel = 0; channel < step; channel += 1) {
      if (peak >= full) this.#countRuns(samples, from + channel, step, plane + channel, kind);
      else this.#runs[plane + channel] = 0;
    }
  }

  /** Peak and power of the samples that are numbers; counts the others. */
  #addInvalid(samples: Samples, from: number): [number, number] {
    let peak = 0;
    let power = 0;
    for (let index = from; index < samples.length; index += 1) {
      const sample = samples[index] ?? 0;
      if (!Number.isFinite(sample)) {
        this.invalidSamples += 1;
        this.#count -= 1;
        continue;
      }
      peak = Math.max(peak, Math.abs(sample));
      power += sample * sample;
    }
    return [peak, power];
  }

  #countRuns(samples: Samples, from: number, step: number, channel: number, { zero, full }: SampleKind): void {
    let run = this.#runs[channel] ?? 0;
    for (let index = from; index < samples.length; index += step) {
      const isFull = Math.abs((samples[index] ?? 0) - zero) >= full;
      run = isFull ? run + 1 : 0;
      if (run === CLIPPED_RUN_SAMPLES) this.clippedRuns += 1;
    }
    this.#runs[channel] = run;
  }
}

/** The first samples of a plane; the codec library aligns its buffers, and a copy does where one is not. */
function viewOf(plane: Buffer, { view }: SampleKind, length: number): Samples {
  const bytes = view === Uint8Array ? 1 : new view(new ArrayBuffer(0), 0, 0).BYTES_PER_ELEMENT;
  const aligned = plane.byteOffset % bytes === 0 ? plane : Buffer.from(plane.subarray(0, length * bytes));
  return new view(aligned.buffer, aligned.byteOffset, length);
}
