import { framesOf } from '../random/decimal.js';
import type { KeptStarts } from './kept-starts.js';
import { lastAtMost, PrefixSearch } from './prefix-search.js';
import type { RecordingTable } from './recordings.js';
import { placeInPart } from './window-offsets.js';

/** How windows are laid over recordings. */
export interface SlotOptions {
  /** Length of a window, more than 0. A string is taken as it is spelled. */
  durationSeconds: number | string;
  /** Distance of natural windows, more than 0. Default: the duration. */
  hopSeconds?: number | string | undefined;
  /** From 0 (one slot a recording) to 1 (one a natural window). Default 1. */
  alpha?: number | undefined;
  /** Windows start at multiples of the hop only. Default false. */
  grid?: boolean | undefined;
  /** Where windows may start. Default: wherever they fit. */
  kept?: KeptStarts | undefined;
}

/** A slot as a part of its recording. */
export interface SlotPlace {
  /** Index into the table of recordings. */
  file: number;
  /** Which of the recording's slots, from 0. */
  slotInFile: number;
}

/** Jitter is keyed by 32 bits of the slot. */
const MAX_SLOTS_IN_FILE = 2 ** 32;

/**
 * The slots of all recordings in one index: a slot is a share of the places at which a window of its recording may
 * start. All counts are in frames of the recording, whole numbers, for a recording of S frames, windows of w =
 * round(duration · rate), a hop of h = round(hop · rate):
 *
 * ```
 * usable = S − w                      the last start; windows never run past the end
 * n = floor(usable / h) + 1           natural windows; 1 if S ≤ w, one window at 0 that is padded
 * m = max(1, round(n^alpha))          slots
 * slot j owns the starts from floor(j · (usable + 1) / m) up to, not including, floor((j + 1) · (usable + 1) / m)
 *
 * S = 40, w = 10, h = 10, so usable = 30 and n = 4; a column is a frame, a digit the slot that a start belongs to:
 *
 *   recording        ────────────────────────────────────────
 *   alpha 1,   m = 4 0000000111111112222222233333333
 *   alpha 0.5, m = 2 0000000000000001111111111111111
 *   alpha 0,   m = 1 0000000000000000000000000000000
 *   windows at alpha 1, at the first start of each part: 0, 7, 15, 23
 *                    [────────)
 *                           [────────)
 *                                   [────────)
 *                                           [────────)
 *   and at the last: 6, 14, 22, 30, where the last window ends with the recording
 * ```
 *
 * Starts that are left by a filter are spans of places, each with natural windows of its own (n_i of its L_i starts, as
 * above), and n = Σ n_i: the m slots share out the natural windows, each the range [j · n / m, (j + 1) · n / m) of
 * them, and natural window v of a span is its starts from (v / n_i) · L_i to ((v + 1) / n_i) · L_i. So a second that is
 * kept counts as much in a short span as in a long one. With one span it is the formula above.
 *
 * On a grid the places are the multiples of h instead of all frames; the rest is the same.
 *
 * Memory: 9 bytes a recording, and 24 a span where starts are filtered; none for a slot.
 * Source: audiotree's windowed datasets, with whole frames instead of seconds, and parts of starts instead of strides.
 */
export class SlotTable {
  /** How many slots there are. */
  readonly length: number;
  readonly alpha: number;
  readonly grid: boolean;
  readonly recordings: RecordingTable;
  /** By rate index, in frames. */
  readonly #windows: readonly number[];
  readonly #hops: readonly number[];
  readonly #slots: PrefixSearch;
  readonly #spans: Spans | undefined;

  /** @throws {RangeError} when an option is out of its range, or there would be 2^53 slots or more. */
  constructor(recordings: RecordingTable, options: SlotOptions) {
    const { durationSeconds, hopSeconds = durationSeconds, alpha = 1, grid = false, kept } = options;
    if (!(typeof alpha === 'number' && alpha >= 0 && alpha <= 1))
      throw new RangeError(`alpha must be from 0 to 1, not ${alpha}`);
    this.alpha = alpha;
    this.grid = grid;
    this.recordings = recordings;
    this.#windows = recordings.rates.map((rate) => wholeFrames('The duration', durationSeconds, rate));
    this.#hops = recordings.rates.map((rate) => wholeFrames('The hop', hopSeconds, rate));
    this.#spans = kept === undefined ? undefined : this.#spansOf(kept);
    this.#slots = new PrefixSearch(recordings.length, (file) => this.#countSlots(file));
    this.length = this.#slots.sum;
    if (!Number.isSafeInteger(this.length)) throw new RangeError('There would be 2^53 slots or more');
  }

  /** Bytes that the table holds, beside those of the recordings. */
  get sizeBytes(): number {
    const { firstSpan, starts, counts, windowsBefore } = this.#spans ?? {};
    const arrays = [firstSpan, starts, counts, windowsBefore];
    return arrays.reduce((sum, array) => sum + (array?.byteLength ?? 0), this.#slots.sizeBytes);
  }

  /** Frames of a window at the recording's rate: w. */
  windowFrames(file: number): number {
    return this.#windows[this.recordings.rateIndex(file)]!;
  }

  /** Frames of the hop at the recording's rate: h. */
  hopFrames(file: number): number {
    return this.#hops[this.recordings.rateIndex(file)]!;
  }

  /** Natural windows of a recording, of those that a filter leaves: n. 0 if it leaves none. */
  naturalWindows(file: number): number {
    const spans = this.#spans;
    if (spans === undefined) return Math.floor(this.#usable(file) / this.hopFrames(file)) + 1;
    const end = spans.firstSpan[file + 1]!;
    return end === spans.firstSpan[file] ? 0 : spans.windowsBefore[end - 1]! + spans.windows(end - 1, this.#unit(file));
  }

  /** Slots of a recording: m. 0 if a filter leaves nothing of it. */
  slotsOf(file: number): number {
    return this.#slots.before[file + 1]! - this.#slots.before[file]!;
  }

  /** The first slot of a recording. */
  firstSlot(file: number): number {
    return this.#slots.before[file]!;
  }

  /**
   * The recording that a slot belongs to, by binary search among the recordings.
   *
   * @throws {RangeError} when there is no such slot.
   */
  fileOf(slot: number): number {
    if (!(Number.isSafeInteger(slot) && slot >= 0 && slot < this.length)) {
      throw new RangeError(`There is no slot ${slot}: they are 0 to ${this.length - 1}`);
    }
    return this.#slots.find(slot);
  }

  /** The slot's recording and which of its slots it is. @throws {RangeError} when there is no such slot. */
  placeOf(slot: number): SlotPlace {
    const file = this.fileOf(slot);
    return { file, slotInFile: slot - this.#slots.before[file]! };
  }

  /**
   * The frame at which a window of a slot starts.
   *
   * @param phase from 0 (the first start of the slot's part) to 1 (the last)
   */
  startFrame(file: number, slotInFile: number, phase: number): number {
    const slots = this.slotsOf(file);
    const scale = this.grid ? this.hopFrames(file) : 1;
    const spans = this.#spans;
    const span = spans === undefined ? 0 : spans.firstSpan[file]!;
    if (spans !== undefined && spans.firstSpan[file + 1]! - span > 1) {
      return scale * this.#placeAmongSpans(spans, file, slotInFile, slots, phase);
    }
    const first = spans === undefined ? 0 : spans.starts[span]!;
    const count = spans === undefined ? this.#places(file) : spans.counts[span]!;
    return scale * (first + placeInPart(slotInFile, slots, count, phase));
  }

  /**
   * Frames at which windows of a recording may start, before a filter: usable + 1, or the multiples of the hop among
   * them.
   */
  #places(file: number): number {
    const usable = this.#usable(file);
    return this.grid ? Math.floor(usable / this.hopFrames(file)) + 1 : usable + 1;
  }

  #usable(file: number): number {
    return Math.max(0, this.recordings.frames(file) - this.windowFrames(file));
  }

  /** Places from one natural window to the next. */
  #unit(file: number): number {
    return this.grid ? 1 : this.hopFrames(file);
  }

  #countSlots(file: number): number {
    const slots = slotCount(this.naturalWindows(file), this.alpha);
    if (slots <= MAX_SLOTS_IN_FILE) return slots;
    throw new RangeError(`Cannot lay ${slots} slots over "${this.recordings.path(file)}": at most 2^32`);
  }

  /**
   * The slot's range of natural windows, and the place in it that the phase points at; of the end of the range, the
   * place just before.
   */
  #placeAmongSpans(spans: Spans, file: number, slotInFile: number, slots: number, phase: number): number {
    const window = ((slotInFile + phase) * this.naturalWindows(file)) / slots;
    const from = spans.firstSpan[file]!;
    const to = spans.firstSpan[file + 1]!;
    let span = lastAtMost(spans.windowsBefore, window, from, to);
    const isEnd = phase === 1;
    if (isEnd && spans.windowsBefore[span] === window) span -= 1;
    const count = spans.counts[span]!;
    const place = ((window - spans.windowsBefore[span]!) * count) / spans.windows(span, this.#unit(file));
    return spans.starts[span]! + Math.min(count - 1, isEnd ? Math.ceil(place) - 1 : Math.floor(place));
  }

  #spansOf(kept: KeptStarts): Spans {
    const { recordings } = this;
    if (kept.length !== recordings.length) {
      throw new RangeError(`Starts are kept of ${kept.length} recordings, and there are ${recordings.length}`);
    }
    const spans = new Spans(kept.firstSpan.length, kept.starts.length);
    let count = 0;
    for (let file = 0; file < recordings.length; file += 1) {
      const end = kept.firstSpan[file + 1]!;
      if (end > kept.firstSpan[file]! && kept.ends[end - 1]! > this.#usable(file) + 1) {
        throw new RangeError(`"${recordings.path(file)}" keeps a start at which no window fits`);
      }
      const scale = this.grid ? this.hopFrames(file) : 1;
      let windows = 0;
      for (let span = kept.firstSpan[file]!; span < end; span += 1) {
        const first = Math.ceil(kept.starts[span]! / scale);
        const places = Math.ceil(kept.ends[span]! / scale) - first;
        if (places === 0) continue;
        spans.starts[count] = first;
        spans.counts[count] = places;
        spans.windowsBefore[count] = windows;
        windows += spans.windows(count, this.#unit(file));
        count += 1;
      }
      spans.firstSpan[file + 1] = count;
    }
    return spans;
  }
}

/** Spans of places (frames, or multiples of the hop on a grid) at which windows may start. */
class Spans {
  readonly firstSpan: Uint32Array;
  readonly starts: Float64Array;
  readonly counts: Float64Array;
  /** Natural windows in the spans before it of the same recording. */
  readonly windowsBefore: Float64Array;

  constructor(firstSpans: number, spans: number) {
    this.firstSpan = new Uint32Array(firstSpans);
    this.starts = new Float64Array(spans);
    this.counts = new Float64Array(spans);
    this.windowsBefore = new Float64Array(spans);
  }

  /** Natural windows of a span, `unit` places apart. */
  windows(span: number, unit: number): number {
    return Math.floor((this.counts[span]! - 1) / unit) + 1;
  }
}

/**
 * max(1, round(n^alpha)), and 0 for 0. Square roots are rounded correctly; other powers as the engine's `**` gives
 * them.
 */
export function slotCount(naturalWindows: number, alpha: number): number {
  if (naturalWindows === 0 || alpha === 0) return Math.min(1, naturalWindows);
  if (alpha === 1) return naturalWindows;
  return Math.max(1, Math.round(alpha === 0.5 ? Math.sqrt(naturalWindows) : naturalWindows ** alpha));
}

function wholeFrames(what: string, seconds: number | string, rate: number): number {
  const frames = framesOf(seconds, rate);
  if (frames >= 1) return frames;
  throw new RangeError(
    Number(seconds) > 0
      ? `${what} of ${seconds} s is less than a frame at ${rate} Hz`
      : `${what} must be more than 0 seconds, not ${seconds}`,
  );
}
