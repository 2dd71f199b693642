/** States of a filter below this are set to 0: numbers that small are slow to reckon with, and nothing hears them. */
const SILENT_STATE = 1e-30;

/**
 * The K-weighting of one channel: a shelf for the head and a high-pass, with their memory of the samples before.
 *
 * ITU-R BS.1770-4 gives coefficients for 48 kHz alone. For other rates the analogue filters behind them are transformed anew
 * (bilinearly, with the frequency kept); their parameters are those that give back the table of the standard at 48 kHz.
 */
export class KWeighting {
  /** No sample that the last call of `energy` took, before its weighting, is higher than this. */
  highest = 0;
  readonly #shelf: readonly [b0: number, b1: number, b2: number, a1: number, a2: number];
  readonly #highPass: readonly [a1: number, a2: number];
  #shelf1 = 0;
  #shelf2 = 0;
  #high1 = 0;
  #high2 = 0;

  /** @param sampleRate Hz of the samples to come. */
  constructor(sampleRate: number) {
    this.#shelf = shelfOf(sampleRate);
    this.#highPass = highPassOf(sampleRate);
  }

  /**
   * The sum of the squares of the weighted samples of a part of a block. What is no number counts as silence.
   *
   * @param from index of the first sample; the parts of a signal must come in its order, without gaps.
   */
  energy(samples: Float32Array, from: number, to: number): number {
    const before = [this.#shelf1, this.#shelf2, this.#high1, this.#high2] as const;
    this.highest = 0;
    const sum = this.#run(samples, from, to);
    if (Number.isFinite(sum)) return sum;
    [this.#shelf1, this.#shelf2, this.#high1, this.#high2] = before;
    this.highest = Infinity;
    const numbers = samples.slice(from, to).map((sample) => (Number.isFinite(sample) ? sample : 0));
    return this.#run(numbers, 0, numbers.length);
  }

  /**
   * Two filters in transposed direct form II. Their states are reckoned out of the input and the states before, and not out of the
   * output, so that a sample waits less for the one before.
   */
  #run(samples: Float32Array, from: number, to: number): number {
    const [b0, b1, b2, a1, a2] = this.#shelf;
    const [c1, c2] = this.#highPass;
    const [into1, into2] = [b1 - a1 * b0, b2 - a2 * b0];
    const [high1, high2] = [-2 - c1, 1 - c2];
    let s1 = this.#shelf1;
    let s2 = this.#shelf2;
    let h1 = this.#high1;
    let h2 = this.#high2;
    let sum = 0;
    let highest = 0;
    for (let index = from; index < to; index += 1) {
      const sample = samples[index] ?? 0;
      const shelved = b0 * sample + s1;
      const weighted = shelved + h1;
      sum += weighted * weighted;
      const s1Before = s1;
      s1 = into1 * sample + s2 - a1 * s1Before;
      s2 = into2 * sample - a2 * s1Before;
      const h1Before = h1;
      h1 = high1 * shelved + h2 - c1 * h1Before;
      h2 = high2 * shelved - c2 * h1Before;
      const height = Math.abs(sample);
      if (height > highest) highest = height;
    }
    this.highest = Math.max(this.highest, highest);
    this.#shelf1 = audible(s1);
    this.#shelf2 = audible(s2);
    this.#high1 = audible(h1);
    this.#high2 = audible(h2);
    return sum;
  }
}

function audible(state: number): number {
  return Math.abs(state) < SILENT_STATE ? 0 : state;
}

/** BS.1770-4, Annex 1, Table 1: 4 dB more above 1.7 kHz. */
function shelfOf(sampleRate: number): [number, number, number, number, number] {
  const k = Math.tan((Math.PI * 1681.974450955533) / sampleRate);
  const q = 0.7071752369554196;
  const high = 10 ** (3.999843853973347 / 20);
  const band = high ** 0.4996667741545416;
  const a0 = 1 + k / q + k * k;
  return [
    (high + (band * k) / q + k * k) / a0,
    (2 * (k * k - high)) / a0,
    (high - (band * k) / q + k * k) / a0,
    (2 * (k * k - 1)) / a0,
    (1 - k / q + k * k) / a0,
  ];
}

/** BS.1770-4, Annex 1, Table 2: less below 100 Hz; its numerator is 1, -2, 1. */
function highPassOf(sampleRate: number): [number, number] {
  const k = Math.tan((Math.PI * 38.13547087602444) / sampleRate);
  const q = 0.5003270373238773;
  const a0 = 1 + k / q + k * k;
  return [(2 * (k * k - 1)) / a0, (1 - k / q + k * k) / a0];
}
