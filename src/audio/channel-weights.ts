import { AV_CHANNEL_LAYOUT_MONO, AV_CHANNEL_ORDER_NATIVE } from 'node-av/constants';
import type { ChannelLayout } from 'node-av/lib';

/** More the codec library does not mix. */
export const MAX_CHANNELS = 64;

/** Bits of a channel mask, as in WAVE_FORMAT_EXTENSIBLE. */
const LFE = 3;
const BACK = [4, 5];
const SIDE = [9, 10];
const LFE_2 = 35;

/** Surround channels at the side of the listener, 60° to 120° off, count for 1.5 dB more (BS.1770-4, Annex 1, Table 3). */
const SURROUND_WEIGHT = 1.41;

/** Masks of layouts that are meant where none is told: 5.0, 5.1 and 7.1 in the order of the masks. */
const USUAL_MASKS: ReadonlyMap<number, bigint> = new Map([
  [5, 0x37n],
  [6, 0x3fn],
  [8, 0x63fn],
]);

/**
 * What each channel counts for in the loudness of all, in the order of the channels: those for low frequencies for nothing, the
 * surround channels of 5.0 and 5.1 for 1.41, which may be called side or back there; beside side channels, back ones count for 1.
 *
 * @param mask the channels' places, a bit each; undefined where they are not told.
 */
export function channelWeights(channels: number, mask: bigint | undefined): number[] {
  const places = placesOf(mask ?? USUAL_MASKS.get(channels) ?? 0n);
  const hasSide = SIDE.some((place) => places.includes(place));
  return Array.from({ length: channels }, (_, channel) => {
    const place = places[channel] ?? -1;
    if (place === LFE || place === LFE_2) return 0;
    return (hasSide ? SIDE : BACK).includes(place) ? SURROUND_WEIGHT : 1;
  });
}

/** Any distinct positions serve a resampler: the mix gives every channel its weight by number. */
export function positionedLayout(channels: number): ChannelLayout {
  if (channels === 1) return AV_CHANNEL_LAYOUT_MONO;
  return { nbChannels: channels, order: AV_CHANNEL_ORDER_NATIVE, mask: (1n << BigInt(channels)) - 1n };
}

function placesOf(mask: bigint): number[] {
  return Array.from({ length: 64 }, (_, place) => place).filter((place) => ((mask >> BigInt(place)) & 1n) === 1n);
}
