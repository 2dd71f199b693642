import type { DecodeOutcome, DecodeRequest, EncodedFormat } from './decode-request.js';

/** What a decoder process is given: items to decode, one after the other. Without any it gets ready. */
export interface DecodeJob {
  slot: number;
  requests: readonly DecodeRequest[];
  /** What is left in the slot in place of samples and bytes. */
  encodeAs?: EncodedFormat | undefined;
}

/** What became of one: the samples and bytes lie in the slot. */
export type DecodeResult =
  | { kind: 'decoded'; sampleRate: number; samples: SlotPlace; bytes: SlotPlace | undefined }
  | { kind: 'encoded'; sampleRate: number; samples: number; bytes: SlotPlace }
  | Extract<DecodeOutcome, { kind: 'failed' }>;

/** In place of the results of a job: there is no room in its slot. */
export interface SlotFault {
  kind: 'no_room';
  message: string;
  hint: string | undefined;
}

export interface SlotPlace {
  offsetBytes: number;
  lengthBytes: number;
}
