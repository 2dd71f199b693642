import type { Finding } from './finding.js';

/** How bad a kind of finding is, and what can be done about it. */
export interface KindFacts {
  severity: Finding['severity'];
  hint?: string;
}

const fix = 'cutroom check --fix OUT writes a corrected copy';
const error = (hint?: string): KindFacts => ({ severity: 'error', ...(hint === undefined ? {} : { hint }) });
const warning = (hint?: string): KindFacts => ({ severity: 'warning', ...(hint === undefined ? {} : { hint }) });

/** All that can be wrong with a manifest. */
export const MANIFEST_KINDS = {
  // The path
  no_such_path: error('check the spelling, and that the disk is mounted'),
  unreadable_file: error(),
  unknown_kind: error('say what it is with --as'),
  empty_file: error(),
  binary_file: error('give the manifest or list, not the audio'),
  damaged_file: error(),

  // The text of the file
  byte_order_mark: error(fix),
  crlf: warning(fix),
  blank_line: warning(fix),
  json_array: error(fix),
  pretty_printed: error(fix),
  several_objects: error(fix),
  invalid_json: error(),
  invalid_utf8: error(),
  not_an_object: error(),
  mixed_rows: error('keep rows of each kind in a manifest of their own'),
  jsonl_name: error('name the manifest .json; with --fix DIR the copy is named so'),

  // Values of any key
  duplicate_key: warning(fix),
  nonfinite_number: warning('strict readers refuse NaN and Infinity; with --fix they become null'),
  big_integer: warning('readers that keep numbers as doubles change its last digits; write it as a string'),
  lone_surrogate: error('half of a character: Python cannot write it; take the text from its source again'),

  // audio_filepath
  missing_audio_path: error(),
  audio_path_alias: warning(fix),
  bad_audio_path: error(),
  audio_missing: error('relative paths are taken from the folder of the manifest; --base DIR names another'),
  path_rules_differ: error('write absolute paths, or run every program from the folder of the manifest'),
  long_relative_path: error('relative paths of 255 characters and more are not joined to the folder of the manifest'),
  space_around_path: error('take the spaces at the ends of the path away'),
  backslash_path: warning('write folders with "/"'),
  sub_in_name: warning('NeMo takes "-sub" and what follows off the name of a tarred file: use another name'),
  long_member_name: warning('readers without pax headers cut member names at 100 bytes: shorten the path'),
  member_name_clash: error(
    'give the files names that differ after "/" and "." become "_"; cutroom tar does it with a hash',
  ),
  dotted_name: error('WebDataset takes names apart at the first dot: build the shards again with ids without dots'),
  upper_case_after_dot: error('build the shards again with ids without dots'),
  duplicate_row: warning('leave one of the rows out'),
  two_texts: warning('keep the row whose text is what is said, and leave the other one out'),
  duplicate_id: error('ids must be unique'),
  unreadable_audio: error(),

  // duration and offset
  missing_duration: error(),
  null_duration: warning('no duration filter applies and the file is read to its end: write its duration'),
  bad_duration: error(),
  number_as_text: error(fix),
  non_positive_duration: error(),
  short_duration: warning('leave it out, or set the shortest duration of the loader on purpose'),
  long_duration: warning('cut it, or set the longest duration of the loader on purpose'),
  bad_offset: error(),
  negative_offset: error(),
  offset_without_duration: error('write the duration'),
  offset_beyond_audio: error(),
  end_beyond_audio: error(),
  duration_mismatch: warning('write the length of the file, or the offset that is meant'),
  sampling_rate_with_offset: warning(
    'Lhotse takes the duration for the length of the file then: leave sampling_rate out',
  ),

  // text
  missing_text: warning('the loader reads an empty text'),
  null_text: warning('write the text, or "" where nothing is said'),
  empty_text: warning('it is kept and trains on nothing said, unless filtered'),
  bad_text: error('write the text as a string'),
  text_file_missing: error('text_filepath is taken as it is, not from the folder of the manifest'),
  control_character: warning('take control characters, tabs and line breaks out of the text'),
  invisible_character: warning('take it out: tokenizers see it and readers do not'),
  replacement_character: warning('U+FFFD stands for characters that were lost: take the text from its source again'),
  fast_text: warning('more is said than can be in that time: is the text that of another row?'),
  skipme_misread: warning('any string but "" counts as true: write true or false'),
  bad_shard_id: error('shard_id is a whole number of 0 or more'),

  // Canary
  missing_prompt_key: error('every row of a Canary manifest needs it'),
  yes_misread: error(fix),
  boolean_value: error(fix),
  value_not_allowed: error(),
  bad_language: error('languages are lower-case codes such as "en"'),
  unknown_language: warning('the model has no token for it'),
  task_against_languages: warning('asr keeps the language, ast changes it'),
  bare_emotion: error(fix),
  several_channel_files: error('Canary reads one channel: give one file'),

  // Long-form recordings and segments
  missing_id: error('cutroom cut skips the row'),
  unsafe_id_clash: error('snippets of both get one name; change one of the ids'),
  duplicate_basename: warning('cutroom cut needs --audio-path-resolution relative for it'),
  missing_segments: error('cutroom cut skips the row'),
  no_segments: warning('no snippet comes of it'),
  bad_segment: error('cutroom cut leaves the segment out'),
  bad_times: error('cutroom cut leaves the segment out'),
  empty_segment: warning('cutroom cut drops segments without text and words'),
  overlapping_segments: warning(
    'cutroom cut drops both of two segments that overlap by --min-overlap-sec or contain one another',
  ),
  segment_text_type: error('cutroom cut takes it for empty'),
  wordy_segment: warning('words without text: a snippet of such segments alone is dropped'),
  negative_start: warning('audio before 0 does not exist: the snippet begins at 0'),
  segment_beyond_audio: error('cutroom cut leaves out what lies behind the end'),
  missing_speaker: warning('it is passed on as it is; diarization needs it'),
  bad_words: warning('word times that are no numbers become null, others are moved into the snippet'),
  word_outside_segment: warning('its times are moved into the snippet'),

  // TSV, CSV and JSONL of utterances
  wrong_field_count: error('3, 5 or 6 fields with tabs between: id, audio_path, text[, start, duration[, json]]'),
  three_fields: warning("today's atdataset refuses 3 fields: give start 0 and duration -1, or use cutroom build"),
  header_line: warning(
    'name columns id, audio_path, text, start, duration and the like, in small letters, or leave the line out',
  ),
  dotted_id: error(
    '--fix writes "_" for dots in a TSV, where no other id is in the way; so does cutroom build --on-bad-id flatten',
  ),
  slash_in_id: warning('it makes a folder in the tar'),
  bad_extras: error('the sixth field is a JSON object'),
  bad_quotes: error(),
  bad_type: error('ids, paths and texts are strings'),
  bad_id: error('choose another id; cutroom build --on-bad-id flatten makes one that fits'),
  missing_header: error('a CSV file begins with a header such as id,audio_path,text,start,duration'),
} as const satisfies Record<string, KindFacts>;

export type ManifestKind = keyof typeof MANIFEST_KINDS;

/** Kinds of findings of which a copy that `--fix` wrote is free. */
export const FIXABLE_KINDS: ReadonlySet<string> = new Set<ManifestKind>([
  ...(['byte_order_mark', 'crlf', 'blank_line', 'json_array', 'pretty_printed', 'several_objects'] as const),
  ...(['duplicate_key', 'nonfinite_number', 'audio_path_alias', 'number_as_text', 'yes_misread'] as const),
  ...(['boolean_value', 'bare_emotion'] as const),
]);
