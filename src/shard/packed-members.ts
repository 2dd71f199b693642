import { setImmediate } from 'node:timers/promises';
import { CutroomError, errorMessage } from '../errors.js';
import { members } from '../tar/reader.js';
import { withoutSubNumber } from '../tar/sample-key.js';
import type { PackedProblem } from './packed-problem.js';
import { isAudioName, isLoaderMeta, sampleKey } from './sample-key.js';
import { reasonOf } from './shard-problem.js';

/** How many members are read between two looks at the signal. */
const REPORT_MEMBERS = 500;

/** A file in a tar: where its payload lies. */
export interface PackedMember {
  /** Position among the members that were found. */
  index: number;
  name: string;
  offset: number;
  size: number;
}

/** The files of one tar, by their names, and which of them a row has named. */
export class PackedMembers {
  readonly tarPath: string;
  /** False where members may be missing: the tar is torn or not there. */
  isWhole = true;
  readonly #byName = new Map<string, number>();
  /** Made as soon as a row is not found by its name. */
  #byKey: Map<string, string> | undefined;
  readonly #offsetsBytes: number[] = [];
  readonly #sizesBytes: number[] = [];
  /** The line of the first row that names the member, 0 where there is none yet. */
  readonly #firstLines: number[] = [];
  readonly #spans: (string | undefined)[] = [];
  /** Places and spans of rows that are not the first of their member. */
  readonly #moreSpans = new Map<string, number>();

  private constructor(tarPath: string) {
    this.tarPath = tarPath;
  }

  /** Reads the headers of a tar; what is whole of a torn one is there, the rest is a problem. */
  static async read(
    tarPath: string,
    signal: AbortSignal | undefined,
    onProblem: (problem: PackedProblem) => void,
  ): Promise<PackedMembers> {
    const found = new PackedMembers(tarPath);
    let lastName: string | undefined;
    const listing = members(tarPath, { isBlocking: true });
    try {
      for (let count = 1; ; count += 1) {
        const step = await listing.next();
        if (step.done === true) {
          if (!step.value.isComplete) onProblem(describeUnfinished(tarPath));
          return found;
        }
        const { name, type, offsetBytes, sizeBytes } = step.value;
        lastName = name;
        if (type === 'file' && !found.#add(name, offsetBytes, sizeBytes)) {
          const message = `the member ${JSON.stringify(name)} is there twice: the first one is used`;
          onProblem({ file: tarPath, reason: 'duplicate_member', message });
        }
        if (count % REPORT_MEMBERS !== 0) continue;
        await setImmediate();
        signal?.throwIfAborted();
      }
    } catch (error) {
      if (!(error instanceof CutroomError)) throw error;
      const last = lastName === undefined ? '' : `; the last whole member is ${JSON.stringify(lastName)}`;
      const message = `${reasonOf(errorMessage(error), tarPath)}${last}`;
      onProblem({ file: tarPath, reason: 'unreadable_tar', message, hint: error.hint });
      found.isWhole = false;
      return found;
    } finally {
      await listing.return({ isComplete: false, endOffsetBytes: 0 });
    }
  }

  /** The member that a row names: by its very name, without the "-subN" of NeMo's repeated files, or by its id as ATdataset finds it. */
  find(name: string): PackedMember | undefined {
    for (const wanted of [name, withoutSubNumber(name)]) {
      const index = this.#byName.get(wanted);
      if (index !== undefined) return this.#describe(index, wanted);
    }
    this.#byKey ??= this.#indexKeys();
    const found = this.#byKey.get(sampleKey(name));
    if (found === undefined) return undefined;
    const index = this.#byName.get(found);
    return index === undefined ? undefined : this.#describe(index, found);
  }

  /**
   * Notes that a row names a member.
   *
   * @param span tells rows of one member apart
   * @returns the line of an earlier row that says the same, undefined where there is none
   */
  use(member: number, line: number, span: string): number | undefined {
    const first = this.#firstLines[member] ?? 0;
    if (first === 0) {
      this.#firstLines[member] = line;
      this.#spans[member] = span;
      return undefined;
    }
    if (this.#spans[member] === span) return first;
    const key = `${member} ${span}`;
    const earlier = this.#moreSpans.get(key);
    if (earlier === undefined) this.#moreSpans.set(key, line);
    return earlier;
  }

  /** Names of files that no row has named; those that belong to a sample with a row, such as its text, are left out. */
  *unusedNames(): Generator<string> {
    let usedKeys: Set<string> | undefined;
    for (const [name, member] of this.#byName) {
      if ((this.#firstLines[member] ?? 0) > 0 || isLoaderMeta(name)) continue;
      if (!isAudioName(name)) {
        usedKeys ??= this.#listUsedKeys();
        if (usedKeys.has(sampleKey(name))) continue;
      }
      yield name;
    }
  }

  /** False where the name is taken. */
  #add(name: string, offsetBytes: number, sizeBytes: number): boolean {
    if (this.#byName.has(name)) return false;
    this.#byName.set(name, this.#offsetsBytes.length);
    this.#offsetsBytes.push(offsetBytes);
    this.#sizesBytes.push(sizeBytes);
    this.#firstLines.push(0);
    return true;
  }

  #describe(index: number, name: string): PackedMember {
    return { index, name, offset: this.#offsetsBytes[index] ?? 0, size: this.#sizesBytes[index] ?? 0 };
  }

  #indexKeys(): Map<string, string> {
    const byKey = new Map<string, string>();
    for (const name of this.#byName.keys()) {
      if (!isAudioName(name)) continue;
      const key = sampleKey(name);
      // Of several audio files with one id none is meant for sure.
      byKey.set(key, byKey.has(key) ? '' : name);
    }
    return byKey;
  }

  #listUsedKeys(): Set<string> {
    const keys = new Set<string>();
    for (const [name, member] of this.#byName) if ((this.#firstLines[member] ?? 0) > 0) keys.add(sampleKey(name));
    return keys;
  }
}

function describeUnfinished(file: string): PackedProblem {
  const message = 'the two blocks of zeros that end a tar are missing: members may be missing, too';
  return { file, reason: 'unfinished_tar', message };
}
