/** From here on JavaScript prints numbers with an exponent. */
const EXPONENT_FROM = 1e21;

/**
 * The id as it stands in names: "." "/" and "\" become "_", so that a member stays at the root of the tar and has one dot. What no tar
 * can hold is replaced too: NUL by "_", half a surrogate pair by U+FFFD.
 */
export function toSafeId(id: string): string {
  // oxlint-disable-next-line no-control-regex -- NUL is the character meant
  return id.replaceAll(/[./\\\u0000]/g, '_').replaceAll(/\p{Surrogate}/gu, '\ufffd');
}

/** `<safe id>-<start>-<end>`, with times in seconds as they are in the manifest. */
export function nameSnippet(safeId: string, startSeconds: number, endSeconds: number): string {
  return `${safeId}-${formatNameTime(startSeconds)}-${formatNameTime(endSeconds)}`;
}

/** A time with three decimals and "_" for the point: 12.4 is `12_400`, -0.0001 is `-0_000`. */
export function formatNameTime(seconds: number): string {
  return formatMillis(seconds).replace('.', '_');
}

/** Rounded to three decimals, as `formatMillis` does. */
export function roundMillis(seconds: number): number {
  return Number(formatMillis(seconds));
}

/**
 * Three decimals of the exact binary value, ties to even, as C's and Python's `%.3f`. `toFixed` rounds ties up and drops the sign of -0.
 */
export function formatMillis(seconds: number): string {
  if (!Number.isFinite(seconds)) return Number.isNaN(seconds) ? 'nan' : seconds < 0 ? '-inf' : 'inf';
  const sign = seconds < 0 || Object.is(seconds, -0) ? '-' : '';
  const size = Math.abs(seconds);
  if (size >= EXPONENT_FROM) return `${sign}${BigInt(size)}.000`;
  return sign + (isTie(size) ? formatTie(size) : size.toFixed(3));
}

/** A half of the third decimal is exact only at odd multiples of 1/16. */
function isTie(size: number): boolean {
  return (size * 16) % 2 === 1;
}

function formatTie(size: number): string {
  // 1000 · k/16 = 125k/2: the even one of the two whole numbers around it.
  const below = (BigInt(size * 16) * 125n) / 2n;
  const millis = below % 2n === 0n ? below : below + 1n;
  return `${millis / 1000n}.${String(millis % 1000n).padStart(3, '0')}`;
}
