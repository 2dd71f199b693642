import type { DecodeRequest, DivideRoom } from './decode-request.js';

/** Where samples of requests may be put: made when the first of them come. */
export class ItemPlaces {
  readonly #requests: readonly DecodeRequest[];
  readonly #divide: DivideRoom | undefined;
  #places: ReadonlyMap<DecodeRequest, Float32Array<ArrayBuffer> | undefined> | undefined;

  constructor(requests: readonly DecodeRequest[], divide: DivideRoom | undefined) {
    this.#requests = requests;
    this.#divide = divide;
  }

  of(request: DecodeRequest | undefined): Float32Array<ArrayBuffer> | undefined {
    if (request === undefined || this.#divide === undefined) return undefined;
    if (this.#places === undefined) {
      const places = this.#divide();
      this.#places = new Map(this.#requests.map((own, at) => [own, places[at]]));
    }
    return this.#places.get(request);
  }
}
