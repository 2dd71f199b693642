import { kaiser } from './kaiser.js';

/** Samples on each side that an interpolated one is made of. */
const REACH = 8;
const TAPS = 2 * REACH;
const KAISER_BETA = 5;
/** Samples that are looked at together, whether a peak may lie among them; more than `TAPS`. */
const RUN_SAMPLES = 32;
/** From this rate on, what lies between two samples is hardly higher than they are (BS.1770-4, Annex 2). */
const NO_INTERPOLATION_HZ = 192_000;

/**
 * The highest point of one channel, between its samples too: the signal is interpolated to four times its rate (BS.1770-4, Annex 2).
 *
 * Most of a signal is too low to hold its peak, or too smooth to rise between two samples above both, so what lies between is bounded
 * first, and interpolated only where the bound is above the highest point so far. The result is the same.
 */
export class TruePeakMeter {
  /** Linear; 1 is full scale. */
  peak = 0;
  readonly #isInterpolated: boolean;
  /** None of the last samples is higher. */
  #highestBefore = 0;
  /** The last samples of what was pushed, then what is pushed. */
  #samples = new Float32Array(TAPS + 4096);
  /** The same, as bits: those of floats are in the order of their magnitudes. */
  #bits = new Int32Array(this.#samples.buffer);

  /** @param sampleRate Hz */
  constructor(sampleRate: number) {
    this.#isInterpolated = sampleRate < NO_INTERPOLATION_HZ;
  }

  /**
   * Takes a part of a block; parts come in the order of time.
   *
   * @param highest none of these samples is higher: most parts are passed over because of that.
   */
  push(block: Float32Array, from: number, to: number, highest = Infinity): void {
    const count = to - from;
    const bound = Math.max(highest, this.#highestBefore) * (this.#isInterpolated ? GROWTH : 1);
    this.#highestBefore = count >= TAPS ? highest : Math.max(highest, this.#highestBefore);
    if (bound > this.peak) this.#take(block, from, to);
    else this.#passOver(block, from, to);
  }

  /** Looks at what lies between the last samples and the silence behind them. */
  finish(): void {
    this.push(new Float32Array(TAPS), 0, TAPS, 0);
  }

  #take(block: Float32Array, from: number, to: number): void {
    const count = to - from;
    if (TAPS + count > this.#samples.length) {
      const larger = new Float32Array(TAPS + count);
      larger.set(this.#samples.subarray(0, TAPS));
      this.#samples = larger;
      this.#bits = new Int32Array(larger.buffer);
    }
    this.#samples.set(block.subarray(from, to), TAPS);
    this.#look(count);
    this.#samples.copyWithin(0, count, count + TAPS);
  }

  #passOver(block: Float32Array, from: number, to: number): void {
    const samples = this.#samples;
    const kept = Math.max(0, TAPS - (to - from));
    samples.copyWithin(0, TAPS - kept, TAPS);
    for (let at = kept; at < TAPS; at += 1) samples[at] = block[to - TAPS + at] ?? 0;
  }

  /**
   * Runs begin `REACH` samples before what is pushed. A gap behind a sample is filled from that one, those before and those behind it:
   * all lie in its run and the two beside it.
   */
  #look(count: number): void {
    let isBeforeHigh = this.#isHigh(0, REACH);
    let isHigh = this.#isHigh(REACH, REACH + Math.min(RUN_SAMPLES, count));
    for (let run = REACH; run < count + REACH; run += RUN_SAMPLES) {
      const runEnd = Math.min(run + RUN_SAMPLES, count + REACH);
      const isAfterHigh = this.#isHigh(runEnd, Math.min(runEnd + RUN_SAMPLES, count + TAPS));
      if (isBeforeHigh || isHigh || isAfterHigh) this.#interpolate(run, runEnd);
      isBeforeHigh = isHigh;
      isHigh = isAfterHigh;
    }
  }

  /** Whether a sample is high enough for a peak beside it; without branches in the loop, since all samples pass here. */
  #isHigh(from: number, to: number): boolean {
    const bits = this.#bits;
    const limit = bitsOf(this.#isInterpolated ? this.peak / GROWTH : this.peak);
    let signs = 0;
    for (let at = from; at < to; at += 1) signs |= limit - ((bits[at] ?? 0) & 0x7fff_ffff);
    return signs < 0;
  }

  #interpolate(run: number, runEnd: number): void {
    const samples = this.#samples;
    for (let at = run; at < runEnd; at += 1) this.#raise(samples[at] ?? 0);
    if (!this.#isInterpolated || this.#isBounded(run - REACH + 1, runEnd + REACH)) return;
    for (let at = run; at < runEnd; at += 1) {
      let first = 0;
      let second = 0;
      let third = 0;
      const from = at - REACH + 1;
      for (let tap = 0; tap < TAPS; tap += 1) {
        const sample = samples[from + tap] ?? 0;
        first += (QUARTER[tap] ?? 0) * sample;
        second += (HALF[tap] ?? 0) * sample;
        third += (THREE_QUARTERS[tap] ?? 0) * sample;
      }
      this.#raise(first);
      this.#raise(second);
      this.#raise(third);
    }
  }

  /**
   * Whether no sample that is interpolated of these can be above the peak. Where the second differences are small, it hardly departs
   * from the line between its neighbours.
   */
  #isBounded(from: number, to: number): boolean {
    const samples = this.#samples;
    let highest = 0;
    let bent = 0;
    let before = samples[from] ?? 0;
    let sample = samples[from + 1] ?? 0;
    for (let at = from + 2; at < to; at += 1) {
      const after = samples[at] ?? 0;
      const height = Math.abs(sample);
      const bend = Math.abs(before - sample - (sample - after));
      if (height > highest) highest = height;
      if (bend > bent) bent = bend;
      before = sample;
      sample = after;
    }
    highest = Math.max(highest, Math.abs(samples[from] ?? 0), Math.abs(sample));
    return highest * STRAIGHT_GROWTH + bent * BEND_GROWTH <= this.peak;
  }

  /** What is no number, or infinite, is no peak. */
  #raise(sample: number): void {
    const height = Math.abs(sample);
    if (height > this.peak && height !== Infinity) this.peak = height;
  }
}

/** A sinc under a Kaiser window that gives the value a part of a sample behind the middle, with a gain of 1 for a constant. */
function interpolator(part: number): Float64Array {
  const taps = Float64Array.from({ length: TAPS }, (_, tap) => {
    const x = REACH - 1 + part - tap;
    const sinc = Math.sin(Math.PI * x) / (Math.PI * x);
    return sinc * kaiser(x / REACH, KAISER_BETA);
  });
  const gain = taps.reduce((sum, tap) => sum + tap, 0);
  return taps.map((tap) => tap / gain);
}

const QUARTER = interpolator(0.25);
const HALF = interpolator(0.5);
const THREE_QUARTERS = interpolator(0.75);
/** No interpolated sample is higher than the highest of those around it times this. */
const GROWTH = Math.max(
  ...[QUARTER, HALF, THREE_QUARTERS].map((taps) => taps.reduce((sum, tap) => sum + Math.abs(tap), 0)),
);

/**
 * How far an interpolated sample departs from the line between its neighbours, for each unit of the largest second difference around
 * it; and how much of the samples' height comes on top, since the taps do not give back a straight line to the last digit.
 *
 * With r the taps less those of the line, whose sum is 0, and t their sum summed up twice: the departure is the sum of the second
 * differences times t, and the last first difference times the last t.
 */
function boundOf(taps: Float64Array, part: number): { bend: number; straight: number } {
  const line = (tap: number): number => (tap === REACH - 1 ? 1 - part : tap === REACH ? part : 0);
  let once = 0;
  let twice = 0;
  let bend = 0;
  for (const [tap, value] of taps.entries()) {
    if (tap === taps.length - 1) break;
    once += value - line(tap);
    twice += once;
    bend += Math.abs(twice);
  }
  return { bend, straight: 2 * Math.abs(twice) };
}

const BOUNDS = [boundOf(QUARTER, 0.25), boundOf(HALF, 0.5), boundOf(THREE_QUARTERS, 0.75)];
/** A little more than they are, for what is lost to rounding. */
const BEND_GROWTH = Math.max(...BOUNDS.map(({ bend }) => bend)) * (1 + 1e-9);
const STRAIGHT_GROWTH = (1 + Math.max(...BOUNDS.map(({ straight }) => straight))) * (1 + 1e-9);

const float = new Float32Array(1);
const floatBits = new Int32Array(float.buffer);

/** The bits of the largest float that is not above a number. */
function bitsOf(value: number): number {
  float[0] = value;
  return (floatBits[0] ?? 0) - ((float[0] ?? 0) > value ? 1 : 0);
}
