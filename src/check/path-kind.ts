/** What a path can be, by the name that `--as` takes. */
export const PATH_KINDS = [
  /** JSONL of recordings with segments, as `cutroom cut` takes it. */
  'long_form',
  /** NeMo's rows: one utterance a line. */
  'nemo',
  /** NeMo rows with the keys of Canary's first prompt format. */
  'canary_v1',
  /** NeMo rows with the keys of Canary's second prompt format. */
  'canary_flash',
  /** The manifest of one ATdataset shard. */
  'atdataset_jsonl',
  /** The `.lst` that names ATdataset's shards. */
  'atdataset_list',
  /** A TSV of utterances, as `cutroom build` takes it. */
  'tsv',
  /** A CSV of utterances with a header, as `cutroom build` takes it. */
  'csv',
  /** JSONL of utterances with the keys of `cutroom build`, such as `id` and `audio_path`. */
  'utterances_jsonl',
  /** A folder of NeMo's tars with their manifests. */
  'nemo_tarred',
  /** A folder that `cutroom cut` wrote. */
  'cut_outputs',
  /** A tar of samples without a manifest. */
  'tar',
] as const;

export type PathKind = (typeof PATH_KINDS)[number];
