/** What the order of draws in a bucket depends on. */
export interface WindowSorting {
  /** Of each draw of the epoch. */
  drawBuckets: Uint16Array;
  drawMicros: Float64Array;
  /** Draws of a window. */
  window: number;
  /** False where draws are in no order of chance: then nothing but durations counts. */
  isShuffled: boolean;
}

/** Some 19 hours: what is longer counts as equally long. */
const MAX_MICROS = 2 ** 36;
const MAX_KEY = 2 * MAX_MICROS;

/**
 * Orders the draws that each bucket gets within one window roughly by duration, which halves what its batches are padded by. A draw is taken to be
 * up to half the bucket's spread longer, by its place in the window: places are of chance, so that batches have other items each epoch, however few
 * there are. Windows go upwards and downwards by turns, so that what one leaves to the next is as long as what comes there.
 *
 * Semi-sorted batching of NeMo does so over whole epochs (`SemiSortBatchSampler`), where each batch then has its own length.
 *
 * @param sorted draws by bucket and then as they came; changed in place
 */
export function sortWindows(sorted: Uint32Array, sorting: WindowSorting): void {
  const { drawBuckets, window } = sorting;
  let start = 0;
  for (let at = 1; at <= sorted.length; at += 1) {
    const number = Math.floor(sorted[start]! / window);
    const isSame =
      at < sorted.length &&
      drawBuckets[sorted[at]!] === drawBuckets[sorted[start]!] &&
      Math.floor(sorted[at]! / window) === number;
    if (isSame) continue;
    sortChunk(sorted.subarray(start, at), number, sorting);
    start = at;
  }
}

function sortChunk(draws: Uint32Array, number: number, sorting: WindowSorting): void {
  const count = draws.length;
  const before = draws.slice();
  const keys = keysOf(before, number, sorting);
  if (MAX_KEY * count > Number.MAX_SAFE_INTEGER) {
    const places = Uint32Array.from(before, (_, place) => place);
    places.sort((one, other) => keys[one]! - keys[other]! || one - other);
    for (const [at, place] of places.entries()) draws[at] = before[place]!;
    return;
  }
  // A number that holds both the key and the place sorts many times faster than a comparison does.
  for (let place = 0; place < count; place += 1) keys[place] = keys[place]! * count + place;
  for (const [at, key] of keys.sort().entries()) draws[at] = before[key % count]!;
}

function keysOf(draws: Uint32Array, number: number, { drawMicros, window, isShuffled }: WindowSorting): Float64Array {
  const keys = Float64Array.from(draws, (draw) => Math.min(drawMicros[draw]!, MAX_MICROS));
  const spread = isShuffled ? keys.reduce((a, b) => Math.max(a, b)) - keys.reduce((a, b) => Math.min(a, b)) : 0;
  const start = number * window;
  const length = Math.min(window, drawMicros.length - start);
  const isUpwards = number % 2 === 0;
  return keys.map((micros, place) => {
    const key = micros + Math.floor((((draws[place]! - start) / length) * spread) / 2);
    return isUpwards ? key : MAX_KEY - key;
  });
}
