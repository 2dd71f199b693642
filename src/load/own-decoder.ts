import { setImmediate } from 'node:timers/promises';
import type { TakeRoom } from '../audio/mono-span.js';
import type { DecodeOutcome, DecodeRequest } from './decode-request.js';
import type { ItemDecoder } from './item-decoder.js';
import type { ItemPlaces } from './item-places.js';
import type { SampleChunks } from './sample-chunks.js';

/** Decodes in this thread, one item after the other; each blocks it for its time. */
export class OwnDecoder implements AsyncDisposable {
  readonly #chunks: SampleChunks;
  #decoder: ItemDecoder | undefined;
  /** For the item that is being decoded. */
  #place: Float32Array<ArrayBuffer> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #spentMs = 0;

  /** @param chunks what has no place is put there. */
  constructor(chunks: SampleChunks) {
    this.#chunks = chunks;
  }

  /** What items have taken so far. */
  get spentMs(): number {
    return this.#spentMs;
  }

  /**
   * Decodes the first ones of the requests, in turns: a call begins when those before it are done.
   *
   * @param isNext whether a request is to be decoded; the first one that is not ends it.
   * @throws the signal's reason.
   */
  decode(
    requests: readonly DecodeRequest[],
    places: ItemPlaces,
    signal: AbortSignal | undefined,
    isNext: (request: DecodeRequest) => boolean,
  ): Promise<DecodeOutcome[]> {
    const own = this.#last.then(() => this.#decodeFirst(requests, places, signal, isNext));
    this.#last = own.catch(() => undefined);
    return own;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last;
    this.#decoder?.[Symbol.dispose]();
    this.#decoder = undefined;
  }

  async #decodeFirst(
    requests: readonly DecodeRequest[],
    places: ItemPlaces,
    signal: AbortSignal | undefined,
    isNext: (request: DecodeRequest) => boolean,
  ): Promise<DecodeOutcome[]> {
    const outcomes: DecodeOutcome[] = [];
    for (const request of requests) {
      signal?.throwIfAborted();
      if (!isNext(request)) break;
      const decoder = (this.#decoder ??= await this.#open());
      const startMs = performance.now();
      this.#place = places.of(request);
      outcomes.push(decoder.decode(request));
      this.#spentMs += performance.now() - startMs;
      // The codec library gives memory back only when the event loop turns.
      await setImmediate();
    }
    return outcomes;
  }

  /** All of the place, where that will do: how many samples come is not always known from the start. */
  readonly #takeRoom: TakeRoom = (samples) => {
    const place = this.#place;
    return place !== undefined && samples <= place.length ? place : this.#chunks.take(samples);
  };

  /** The codec library is loaded by those that decode, and by no other. */
  async #open(): Promise<ItemDecoder> {
    const { ItemDecoder } = await import('./item-decoder.js');
    return new ItemDecoder({ takeRoom: this.#takeRoom });
  }
}
