import { kaiser } from './kaiser.js';
import { FILTER_CUTOFF, KAISER_BETA, filterTaps } from './resampling-filter.js';

/** The kernel multiplies so many of them at once. */
const TAP_UNIT = 4;

const known = new Map<number, Float32Array>();

/**
 * The filter between rates of which one is `step` times the other, downwards. All outputs lie on samples of the input, and the taps are the same on
 * both sides, so that one half says it all.
 *
 * @returns the taps of a sample and of its neighbours on one side, the nearest first, and zeros behind the last.
 */
export function decimatingFilter(step: number): Float32Array {
  const filter = known.get(step) ?? makeFilter(step);
  known.set(step, filter);
  return filter;
}

function makeFilter(step: number): Float32Array {
  const band = FILTER_CUTOFF / step;
  const taps = Math.ceil(filterTaps(step, 1) / band);
  const values = Float64Array.from({ length: Math.ceil(taps / 2) }, (_, distance) => {
    const x = Math.PI * band * distance;
    return (x === 0 ? 1 : Math.sin(x) / x) * kaiser((2 * distance) / taps, KAISER_BETA);
  });
  const neighbours = values.subarray(1);
  const gain = (values[0] ?? 0) + 2 * neighbours.reduce((sum, value) => sum + value, 0);
  const filter = new Float32Array(1 + TAP_UNIT * Math.ceil(neighbours.length / TAP_UNIT));
  filter.set(values.map((value) => value / gain));
  return filter;
}
