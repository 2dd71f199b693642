import type { AudioFormat } from '../audio/sample-rates.js';
import type { ChannelMix } from '../audio/channel-mix.js';

export type { AudioFormat };

/** Changes whenever an older plan could not be carried out as it is. */
export const PLAN_FORMAT = 'cutroom-shards-1';

/** How the audio of a plan's members is made, where it is not copied. */
export interface AudioTarget {
  format: AudioFormat;
  /** Hz; null keeps the rate of each recording. */
  sampleRate: number | null;
  channel: ChannelMix;
  /** 0 to 1, for MP3 alone: from the best sound to the smallest files. */
  compressionLevel: number | null;
}

/** A value of a plan's options, as its command spells it. */
export type OptionValue = string | number | boolean | null | readonly (string | number)[];

/** What a plan was made of and for: its first line. */
export interface PlanHeader {
  format: typeof PLAN_FORMAT;
  cutroom_version: string;
  /** Where FFmpeg's kernels of another architecture may round otherwise, plans are told apart by it. */
  audio_architecture: string;
  command: 'build' | 'tar' | 'sample';
  /** The manifests, as they were named, and the SHA-256 of their bytes in hex. */
  inputs: readonly { path: string; sha256: string }[];
  /** The options that decide the outputs, by their names on the command line. */
  options: Readonly<Record<string, OptionValue>>;
  /** Absolute folder that relative paths of audio are joined to. */
  base: string;
  audio: AudioTarget;
  /** What the command has to know again when it finishes the dataset. */
  facts: Readonly<Record<string, unknown>>;
}

/** A row of the input, or a member of a shard, that did not become what it should. */
export interface PackFailure {
  /** `row` was refused by the plan, `member` failed when it was made, `dropped` was left out by an option. */
  kind: 'row' | 'member' | 'dropped';
  reason: string;
  /** One sentence: what was met. */
  message: string;
  hint?: string | undefined;
  /** The input at fault. */
  file: string;
  /** 1-based line of the input. */
  line: number;
  /** 1-based, in characters. */
  column?: number | undefined;
  id?: string | undefined;
  member?: string | undefined;
  /** 0-based, in the plan. */
  shard?: number | undefined;
  /** Seconds that the row claims, where it does. */
  duration?: number | undefined;
}

/**
 * One row of a shard and the member that belongs to it.
 *
 * The row is `row[0]`, the duration, `row[1]`; together strict JSON on one line. The duration is what was written, in seconds; `duration` is its
 * spelling in the input, which is kept where it is the same to half a sample, and where the audio is copied without being looked at.
 */
export interface PlannedItem {
  /** 0-based, of the header's inputs. */
  input: number;
  /** 1-based line of that input. */
  line: number;
  id: string;
  /** Name in the tar. */
  member: string;
  /** File that holds the audio: absolute, or relative to the base. */
  path: string;
  /** Set where the audio is a member of the tar `path`: where its bytes lie, and its name there. */
  inside?: { offset: number; size: number; name: string };
  /** Half-open, in whole microseconds of the file; an end of null is that of the audio. Undefined is all of it. */
  span?: { start: number; end: number | null };
  /**
   * `copy` takes the bytes as they are; `encode` decodes them and makes a file of the target; `fit` copies where format, rate and channels are
   * the target's already (the audio is decoded all the same, for its length), and encodes elsewhere; `share` is a row without a member of its
   * own: its audio is an earlier member of this shard, of the same name.
   */
  how: 'copy' | 'encode' | 'fit' | 'share';
  /** Where it differs from the target's. */
  as?: AudioFormat;
  row: readonly [string, string];
  /** JSON text of a number. */
  duration?: string;
}

/** What the plan says of a shard without its items. */
export interface PlannedShard {
  /** Relative to the output folder, with `/`. */
  tar: string;
  /** The same of its manifest. */
  manifest: string;
  itemCount: number;
  /** Sum of the items' durations as far as the plan knows them. */
  micros: number;
  /** Where its items lie in the plan file. */
  offsetBytes: number;
  sizeBytes: number;
}
