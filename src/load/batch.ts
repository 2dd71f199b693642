import type { LoaderState } from './epoch-plan.js';

/** How one copy of an item was changed. */
export interface AppliedAugmentation {
  speed: number;
  gainDb: number | undefined;
  /** Item of the noise source and where it was begun, and the ratio of signal to noise. */
  noise: { path: string; offsetSamples: number; snrDb: number } | undefined;
  /** By how much it was turned down to a peak of full scale (`clipGuard`), in dB. */
  guardDb: number | undefined;
}

/** What a trainer takes. */
export interface Batch {
  /** Zero padded, of shape [count, samples]: one item behind the other. */
  audio: Float32Array<ArrayBuffer>;
  /** Items (with copies: all of the first copy, then all of the second …), and samples of the longest. */
  shape: [count: number, samples: number];
  /** Samples of each item. */
  audioLengths: Int32Array;
  /** Hz. */
  sampleRate: number;
  /** Of each item; empty where its row has none. */
  text: string[];
  ids: string[];
  /** Every field of each item's row, tags included. */
  rows: Readonly<Record<string, unknown>>[];
  /** The line of each item's row, where they were asked for; undefined for excerpts, which have none. */
  rowLines: (string | undefined)[] | undefined;
  /** Name of each item's source. */
  source: string[];
  /** Encoded, where they were asked for and the item was not changed. */
  bytes: (Uint8Array | undefined)[] | undefined;
  augmentations: AppliedAugmentation[] | undefined;
  epoch: number;
  step: number;
  rank: number;
  bucket: number | undefined;
  /** So many items at the end are repeated to make steps equal. */
  padCount: number;
  /** Items of the plan that could not be read, and what became of their places. */
  failures: ItemFailure[];
  /** Where a training stands that has taken this batch on all ranks. */
  state: LoaderState;
}

/** An item that could not be read. */
export interface ItemFailure {
  id: string;
  source: string;
  /** Of its audio, and of its row. */
  path: string;
  manifestPath: string;
  lineNumber: number;
  /** `missing_member`, `missing_recording`, `corrupt_recording` … */
  reason: string;
  message: string;
  hint: string | undefined;
  /** The id of the item that stands in its place; undefined where the batch is shorter by it. */
  replacedBy: string | undefined;
}
