import { setImmediate } from 'node:timers/promises';
import type { TakeRoom } from '../audio/mono-span.js';
import type { DecodeOutcome, DecodeRequest, DivideRoom, EncodedFormat, UtteranceDecoder } from './decode-request.js';
import type { ItemDecoder } from './item-decoder.js';
import { ProcessDecoder } from './process-decoder.js';
import { SampleChunks } from './sample-chunks.js';

export interface DecoderOptions {
  /** Processes that decode; 0 decodes in this one, which blocks it for the time of each item, and which a crash of the codec library ends. */
  jobs: number;
  /** A process that works on one item for longer counts as hung, in milliseconds. Default 300,000. */
  silenceMs?: number | undefined;
  /** What processes encode samples as; one that decodes by itself does not. */
  encodeAs?: EncodedFormat | undefined;
}

/** Longer than the first pass over a recording of many hours. */
const SILENCE_MS = 300_000;

/**
 * Makes a decoder of utterances. Its processes start at once.
 *
 * @throws {RangeError} when the number of jobs is no whole number from 0 on.
 */
export function createDecoder({ jobs, silenceMs = SILENCE_MS, encodeAs }: DecoderOptions): UtteranceDecoder {
  if (!Number.isSafeInteger(jobs) || jobs < 0) {
    throw new RangeError(`jobs must be a whole number from 0 on, not ${jobs}`);
  }
  return jobs === 0 ? new OwnDecoder() : new ProcessDecoder({ jobs, silenceMs, encodeAs });
}

/** Decodes in this process. */
class OwnDecoder implements UtteranceDecoder {
  readonly #chunks = new SampleChunks();
  #decoder: ItemDecoder | undefined;
  /** For the item that is being decoded. */
  #place: Float32Array<ArrayBuffer> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** In turns: the first batch would be ready only with those that are decoded ahead. */
  decode(requests: readonly DecodeRequest[], signal?: AbortSignal, divide?: DivideRoom): Promise<DecodeOutcome[]> {
    const own = this.#last.then(() => this.#decodeAll(requests, signal, divide));
    this.#last = own.catch(() => undefined);
    return own;
  }

  recycle(outcomes: readonly DecodeOutcome[]): void {
    for (const outcome of outcomes) if (outcome.kind === 'decoded') this.#chunks.giveBack(outcome.samples);
  }

  async #decodeAll(
    requests: readonly DecodeRequest[],
    signal: AbortSignal | undefined,
    divide: DivideRoom | undefined,
  ): Promise<DecodeOutcome[]> {
    signal?.throwIfAborted();
    const places = divide?.();
    const decoder = (this.#decoder ??= await this.#open());
    const outcomes: DecodeOutcome[] = [];
    for (const [at, request] of requests.entries()) {
      // The codec library gives memory back only when the event loop turns.
      await setImmediate();
      signal?.throwIfAborted();
      this.#place = places?.[at];
      outcomes.push(decoder.decode(request));
    }
    return outcomes;
  }

  async close(): Promise<void> {
    await this.#last;
    this.#decoder?.[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** All of the place, where that will do: how many samples come is not always known from the start. */
  readonly #takeRoom: TakeRoom = (samples) => {
    const place = this.#place;
    return place !== undefined && samples <= place.length ? place : this.#chunks.take(samples);
  };

  /** The codec library is loaded in a process that decodes, and in no other. */
  async #open(): Promise<ItemDecoder> {
    const { ItemDecoder } = await import('./item-decoder.js');
    return new ItemDecoder({ takeRoom: this.#takeRoom });
  }
}
