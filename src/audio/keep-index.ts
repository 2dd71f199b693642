import type { IndexFolder } from './index-folder.js';
import { indexSteps } from './open-block-source.js';
import { finishInTurns } from './packet-indexes.js';
import type { BetweenSteps } from './packet-indexes.js';

/**
 * Sees to it that the index of a recording is kept, so that whoever draws windows of it need not make it.
 *
 * @param frames of the recording, all decoded: one whose index has another number is read without.
 * @returns whether it was made; false where it was there already, or the recording needs none.
 * @throws AudioError where the recording cannot be read; what `between` throws.
 */
export async function keepIndex(
  path: string,
  frames: number,
  folder: IndexFolder,
  between: BetweenSteps,
): Promise<boolean> {
  if (!folder.takes(path) || folder.load(path) !== undefined) return false;
  const steps = indexSteps(path);
  if (steps === undefined) return false;
  const keep = folder.begin(path);
  const index = await finishInTurns(steps, between);
  keep(index?.totalFrames === frames ? index : undefined);
  return true;
}
