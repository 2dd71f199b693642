/**
 * For each recording, the frames at which a window may start: a sorted list of half-open spans `[start, end)` that do
 * not touch, in frames of the recording. It comes of the loudness filter; a recording without spans is left out whole.
 *
 * 16 bytes a span and 4 a recording.
 */
export class KeptStarts {
  /** Of each recording, its first span; one more entry at the end. */
  readonly firstSpan: Uint32Array;
  readonly starts: Float64Array;
  readonly ends: Float64Array;

  private constructor(firstSpan: Uint32Array, starts: Float64Array, ends: Float64Array) {
    this.firstSpan = firstSpan;
    this.starts = starts;
    this.ends = ends;
  }

  /**
   * @param recordings of each recording, in the order of the table, its spans as `[start, end, start, end, …]`
   * @throws {RangeError} when spans are empty, out of order or no whole numbers.
   */
  static from(recordings: Iterable<ArrayLike<number>>): KeptStarts {
    const firstSpan = [0];
    const starts: number[] = [];
    const ends: number[] = [];
    for (const spans of recordings) {
      let from = 0;
      for (let at = 0; at < spans.length; at += 2) {
        const start = spans[at]!;
        const end = spans[at + 1] ?? Number.NaN;
        if (!(Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= from && start < end)) {
          throw new RangeError(
            `Recording ${firstSpan.length - 1} keeps starts from ${start} to ${end}: spans must be sorted and hold something`,
          );
        }
        starts.push(start);
        ends.push(end);
        from = end + 1;
      }
      firstSpan.push(starts.length);
    }
    return new KeptStarts(Uint32Array.from(firstSpan), Float64Array.from(starts), Float64Array.from(ends));
  }

  /** How many recordings it speaks of. */
  get length(): number {
    return this.firstSpan.length - 1;
  }

  /** Bytes that it holds. */
  get sizeBytes(): number {
    return this.firstSpan.byteLength + this.starts.byteLength + this.ends.byteLength;
  }
}
