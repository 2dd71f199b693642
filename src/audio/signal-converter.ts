import { AV_SAMPLE_FMT_FLTP } from 'node-av/constants';
import { Frame, SoftwareResampleContext } from 'node-av/lib';
import type { ChannelLayout } from 'node-av/lib';
import { checkResult } from './audio-error.js';
import { MONO, setMix } from './channel-mix.js';
import type { ChannelMix } from './channel-mix.js';
import type { ResamplerInput } from './span-resampler.js';

/** Brings decoded blocks to floats at their own rate, all channels or a mix of them. */
export class SignalConverter implements Disposable {
  /** The samples of each channel of the last block, as many as it has frames. */
  channels: Float32Array[] = [];

  readonly #resampler = new SoftwareResampleContext();
  readonly #output = new Frame();
  readonly #layout: ChannelLayout;
  readonly #sampleRate: number;
  #capacity = 0;

  /** @param mix undefined keeps all channels. */
  constructor({ layout, format, sampleRate }: ResamplerInput, mix: ChannelMix | undefined) {
    this.#layout = mix === undefined ? layout : MONO;
    this.#sampleRate = sampleRate;
    this.#output.alloc();
    const resampler = this.#resampler;
    const output = [this.#layout, AV_SAMPLE_FMT_FLTP, sampleRate] as const;
    checkResult(resampler.allocSetOpts2(...output, layout, format as never, sampleRate));
    if (mix !== undefined) setMix(resampler, layout.nbChannels, mix);
    checkResult(resampler.init());
  }

  /** Fills `channels` from a decoded block of so many frames. */
  push(block: Frame, frames: number): void {
    this.#reserve(frames);
    this.#output.nbSamples = this.#capacity;
    checkResult(this.#resampler.convertFrame(this.#output, block));
    const { nbSamples } = this.#output;
    if (nbSamples !== frames) throw new Error(`The codec library made ${nbSamples} samples of ${frames}`);
  }

  [Symbol.dispose](): void {
    this.#output.free();
    this.#resampler.free();
  }

  #reserve(frames: number): void {
    if (frames <= this.#capacity) return;
    this.#capacity = Math.max(8192, frames);
    const output = this.#output;
    output.unref();
    output.format = AV_SAMPLE_FMT_FLTP;
    output.sampleRate = this.#sampleRate;
    output.channelLayout = this.#layout;
    output.nbSamples = this.#capacity;
    checkResult(output.getBuffer(0));
    const planes = output.extendedData ?? output.data ?? [];
    this.channels = planes
      .slice(0, this.#layout.nbChannels)
      .map((plane) => new Float32Array(plane.buffer, plane.byteOffset, this.#capacity));
  }
}
