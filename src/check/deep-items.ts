import type { AudioSpan } from './finding.js';

/** Audio that is to be decoded: a span of a file, or a member of a tar. */
export interface DeepItem extends AudioSpan {
  /** Set where the audio is a member of the tar `audioPath`; places are those of the tar itself, also where it is compressed. */
  inside?: { name: string; offsetBytes: number; sizeBytes: number; isCompressed?: boolean } | undefined;
  /** How far its length may be off the row's duration. Default 1 ms; `half_sample` where cutroom wrote both. */
  tolerance?: 'half_sample' | undefined;
}

/** Audio for a process to decode. */
export interface DeepJob {
  items: Pick<DeepItem, 'audioPath' | 'inside' | 'startSeconds' | 'durationSeconds'>[];
}

/** What decoding a piece of audio shows. */
export type DeepResult =
  | {
      kind: 'decoded';
      frames: number;
      sampleRate: number;
      clippedRuns: number;
      invalidSamples: number;
      isSilent: boolean;
      rmsDb: number;
      /** Of the file by its header, where that tells. */
      headerSeconds: number | undefined;
    }
  | { kind: 'undecodable'; reason: string }
  | { kind: 'crashed'; how: string };
