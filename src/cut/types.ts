/** How the `audio_filepath` of a row becomes a path on this machine. */
export type AudioPathResolution = 'basename' | 'relative' | 'as_is';

export type OutputFormat = 'flac' | 'wav' | 'ogg';

/** `average` of all channels, or the 0-based number of the one to keep. */
export type ChannelChoice = 'average' | number;

/** What decides which snippets there are and what they are called. All but the manifest's path is part of the plan's hash. */
export interface PlanSettings {
  /** Long-form JSONL: one recording a line. Its content is part of the plan's hash. */
  inputManifest: string;
  /** Folder that `basename` and `relative` paths are joined to; unused with `as_is`. */
  audioDir: string | undefined;
  audioFilepathKey: string;
  audioPathResolution: AudioPathResolution;
  maxDurationSeconds: number;
  minDurationSeconds: number;
  minOverlapSeconds: number;
  maxSegmentGapSeconds: number;
  /** False leaves transcripts that loop in. */
  repetitionFilter: boolean;
  ngramN: number;
  ngramMaxCount: number;
  /** Hz. */
  targetSampleRate: number;
  outputFormat: OutputFormat;
  /** `refuse` ends the run when two snippets get one name; `suffix` makes both names distinct by a short hash. */
  onClash: 'refuse' | 'suffix';
}

/** Why a row was left out before planning. */
export type SkipReason =
  | 'invalid_utf8'
  | 'invalid_json'
  | 'not_an_object'
  | 'missing_id'
  | 'duplicate_id'
  | 'missing_audio_path'
  | 'duplicate_basename'
  | 'missing_segments';

/** Why segments did not reach the output. The first six are the counters of the metrics' `dropped`; the others are sparse. */
export type DropReason =
  'empty' | 'overlap' | 'too_long' | 'too_short' | 'no_text' | 'repetition' | 'bad_times' | 'past_end';

/** All drop reasons, in the order of the metrics. */
export const DROP_REASONS = [
  'empty',
  'overlap',
  'too_long',
  'too_short',
  'no_text',
  'repetition',
  'bad_times',
  'past_end',
] as const satisfies readonly DropReason[];

/**
 * Counts by reason. `empty`, `overlap` and `bad_times` count segments; the others count candidates, which are packs of segments that
 * would have become a snippet.
 */
export type DropCounts = Record<DropReason, number>;

/** One line of `failures.jsonl`: a row skipped, a snippet lost, or a segment that could not be read. */
export interface FailureRecord {
  kind: 'row' | 'snippet' | 'segment';
  /** A `SkipReason` for a row; `bad_times`, `bad_segment` or `bad_text` for a segment; an extraction reason for a snippet. */
  reason: string;
  /** One sentence: what was met. */
  message: string;
  hint?: string;
  /** The manifest or recording at fault. */
  file: string;
  /** 1-based line of the input manifest. */
  line: number;
  /** 1-based column (in characters) of the fault in the line, where one is known. */
  column?: number;
  id?: string;
  snippet_id?: string;
  /** Planned span in seconds of the recording. */
  start?: number;
  end?: number;
  /** 0-based position in the row's `segments`. */
  segment?: number;
}

/** A span to cut out of a recording. Times are in the recording. */
export interface PlannedSnippet {
  /** 0-based position among the recording's candidates that became snippets before the repetition filter; stable. */
  ordinal: number;
  /** `<safe id>-<start>-<end>`, plus `-x<8 hex>` where a clash was resolved. */
  snippetId: string;
  /** Name in the tar: `<snippetId>.<format>`. */
  member: string;
  /** Whole microseconds; the start may be negative, the end may lie past the audio. */
  startMicros: number;
  endMicros: number;
  /** How many segments it holds. */
  segmentCount: number;
}
