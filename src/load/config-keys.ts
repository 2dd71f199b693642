/** Keys of NeMo that change nothing about what is read here, and why. */
export const IGNORED_KEYS: Readonly<Record<string, string>> = {
  ...reason('every loader here decodes in processes of its own: see "jobs" and "workers"', [
    ...['num_workers', 'pin_memory', 'prefetch_factor', 'persistent_workers', 'use_stateful_dataloader'],
  ]),
  ...reason('plans are always made the same way, whatever library NeMo takes', [
    ...['use_lhotse', 'use_dali', 'force_finite', 'force_map_dataset', 'force_iterable_dataset', 'metadata_only'],
    ...['defer_setup', 'shard_manifests', 'tarred_random_access', 'skip_missing_manifest_entries', 'slice_length'],
    ...['indexed', 'indexes_root', 'index_pack', 'index_pack_path', 'tarred_audio_index_filepaths', 'num_samples'],
  ]),
  ...reason('shuffling moves indices of all items: there is no buffer', ['shuffle_n', 'shuffle_buffer_size']),
  ...reason('one seed rules everything, on all ranks and workers', ['shard_seed']),
  ...reason('any number of sources is open at once', ['max_open_streams']),
  ...reason('bins are estimated from all items', ['num_cuts_for_bins_estimate', 'concurrent_bucketing']),
  ...reason('items that cannot be read are always counted and replaced', ['fault_tolerant_audio_loading']),
  ...reason('texts are handed out as they are', [
    ...['labels', 'parser', 'use_start_end_token', 'normalize_transcripts', 'return_sample_id', 'pretokenize'],
    ...['lang_field', 'unk_index', 'blank_index', 'int_values', 'extra_fields', 'pad_id', 'bos_id', 'eos_id'],
  ]),
  ...reason('it belongs to the trainer', ['cuda_expandable_segments', '_target_', 'world_size', 'global_rank']),
  ...reason('what it belongs to is not asked for', [
    ...['noise_snr', 'noise_mix_prob', 'rir_prob', 'db_norm', 'sampler_weights', 'truncate_offset_type'],
    ...['cut_into_windows_hop', 'keep_excessive_supervisions', 'pad_direction', 'measure_total_length'],
    ...['concatenate_gap_seconds', 'concatenate_duration_factor', 'concatenate_merge_supervisions'],
    ...['lowpass_prob', 'lowpass_frequencies_interval', 'compression_prob', 'compression_level_interval'],
    ...['compression_codecs', 'compression_codec_weights', 'compression_enable_for_custom_fields'],
    ...['clipping_gain_db', 'clipping_normalize', 'clipping_oversampling', 'clipping_prob_hard', 'clipping_prob'],
    ...['concat_shuffle', 'concat_sampling_seed', 'audio_locator_tag', 'semi_sort_sort_key'],
  ]),
};

/** A key of NeMo that something would have to be done about, and is not. */
export interface RefusedKey {
  /** Values that ask for nothing: they are ignored. */
  harmless: readonly unknown[];
  hint: string;
}

const AFTERWARDS = 'Do it to the batches, behind the loader.';
const BEFOREHAND = 'Do it to the dataset beforehand.';
const TEMPERATURE =
  'Give each source a weight, and reweight_temperature: w^t, where 1 keeps the weights and 0 makes all equal. ' +
  'The old temperature T is the other way round: w^(1/T), so write reweight_temperature = 1/T.';

/** Keys of NeMo that are refused unless their value asks for nothing. */
export const REFUSED_KEYS: Readonly<Record<string, RefusedKey>> = {
  cuts_path: refused([], 'Lhotse manifests are not read: name the NeMo manifest, or the .lst file.'),
  shar_path: refused([], 'Lhotse Shar is not read: name the NeMo manifest, or the .lst file.'),
  temperature: refused([], TEMPERATURE),
  concat_sampling_temperature: refused([], TEMPERATURE),
  concat_sampling_technique: refused([], TEMPERATURE),
  concat_sampling_probabilities: refused([], 'Give each source of input_cfg a weight.'),
  concat_sampling_scale: refused([1], 'Set epoch_items.'),
  is_concat: refused([false], 'List the sources in input_cfg, each with a weight.'),
  is_code_switched: refused([false], BEFOREHAND),
  code_switched: refused([], BEFOREHAND),
  augmentor: refused([], 'Give "augment" to the loader, or --noise and --gain to cutroom stream.'),
  noise_path: refused([], 'Give "augment" with its noise to the loader, or --noise to cutroom stream.'),
  rir_enabled: refused([false], AFTERWARDS),
  rir_path: refused([], AFTERWARDS),
  lowpass_enabled: refused([false], AFTERWARDS),
  compression_enabled: refused([false], AFTERWARDS),
  clipping_enabled: refused([false], AFTERWARDS),
  trim_silence: refused([false], BEFOREHAND),
  concatenate_samples: refused([false], 'Cut longer snippets with "cutroom cut".'),
  truncate_duration: refused([], 'Use windows: a source of type excerpts.'),
  cut_into_windows_duration: refused([], 'Use windows: a source of type excerpts.'),
  cut_text_into_windows_tokens: refused([], BEFOREHAND),
  pad_min_duration: refused([], 'Set min_duration, or pad the batches behind the loader.'),
  batch_tokens: refused([], 'Batches are bounded by audio: set batch_duration or batch_size.'),
  token_equivalent_duration: refused([], 'Batches are bounded by audio: set batch_duration or batch_size.'),
  quadratic_factor: refused([], 'Set quadratic_duration.'),
  use_multimodal_sampling: refused([false], 'Rows with audio are read alone.'),
  use_packed_sequence_sampling: refused([false], 'Rows with audio are read alone.'),
  prompt_format: refused([], 'Make prompts of the rows that batches have.'),
  multi_config: refused([false], 'Make a loader of each configuration.'),
  sampler_fusion: refused(['round_robin'], 'Make a loader of each configuration.'),
  max_cer: refused([Number.POSITIVE_INFINITY], 'Give a predicate ("keep") to the loader.'),
  min_context_speaker_similarity: refused([-1], 'Give a predicate ("keep") to the loader.'),
  keep: refused(['pass'], 'Give a predicate ("keep") to the loader.'),
  min_tpt: refused([-1], 'Rows with audio are read alone.'),
  max_tpt: refused([Number.POSITIVE_INFINITY], 'Rows with audio are read alone.'),
  channel_selector: refused(['average'], 'Channels are always averaged: pick one beforehand.'),
  max_utts: refused([0, -1], 'Name a shorter manifest.'),
  use_semi_sorted_batching: refused([false], 'Set use_bucketing and num_buckets.'),
};

/** Types of entries of NeMo's `input_cfg` that are not read here. */
export const FOREIGN_TYPES: readonly string[] = [
  ...['lhotse', 'lhotse_shar', 'parquet', 'txt', 'txt_jsonl', 'txt_pair', 'nemo_sft_jsonl', 'lhotse_as_conversation'],
  ...['multimodal_conversation', 'share_gpt', 'share_gpt_webdataset', 's2s_duplex', 's2s_duplex_overlap_as_s2s_duplex'],
];

/** Words that are meant by a key or type that does not exist. */
export const MEANT_KEYS: Readonly<Record<string, string>> = {
  tarred_audio_filepath: 'tarred_audio_filepaths',
  tarred_audio_paths: 'tarred_audio_filepaths',
  audio_filepaths: 'tarred_audio_filepaths',
  manifest_filepaths: 'manifest_filepath',
  manifest_path: 'manifest_filepath',
  manifest_paths: 'manifest_filepath',
  manifest: 'manifest_filepath',
  weights: 'weight',
  batch_durations: 'batch_duration',
  bucket_batch_sizes: 'bucket_batch_size',
};

function reason(why: string, keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, why]));
}

function refused(harmless: readonly unknown[], hint: string): RefusedKey {
  return { harmless, hint };
}
