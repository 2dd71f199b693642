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
 * The recordings that are sampled from, in the order that they were added. 22 bytes each and the UTF-8 of the
 * path, in typed arrays: 1,000,000 recordings under paths of 80 bytes take 100 MB.
 */
export class RecordingTable {
  readonly groups: readonly string[];
  /** The sample rates that occur, in Hz; `rateIndex` points into it. */
  readonly rates: readonly number[];
  readonly #columns: Columns;

  private constructor(groups: readonly string[], rates: readonly number[], columns: Columns) {
    this.groups = groups;
    this.rates = rates;
    this.#columns = columns;
  }

  /**
   * @param groups names of what the recordings belong to
   * @throws {RangeError} when a fact is out of its range.
   */
  static from(groups: readonly string[], recordings: Iterable<RecordingFacts>): RecordingTable {
    const builder = new RecordingTableBuilder(groups);
    for (const recording of recordings) builder.add(recording);
    return builder.finish((rates, columns) => new RecordingTable(groups, rates, columns));
  }

  get length(): number {
    return this.#columns.count;
  }

  /** Bytes that the table holds. */
  get sizeBytes(): number {
    const { frames, pathEnds, rateIndex, group, channels, flags, paths } = this.#columns;
    const columns = [frames, pathEnds, rateIndex, group, channels, flags, paths];
    return columns.reduce((sum, column) => sum + column.byteLength, 0);
  }

  path(file: number): string {
    const { paths, pathEnds } = this.#columns;
    return paths.toString('utf8', file === 0 ? 0 : pathEnds[file - 1], pathEnds[file]);
  }

  /** Exact length, in frames at the recording's own rate. */
  frames(file: number): number {
    return this.#columns.frames[file]!;
  }

  rateIndex(file: number): number {
    return this.#columns.rateIndex[file]!;
  }

  /** In Hz. */
  sampleRate(file: number): number {
    return this.rates[this.rateIndex(file)]!;
  }

  channels(file: number): number {
    return this.#columns.channels[file]!;
  }

  group(file: number): number {
    return this.#columns.group[file]!;
  }

  isSeekable(file: number): boolean {
    return this.#columns.flags[file] === SEEKABLE;
  }
}

interface Columns {
  count: number;
  frames: Float64Array;
  /** Of each path, where it ends in `paths`. */
  pathEnds: Float64Array;
  rateIndex: Uint16Array;
  group: Uint16Array;
  channels: Uint8Array;
  flags: Uint8Array;
  paths: Buffer;
}

/** Grows the columns by doubling, and cuts them to size at the end. */
class RecordingTableBuilder {
  readonly #groupCount: number;
  readonly #rateIndices = new Map<number, number>();
  #columns = emptyColumns(1024, 65_536);

  constructor(groups: readonly string[]) {
    if (groups.length > MAX_GROUPS) throw new RangeError(`Cannot hold ${groups.length} groups: at most ${MAX_GROUPS}`);
    this.#groupCount = groups.length;
  }

  add(recording: RecordingFacts): void {
    this.#check(recording);
    this.#reserve(recording.path);
    const columns = this.#columns;
    const file = columns.count;
    const start = file === 0 ? 0 : columns.pathEnds[file - 1]!;
    columns.pathEnds[file] = start + columns.paths.write(recording.path, start);
    columns.frames[file] = recording.frames;
    columns.rateIndex[file] = this.#rateIndex(recording);
    columns.group[file] = recording.group;
    columns.channels[file] = recording.channels;
    columns.flags[file] = recording.isSeekable ? SEEKABLE : 0;
    columns.count += 1;
  }

  finish<T>(make: (rates: readonly number[], columns: Columns) => T): T {
    const columns = resized(this.#columns, this.#columns.count, this.#pathBytes());
    return make([...this.#rateIndices.keys()], columns);
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

  #pathBytes(): number {
    return this.#columns.count === 0 ? 0 : this.#columns.pathEnds[this.#columns.count - 1]!;
  }

  #reserve(path: string): void {
    const { count, frames, paths } = this.#columns;
    const neededBytes = this.#pathBytes() + Buffer.byteLength(path);
    if (count < frames.length && neededBytes <= paths.length) return;
    const capacity = count < frames.length ? frames.length : frames.length * 2;
    this.#columns = resized(this.#columns, capacity, Math.max(paths.length, neededBytes * 1.5));
  }
}

function emptyColumns(capacity: number, pathBytes: number): Columns {
  return {
    count: 0,
    frames: new Float64Array(capacity),
    pathEnds: new Float64Array(capacity),
    rateIndex: new Uint16Array(capacity),
    group: new Uint16Array(capacity),
    channels: new Uint8Array(capacity),
    flags: new Uint8Array(capacity),
    paths: Buffer.alloc(pathBytes),
  };
}

function resized(old: Columns, capacity: number, pathBytes: number): Columns {
  const columns = emptyColumns(capacity, Math.ceil(pathBytes));
  const { count } = old;
  columns.count = count;
  columns.frames.set(old.frames.subarray(0, count));
  columns.pathEnds.set(old.pathEnds.subarray(0, count));
  columns.rateIndex.set(old.rateIndex.subarray(0, count));
  columns.group.set(old.group.subarray(0, count));
  columns.channels.set(old.channels.subarray(0, count));
  columns.flags.set(old.flags.subarray(0, count));
  old.paths.copy(columns.paths, 0, 0, columns.paths.length);
  return columns;
}
