/** A part of the table: a manifest, or what one shard has of it. */
export interface TablePart {
  leaf: number;
  /** The manifest that the rows stand in. */
  manifestPath: string;
  /** The tar that the rows name members of; undefined where they name files. */
  tarPath: string | undefined;
  /** Folder that relative paths of audio belong to. */
  audioFolder: string;
}

/** One source without sources of its own. */
export interface Leaf {
  name: string;
  /**
   * The share of draws that it has, as whole numbers over all leaves: products of the weights of its levels; a text where the number is above
   * 2^53, 0 only for a leaf without items. Undefined where no level has weights: then each epoch has each item once.
   */
  weight: number | string | undefined;
  /**
   * Items [firstItem, endItem) of the table; `endItem` is Infinity for datasets without end. Those of two leaves never meet: the leaf of an item is
   * the one that begins last at or before it, leaves without items aside.
   */
  firstItem: number;
  endItem: number;
  /** Static bucket, from 0. */
  bucket: number | undefined;
  tags: Readonly<Record<string, unknown>>;
  /** Set for excerpts, which have no rows: all of the same duration, from `firstItem` on in the dataset's order. */
  excerpts: { durationMicros: number } | undefined;
}

/**
 * All items of all sources, without their texts: a row of a manifest, or an excerpt of a dataset. Rows come first, in the order of the sources,
 * manifests and lines; they are those that the filters keep. Some 30 bytes a row.
 */
export interface ItemTable {
  readonly rowCount: number;
  /** Of each row, whole microseconds. */
  readonly durationsMicros: Float64Array;
  /** Of each row: tokens, or characters where no tokenizer was asked for. Undefined where nothing needs them. */
  readonly tokenCounts: Uint32Array | undefined;
  readonly leaves: readonly Leaf[];
  readonly parts: readonly TablePart[];
  /** Of each row: which of the parts. */
  readonly rowParts: Uint32Array;
  /** Where each row's line stands in its manifest. */
  readonly lineOffsetsBytes: Float64Array;
  readonly lineLengthsBytes: Uint32Array;
  readonly lineNumbers: Uint32Array;
  /** What was left out on the way. */
  readonly left: TableLosses;
}

/** Rows that are not in the table, and hours of them, by reason: `too_short`, `too_long`, `no_duration`, `filtered`, `skipme`, `invalid_row` … */
export interface TableLosses {
  reasons: Readonly<Record<string, { rows: number; hours: number }>>;
  /** The first few rows that were refused as faulty, with their places. */
  firstFaults: readonly {
    path: string;
    lineNumber: number;
    reason: string;
    message: string;
    hint?: string | undefined;
  }[];
}

/** Rows that are kept. Bounds are inclusive. */
export interface RowFilters {
  minDurationSeconds?: number | undefined;
  maxDurationSeconds?: number | undefined;
  /** Characters (code points) of the text a second. */
  minCharactersPerSecond?: number | undefined;
  maxCharactersPerSecond?: number | undefined;
  /** Tokens a second; needs a tokenizer. */
  minTokensPerSecond?: number | undefined;
  maxTokensPerSecond?: number | undefined;
  minTokens?: number | undefined;
  maxTokens?: number | undefined;
  /** Keeps a row where it answers true. Called once a row, in order. */
  keep?: ((row: Readonly<Record<string, unknown>>) => boolean) | undefined;
}
