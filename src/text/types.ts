/** Turns texts into tokens, to find transcripts that loop. */
export interface Tokenizer {
  /** Names the tokenizer and its content for the plan's hash: `words@1`, or `sha256:` and the digest of `tokenizer.json`. */
  readonly fingerprint: string;
  /**
   * The tokens of a text in order, as non-negative integer ids, without special tokens, truncation or padding. Ids can be compared
   * within one text only: words unknown to the tokenizer get ids of their own that are numbered anew in each text.
   */
  encode(text: string): Promise<ArrayLike<number>>;
}

/** What happens while a tokenizer is looked up and fetched. */
export type TokenizerEvent =
  /** The file was in the cache: no network was used. */
  | { kind: 'cached'; repository: string; commit: string; path: string }
  /** A transfer begins. */
  | { kind: 'download'; repository: string; commit: string; sizeBytes: number }
  /** Try `attempt` of `tries` failed; the next one begins after `waitSeconds`. */
  | { kind: 'retry'; repository: string; attempt: number; tries: number; waitSeconds: number; reason: string }
  /** The file is whole and in the cache. */
  | { kind: 'downloaded'; repository: string; commit: string; sizeBytes: number; path: string };
