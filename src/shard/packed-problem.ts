/** A row or a member that has no other half, or a file that cannot be read. */
export interface PackedProblem {
  /** The manifest or tar at fault. */
  file: string;
  /** 1-based, of a manifest. */
  line?: number | undefined;
  reason:
    | 'unreadable_tar'
    | 'unfinished_tar'
    | 'duplicate_member'
    | 'unreadable_manifest'
    | 'invalid_json'
    | 'invalid_utf8'
    | 'not_an_object'
    | 'bad_shard_id'
    | 'missing_audio_filepath'
    | 'row_without_member'
    | 'duplicate_row'
    | 'member_without_row';
  /** One sentence: what was met. */
  message: string;
  hint?: string | undefined;
}
