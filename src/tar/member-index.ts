import { stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { CutroomError } from '../errors.js';
import { unreadableTar } from './faults.js';
import { keepMemberFile, memberFilePlaces, readMemberFile } from './member-file.js';
import type { KeepMembers } from './member-file.js';
import { MemberTableBuilder } from './member-table.js';
import type { MemberPlace, MemberTable } from './member-table.js';
import { members } from './reader.js';

/** How many members are read between two looks at the signal. */
const MEMBERS_A_TURN = 500;

export interface MemberIndexOptions {
  /**
   * Where an index is looked for and kept: in memory alone (one that lies beside the tar is used all the same), as a file beside the tar, or in
   * a folder. Default `memory`.
   */
  keep?: KeepMembers | undefined;
  signal?: AbortSignal | undefined;
}

/** What is wrong with a tar of which members can be read all the same. */
export interface MemberIndexProblem {
  reason: 'unreadable_tar' | 'unfinished_tar' | 'duplicate_member';
  message: string;
  hint?: string | undefined;
}

/** What an index is of: it holds as long as the tar is as large and as old. */
export interface TarStamp {
  sizeBytes: number;
  /** Of its last change. */
  nanoseconds: bigint;
}

/** The files of a tar by their names. */
export interface MemberIndex {
  readonly tarPath: string;
  readonly memberCount: number;
  /** False where members may be missing, because the tar is torn. */
  readonly isWhole: boolean;
  /** The gravest one. */
  readonly problem: MemberIndexProblem | undefined;
  /** Whether it was made of the tar just now, or read from a file, and why no file of it could be kept, where one was asked for. */
  readonly origin: { kind: 'indexed'; notKept: string | undefined } | { kind: 'read'; path: string };
  /**
   * The member that a row names: by its very name, without the "-subN" of NeMo's repeated files, or by its id (the name without its last
   * extension) where one audio file alone has it.
   */
  find(name: string): MemberPlace | undefined;
}

/** What stands in an index file beside the arrays. */
export interface MemberFacts {
  isWhole: boolean;
  problem: MemberIndexProblem | undefined;
}

/**
 * The index of a tar: from its file where that is there and holds for the tar, else made by reading the tar's headers in one pass.
 *
 * @throws {InputError} where no member can be read: there is no such file, it is no tar, compressed, or torn in its first member; the signal's
 *   reason.
 */
export async function openMemberIndex(
  tarPath: string,
  { keep = 'memory', signal }: MemberIndexOptions = {},
): Promise<MemberIndex> {
  const stamp = await readStamp(tarPath);
  const places = memberFilePlaces(tarPath, keep);
  for (const path of places.read) {
    signal?.throwIfAborted();
    const found = await readMemberFile(path, stamp);
    if (found !== undefined) return describe(tarPath, found.table, found.facts, { kind: 'read', path });
  }
  const { table, facts } = await indexTar(tarPath, signal);
  const notKept = places.write && (await keepMemberFile(places.write, stamp, table, facts));
  return describe(tarPath, table, facts, { kind: 'indexed', notKept });
}

function describe(
  tarPath: string,
  table: MemberTable,
  { isWhole, problem }: MemberFacts,
  origin: MemberIndex['origin'],
): MemberIndex {
  return { tarPath, memberCount: table.count, isWhole, problem, origin, find: (name) => table.find(name) };
}

async function readStamp(tarPath: string): Promise<TarStamp> {
  try {
    const { size, mtimeNs } = await stat(tarPath, { bigint: true });
    return { sizeBytes: Number(size), nanoseconds: mtimeNs };
  } catch (error) {
    throw unreadableTar(tarPath, 0, error);
  }
}

async function indexTar(
  tarPath: string,
  signal: AbortSignal | undefined,
): Promise<{ table: MemberTable; facts: MemberFacts }> {
  const builder = new MemberTableBuilder();
  let problem: MemberIndexProblem | undefined;
  let lastName: string | undefined;
  const listing = members(tarPath, { isBlocking: true });
  try {
    for (let count = 1; ; count += 1) {
      const step = await listing.next();
      if (step.done === true) {
        if (!step.value.isComplete) problem = UNFINISHED;
        return { table: builder.finish(), facts: { isWhole: true, problem } };
      }
      const { name, type } = step.value;
      lastName = name;
      if (type === 'file' && !builder.add(step.value)) problem ??= describeDuplicate(name);
      if (count % MEMBERS_A_TURN !== 0) continue;
      await setImmediate();
      signal?.throwIfAborted();
    }
  } catch (error) {
    if (!(error instanceof CutroomError) || lastName === undefined) throw error;
    const message = `${error.message}; the last whole member is ${JSON.stringify(lastName)}`;
    problem = { reason: 'unreadable_tar', message, hint: error.hint };
    return { table: builder.finish(), facts: { isWhole: false, problem } };
  } finally {
    await listing.return({ isComplete: false, endOffsetBytes: 0 });
  }
}

const UNFINISHED: MemberIndexProblem = {
  reason: 'unfinished_tar',
  message: 'the two blocks of zeros that end a tar are missing: members may be missing, too',
};

function describeDuplicate(name: string): MemberIndexProblem {
  const message = `the member ${JSON.stringify(name)} is there twice: the first one is used`;
  return { reason: 'duplicate_member', message };
}
