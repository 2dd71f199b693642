import type { CheckContext, Finding } from './finding.js';
import { MANIFEST_KINDS, type KindFacts } from './manifest-kinds.js';

const error = (hint?: string): KindFacts => ({ severity: 'error', ...(hint === undefined ? {} : { hint }) });
const warning = (hint?: string): KindFacts => ({ severity: 'warning', ...(hint === undefined ? {} : { hint }) });

const again = 'make the shard again';

/** All that can be wrong with a tar, a dataset, its use by several ranks, and its audio. */
export const DATASET_KINDS = {
  // The tar as a file
  missing_tar: error('loaders pass over the shard: see that the path is right and the disk is mounted'),
  unreadable_tar: error('fetch the tar or make it again'),
  unfinished_tar: warning('its writer did not finish it: fetch the tar or make it again'),
  compressed_tar: warning('decompress it with "gunzip": audio hardly gets smaller'),
  bytes_after_end: error('loaders stop at the end of the first archive: unpack with "tar -i" and pack again'),
  empty_shard: warning('leave it out: some loaders end with an error at a tar without samples'),

  // Members
  unread_member: warning('loaders pass over it: leave it out, or give it a name with an extension'),
  junk_member: warning('pack with COPYFILE_DISABLE=1 on macOS, or tar --exclude="._*" --exclude=.DS_Store'),
  not_a_file: error('loaders pass over links and devices: pack with "tar --dereference --hard-dereference"'),
  unsafe_name: error('pack with names relative to the folder of the audio, with "/" between their parts'),
  long_name: warning('keep names within 100 bytes: DALI reads no longer ones, and some indexes cut keys at 128'),
  name_not_utf8: warning('rename the file: rows, which are UTF-8, cannot name it'),
  control_in_name: warning('rename the file'),
  empty_member: error('the audio was empty when it was packed: leave it out with its row'),
  unread_format: error('ATdataset reads flac, wav and mp3: build the shards in one of them'),
  duplicate_member: error('ids must be unique in a shard'),
  duplicate_across_shards: warning('ids must be unique in a dataset: indexes by key fail or lose one of the two'),
  dotted_name: error('write "_" for the dots in ids, in the tar and in the manifest'),
  split_sample: error('sort the members by name before packing'),

  // Rows against members
  missing_manifest: error('loaders pass over the shard, or read it without texts'),
  unreadable_manifest: error(),
  byte_order_mark: error('remove it: tail -c +4 old > new'),
  bad_row: error('loaders end with an error at a line that is no JSON object'),
  missing_audio_filepath: error(),
  missing_text: error('write the text, or "" where nothing is said'),
  missing_duration: warning('write the duration'),
  bad_duration: error('write the duration in seconds'),
  duplicate_row: warning('leave one of the rows out'),
  row_without_member: error('the row is never trained on: pack its audio, or leave it out'),
  member_without_row: error('the audio has no text: add its row, or pack without it'),
  order_differs: warning(again),

  // What rows hold, as in a manifest alone
  short_duration: MANIFEST_KINDS.short_duration,
  long_duration: MANIFEST_KINDS.long_duration,
  empty_text: MANIFEST_KINDS.empty_text,
  control_character: MANIFEST_KINDS.control_character,
  invisible_character: MANIFEST_KINDS.invisible_character,
  replacement_character: MANIFEST_KINDS.replacement_character,
  fast_text: MANIFEST_KINDS.fast_text,

  // Lists
  bad_list_line: error('columns: tar, manifest, hours, samples; cutroom gen-lst writes them'),
  space_in_path: error('rename the file or its folder, or reach it by a link whose path is without white space'),
  relative_path: warning('write absolute paths: loaders take relative ones from the folder in which training starts'),
  duplicate_shard: error('leave the second line out: its samples are read twice as often as others'),
  shared_manifest: error('each tar has a manifest of its own'),
  wrong_hours: warning('cutroom gen-lst writes the list again'),
  wrong_count: warning('cutroom gen-lst writes the list again'),
  zero_hours: error("ATdataset's loader divides by the hours of all lists: write them with cutroom gen-lst"),
  empty_list: error(),

  // NeMo's tarred folders
  missing_full_manifest: error('loaders that are not told of sharded manifests need tarred_audio_manifest.json'),
  missing_shard: error('its rows are never trained on, or end the loader: make the tar again'),
  missing_sharded_manifest: error('loaders with shard_manifests=true end with an error'),
  shard_without_rows: error('loaders end with an error, or pass over the audio'),
  shard_gap: error('patterns such as audio__OP_0..7_CL_.tar name each number: number the shards from 0 without gaps'),
  missing_shard_id: error(),
  wrong_shard_id: error('loaders look for the audio in another tar'),
  manifests_differ: error('make the sharded manifests again from the full one'),
  version_differs: error('a later version holds the rows of the earlier one as they are'),
  extension_mismatch: error('loaders look members up by their full name: write it in the row'),
  slash_in_name: warning('loaders take the row for a file of its own where one is there: name members without "/"'),
  sub_row: error('loaders hang at rows that share a member, or read all of it: cut each row into a member of its own'),
  sub_in_name: error('loaders take "-sub" and the number off, and do not find the member: rename it'),
  uneven_shards: warning('a rank with fewer samples ends first and the others wait: cutroom tar makes even shards'),
  wrong_metadata: warning('write metadata.yaml again, or see which shards are missing'),

  // Outputs of cutroom
  missing_output: error('finish the run: give the same command again'),
  unfinished_run: warning('finish the run: give the same command again'),
  unreadable_metrics: error('give the same command again with --overwrite'),
  wrong_metrics: error('the files are not those of one run: cut or build again with --overwrite'),
  unbalanced_metrics: error('the metrics were changed: cut or build again with --overwrite'),
  wrong_snippet_id: error(again),

  // Ranks and workers
  unread_shards: error(),
  idle_workers: warning(),
  uneven_ranks: error(),
  repeated_shards: warning(),

  // Decoded audio
  undecodable_audio: error('leave it out, or make it again'),
  crashing_audio: error('leave it out: the decoder crashes on it'),
  duration_mismatch: warning('write the length of the audio as its duration'),
  silent_audio: warning('leave it out where a text is said'),
  clipped_audio: warning('record or encode it at a lower level'),
  invalid_samples: error('encode it again: NaN and infinity spread through a model'),
  mixed_rates: warning('resample to one rate: loaders that do not resample read it too fast or too slow'),
  lying_header: warning('encode it again: loaders that trust the header read the wrong length'),
} as const satisfies Record<string, KindFacts>;

export type DatasetKind = keyof typeof DATASET_KINDS;

/** Errors that leave rows and members the same in number and length: metrics can be compared with the files all the same. */
const SIDE_ERRORS: ReadonlySet<string> = new Set<DatasetKind>([
  'unread_format',
  'unsafe_name',
  'dotted_name',
  'split_sample',
  'missing_text',
  'control_character',
  'replacement_character',
  'space_in_path',
  'zero_hours',
  'undecodable_audio',
  'crashing_audio',
  'invalid_samples',
]);

/** Whether a finding is an error that tells that files of a dataset do not fit each other. */
export function isMismatch({ kind, severity }: Finding): boolean {
  return severity === 'error' && !SIDE_ERRORS.has(kind);
}

/** A finding as a process that looks at a shard makes it: how bad it is hangs on its kind. */
export interface DatasetFinding extends Omit<Finding, 'severity'> {
  kind: DatasetKind;
}

/** Reports a finding about a dataset, with the severity and the hint of its kind. */
export function reportDataset(context: CheckContext, finding: DatasetFinding): void {
  const facts: KindFacts = DATASET_KINDS[finding.kind];
  context.report({ ...finding, severity: facts.severity, hint: finding.hint ?? facts.hint });
}
