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

/** What a list keeps of each batch. */
export interface BatchColumns {
  starts: Uint32Array;
  ends: Uint32Array;
  /** Undefined without buckets. */
  buckets: Uint16Array | undefined;
  /** Undefined where nothing is repeated. */
  padCounts?: Uint32Array | undefined;
}

/** A list that is kept as arrays: some 10 bytes a batch. */
export class StoredBatchList implements BatchList {
  readonly order: EpochOrder;
  readonly batchCount: number;
  readonly #columns: BatchColumns;

  constructor(order: EpochOrder, columns: BatchColumns) {
    this.order = order;
    this.batchCount = columns.starts.length;
    this.#columns = columns;
  }

  startOf(batch: number): number {
    return this.#columns.starts[batch]!;
  }

  endOf(batch: number): number {
    return this.#columns.ends[batch]!;
  }

  bucketOf(batch: number): number | undefined {
    return this.#columns.buckets?.[batch];
  }

  padCountOf(batch: number): number {
    return this.#columns.padCounts?.[batch] ?? 0;
  }
}

/** Some batches of a list, in another order. */
export function arrangedList(order: EpochOrder, columns: BatchColumns, batches: Uint32Array): StoredBatchList {
  const { starts, ends, buckets, padCounts } = columns;
  return new StoredBatchList(order, {
    starts: batches.map((batch) => starts[batch]!),
    ends: batches.map((batch) => ends[batch]!),
    buckets: buckets === undefined ? undefined : Uint16Array.from(batches, (batch) => buckets[batch]!),
    padCounts: padCounts === undefined ? undefined : batches.map((batch) => padCounts[batch]!),
  });
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
