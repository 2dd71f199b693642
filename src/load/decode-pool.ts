import type { EncodedFormat, UtteranceDecoder } from './decode-request.js';
import { ProcessDecoder } from './process-decoder.js';
import { ThreadDecoder } from './thread-decoder.js';

export interface DecoderOptions {
  /** Processes that decode; 0 decodes in threads of this one, which a crash of the codec library ends. */
  jobs: number;
  /** A process that works on one item for longer counts as hung, in milliseconds. Default 300,000. */
  silenceMs?: number | undefined;
  /** What processes encode samples as; threads do not. */
  encodeAs?: EncodedFormat | undefined;
}

/** Longer than the first pass over a recording of many hours. */
const SILENCE_MS = 300_000;

/**
 * Makes a decoder of utterances. Its processes start at once; threads start once the work is not small.
 *
 * @throws {RangeError} when the number of jobs is no whole number from 0 on.
 */
export function createDecoder({ jobs, silenceMs = SILENCE_MS, encodeAs }: DecoderOptions): UtteranceDecoder {
  if (!Number.isSafeInteger(jobs) || jobs < 0) {
    throw new RangeError(`jobs must be a whole number from 0 on, not ${jobs}`);
  }
  return jobs === 0 ? new ThreadDecoder() : new ProcessDecoder({ jobs, silenceMs, encodeAs });
}
