// Measures of signals, computed in double precision with no part of src/audio/.

/** A ratio of amplitudes in dB. */
export function decibels(ratio: number): number {
  return 20 * Math.log10(ratio);
}

/** A sine of known frequency in a signal. */
export interface SineFit {
  amplitude: number;
  /** At sample 0; a sine starts at 0. */
  phaseCycles: number;
  /** RMS of what is left without the sine. */
  residualRms: number;
}

/** Fits a sine of `cyclesPerSample` by least squares. */
export function fitSine(samples: ArrayLike<number>, cyclesPerSample: number): SineFit {
  let ss = 0;
  let cc = 0;
  let sc = 0;
  let xs = 0;
  let xc = 0;
  for (let n = 0; n < samples.length; n += 1) {
    const sine = Math.sin(2 * Math.PI * cyclesPerSample * n);
    const cosine = Math.cos(2 * Math.PI * cyclesPerSample * n);
    const x = samples[n] ?? 0;
    ss += sine * sine;
    cc += cosine * cosine;
    sc += sine * cosine;
    xs += x * sine;
    xc += x * cosine;
  }
  const determinant = ss * cc - sc * sc;
  const a = (xs * cc - xc * sc) / determinant;
  const b = (xc * ss - xs * sc) / determinant;
  let rest = 0;
  for (let n = 0; n < samples.length; n += 1) {
    const angle = 2 * Math.PI * cyclesPerSample * n;
    rest += ((samples[n] ?? 0) - a * Math.sin(angle) - b * Math.cos(angle)) ** 2;
  }
  return {
    amplitude: Math.hypot(a, b),
    phaseCycles: Math.atan2(b, a) / (2 * Math.PI),
    residualRms: Math.sqrt(rest / samples.length),
  };
}

/** Zero crossings of the sinc on each side. */
const REFERENCE_ZEROS = 400;

/**
 * A signal at any instants, counted in its samples, by a windowed sinc so long that it passes all but the last few
 * thousandths of the band. The signal is silent beyond its ends.
 *
 * @param bandwidth the band that is kept, as a part of the signal's own
 */
export function resampleAt(samples: Float64Array, instants: Float64Array, bandwidth: number): Float64Array {
  const reach = REFERENCE_ZEROS / bandwidth;
  return instants.map((instant) => {
    let sum = 0;
    const last = Math.min(samples.length - 1, Math.floor(instant + reach));
    for (let n = Math.max(0, Math.ceil(instant - reach)); n <= last; n += 1) {
      const distance = instant - n;
      sum += (samples[n] ?? 0) * bandwidth * sinc(distance * bandwidth) * nuttallWindow(distance / reach);
    }
    return sum;
  });
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** Four-term window of Nuttall (1981) with sidelobes below −93 dB, for x in ±1. */
function nuttallWindow(x: number): number {
  const angle = Math.PI * x;
  return 0.355768 + 0.487396 * Math.cos(angle) + 0.144232 * Math.cos(2 * angle) + 0.012604 * Math.cos(3 * angle);
}
