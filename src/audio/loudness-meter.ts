import { integratedLoudness, loudnessOf, loudnessRange } from './loudness-gates.js';
import { MeasuredChannels } from './measured-channels.js';
import { TruePeakMeter } from './true-peak.js';

/** Loudness of a whole signal, by ITU-R BS.1770-4 and EBU R 128. */
export interface LoudnessSummary {
  /** Gated, in LUFS; -Infinity where nothing passes the gates, as of silence and of less than 400 ms. */
  integratedLufs: number;
  /** In LU (EBU Tech 3342); undefined where there are not 3 s that pass its gates. */
  rangeLu: number | undefined;
  /** The loudest 400 ms, looked at every 10 ms, in LUFS. */
  maxMomentaryLufs: number;
  /** The loudest 3 s, looked at every 100 ms, in LUFS. */
  maxShortTermLufs: number;
  /** In dB of full scale, between the samples too; -Infinity for silence. */
  truePeakDb: number;
}

/** Which signal is measured. */
export interface LoudnessMeterOptions {
  /** Hz of what is pushed. */
  sourceRate: number;
  /** Hz that it is brought to before it is measured. */
  sampleRate: number;
  /** What each channel counts for; 0 leaves it out. */
  weights: readonly number[];
  /** Length of the windows that are measured each for itself, in samples of the rate that is measured; undefined for none. */
  windowSamples: number | undefined;
}

/** What follows the last sample, a piece at a time. */
const SILENCE_SAMPLES = 256;
const NOTHING = new Float32Array(0);
const STEPS_A_SECOND = 100;
/** A block is 400 ms. */
const BLOCK_TENTHS = 4;
/** Short-term loudness is that of 3 s. */
const SHORT_TENTHS = 30;
const STEPS_A_TENTH = 10;

/**
 * Measures a signal as it comes, in memory that grows by 16 bytes for each 100 ms of it.
 *
 * The energy of its K-weighted samples is summed up between the marks of two rulers, and blocks are put together of such sums:
 *
 * ```
 * file     |·········|·········|·········|…   every 10 ms from its start
 * windows  |              |              |…   every 100 ms from the start of each window
 * ```
 */
export class LoudnessMeter implements Disposable {
  readonly #weights: readonly number[];
  readonly #channels: MeasuredChannels;
  readonly #peaks: readonly TruePeakMeter[];
  readonly #file: FileRuler;
  readonly #windows: WindowRuler | undefined;
  readonly #rates: { source: number; target: number };
  #pushed = 0;
  #position = 0;

  constructor({ sourceRate, sampleRate, weights, windowSamples }: LoudnessMeterOptions) {
    this.#weights = weights;
    this.#rates = { source: sourceRate, target: sampleRate };
    this.#channels = new MeasuredChannels(weights.length, sourceRate, sampleRate);
    this.#peaks = weights.map(() => new TruePeakMeter(sampleRate));
    this.#file = new FileRuler(sampleRate);
    this.#windows = windowSamples === undefined ? undefined : new WindowRuler(sampleRate, windowSamples);
  }

  /** Takes the first `count` samples of each channel; they are not kept. */
  push(channels: readonly Float32Array[], count: number): void {
    for (let from = 0; from < count;) {
      const { taken, made } = this.#channels.push(channels, from, count);
      this.#measure(made);
      from += taken;
    }
    this.#pushed += count;
  }

  /** The signal has ended. */
  finish(): { summary: LoudnessSummary; windows: Float32Array } {
    const { source, target } = this.#rates;
    const length = Math.ceil((this.#pushed * target) / source);
    while (this.#position < length) {
      const { made } = this.#channels.push(undefined, 0, SILENCE_SAMPLES);
      this.#measure(Math.min(made, length - this.#position));
    }
    for (const peak of this.#peaks) peak.finish();
    const highest = Math.max(0, ...this.#peaks.map(({ peak }) => peak));
    const summary = { ...this.#file.summary(), truePeakDb: highest > 0 ? 20 * Math.log10(highest) : -Infinity };
    return { summary, windows: this.#windows?.values() ?? new Float32Array(0) };
  }

  [Symbol.dispose](): void {
    this.#channels[Symbol.dispose]();
  }

  /** Measures the first so many samples of the channels. */
  #measure(count: number): void {
    for (let from = 0; from < count;) {
      const mark = Math.min(this.#file.mark, this.#windows?.mark ?? Infinity);
      const to = Math.min(count, from + mark - this.#position);
      const energy = this.#energy(from, to);
      this.#position += to - from;
      this.#file.add(energy, this.#position);
      this.#windows?.add(energy, this.#position);
      from = to;
    }
  }

  #energy(from: number, to: number): number {
    let energy = 0;
    for (let index = 0; index < this.#weights.length; index += 1) {
      const weight = this.#weights[index] ?? 0;
      if (weight > 0) energy += weight * this.#channels.energy(index, from, to);
      const highest = weight > 0 ? this.#channels.highest(index) : Infinity;
      this.#peaks[index]?.push(this.#channels.samples[index] ?? NOTHING, from, to, highest);
    }
    return energy;
  }
}

/** Marks every 10 ms of the signal, and what its blocks add up to. */
class FileRuler {
  /** Position of the next mark. */
  mark: number;
  readonly #sampleRate: number;
  readonly #blocks = new NumberList();
  readonly #shortBlocks = new NumberList();
  /** Energies of the last steps of 10 ms and of 100 ms; what came first is overwritten first. */
  readonly #steps = new Float64Array(BLOCK_TENTHS * STEPS_A_TENTH);
  readonly #tenths = new Float64Array(SHORT_TENTHS);
  #stepCount = 0;
  #energy = 0;
  #tenthEnergy = 0;
  #maxMomentary = 0;
  #maxShortTerm = 0;

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
    this.mark = this.#markOf(1);
  }

  /** Takes the energy of what lies between the last mark or call and a position, which is the next mark at most. */
  add(energy: number, position: number): void {
    this.#energy += energy;
    if (position === this.mark) this.#step();
  }

  summary(): Omit<LoudnessSummary, 'truePeakDb'> {
    return {
      integratedLufs: integratedLoudness(this.#blocks.values()),
      rangeLu: loudnessRange(this.#shortBlocks.values()),
      maxMomentaryLufs: loudnessOf(this.#maxMomentary),
      maxShortTermLufs: loudnessOf(this.#maxShortTerm),
    };
  }

  #step(): void {
    this.#steps[this.#stepCount % this.#steps.length] = this.#energy;
    this.#tenthEnergy += this.#energy;
    this.#energy = 0;
    this.#stepCount += 1;
    const count = this.#stepCount;
    this.mark = this.#markOf(count + 1);
    const isTenth = count % STEPS_A_TENTH === 0;
    if (count >= this.#steps.length) {
      // Summed anew each time: what was added to a running sum and taken off again would leave its rounding behind.
      const block = sumOf(this.#steps) / (this.#markOf(count) - this.#markOf(count - this.#steps.length));
      this.#maxMomentary = Math.max(this.#maxMomentary, block);
      if (isTenth) this.#blocks.push(block);
    }
    if (isTenth) this.#endTenth(count / STEPS_A_TENTH);
  }

  #endTenth(tenth: number): void {
    this.#tenths[(tenth - 1) % SHORT_TENTHS] = this.#tenthEnergy;
    this.#tenthEnergy = 0;
    if (tenth < SHORT_TENTHS) return;
    const samples = this.#markOf(tenth * STEPS_A_TENTH) - this.#markOf((tenth - SHORT_TENTHS) * STEPS_A_TENTH);
    const block = sumOf(this.#tenths) / samples;
    this.#shortBlocks.push(block);
    this.#maxShortTerm = Math.max(this.#maxShortTerm, block);
  }

  /** Where the mark of a step lies; rounded, so that they keep in time at any rate. */
  #markOf(step: number): number {
    return Math.round((step * this.#sampleRate) / STEPS_A_SECOND);
  }
}

/** Marks every 100 ms of each window and its end, and the windows' loudness. */
class WindowRuler {
  mark: number;
  readonly #sampleRate: number;
  readonly #windowSamples: number;
  readonly #values = new NumberList();
  /** Energies of the whole tenths of the window that is under way. */
  #tenths: number[] = [];
  #windowStart = 0;
  #energy = 0;

  constructor(sampleRate: number, windowSamples: number) {
    this.#sampleRate = sampleRate;
    this.#windowSamples = windowSamples;
    this.mark = this.#nextMark();
  }

  add(energy: number, position: number): void {
    this.#energy += energy;
    if (position < this.mark) return;
    const isWhole = position - this.#windowStart === this.#markOf(this.#tenths.length + 1);
    if (isWhole) this.#tenths.push(this.#energy);
    this.#energy = 0;
    if (position - this.#windowStart === this.#windowSamples) {
      this.#values.push(this.#loudness());
      this.#tenths = [];
      this.#windowStart = position;
    }
    this.mark = this.#nextMark();
  }

  values(): Float32Array {
    return Float32Array.from(this.#values.values());
  }

  #loudness(): number {
    const count = Math.max(0, this.#tenths.length - BLOCK_TENTHS + 1);
    const blocks = Float64Array.from({ length: count }, (_, first) => {
      const samples = this.#markOf(first + BLOCK_TENTHS) - this.#markOf(first);
      return sumOf(this.#tenths.slice(first, first + BLOCK_TENTHS)) / samples;
    });
    return integratedLoudness(blocks);
  }

  #nextMark(): number {
    return this.#windowStart + Math.min(this.#markOf(this.#tenths.length + 1), this.#windowSamples);
  }

  #markOf(tenth: number): number {
    return Math.round((tenth * this.#sampleRate) / 10);
  }
}

/** Numbers in the order that they came in. */
class NumberList {
  #numbers = new Float64Array(1024);
  #count = 0;

  push(value: number): void {
    if (this.#count === this.#numbers.length) {
      const larger = new Float64Array(this.#count * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#count] = value;
    this.#count += 1;
  }

  values(): Float64Array {
    return this.#numbers.subarray(0, this.#count);
  }
}

function sumOf(numbers: ArrayLike<number>): number {
  let sum = 0;
  for (let index = 0; index < numbers.length; index += 1) sum += numbers[index] ?? 0;
  return sum;
}
