/**
 * A Kaiser window: 1 in the middle.
 *
 * @param x place from -1, its beginning, to 1, its end.
 * @param beta the higher, the less it lets through beside the band, and the wider the band's edge.
 */
export function kaiser(x: number, beta: number): number {
  return Math.abs(x) > 1 ? 0 : bessel0(beta * Math.sqrt(1 - x * x)) / bessel0(beta);
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
