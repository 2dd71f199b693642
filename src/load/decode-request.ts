/** Where the encoded audio of one item lies, and what is wanted of it. */
export interface DecodeRequest {
  /** A file, or the tar that it is a member of. */
  path: string;
  /** The payload in the tar; undefined where the file is the audio itself. `name` is that of the member. */
  inside: { offsetBytes: number; sizeBytes: number; name: string } | undefined;
  /** Half-open, whole microseconds; undefined is all of it, an end of null that of the audio. */
  span: { startMicros: number; endMicros: number | null } | undefined;
  /** Hz of what comes out; null keeps the recording's. */
  sampleRate: number | null;
  /** Faster is shorter: 1.1 gives audio of 1 / 1.1 of the length, pitched up, as if its rate were so much higher. 1 changes nothing. */
  speed: number;
  /** Also the encoded bytes, as they lie there. */
  wantsBytes: boolean;
}

/** What samples are encoded as where they were decoded. */
export type EncodedFormat = 'wav' | 'flac';

/** What came of it. */
export type DecodeOutcome =
  | {
      kind: 'decoded';
      /** Mono, the average of all channels, full scale 1; none where they were encoded. */
      samples: Float32Array;
      /** How many there are in `bytes`, where they were encoded anew. */
      encodedSamples?: number;
      /** Hz. */
      sampleRate: number;
      bytes: Uint8Array | undefined;
    }
  | { kind: 'failed'; reason: string; message: string; hint: string | undefined };

/** Memory for the samples of each request, in their order. */
export type DivideRoom = () => readonly Float32Array<ArrayBuffer>[];

/** Samples that came out, wherever they are. */
export function countSamples({ samples, encodedSamples }: Extract<DecodeOutcome, { kind: 'decoded' }>): number {
  return encodedSamples ?? samples.length;
}

/** Decodes requests, several at once; the outcomes in the order of the requests. Never rejects for the fault of an item. */
export interface UtteranceDecoder extends AsyncDisposable {
  /**
   * @param divide gives a place for the samples of each request, which those that fit may be put in; called once, when decoding begins, or never.
   * @throws the signal's reason.
   */
  decode(requests: readonly DecodeRequest[], signal?: AbortSignal, divide?: DivideRoom): Promise<DecodeOutcome[]>;
  /** Takes back the samples of outcomes that nobody looks at any more: their memory is used for the next ones, which spares a tenth of the work. */
  recycle?(outcomes: readonly DecodeOutcome[]): void;
  /** The same of the bytes of outcomes that were encoded anew; other bytes are left alone. */
  recycleBytes?(bytes: readonly (Uint8Array | undefined)[]): void;
  close(): Promise<void>;
}
