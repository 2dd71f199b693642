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
  /** Whether any place of it is reached without decoding all that stands before. */
  isSeekable: boolean;
}

const MAX_GROUPS = 2 ** 16;
const MAX_CHANNELS = 255;
const SEEKABLE = 1;

/**
 * The recordings that are sampled from, in the order that they were added. 24 bytes each and the UTF-8 of the path:
 * 1,000,000 recordings under paths of 80 bytes take 104 MB.
 */
export class RecordingTable {
  readonly groups: readonly string[];
  /** The sample rates that occur, in Hz; `rateIndex` points into it. */
  readonly rates: readonly number[];
  readonly #rows: Rows;

  private constructor(groups: readonly string[], rates: readonly number[], rows: Rows) {
    this.groups = groups;
    this.rates = rates;
    this.#rows = rows;
  }

  /**
   * @param groups names of what the recordings belong to
   * @throws {RangeError} when a fact is out of its range.
   */
  static from(groups: readonly string[], recordings: Iterable<RecordingFacts>): RecordingTable {
    const builder = new RecordingTableBuilder(groups);
    for (const recording of recordings) builder.add(recording);
    return builder.finish((rates, rows) => new RecordingTable(groups, rates, rows));
  }

  get length(): number {
    return this.#rows.count;
  }

  /** Bytes that the table holds. */
  get sizeBytes(): number {
    return this.#rows.doubles.byteLength + this.#rows.paths.byteLength;
  }

  path(file: number): string {
    return this.#rows.paths.toString('utf8', pathStart(this.#rows, file), pathStart(this.#rows, file + 1));
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

  isSeekable(file: number): boolean {
    return this.#rows.bytes[file * ROW_BYTES + FLAGS] === SEEKABLE;
  }
}

/**
 * What is asked of a recording is read together, so it lies together: of a million recordings in no order each look at another
 * place of memory costs as much as all the reckoning.
 *
 * ```
 * bytes  0        8          16           18       20         21       22
 *        |frames  |path ends |rate index  |group   |channels  |flags   |free   24
 * ```
 */
interface Rows {
  count: number;
  /** Three views of the same bytes. */
  doubles: Float64Array;
  words: Uint16Array;
  bytes: Uint8Array;
  paths: Buffer;
}

const ROW_BYTES = 24;
const ROW_WORDS = ROW_BYTES / 2;
const ROW_DOUBLES = ROW_BYTES / 8;
/** Places in a row, each counted in units of its view. */
const FRAMES = 0;
const PATH_END = 1;
const RATE_INDEX = 8;
const GROUP = 9;
const CHANNELS = 20;
const FLAGS = 21;

/** Where a recording's path begins in `paths`, which is where that of the one before it ends. */
function pathStart({ doubles }: Rows, file: number): number {
  return file === 0 ? 0 : doubles[(file - 1) * ROW_DOUBLES + PATH_END]!;
}

/** Grows the rows by doubling, and cuts them to size at the end. */
class RecordingTableBuilder {
  readonly #groupCount: number;
  readonly #rateIndices = new Map<number, number>();
  #rows = emptyRows(1024, 65_536);

  constructor(groups: readonly string[]) {
    if (groups.length > MAX_GROUPS) throw new RangeError(`Cannot hold ${groups.length} groups: at most ${MAX_GROUPS}`);
    this.#groupCount = groups.length;
  }

  add(recording: RecordingFacts): void {
    this.#check(recording);
    this.#reserve(recording.path);
    const rows = this.#rows;
    const file = rows.count;
    const start = pathStart(rows, file);
    rows.doubles[file * ROW_DOUBLES + PATH_END] = start + rows.paths.write(recording.path, start);
    rows.doubles[file * ROW_DOUBLES + FRAMES] = recording.frames;
    rows.words[file * ROW_WORDS + RATE_INDEX] = this.#rateIndex(recording);
    rows.words[file * ROW_WORDS + GROUP] = recording.group;
    rows.bytes[file * ROW_BYTES + CHANNELS] = recording.channels;
    rows.bytes[file * ROW_BYTES + FLAGS] = recording.isSeekable ? SEEKABLE : 0;
    rows.count += 1;
  }

  finish<T>(make: (rates: readonly number[], rows: Rows) => T): T {
    const { count } = this.#rows;
    const rows = resized(this.#rows, count, pathStart(this.#rows, count));
    return make([...this.#rateIndices.keys()], rows);
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

  #reserve(path: string): void {
    const { count, doubles, paths } = this.#rows;
    const capacity = doubles.length / ROW_DOUBLES;
    const neededBytes = pathStart(this.#rows, count) + Buffer.byteLength(path);
    if (count < capacity && neededBytes <= paths.length) return;
    const wanted = count < capacity ? capacity : capacity * 2;
    this.#rows = resized(this.#rows, wanted, Math.max(paths.length, neededBytes * 1.5));
  }
}

function emptyRows(capacity: number, pathBytes: number): Rows {
  const memory = new ArrayBuffer(capacity * ROW_BYTES);
  return {
    count: 0,
    doubles: new Float64Array(memory),
    words: new Uint16Array(memory),
    bytes: new Uint8Array(memory),
    paths: Buffer.alloc(pathBytes),
  };
}

function resized(old: Rows, capacity: number, pathBytes: number): Rows {
  const rows = emptyRows(capacity, Math.ceil(pathBytes));
  rows.count = old.count;
  rows.bytes.set(old.bytes.subarray(0, old.count * ROW_BYTES));
  old.paths.copy(rows.paths, 0, 0, rows.paths.length);
  return rows;
}
