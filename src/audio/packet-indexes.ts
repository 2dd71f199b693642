import { statSync } from 'node:fs';
import type { KnownRecording } from './indexed-source.js';
import type { PacketIndex } from './packet-index.js';

/**
 * The making of an index, step by step, each of some milliseconds, so that other work can be done in between.
 *
 * @returns undefined for a recording that cannot have one.
 */
export type IndexSteps = Generator<undefined, PacketIndex | undefined, undefined>;

/** Called between two steps; what it throws ends the work. */
export type BetweenSteps = () => Promise<void>;

/** Where indexes are kept from one process to the next. */
export interface IndexStore {
  /** What was kept of the recording as it is now; undefined where nothing was that is of use. */
  load: (path: string) => KeptIndex | undefined;
  /** Takes note of the recording before its index is made; the function that it returns keeps it. */
  begin: (path: string) => (index: PacketIndex | undefined) => void;
}

/** `index` is undefined where it is known that the recording cannot have one. */
export interface KeptIndex {
  index: PacketIndex | undefined;
}

/** An index in memory, and what else is known of its recording. */
interface RememberedIndex extends KeptIndex {
  recording?: KnownRecording;
  /** The state of the recording in which that was found. */
  state?: string | undefined;
}

/** Indexes of recordings that were read before, within a bound of memory: the least recently used one is forgotten first. */
export class PacketIndexes {
  readonly #maxBytes: number;
  readonly #store: IndexStore | undefined;
  readonly #indexes = new Map<string, RememberedIndex>();
  /** Those that are being made. */
  readonly #making = new Map<string, Promise<void>>();
  #bytes = 0;

  constructor(maxBytes: number, store: IndexStore | undefined) {
    this.#maxBytes = maxBytes;
    this.#store = store;
  }

  /** The index of a recording, made at once where it is not known. */
  get(path: string, make: () => IndexSteps): PacketIndex | undefined {
    const known = this.#find(path);
    if (known !== undefined) return this.#remember(path, known);
    const keep = this.#store?.begin(path);
    const index = finish(make());
    keep?.(index);
    return this.#remember(path, { index });
  }

  /** Takes note of what the container of a recording with an index tells, for the next time that it is opened. */
  note(path: string, recording: KnownRecording): void {
    const known = this.#indexes.get(path);
    if (known !== undefined) this.#remember(path, { ...known, recording, state: stateOf(path) });
  }

  /** What was noted, where the recording is still as it was. */
  recall(path: string): { index: PacketIndex; recording: KnownRecording } | undefined {
    const known = this.#indexes.get(path);
    if (known?.index === undefined || known.recording === undefined) return undefined;
    const { index, recording, state } = known;
    if (state === stateOf(path)) {
      this.#remember(path, known);
      return { index, recording };
    }
    this.forget(path);
    return undefined;
  }

  /** Makes the index of a recording known, so that `get` gives it at once. */
  async prepare(path: string, make: () => IndexSteps, between: BetweenSteps): Promise<void> {
    const known = this.#find(path);
    if (known !== undefined) {
      this.#remember(path, known);
      return;
    }
    // Of callers that ask for the same, the first one makes it. Where that was stopped, the next one goes on.
    for (let other = this.#making.get(path); other !== undefined; other = this.#making.get(path)) {
      await other.catch(() => undefined);
      if (this.#indexes.has(path)) return;
    }
    const making = this.#make(path, make, between);
    this.#making.set(path, making);
    try {
      await making;
    } finally {
      this.#making.delete(path);
    }
  }

  forget(path: string): void {
    const known = this.#indexes.get(path);
    if (known === undefined) return;
    this.#bytes -= bytesOf(path, known);
    this.#indexes.delete(path);
  }

  #find(path: string): RememberedIndex | undefined {
    return this.#indexes.get(path) ?? this.#store?.load(path);
  }

  async #make(path: string, make: () => IndexSteps, between: BetweenSteps): Promise<void> {
    const keep = this.#store?.begin(path);
    const index = await finishInTurns(make(), between);
    keep?.(index);
    this.#remember(path, { index });
  }

  #remember(path: string, known: RememberedIndex): PacketIndex | undefined {
    this.forget(path);
    this.#indexes.set(path, known);
    this.#bytes += bytesOf(path, known);
    for (const [oldest] of this.#indexes) {
      if (this.#bytes <= this.#maxBytes || oldest === path) break;
      this.forget(oldest);
    }
    return known.index;
  }
}

/** All steps at once. */
function finish(steps: IndexSteps): PacketIndex | undefined {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** All steps, with something else between each two. */
export async function finishInTurns(steps: IndexSteps, between: BetweenSteps): Promise<PacketIndex | undefined> {
  try {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await between();
    }
  } finally {
    // Gives back what the steps hold open, where they were not all done.
    steps.return(undefined);
  }
}

/** Size, time of change and number of a file; undefined where there is none. */
function stateOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.size} ${stats.mtimeMs} ${stats.ino}`;
}

/** The entry of the map takes some memory too. */
function bytesOf(path: string, { index }: KeptIndex): number {
  return 600 + 2 * path.length + (index?.bytes ?? 0);
}
