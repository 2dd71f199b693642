import { compareCodePoints } from '../tar/order.js';
import type { PlannedMember, PlannedRecording } from './cut-plan.js';

/** Rows read ahead of the one that is needed. */
const READ_AHEAD = 8;

/** The indexes below `count` whose first member has a name, sorted by it in code-point order. */
export function sortRecordings(count: number, firstMemberAt: (index: number) => string): Uint32Array {
  const indexes = new Uint32Array(count);
  let length = 0;
  for (let index = 0; index < count; index += 1) {
    if (firstMemberAt(index) !== '') {
      indexes[length] = index;
      length += 1;
    }
  }
  return indexes.slice(0, length).sort((a, b) => compareCodePoints(firstMemberAt(a), firstMemberAt(b)) || a - b);
}

/** The members of a recording that are still to come, last first. */
interface OpenRecording {
  recording: PlannedRecording;
  members: PlannedMember[];
}

/**
 * Merges the members of all recordings into one order. A recording is opened when the order reaches its first member and closed after
 * its last, so those held at a time are those whose ranges of names overlap: "a" and "a-1", say.
 *
 * ```
 * a    a-0_000  ················ a-20_000
 * a-1           a-1-0_000 a-1-9_000           opened and closed inside a
 * b                                        b-0_000 ··· b-9_000
 * ```
 */
export async function* mergeMembers(
  order: Uint32Array,
  firstMemberAt: (index: number) => string,
  load: (index: number) => Promise<PlannedRecording>,
): AsyncGenerator<PlannedMember> {
  /** Sorted by next member, last first. */
  const open: OpenRecording[] = [];
  const ahead: Promise<PlannedRecording>[] = [];
  for (let at = 0; at <= order.length; at += 1) {
    const next = at < order.length ? firstMemberAt(order[at]!) : undefined;
    for (;;) {
      const nearest = open.at(-1);
      const member = nearest?.members.at(-1);
      if (nearest === undefined || member === undefined) break;
      if (next !== undefined && compareCodePoints(next, member.snippet.member) < 0) break;
      yield member;
      open.pop();
      nearest.members.pop();
      if (nearest.members.length > 0) insert(open, nearest);
    }
    if (next === undefined) return;
    for (let k = at + ahead.length; k < Math.min(order.length, at + READ_AHEAD); k += 1) {
      const loading = load(order[k]!);
      // A failure is thrown where the recording is needed; until then it must not count as unhandled.
      loading.catch(() => undefined);
      ahead.push(loading);
    }
    const recording = await ahead.shift()!;
    insert(open, { recording, members: listMembers(recording) });
  }
}

function listMembers(recording: PlannedRecording): PlannedMember[] {
  return recording.snippets
    .map((snippet) => ({ recording, snippet }))
    .sort((a, b) => compareCodePoints(b.snippet.member, a.snippet.member));
}

function insert(open: OpenRecording[], entry: OpenRecording): void {
  const name = entry.members.at(-1)!.snippet.member;
  let low = 0;
  let high = open.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareCodePoints(open[middle]!.members.at(-1)!.snippet.member, name) > 0) low = middle + 1;
    else high = middle;
  }
  open.splice(low, 0, entry);
}
