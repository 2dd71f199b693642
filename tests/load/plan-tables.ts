import type { ItemTable, Leaf } from '#cutroom/load/item-table.js';

export interface LeafSpec {
  name?: string;
  weight?: number | string | undefined;
  bucket?: number | undefined;
  /** Of each row. */
  seconds?: readonly number[];
  /** Rows of each shard; they sum to those of the leaf. Default: one shard. */
  shards?: readonly number[];
  tokens?: readonly number[];
  excerpts?: { count: number; seconds: number };
}

/** A table as sources would make it: rows in order, shards in order, excerpts behind them. */
export function tableOf(specs: readonly LeafSpec[]): ItemTable {
  const seconds = specs.flatMap((spec) => spec.seconds ?? []);
  const rowParts: number[] = [];
  const parts: ItemTable['parts'][number][] = [];
  const leaves: Leaf[] = [];
  let nextRow = 0;
  let nextExcerpt = seconds.length;
  for (const [at, spec] of specs.entries()) {
    const rows = spec.seconds?.length ?? 0;
    for (const size of spec.shards ?? (rows > 0 ? [rows] : [])) {
      for (let row = 0; row < size; row += 1) rowParts.push(parts.length);
      const tarPath = spec.shards === undefined ? undefined : `shard-${parts.length}.tar`;
      parts.push({ leaf: at, manifestPath: `manifest-${at}.jsonl`, tarPath, audioFolder: '.' });
    }
    const firstItem = spec.excerpts === undefined ? nextRow : nextExcerpt;
    const endItem = firstItem + (spec.excerpts?.count ?? rows);
    if (spec.excerpts === undefined) nextRow = endItem;
    else nextExcerpt = endItem;
    const excerpts = spec.excerpts === undefined ? undefined : { durationMicros: spec.excerpts.seconds * 1e6 };
    const { name = `leaf ${at}`, weight, bucket } = spec;
    leaves.push({ name, weight, firstItem, endItem, bucket, tags: {}, excerpts });
  }
  const hasTokens = specs.some((spec) => spec.tokens !== undefined);
  return {
    rowCount: seconds.length,
    durationsMicros: Float64Array.from(seconds, (value) => Math.round(value * 1e6)),
    tokenCounts: hasTokens ? Uint32Array.from(specs.flatMap((spec) => spec.tokens ?? [])) : undefined,
    leaves,
    parts,
    rowParts: Uint32Array.from(rowParts),
    lineOffsetsBytes: new Float64Array(seconds.length),
    lineLengthsBytes: new Uint32Array(seconds.length),
    lineNumbers: Uint32Array.from(seconds, (_, row) => row + 1),
    left: { reasons: {}, firstFaults: [] },
  };
}

/** Durations as utterances have them: lognormal around 7.4 s, 0.5 to 30 s, in whole milliseconds. */
export function utteranceSeconds(count: number, seed = 1): number[] {
  let state = seed;
  const uniform = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  return Array.from({ length: count }, () => {
    const normal = Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
    return Math.round(1000 * Math.min(Math.max(Math.exp(2 + 0.6 * normal), 0.5), 30)) / 1000;
  });
}
