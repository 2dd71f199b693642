import { AUDIO_EXTENSIONS, findAudioFiles } from '../sample/find-audio.js';
import { compareCodePoints } from '../tar/order.js';

/**
 * The audio files that paths and patterns lead to, each once, in the order of their names: which one is drawn hangs on its place.
 *
 * @throws InputError where one leads to no file.
 */
export async function findNoise(sources: readonly string[], signal: AbortSignal): Promise<string[]> {
  const paths = await findAudioFiles({ sources, extensions: AUDIO_EXTENSIONS, signal });
  return [...new Set(paths)].toSorted(compareCodePoints);
}
