import { CutroomError, errorMessage } from '../errors.js';
import { isGzipFile } from '../tar/source.js';
import { members, type TarEnd, type TarMember } from '../tar/reader.js';
import { reasonOf, type ShardProblem } from './shard-problem.js';
import { isAudioName, isLoaderMeta, loaderGroup, sampleKey } from './sample-key.js';

/** What the members of one id are. */
export interface ShardSample {
  /** Of its audio; of its first member where it has none. */
  name: string;
  /** Where the headers of that member start. */
  offsetBytes: number;
  hasAudio: boolean;
  /** Where the payload of that member starts, and its size. */
  payloadOffsetBytes: number;
  sizeBytes: number;
  /** 1-based line of its row, as soon as one is found. */
  rowLine: number | undefined;
}

/** A tar, by its headers. */
export interface ShardMembers {
  /** By id, in the order of the tar. */
  samples: Map<string, ShardSample>;
  problems: ShardProblem[];
  /** False where its end cannot be read: the members after that place are not known. */
  isReadable: boolean;
  /** How it ends, where that can be read. */
  end: TarEnd | undefined;
}

export interface ReadMembersOptions {
  /** Sees each member before it is compared, in the order of the tar; those it answers false for are left out. */
  watch?: (member: TarMember) => boolean;
}

/** How many members are read between two reports. */
const REPORT_MEMBERS = 500;

/** Reads the headers of a tar, and finds what its loader would stumble over. The process waits for each read. */
export async function readShardMembers(
  tarPath: string,
  report: () => Promise<void>,
  { watch }: ReadMembersOptions = {},
): Promise<ShardMembers> {
  const found: ShardMembers = { samples: new Map(), problems: [], isReadable: true, end: undefined };
  const file = tarPath;
  const isCompressed = await isGzipFile(tarPath);
  if (isCompressed) {
    const message = 'it is compressed: loaders that read single members, or index the tar, cannot open it';
    const hint = 'Decompress it with "gunzip": audio hardly gets smaller.';
    found.problems.push({ kind: 'compressed_tar', message, file, hint });
  }
  const collector = new MemberCollector(file, found);
  const listing = members(tarPath, { isBlocking: true, isGunzipped: true });
  try {
    for (let count = 1; ; count += 1) {
      const step = await listing.next();
      if (step.done === true) {
        found.end = step.value;
        if (!step.value.isComplete)
          found.problems.push(describeUnfinished(file, step.value.endOffsetBytes, collector.lastName));
        return found;
      }
      collector.lastName = step.value.name;
      if (watch?.(step.value) !== false && step.value.type === 'file') collector.add(step.value);
      if (count % REPORT_MEMBERS === 0) await report();
    }
  } catch (error) {
    found.problems.push(describeUnreadable(file, error, collector.lastName));
    return { ...found, isReadable: false };
  } finally {
    await listing.return(NO_END);
  }
}

/** What a listing that is left early returns to nobody. */
const NO_END: TarEnd = { isComplete: false, endOffsetBytes: 0 };

function describeUnfinished(file: string, offsetBytes: number, lastName: string | undefined): ShardProblem {
  const message = `the two blocks of zeros that end a tar are missing: members may be missing, too${describeLast(lastName)}`;
  return { kind: 'unfinished_tar', message, file, offsetBytes };
}

function describeUnreadable(file: string, error: unknown, lastName: string | undefined): ShardProblem {
  if (!(error instanceof CutroomError)) throw error;
  const offsetBytes = 'offsetBytes' in error ? (error.offsetBytes as number | undefined) : undefined;
  return {
    kind: 'unreadable_tar',
    message: `${reasonOf(errorMessage(error), file)}${describeLast(lastName)}`,
    file,
    offsetBytes,
    hint: error.hint,
  };
}

function describeLast(lastName: string | undefined): string {
  return lastName === undefined ? '' : `; the last whole member is ${JSON.stringify(lastName)}`;
}

class MemberCollector {
  /** Of the last member that was whole. */
  lastName: string | undefined;
  readonly #file: string;
  readonly #found: ShardMembers;
  #lastId: string | undefined;
  #lastGroup: string | undefined;

  constructor(file: string, found: ShardMembers) {
    this.#file = file;
    this.#found = found;
  }

  add(member: TarMember): void {
    const { name, headerOffsetBytes: offsetBytes } = member;
    if (isLoaderMeta(name)) return;
    const group = loaderGroup(name);
    if (group === undefined) {
      const message = `loaders pass over the member ${JSON.stringify(name)}: its name has no extension, or is hidden`;
      this.#note({ kind: 'unread_member', message, offsetBytes, id: undefined });
      return;
    }
    const id = sampleKey(name);
    this.#checkDots(name, id, group, offsetBytes);
    const isAudio = isAudioName(name);
    const known = this.#found.samples.get(id);
    if (known === undefined) {
      this.#found.samples.set(id, describeSample(member, isAudio));
    } else {
      this.#checkSame(known, member, isAudio, id);
    }
    this.#lastId = id;
    this.#lastGroup = group;
  }

  /** Two names of one id: a sample of several files, or one too many. */
  #checkSame(known: ShardSample, member: TarMember, isAudio: boolean, id: string): void {
    const { name, headerOffsetBytes: offsetBytes } = member;
    if (known.name === name || (known.hasAudio && isAudio)) {
      const message =
        known.name === name
          ? `the member ${JSON.stringify(name)} is there twice, first at byte ${known.offsetBytes}`
          : `the members ${JSON.stringify(known.name)} and ${JSON.stringify(name)} have one id`;
      this.#note({ kind: 'duplicate_member', message, offsetBytes, id });
      return;
    }
    if (this.#lastId !== id) {
      const message = `other members stand between ${JSON.stringify(known.name)} and ${JSON.stringify(name)}: loaders take them for two samples`;
      this.#note({ kind: 'split_sample', message, offsetBytes, id });
    }
    if (isAudio) Object.assign(known, { ...describeSample(member, true), rowLine: known.rowLine });
  }

  /** WebDataset takes names apart at their first dot and writes what follows in small letters; ids end at the last. */
  #checkDots(name: string, id: string, group: string, offsetBytes: number): void {
    if (group === this.#lastGroup && id !== this.#lastId) {
      const message = `the members before it and ${JSON.stringify(name)} are one sample for loaders: their names are equal up to the first dot`;
      this.#note({ kind: 'dotted_name', message, offsetBytes, id, hint: DOT_HINT });
      return;
    }
    const rest = id.slice(group.length);
    if (rest === rest.toLowerCase()) return;
    const message = `loaders look for the row of ${JSON.stringify(name)} with small letters after the first dot, and do not find it`;
    this.#note({ kind: 'dotted_name', message, offsetBytes, id, hint: DOT_HINT });
  }

  #note(problem: Omit<ShardProblem, 'file'>): void {
    this.#found.problems.push({ ...problem, file: this.#file });
  }
}

function describeSample(member: TarMember, hasAudio: boolean): ShardSample {
  const { name, headerOffsetBytes, offsetBytes, sizeBytes } = member;
  return {
    name,
    offsetBytes: headerOffsetBytes,
    hasAudio,
    payloadOffsetBytes: offsetBytes,
    sizeBytes,
    rowLine: undefined,
  };
}

const DOT_HINT = 'Write "_" for the dots in ids, in the tar and in the manifest.';
