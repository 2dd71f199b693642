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
 * Most of a signal is too low to hold its peak: no interpolated sample is higher than the samples around it times the sum of
 * the filter's magnitudes, so only where that is above the highest point so far is anything interpolated. The result is the same.
 */
export class TruePeakMeter {
  /** Linear; 1 is full scale. */
  peak = 0;
  readonly #isInterpolated: boolean;
  /** The last samples of what was pushed, then what is pushed. */
  #samples = new Float32Array(TAPS + 4096);
  /** The same, as bits: those of floats are in the order of their magnitudes. */
  #bits = new Int32Array(this.#samples.buffer);

  /** @param sampleRate Hz */
  constructor(sampleRate: number) {
    this.#isInterpolated = sampleRate < NO_INTERPOLATION_HZ;
  }

  /** Takes the first `count` samples; blocks come in the order of time. */
  push(block: Float32Array, count: number): void {
    if (TAPS + count > this.#samples.length) {
      const larger = new Float32Array(TAPS + count);
      larger.set(this.#samples.subarray(0, TAPS));
      this.#samples = larger;
      this.#bits = new Int32Array(larger.buffer);
    }
    this.#samples.set(block.subarray(0, count), TAPS);
    this.#look(count);
    this.#samples.copyWithin(0, count, count + TAPS);
  }

  /** Looks at what lies between the last samples and the silence behind them. */
  finish(): void {
    this.push(new Float32Array(TAPS), TAPS);
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
    for (let at = run; at < runEnd; at += 1) {
      this.#raise(samples[at] ?? 0);
      if (!this.#isInterpolated) continue;
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
    return sinc * (bessel0(KAISER_BETA * Math.sqrt(1 - (x / REACH) ** 2)) / bessel0(KAISER_BETA));
  });
  const gain = taps.reduce((sum, tap) => sum + tap, 0);
  return taps.map((tap) => tap / gain);
}

/** The modified Bessel function of the first kind and order 0, by its power series. */
function bessel0(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-17; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

const QUARTER = interpolator(0.25);
const HALF = interpolator(0.5);
const THREE_QUARTERS = interpolator(0.75);
/** No interpolated sample is higher than the highest of those around it times this. */
const GROWTH = Math.max(
  ...[QUARTER, HALF, THREE_QUARTERS].map((taps) => taps.reduce((sum, tap) => sum + Math.abs(tap), 0)),
);

const float = new Float32Array(1);
const floatBits = new Int32Array(float.buffer);

/** The bits of the largest float that is not above a number. */
function bitsOf(value: number): number {
  float[0] = value;
  return (floatBits[0] ?? 0) - ((float[0] ?? 0) > value ? 1 : 0);
}
