import { setImmediate } from 'node:timers/promises';
import type { DecodeOutcome, DecodeRequest, UtteranceDecoder } from './decode-request.js';
import { ItemDecoder } from './item-decoder.js';
import type { ItemOutcome } from './item-decoder.js';

export interface DecoderOptions {
  /** Processes that decode; 0 decodes in this one, which blocks it for the time of each item. */
  jobs: number;
}

/**
 * Makes a decoder of utterances.
 *
 * @throws {RangeError} when the number of jobs is no whole number from 0 on.
 */
export function createDecoder({ jobs }: DecoderOptions): UtteranceDecoder {
  if (!Number.isSafeInteger(jobs) || jobs < 0) {
    throw new RangeError(`jobs must be a whole number from 0 on, not ${jobs}`);
  }
  return new OwnDecoder();
}

/** Decodes in this process. */
class OwnDecoder implements UtteranceDecoder {
  readonly #decoder = new ItemDecoder();

  async decode(requests: readonly DecodeRequest[], signal?: AbortSignal): Promise<DecodeOutcome[]> {
    const outcomes: DecodeOutcome[] = [];
    for (const request of requests) {
      // The codec library gives memory back only when the event loop turns.
      await setImmediate();
      signal?.throwIfAborted();
      outcomes.push(toOutcome(this.#decoder.decode(request)));
    }
    return outcomes;
  }

  close(): Promise<void> {
    this.#decoder[Symbol.dispose]();
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function toOutcome(outcome: ItemOutcome): DecodeOutcome {
  if (outcome.kind === 'failed') return outcome;
  const { samples } = outcome;
  return { ...outcome, samples: samples instanceof Int16Array ? toFloats(samples) : samples };
}

const FULL_SCALE = 32_768;

/** Exact: a division by a power of two. */
function toFloats(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples.length);
  for (let at = 0; at < samples.length; at += 1) floats[at] = (samples[at] ?? 0) / FULL_SCALE;
  return floats;
}
