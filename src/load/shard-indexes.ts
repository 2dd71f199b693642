import { CutroomError, systemCode } from '../errors.js';
import type { KeepMembers } from '../tar/member-file.js';
import { openMemberIndex } from '../tar/member-index.js';
import type { MemberIndex } from '../tar/member-index.js';
import type { MemberPlace } from '../tar/member-table.js';

/** A member, or why it cannot be had. */
export type FoundMember =
  { kind: 'found'; place: MemberPlace } | { kind: 'failed'; reason: string; message: string; hint: string | undefined };

/** Something to know of a tar of which members can be read all the same. */
export interface ShardNote {
  code: 'unreadable_tar' | 'unfinished_tar' | 'duplicate_member' | 'index_not_kept';
  message: string;
  hint: string | undefined;
}

/** The indexes of tars, each opened when one of its members is first wanted, and kept: some 25 bytes and the name for each member. */
export class ShardIndexes {
  readonly #keep: KeepMembers;
  readonly #signal: AbortSignal;
  readonly #onNote: (note: ShardNote) => void;
  readonly #opened = new Map<string, Promise<MemberIndex | CutroomError>>();

  constructor(keep: KeepMembers, signal: AbortSignal, onNote: (note: ShardNote) => void) {
    this.#keep = keep;
    this.#signal = signal;
    this.#onNote = onNote;
  }

  async find(tarPath: string, name: string): Promise<FoundMember> {
    let opened = this.#opened.get(tarPath);
    if (opened === undefined) {
      opened = this.#open(tarPath);
      this.#opened.set(tarPath, opened);
    }
    const index = await opened;
    if (index instanceof CutroomError) {
      const isMissing = systemCode(index.cause) === 'ENOENT';
      const reason = isMissing ? 'missing_tar' : 'unreadable_tar';
      return { kind: 'failed', reason, message: index.message, hint: index.hint };
    }
    const place = index.find(name);
    if (place !== undefined) return { kind: 'found', place };
    const state = index.isWhole ? '' : `, as far as it can be read: ${index.problem?.message ?? 'it is torn'}`;
    return {
      kind: 'failed',
      reason: 'missing_member',
      message: `Cannot read ${JSON.stringify(name)} in "${tarPath}": there is no such member${state}`,
      hint: index.isWhole ? 'Check which shard the row belongs to.' : index.problem?.hint,
    };
  }

  /** A tar that cannot be read fails its rows, not the others'. */
  async #open(tarPath: string): Promise<MemberIndex | CutroomError> {
    try {
      const index = await openMemberIndex(tarPath, { keep: this.#keep, signal: this.#signal });
      const { problem, origin } = index;
      if (problem !== undefined) {
        this.#onNote({ code: problem.reason, message: `"${tarPath}": ${problem.message}`, hint: problem.hint });
      }
      if (origin.kind === 'indexed' && origin.notKept !== undefined) {
        const message = `The index of "${tarPath}" was not kept: ${origin.notKept}`;
        this.#onNote({ code: 'index_not_kept', message, hint: 'It is made anew at the next start.' });
      }
      return index;
    } catch (error) {
      if (error instanceof CutroomError && error.code === 'input') return error;
      throw error;
    }
  }
}
