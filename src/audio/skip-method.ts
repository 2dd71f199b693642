/** Skips shorter than this are decoded: a seek costs about as much. */
export const SKIP_AT_LEAST_SECONDS = 5;

/** How audio is passed over. */
export interface SkipMethod {
  by: 'seek' | 'packets';
  /** How long before the audio that is needed decoding begins. */
  prerollSeconds: number;
}

/**
 * How unneeded audio is passed over, by container and codec; anything else is decoded from the start to its end.
 *
 * `seek`: the container knows the place of every sample. `packets`: packets are read but not decoded, and decoding
 * begins early enough that the decoder's memory of what it missed has faded below a 16-bit step.
 */
export function skipMethod(container: string, codec: string): SkipMethod | undefined {
  if (container === 'flac' && codec === 'flac') return { by: 'seek', prerollSeconds: 0 };
  if ((container === 'wav' || container === 'w64') && codec.startsWith('pcm_'))
    return { by: 'seek', prerollSeconds: 0 };
  if (container === 'mp3' && codec.startsWith('mp3')) return { by: 'packets', prerollSeconds: 1 };
  if (container === 'ogg' && codec === 'opus') return { by: 'packets', prerollSeconds: 2 };
  return undefined;
}
