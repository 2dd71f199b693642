import type { DecodeRequest } from './decode-request.js';
import type { ExcerptDataset } from './sources.js';

/** An item before it is decoded. */
export interface DescribedItem {
  /** In the table. */
  item: number;
  id: string;
  text: string;
  /** All fields of its row, tags included. */
  row: Readonly<Record<string, unknown>>;
  /** The line of its row, where lines are kept. */
  rowLine?: string | undefined;
  /** Name of its leaf. */
  source: string;
  /** Of its audio, or of the tar that it lies in. */
  path: string;
  /** Of its row; empty for excerpts. */
  manifestPath: string;
  /** 1-based; 0 for excerpts. */
  lineNumber: number;
  audio: DescribedAudio;
}

/** Where the audio of an item is to be had. */
export type DescribedAudio =
  | { kind: 'encoded'; place: Pick<DecodeRequest, 'path' | 'inside' | 'span'> }
  | { kind: 'excerpt'; dataset: ExcerptDataset; index: number }
  | { kind: 'failed'; reason: string; message: string; hint: string | undefined };

/** Describes items of a table. */
export interface ItemDescriber {
  /** In the order of the items. @throws InputError when a manifest cannot be read any more. */
  describe(items: readonly number[]): Promise<DescribedItem[]>;
}
