/** What stands in every kind of source. */
export interface SourceCommon {
  /** Named in batches and reports; by default the path. No two leaves of a loader share one. */
  name?: string | undefined;
  /** Against the other sources of its group: a number or decimal as it is spelled, above 0. All sources of a group have one, or none has. */
  weight?: number | string | undefined;
  /** Fields that are added to every row of the source, where the row has none of that name. */
  tags?: Readonly<Record<string, unknown>> | undefined;
}

/** Anything of which content decides what it is: a `.lst`, a NeMo manifest, a folder that `cut`, `build` or `tar` made, a tar beside its manifest. */
export interface PathSource extends SourceCommon {
  type: 'path';
  path: string;
}

/** NeMo manifests whose rows name audio files, or spans of them (`offset`). */
export interface NemoSource extends SourceCommon {
  type: 'nemo';
  /** Paths, or patterns of them. */
  manifests: readonly string[];
}

/** NeMo manifests whose rows name members of tars. */
export interface NemoTarredSource extends SourceCommon {
  type: 'nemo_tarred';
  /** One of all tars (rows then have a `shard_id`), or one a tar. */
  manifests: readonly string[];
  /** Paths, or patterns with the braces of NeMo. */
  tars: readonly string[];
}

/** Sources that are static buckets, as NeMo's lists of lists are: the first is the bucket of index 0. */
export interface BucketedSource extends SourceCommon {
  type: 'buckets';
  buckets: readonly SourceSpec[];
}

/** Windows or files of a dataset at random access. */
export interface ExcerptsSource extends SourceCommon {
  type: 'excerpts';
  dataset: ExcerptDataset;
}

/** Sources that are mixed. */
export interface GroupSource extends SourceCommon {
  type: 'group';
  sources: readonly SourceSpec[];
  /** Each weight w of the group becomes w^temperature before they are made to sum to 1: 1 keeps them, 0 makes all equal. Default 1. */
  temperature?: number | undefined;
}

export type SourceSpec = PathSource | NemoSource | NemoTarredSource | BucketedSource | ExcerptsSource | GroupSource;

/** What a loader needs of a windowed or balanced dataset; both have it. */
export interface ExcerptDataset {
  /** `Infinity` where it has no end. */
  readonly length: number;
  /** The excerpt at an index; undefined for one that is passed over. */
  get(index: number): Promise<LoadedExcerpt | undefined>;
}

/** An excerpt, as `Excerpt` of the datasets. */
export interface LoadedExcerpt {
  /** Of shape [channels, samples]: one channel behind the other. */
  waveform: Float32Array;
  channels: number;
  samples: number;
  /** Hz. */
  sampleRate: number;
  filepath: string;
  source: string;
  offsetSeconds: number;
}
