/** A filter of second order: y = b0 x + s1, s1 = b1 x - a1 y + s2, s2 = b2 x - a2 y. */
export interface Biquad {
  b0: number;
  b1: number;
  b2: number;
  a1: number;
  a2: number;
}

/** Hz: the shelf stands at 1.7 kHz, and below 3.4 kHz there would be no such filter. */
export const LOWEST_WEIGHTED_RATE = 4000;

/**
 * The two filters of the K-weighting, in their order: a shelf for the head and a high-pass.
 *
 * ITU-R BS.1770-4 gives coefficients for 48 kHz alone. For other rates the analogue filters behind them are transformed anew
 * (bilinearly, with the frequency kept); their parameters are those that give back the table of the standard at 48 kHz.
 *
 * @param sampleRate Hz, `LOWEST_WEIGHTED_RATE` at least.
 */
export function kWeighting(sampleRate: number): [shelf: Biquad, highPass: Biquad] {
  return [shelfOf(sampleRate), highPassOf(sampleRate)];
}

/** BS.1770-4, Annex 1, Table 1: 4 dB more above 1.7 kHz. */
function shelfOf(sampleRate: number): Biquad {
  const k = Math.tan((Math.PI * 1681.974450955533) / sampleRate);
  const q = 0.7071752369554196;
  const high = 10 ** (3.999843853973347 / 20);
  const band = high ** 0.4996667741545416;
  const a0 = 1 + k / q + k * k;
  return {
    b0: (high + (band * k) / q + k * k) / a0,
    b1: (2 * (k * k - high)) / a0,
    b2: (high - (band * k) / q + k * k) / a0,
    a1: (2 * (k * k - 1)) / a0,
    a2: (1 - k / q + k * k) / a0,
  };
}

/** BS.1770-4, Annex 1, Table 2: less below 100 Hz; its numerator is 1, -2, 1. */
function highPassOf(sampleRate: number): Biquad {
  const k = Math.tan((Math.PI * 38.13547087602444) / sampleRate);
  const q = 0.5003270373238773;
  const a0 = 1 + k / q + k * k;
  return { b0: 1, b1: -2, b2: 1, a1: (2 * (k * k - 1)) / a0, a2: (1 - k / q + k * k) / a0 };
}
