import { greatestCommonDivisor } from './common-divisor.js';
import { kaiser } from './kaiser.js';

/**
 * A shorter filter than that for audio to be kept: what it leaves of the band's edge does not show in loudness, and measuring is to
 * cost little more than decoding. Taps count at the lower of the two rates.
 */
const TAPS = 20;
const CUTOFF = 0.95;
const KAISER_BETA = 7;
/** The kernel multiplies so many of them at once. */
const TAP_UNIT = 8;
/** Taps of all phases, 256 MiB: enough for any rate up to 3 MHz. */
const MAX_BANK = 1 << 26;

/** How a channel is brought from one rate to another: each sample is a row of a bank of filters times the samples around its place. */
export interface MeasuringFilter {
  /** The taps of each phase, one phase behind the other. */
  bank: Float32Array;
  /** Of a phase. */
  taps: number;
  /** Places between two samples of the source: the target rate, without the divisor that the rates have in common. */
  phases: number;
  /** How many phases lie between two outputs: the source rate, without that divisor. */
  step: number;
}

let last: { rates: string; filter: MeasuringFilter } | undefined;

/**
 * A windowed sinc for two rates. Phase p belongs to outputs that lie p / phases behind the sample that the tap number taps / 2 - 1 is
 * multiplied with.
 *
 * @throws Error where it would be too large.
 */
export function measuringFilter(sourceRate: number, targetRate: number): MeasuringFilter {
  const rates = `${sourceRate} ${targetRate}`;
  if (last?.rates !== rates) last = { rates, filter: makeFilter(sourceRate, targetRate) };
  return last.filter;
}

function makeFilter(sourceRate: number, targetRate: number): MeasuringFilter {
  const divisor = greatestCommonDivisor(sourceRate, targetRate);
  const phases = targetRate / divisor;
  const step = sourceRate / divisor;
  const band = Math.min(1, (CUTOFF * targetRate) / sourceRate);
  const taps = TAP_UNIT * Math.ceil(TAPS / band / TAP_UNIT);
  if (phases * taps > MAX_BANK) {
    throw new Error(`its rate of ${sourceRate} Hz is too far from the ${targetRate} Hz at which loudness is measured`);
  }
  const bank = new Float32Array(phases * taps);
  for (let phase = 0; phase < phases; phase += 1) {
    const middle = taps / 2 - 1 + phase / phases;
    const values = Float64Array.from({ length: taps }, (_, tap) => {
      const distance = tap - middle;
      return sinc(band * distance) * kaiser((2 * distance) / taps, KAISER_BETA);
    });
    const gain = values.reduce((sum, value) => sum + value, 0);
    for (let tap = 0; tap < taps; tap += 1) bank[phase * taps + tap] = (values[tap] ?? 0) / gain;
  }
  return { bank, taps, phases, step };
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}
