import { compareCodePoints } from '../tar/order.js';
import type { FileFacts, FileLoudness, ScanFailure } from './scan-types.js';

/** Values that a file has of its loudness, in the order of their column. */
const LOUDNESS_KEYS = ['integratedLufs', 'rangeLu', 'maxMomentaryLufs', 'maxShortTermLufs', 'truePeakDb'] as const;

/** Below these the order of UTF-16 units, in which texts are sorted far faster, is that of code points. */
const HIGH_UNITS = /[\ud800-\uffff]/;

/** Where the loudness of a file's windows stands in the spool. */
export interface SpoolPlace {
  offsetBytes: number;
  count: number;
}

/**
 * The files of a scan in the order of their paths, and what is known of each: about 80 bytes a file in typed arrays, and its path.
 */
export class ScanTable {
  /** As the scan holds them; sorted by code points, none twice. */
  readonly paths: readonly string[];
  readonly failures = new Map<number, ScanFailure>();
  readonly #isBefore: (a: string, b: string) => boolean;
  readonly #frames: Float64Array;
  readonly #sizes: Float64Array;
  readonly #mtimes: Float64Array;
  readonly #rates: Uint32Array;
  readonly #channels: Uint16Array;
  /** 1-based number of container and codec; 0 where nothing is known of the file. */
  readonly #kinds: Uint16Array;
  readonly #kindNames: { container: string; codec: string }[] = [];
  readonly #loudness: Float64Array;
  readonly #spoolOffsets: Float64Array;
  readonly #windowCounts: Uint32Array;

  /** @param paths in any order; one may stand there twice. */
  constructor(paths: readonly string[]) {
    const hasHigh = paths.some((name) => HIGH_UNITS.test(name));
    this.#isBefore = hasHigh ? (a, b) => compareCodePoints(a, b) < 0 : (a, b) => a < b;
    const sorted = hasHigh ? paths.toSorted(compareCodePoints) : paths.toSorted();
    this.paths = sorted.filter((name, index, all) => index === 0 || name !== all[index - 1]);
    const { length } = this.paths;
    this.#frames = new Float64Array(length);
    this.#sizes = new Float64Array(length);
    this.#mtimes = new Float64Array(length);
    this.#rates = new Uint32Array(length);
    this.#channels = new Uint16Array(length);
    this.#kinds = new Uint16Array(length);
    this.#loudness = new Float64Array(length * LOUDNESS_KEYS.length).fill(NaN);
    this.#spoolOffsets = new Float64Array(length).fill(-1);
    this.#windowCounts = new Uint32Array(length);
  }

  get count(): number {
    return this.paths.length;
  }

  pathOf(index: number): string {
    return this.paths[index] ?? '';
  }

  /** Where a path stands; undefined where it is no file of the scan. */
  find(name: string): number | undefined {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#isBefore(this.pathOf(middle), name)) low = middle + 1;
      else high = middle;
    }
    return this.paths[low] === name ? low : undefined;
  }

  /** Notes what is known of a file, in place of what was. */
  set(index: number, facts: FileFacts, loudness: FileLoudness | undefined, place: SpoolPlace | undefined): void {
    this.failures.delete(index);
    this.#frames[index] = facts.frames;
    this.#sizes[index] = facts.sizeBytes;
    this.#mtimes[index] = facts.mtimeMicros;
    this.#rates[index] = facts.sampleRate;
    this.#channels[index] = facts.channels;
    this.#kinds[index] = this.#kindOf(facts) + 1;
    const values = LOUDNESS_KEYS.map((key) => loudness?.[key] ?? NaN);
    this.#loudness.set(values, index * LOUDNESS_KEYS.length);
    this.#spoolOffsets[index] = place?.offsetBytes ?? -1;
    this.#windowCounts[index] = place?.count ?? 0;
  }

  fail(index: number, failure: ScanFailure): void {
    this.#kinds[index] = 0;
    this.failures.set(index, failure);
  }

  /** Undefined for a file that failed or was not read yet. */
  factsOf(index: number): FileFacts | undefined {
    const kind = this.#kindNames[(this.#kinds[index] ?? 0) - 1];
    if (kind === undefined) return undefined;
    return {
      frames: this.#frames[index] ?? 0,
      sampleRate: this.#rates[index] ?? 0,
      channels: this.#channels[index] ?? 0,
      ...kind,
      sizeBytes: this.#sizes[index] ?? 0,
      mtimeMicros: this.#mtimes[index] ?? 0,
    };
  }

  /** Undefined where loudness was not measured. */
  loudnessOf(index: number): FileLoudness | undefined {
    const from = index * LOUDNESS_KEYS.length;
    const [integratedLufs = NaN, rangeLu = NaN, maxMomentaryLufs = NaN, maxShortTermLufs = NaN, truePeakDb = NaN] =
      this.#loudness.subarray(from, from + LOUDNESS_KEYS.length);
    if (Number.isNaN(integratedLufs)) return undefined;
    const range = Number.isNaN(rangeLu) ? undefined : rangeLu;
    return { integratedLufs, rangeLu: range, maxMomentaryLufs, maxShortTermLufs, truePeakDb };
  }

  spoolPlaceOf(index: number): SpoolPlace | undefined {
    const offsetBytes = this.#spoolOffsets[index] ?? -1;
    return offsetBytes < 0 ? undefined : { offsetBytes, count: this.#windowCounts[index] ?? 0 };
  }

  #kindOf({ container, codec }: FileFacts): number {
    const known = this.#kindNames.findIndex((kind) => kind.container === container && kind.codec === codec);
    return known >= 0 ? known : this.#kindNames.push({ container, codec }) - 1;
  }
}
