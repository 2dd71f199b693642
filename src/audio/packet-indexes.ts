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

/** Indexes of recordings that were read before, within a bound of memory: the least recently used one is forgotten first. */
export class PacketIndexes {
  readonly #maxBytes: number;
  readonly #store: IndexStore | undefined;
  readonly #indexes = new Map<string, KeptIndex>();
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

  #find(path: string): KeptIndex | undefined {
    return this.#indexes.get(path) ?? this.#store?.load(path);
  }

  async #make(path: string, make: () => IndexSteps, between: BetweenSteps): Promise<void> {
    const keep = this.#store?.begin(path);
    const index = await finishInTurns(make(), between);
    keep?.(index);
    this.#remember(path, { index });
  }

  #remember(path: string, known: KeptIndex): PacketIndex | undefined {
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

/** The entry of the map takes some memory too. */
function bytesOf(path: string, { index }: KeptIndex): number {
  return 200 + 2 * path.length + (index?.bytes ?? 0);
}
