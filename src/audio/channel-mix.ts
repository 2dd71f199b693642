import { AV_CHANNEL_LAYOUT_MONO } from 'node-av/constants';
import type { ChannelLayout, SoftwareResampleContext } from 'node-av/lib';
import { checkResult } from './audio-error.js';

/** `average` of all channels, or the 0-based number of the one to keep. */
export type ChannelMix = 'average' | number;

export const MONO: ChannelLayout = AV_CHANNEL_LAYOUT_MONO;

/** Has a context of the codec library whose output is mono mix so many channels. */
export function setMix(context: SoftwareResampleContext, channels: number, mix: ChannelMix): void {
  if (channels === 1) return;
  const weights = Array.from({ length: channels }, (_, channel) =>
    mix === 'average' ? 1 / channels : channel === mix ? 1 : 0,
  );
  checkResult(context.setMatrix(weights, channels));
}
