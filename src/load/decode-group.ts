import type { DecodeOutcome, DecodeRequest } from './decode-request.js';
import { describeCrash } from './item-crash.js';

/** What became of a group: all its items, or at which one its process or thread ended, and how. */
export type GroupAttempt =
  { kind: 'done'; value: DecodeOutcome[] } | { kind: 'ended'; item: number; isHung: boolean; how: string };

/** Gives a group to one process or thread. */
export type AttemptGroup = (requests: readonly DecodeRequest[]) => Promise<GroupAttempt>;

/**
 * Decodes a group; where what decodes it ends at an item, that item is tried once more by itself, and so is what follows it.
 *
 * @throws what `attempt` throws.
 */
export async function decodeGroup(
  requests: readonly DecodeRequest[],
  attemptGroup: AttemptGroup,
  isSecondTry = false,
): Promise<DecodeOutcome[]> {
  if (requests.length === 0) return [];
  const attempt = await attemptGroup(requests);
  if (attempt.kind === 'done') return attempt.value;
  const at = Math.min(attempt.item, requests.length - 1);
  const failed = requests[at];
  if (failed === undefined) throw new Error('A group without items was decoded');
  const isOver = attempt.isHung || isSecondTry;
  const [before, own, behind] = await Promise.all([
    decodeGroup(requests.slice(0, at), attemptGroup),
    isOver ? [describeCrash(failed, attempt.how)] : decodeGroup([failed], attemptGroup, true),
    decodeGroup(requests.slice(at + 1), attemptGroup),
  ]);
  return [...before, ...own, ...behind];
}
