/** Loudness of a mean square over all channels with their weights (BS.1770-4, Annex 1, equation 2), in LUFS. */
export function loudnessOf(meanSquare: number): number {
  return meanSquare > 0 ? -0.691 + 10 * Math.log10(meanSquare) : -Infinity;
}

/** The mean square that has a loudness. */
function meanSquareOf(lufs: number): number {
  return 10 ** ((lufs + 0.691) / 10);
}

const ABSOLUTE_GATE = meanSquareOf(-70);
/** 10 LU below the loudness of what passes the absolute gate. */
const RELATIVE_GATE = 0.1;
/** 20 LU below it, for the range. */
const RANGE_GATE = 0.01;

/**
 * Integrated loudness of gating blocks (BS.1770-4, Annex 1, equations 5 to 7): the mean of those that pass both gates.
 *
 * @param blocks mean squares of 400 ms each, every 100 ms.
 * @returns LUFS; -Infinity where none passes.
 */
export function integratedLoudness(blocks: Float64Array): number {
  const gate = RELATIVE_GATE * meanAbove(blocks, ABSOLUTE_GATE);
  return loudnessOf(meanAbove(blocks, Math.max(gate, ABSOLUTE_GATE)));
}

/**
 * Loudness range (EBU Tech 3342, section 3): from the 10th to the 95th percentile of the short-term loudness behind the gates.
 *
 * @param blocks mean squares of 3 s each.
 * @returns LU; undefined where no block passes.
 */
export function loudnessRange(blocks: Float64Array): number | undefined {
  const gate = Math.max(ABSOLUTE_GATE, RANGE_GATE * meanAbove(blocks, ABSOLUTE_GATE));
  const kept = blocks.filter((block) => block > gate).sort();
  if (kept.length === 0) return undefined;
  const at = (share: number): number => loudnessOf(kept[Math.round((kept.length - 1) * share)] ?? 0);
  return at(0.95) - at(0.1);
}

function meanAbove(blocks: Float64Array, gate: number): number {
  let sum = 0;
  let count = 0;
  for (const block of blocks) {
    if (block <= gate) continue;
    sum += block;
    count += 1;
  }
  return count === 0 ? 0 : sum / count;
}
