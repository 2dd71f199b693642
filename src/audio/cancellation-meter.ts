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

/** One block a second is looked at, and in it one sample in so many: enough for an average level. */
const SAMPLE_STRIDE = 29;
/** A mix this far below its channels is a sign of channels in opposite phase, not of chance. */
const WARN_BELOW_DB = -20;
/** Channels below −60 dB of full scale are noise, of which nothing can be said. */
const SILENCE_POWER = 1e-6;

/** Measures how much of the channels' power the average of them keeps. */
export class CancellationMeter {
  readonly #channels: number;
  readonly #sampleRate: number;
  /** Position in frames from which on the next block is looked at. */
  #nextLook = 0;
  #mixPower = 0;
  #channelPower = 0;
  #count = 0;

  constructor({ channels, sampleRate }: { channels: number; sampleRate: number }) {
    this.#channels = channels;
    this.#sampleRate = sampleRate;
  }

  /** The power of the mix relative to that of its channels in dB, when it is suspiciously low. */
  get cancellationDb(): number | undefined {
    if (this.#count === 0 || this.#channelPower / this.#count < SILENCE_POWER) return undefined;
    const ratioDb = 10 * Math.log10(Math.max(this.#mixPower / this.#channelPower, 1e-10));
    return ratioDb < WARN_BELOW_DB ? ratioDb : undefined;
  }

  /** Takes a block that starts at frame `blockStart` of the recording. */
  add(block: Frame, blockStart: number): void {
    if (blockStart < this.#nextLook) return;
    this.#nextLook = blockStart + this.#sampleRate;
    const sampleAt = sampleGetter(block, this.#channels);
    if (sampleAt === undefined) return;
    // Read once: each look at a property of a block is a call into the codec library.
    const { nbSamples } = block;
    for (let frame = 0; frame < nbSamples; frame += SAMPLE_STRIDE) {
      let sum = 0;
      let power = 0;
      for (let channel = 0; channel < this.#channels; channel += 1) {
        const sample = sampleAt(frame, channel);
        sum += sample;
        power += sample * sample;
      }
      this.#mixPower += (sum / this.#channels) ** 2;
      this.#channelPower += power / this.#channels;
      this.#count += 1;
    }
  }
}

/** Reads one sample of a block, scaled to ±1; undefined for a format that no audio decoder gives. */
function sampleGetter(block: Frame, channels: number): ((frame: number, channel: number) => number) | undefined {
  const planes = block.extendedData ?? block.data ?? [];
  const { format } = block;
  const isPlanar = PLANAR.has(format);
  const place = (frame: number, channel: number): [Buffer | undefined, number] =>
    isPlanar ? [planes[channel], frame] : [planes[0], frame * channels + channel];
  const read = readers.get(format);
  if (read === undefined) return undefined;
  return (frame, channel) => {
    const [plane, index] = place(frame, channel);
    return plane === undefined ? 0 : read(plane, index);
  };
}

const PLANAR: ReadonlySet<number> = new Set([
  AV_SAMPLE_FMT_U8P,
  AV_SAMPLE_FMT_S16P,
  AV_SAMPLE_FMT_S32P,
  AV_SAMPLE_FMT_FLTP,
  AV_SAMPLE_FMT_DBLP,
]);

type SampleReader = (plane: Buffer, index: number) => number;

const u8: SampleReader = (plane, index) => (plane.readUInt8(index) - 128) / 128;
const s16: SampleReader = (plane, index) => plane.readInt16LE(index * 2) / 2 ** 15;
const s32: SampleReader = (plane, index) => plane.readInt32LE(index * 4) / 2 ** 31;
const f32: SampleReader = (plane, index) => plane.readFloatLE(index * 4);
const f64: SampleReader = (plane, index) => plane.readDoubleLE(index * 8);

const readers: ReadonlyMap<number, SampleReader> = new Map([
  [AV_SAMPLE_FMT_U8, u8],
  [AV_SAMPLE_FMT_U8P, u8],
  [AV_SAMPLE_FMT_S16, s16],
  [AV_SAMPLE_FMT_S16P, s16],
  [AV_SAMPLE_FMT_S32, s32],
  [AV_SAMPLE_FMT_S32P, s32],
  [AV_SAMPLE_FMT_FLT, f32],
  [AV_SAMPLE_FMT_FLTP, f32],
  [AV_SAMPLE_FMT_DBL, f64],
  [AV_SAMPLE_FMT_DBLP, f64],
]);
