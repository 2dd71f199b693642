/** What the files beside the shards are for. */
export type IndexKind = 'wids' | 'energon' | 'lhotse';

/** All kinds, in the order in which they are written. */
export const INDEX_KINDS: readonly IndexKind[] = ['wids', 'energon', 'lhotse'];

/** A shard to be indexed. */
export interface IndexedShard {
  tarPath: string;
  /** Undefined where there are no rows: then nothing that needs them is written. */
  manifestPath?: string | undefined;
  /** Set where the manifest is that of all shards: the `shard_id` of this one's rows. */
  shardId?: number | undefined;
  /** Where it is known: a tar with another number of members is refused. */
  members?: number | undefined;
  /** Where it is known: a tar of another size is refused. */
  tarBytes?: number | undefined;
}

/** Shards of one folder. */
export interface IndexedDataset {
  /** Holds all shards; the indexes name them relative to it, so that it can be moved. */
  folder: string;
  /** In the order that loaders are to see them. */
  shards: readonly IndexedShard[];
  /** What the dataset is called in the indexes that name it. */
  name: string;
}

/** How far the indexes are: a shard counts once for its members, and once for each index that its rows go into. */
export interface IndexProgress {
  shards: number;
  totalShards: number;
}

/** What `writeIndexes` is given beside the shards. */
export interface WriteIndexesContext {
  /** Stops the work. */
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: IndexProgress) => void) | undefined;
}

/** What a loader will not find, although its index is written. */
export interface IndexWarning {
  index: IndexKind;
  /** One sentence, with a count and the first place. */
  message: string;
  hint?: string | undefined;
}

/** What was written. */
export interface WriteIndexesResult {
  /** Relative to the folder, with `/`, in code-point order. */
  files: readonly string[];
  warnings: readonly IndexWarning[];
}
