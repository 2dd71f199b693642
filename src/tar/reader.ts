import { memberSteps } from './member-steps.js';
import { openTarSource } from './source.js';
import type { MemberType } from './header-parser.js';

/** One member of a tar, and where it lies in the file. */
export interface TarMember {
  /** Name with `/` between its parts, decoded as UTF-8; bytes that are not UTF-8 read as U+FFFD. */
  name: string;
  type: MemberType;
  /** Where the payload starts. */
  offsetBytes: number;
  /** Size of the payload; 0 for members that have none, such as folders and links. */
  sizeBytes: number;
  /** Where its headers start, extended ones included: a tar cut here holds all members before this one whole. */
  headerOffsetBytes: number;
}

export interface TarReadOptions {
  /**
   * Reads while everything else in the process waits: two to three times faster where many small reads are the work, as in a process that does
   * nothing else. Default false.
   */
  isBlocking?: boolean;
  /**
   * Reads a tar inside gzip, too, from its start to its end; offsets are those of the tar, so that payloads cannot be read by them from the file.
   * Default false: it is refused.
   */
  isGunzipped?: boolean;
}

/** How a tar ends. */
export interface TarEnd {
  /** False where the two blocks of zeros that end an archive are missing: its writer did not finish it. */
  isComplete: boolean;
  /** Where the last member ends, padding included: the place to go on writing. */
  endOffsetBytes: number;
}

export interface TarIndex extends TarEnd {
  /** In the order of the file. */
  members: TarMember[];
}

/**
 * Lists a tar without reading its payloads.
 *
 * @throws {InputError} as `members` does.
 */
export async function readTarIndex(path: string): Promise<TarIndex> {
  const found: TarMember[] = [];
  const listing = members(path);
  for (;;) {
    const step = await listing.next();
    if (step.done === true) return { members: found, ...step.value };
    found.push(step.value);
  }
}

/**
 * The members of a tar in the order of the file, found by reading headers alone; returns how the tar ends.
 *
 * Understood are ustar with its prefix, pax extended and global headers (`path`, `size`), GNU long names and base-256 sizes. A member is
 * only given out when its payload lies whole in the file.
 *
 * @throws {InputError} with the byte offset, when the file cannot be read, is torn or damaged, or holds sparse or multi-volume members.
 */
export async function* members(
  path: string,
  { isBlocking = false, isGunzipped = false }: TarReadOptions = {},
): AsyncGenerator<TarMember, TarEnd, undefined> {
  const source = await openTarSource(path, isBlocking, isGunzipped);
  try {
    const steps = memberSteps(source);
    let step = steps.next(undefined);
    while (step.done !== true) {
      if ('minBytes' in step.value) {
        const bytes = source.bytesAt(step.value.offsetBytes, step.value.minBytes);
        step = steps.next(bytes instanceof Promise ? await bytes : bytes);
      } else {
        yield step.value;
        step = steps.next(undefined);
      }
    }
    return step.value;
  } finally {
    await source.close();
  }
}
