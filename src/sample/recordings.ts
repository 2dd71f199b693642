/** What sampling has to know of a recording. */
export interface RecordingFacts {
  path: string;
  /** Index into `RecordingTable.groups`. */
  group: number;
  /** Exact length, in frames at `sampleRate`. At least 1. */
  frames: number;
  /** Of the file, in Hz. */
  sampleRate: number;
  channels: number;
}

const MAX_GROUPS = 2 ** 16;
const MAX_CHANNELS = 255;

/**
 * The recordings that are sampled from, in the order that they were added. 16 bytes each beside the path, which takes
 * what a string takes, 24 bytes more than its characters: in one block of memory it would take 8, and to make a string of
 * that for each window that is described takes a quarter of the time.
 */
export class RecordingTable {
  readonly groups: readonly string[];
  /** The sample rates that occur, in Hz; `rateIndex` points into it. */
  readonly rates: readonly number[];
  readonly #rows: Rows;
  readonly #paths: readonly string[];

  private constructor(groups: readonly string[], { rates, rows, paths }: BuiltTable) {
    this.groups = groups;
    this.rates = rates;
    this.#rows = rows;
    this.#paths = paths;
  }

  /**
   * @param groups names of what the recordings belong to
   * @throws {RangeError} when a fact is out of its range.
   */
  static from(groups: readonly string[], recordings: Iterable<RecordingFacts>): RecordingTable {
    const builder = new RecordingTableBuilder(groups);
    for (const recording of recordings) builder.add(recording);
    return new RecordingTable(groups, builder.finish());
  }

  get length(): number {
    return this.#paths.length;
  }

  /** Bytes that the table holds, beside the paths. */
  get sizeBytes(): number {
    return this.#rows.doubles.byteLength;
  }

  path(file: number): string {
    return this.#paths[file]!;
  }

  /** Exact length, in frames at the recording's own rate. */
  frames(file: number): number {
    return this.#rows.doubles[file * ROW_DOUBLES + FRAMES]!;
  }

  rateIndex(file: number): number {
    return this.#rows.words[file * ROW_WORDS + RATE_INDEX]!;
  }

  /** In Hz. */
  sampleRate(file: number): number {
    return this.rates[this.rateIndex(file)]!;
  }

  channels(file: number): number {
    return this.#rows.bytes[file * ROW_BYTES + CHANNELS]!;
  }

  group(file: number): number {
    return this.#rows.words[file * ROW_WORDS + GROUP]!;
  }
}

/**
 * What is asked of a recording is read together, so it lies together: of a million recordings in no order each look at another
 * place of memory costs as much as all the reckoning.
 *
 * ```
 * bytes  0        8          10       12        13
 *        |frames  |rate index|group   |channels |free   16
 * ```
 */
interface Rows {
  /** Three views of the same bytes. */
  doubles: Float64Array;
  words: Uint16Array;
  bytes: Uint8Array;
}

interface BuiltTable {
  rates: readonly number[];
  rows: Rows;
  paths: readonly string[];
}

const ROW_BYTES = 16;
const ROW_WORDS = ROW_BYTES / 2;
const ROW_DOUBLES = ROW_BYTES / 8;
/** Places in a row, each counted in units of its view. */
const FRAMES = 0;
const RATE_INDEX = 4;
const GROUP = 5;
const CHANNELS = 12;

/** Grows the rows by doubling, and cuts them to size at the end. */
class RecordingTableBuilder {
  readonly #groupCount: number;
  readonly #rateIndices = new Map<number, number>();
  readonly #paths: string[] = [];
  #rows = emptyRows(1024);

  constructor(groups: readonly string[]) {
    if (groups.length > MAX_GROUPS) throw new RangeError(`Cannot hold ${groups.length} groups: at most ${MAX_GROUPS}`);
    this.#groupCount = groups.length;
  }

  add(recording: RecordingFacts): void {
    this.#check(recording);
    const file = this.#paths.length;
    if (file * ROW_BYTES === this.#rows.bytes.length) this.#rows = resized(this.#rows, 2 * file);
    const { doubles, words, bytes } = this.#rows;
    doubles[file * ROW_DOUBLES + FRAMES] = recording.frames;
    words[file * ROW_WORDS + RATE_INDEX] = this.#rateIndex(recording);
    words[file * ROW_WORDS + GROUP] = recording.group;
    bytes[file * ROW_BYTES + CHANNELS] = recording.channels;
    // A copy: a string may hold on to a larger one that it is a piece of, or to the pieces that it is made of.
    this.#paths.push(Buffer.from(recording.path).toString());
  }

  finish(): BuiltTable {
    const paths = this.#paths;
    return { rates: [...this.#rateIndices.keys()], rows: resized(this.#rows, paths.length), paths };
  }

  #check({ path, frames, sampleRate, channels, group }: RecordingFacts): void {
    const isWhole = (value: number, from: number, to: number): boolean =>
      Number.isSafeInteger(value) && value >= from && value <= to;
    const fault = !isWhole(frames, 1, Number.MAX_SAFE_INTEGER)
      ? `${frames} frames`
      : !isWhole(sampleRate, 1, 2 ** 31)
        ? `a rate of ${sampleRate} Hz`
        : !isWhole(channels, 1, MAX_CHANNELS)
          ? `${channels} channels`
          : !isWhole(group, 0, this.#groupCount - 1)
            ? `group ${group} of ${this.#groupCount}`
            : undefined;
    if (fault !== undefined) throw new RangeError(`Cannot sample ${JSON.stringify(path)} with ${fault}`);
  }

  #rateIndex({ path, sampleRate }: RecordingFacts): number {
    const known = this.#rateIndices.get(sampleRate);
    if (known !== undefined) return known;
    const index = this.#rateIndices.size;
    if (index === 2 ** 16) throw new RangeError(`Cannot sample ${JSON.stringify(path)}: too many different rates`);
    this.#rateIndices.set(sampleRate, index);
    return index;
  }
}

function emptyRows(capacity: number): Rows {
  const memory = new ArrayBuffer(capacity * ROW_BYTES);
  return { doubles: new Float64Array(memory), words: new Uint16Array(memory), bytes: new Uint8Array(memory) };
}

function resized(old: Rows, capacity: number): Rows {
  const rows = emptyRows(capacity);
  rows.bytes.set(old.bytes.subarray(0, rows.bytes.length));
  return rows;
}
