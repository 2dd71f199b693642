/** The draws of an epoch, by their position in it. */
export interface EpochOrder {
  readonly length: number;
  /** Item of the table. */
  itemAt(position: number): number;
  /** Which of its leaf's passes over itself the draw belongs to. */
  passAt(position: number): number;
}

/** Batches as spans of positions in an order of draws. */
export interface BatchList {
  readonly order: EpochOrder;
  readonly batchCount: number;
  /** Positions [startOf, endOf) are the batch. */
  startOf(batch: number): number;
  endOf(batch: number): number;
  bucketOf(batch: number): number | undefined;
  /** Draws at the end of the batch that are repeated. */
  padCountOf(batch: number): number;
}

/** A list that is kept as arrays: 10 bytes a batch. */
export class StoredBatchList implements BatchList {
  readonly order: EpochOrder;
  readonly batchCount: number;
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;
  readonly #buckets: Uint16Array | undefined;

  constructor(order: EpochOrder, starts: Uint32Array, ends: Uint32Array, buckets?: Uint16Array) {
    this.order = order;
    this.batchCount = starts.length;
    this.#starts = starts;
    this.#ends = ends;
    this.#buckets = buckets;
  }

  startOf(batch: number): number {
    return this.#starts[batch]!;
  }

  endOf(batch: number): number {
    return this.#ends[batch]!;
  }

  bucketOf(batch: number): number | undefined {
    return this.#buckets?.[batch];
  }

  padCountOf(): number {
    return 0;
  }
}

/** Runs of one size: nothing is kept, so there may be any number of them. */
export class UniformBatchList implements BatchList {
  readonly order: EpochOrder;
  readonly batchCount: number;
  readonly #size: number;

  constructor(order: EpochOrder, size: number) {
    this.order = order;
    this.#size = size;
    this.batchCount = Math.ceil(order.length / size);
  }

  startOf(batch: number): number {
    return batch * this.#size;
  }

  endOf(batch: number): number {
    return Math.min((batch + 1) * this.#size, this.order.length);
  }

  bucketOf(): undefined {
    return undefined;
  }

  padCountOf(): number {
    return 0;
  }
}
