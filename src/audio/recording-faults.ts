import { AudioError } from './audio-error.js';
import type { BlockReader } from './block-reader.js';

/**
 * Refuses a block that is not of the rate and number of channels of those before it.
 *
 * @param channels those of the first block.
 */
export function refuseFormatChange({ block, path, blockStart, info }: BlockReader, channels: number): void {
  if (block.sampleRate === info.sampleRate && block.channels === channels) return;
  const at = (blockStart / info.sampleRate).toFixed(3);
  throw new AudioError(
    'format_changes',
    path,
    `at ${at} s it changes to ${block.sampleRate} Hz with ${block.channels} channels`,
    { hint: 'Split it where it changes, or convert it to one rate and number of channels.' },
  );
}

/** Refuses the end that a reader has met where the header promises more, and where nothing came before it. */
export function refuseEarlyEnd(reader: BlockReader): void {
  const shortfall = reader.shortfall();
  if (shortfall !== undefined) throw new AudioError('truncated_recording', reader.path, shortfall);
  if (reader.position === 0) throw new AudioError('empty_recording', reader.path, 'it holds no audio');
}
