import type { BatchList, EpochOrder } from './batch-list.js';
import { pickDraws } from './form-batches.js';
import type { LostDraws } from './plan-report.js';

/** How a list is made to fill its last step. */
export interface EqualSteps {
  lastBatch: 'partial' | 'pad' | 'drop';
  /** Batches of a step. */
  width: number;
  /** Batch that steps are counted from. */
  first: number;
  /** Batches of the list from which on may be split, so that no batch of the last step is empty. */
  splitFrom: number;
  /** Items of each batch, where nothing but their number limits it and there are no buckets; else undefined. */
  batchItems: number | undefined;
}

/**
 * A list of which the batches from `first` on are whole steps. Nothing but its end is changed.
 *
 * - `drop` leaves out the batches of the last step where it is not whole.
 * - `pad` adds batches that repeat those from the start of the list, and fills a last batch that is too small.
 * - `partial` splits batches of the last step, or of the last few where it has too few items for all. Where batches are limited by number
 *   alone, their items are dealt out so that ranks differ by one at most; else the largest batches are cut into equal parts until there are enough, for a
 *   part of a batch breaks no limit that the batch keeps.
 */
export function equaliseSteps(list: BatchList, steps: EqualSteps): BatchList {
  const rest = (list.batchCount - steps.first) % steps.width;
  if (steps.lastBatch === 'partial' && rest === 0 && isLastUneven(list, steps))
    return splitTail(list, steps.width, steps);
  if (steps.lastBatch === 'pad') return padList(list, rest, steps);
  if (rest === 0) return list;
  if (steps.lastBatch === 'drop') return new TailedList(list, list.batchCount - rest, [], []);
  return splitTail(list, rest, steps);
}

/** Whether batches limited by number alone differ by more than one in the last step, though it is whole. */
function isLastUneven(list: BatchList, { width, first, batchItems }: EqualSteps): boolean {
  if (batchItems === undefined || list.batchCount === first) return false;
  const last = list.batchCount - 1;
  return list.endOf(last) - list.startOf(last) + 1 < list.endOf(last - width + 1) - list.startOf(last - width + 1);
}

function splitTail(list: BatchList, rest: number, steps: EqualSteps): BatchList {
  const tailSteps = countTailSteps(list, rest, steps);
  const head = list.batchCount - rest - (tailSteps - 1) * steps.width;
  const spans: Span[] = [];
  for (let batch = head; batch < list.batchCount; batch += 1) spans.push(spanOf(list, batch));
  const cells = tailSteps * steps.width;
  const split = steps.batchItems === undefined ? cutSpans(spans, cells) : dealEvenly(spans, tailSteps, steps.width);
  return new TailedList(list, head, split, []);
}

/** Where so many steps have no item to spare, those before hardly have. */
const MAX_TAIL_STEPS = 64;

/** Steps at the end that together have an item for each batch; 1 where there are none such. */
function countTailSteps(list: BatchList, rest: number, { width, first, splitFrom }: EqualSteps): number {
  let items = itemsOf(list, list.batchCount - rest, list.batchCount);
  let from = list.batchCount - rest;
  for (let count = 1; ; count += 1) {
    if (items >= count * width) return count;
    if (count === MAX_TAIL_STEPS || from - width < Math.max(first, splitFrom)) return 1;
    items += itemsOf(list, from - width, from);
    from -= width;
  }
}

function itemsOf(list: BatchList, from: number, end: number): number {
  let items = 0;
  for (let batch = from; batch < end; batch += 1) items += list.endOf(batch) - list.startOf(batch);
  return items;
}

/** A batch, or a part of one, by its positions. */
export interface Span {
  start: number;
  end: number;
  bucket: number | undefined;
  padCount: number;
}

/** A batch of a list. */
export function spanOf(list: BatchList, batch: number): Span {
  return {
    start: list.startOf(batch),
    end: list.endOf(batch),
    bucket: list.bucketOf(batch),
    padCount: list.padCountOf(batch),
  };
}

/** Spans of one run, dealt out anew: to each rank as many items as to any other or one more, and so over its steps. */
function dealEvenly(spans: readonly Span[], stepCount: number, width: number): Span[] {
  const first = spans[0]!.start;
  const items = spans.at(-1)!.end - first;
  const dealt: Span[] = [];
  let start = first;
  for (let step = 0; step < stepCount; step += 1) {
    for (let rank = 0; rank < width; rank += 1) {
      const share = Math.floor(items / width) + (rank < items % width ? 1 : 0);
      const size = Math.floor(share / stepCount) + (step < share % stepCount ? 1 : 0);
      dealt.push({ start, end: start + size, bucket: undefined, padCount: 0 });
      start += size;
    }
  }
  return dealt;
}

/** Cuts the largest, each into equal parts, until there are so many; the parts stay side by side. */
export function cutSpans(spans: readonly Span[], cells: number): Span[] {
  // The least size such that parts of at most it are few enough.
  let low = 1;
  let high = Math.max(...spans.map(sizeOf), 1);
  const partsOf = (span: Span, size: number): number => Math.max(1, Math.ceil(sizeOf(span) / size));
  while (low < high) {
    const middle = (low + high) >> 1;
    const parts = spans.reduce((sum, span) => sum + partsOf(span, middle), 0);
    if (parts <= cells) high = middle;
    else low = middle + 1;
  }
  const parts = spans.map((span) => partsOf(span, low));
  let missing = cells - parts.reduce((sum, count) => sum + count, 0);
  for (let at = 0; at < spans.length && missing > 0; at += 1) {
    const more = Math.min(missing, Math.max(0, sizeOf(spans[at]!) - parts[at]!));
    parts[at]! += more;
    missing -= more;
  }
  // Fewer items than batches: some are empty.
  parts[parts.length - 1]! += missing;
  return spans.flatMap((span, at) => cutSpan(span, parts[at]!));
}

function sizeOf(span: Span): number {
  return span.end - span.start;
}

function cutSpan(span: Span, parts: number): Span[] {
  const cuts: Span[] = [];
  for (let part = 0; part < parts; part += 1) {
    const start = span.start + Math.floor((sizeOf(span) * part) / parts);
    const end = span.start + Math.floor((sizeOf(span) * (part + 1)) / parts);
    const padStart = Math.max(start, span.end - span.padCount);
    cuts.push({ start, end, bucket: span.bucket, padCount: Math.max(0, end - padStart) });
  }
  return cuts;
}

function padList(list: BatchList, rest: number, { first, width, batchItems }: EqualSteps): BatchList {
  if (list.batchCount === first) return list;
  const missing = rest === 0 ? 0 : width - rest;
  const last = spanOf(list, list.batchCount - 1);
  const lacking = batchItems === undefined ? 0 : batchItems - sizeOf(last);
  if (missing === 0 && lacking <= 0) return list;
  const tail: Span[] = [];
  const copies: number[] = [];
  if (lacking > 0) {
    const end = list.order.length + batchItems!;
    for (let position = last.start; position < last.end; position += 1) copies.push(position);
    for (let at = 0; at < lacking; at += 1) copies.push(at % list.order.length);
    tail.push({ start: list.order.length, end, bucket: last.bucket, padCount: lacking });
  } else {
    tail.push(last);
  }
  for (let at = 0; at < missing; at += 1) {
    const repeated = spanOf(list, at % list.batchCount);
    const isLast = at % list.batchCount === list.batchCount - 1;
    const span = isLast ? tail[0]! : repeated;
    tail.push({ ...span, padCount: sizeOf(span) });
  }
  return new TailedList(list, list.batchCount - 1, tail, copies);
}

/** A list whose end is replaced. */
class TailedList implements BatchList {
  readonly order: EpochOrder;
  readonly batchCount: number;
  readonly #list: BatchList;
  readonly #head: number;
  readonly #tail: readonly Span[];

  /**
   * @param head batches that stay
   * @param copies positions that are repeated behind the end of the order
   */
  constructor(list: BatchList, head: number, tail: readonly Span[], copies: readonly number[]) {
    this.order = copies.length === 0 ? list.order : withCopies(list.order, copies);
    this.batchCount = head + tail.length;
    this.#list = list;
    this.#head = head;
    this.#tail = tail;
  }

  startOf(batch: number): number {
    return batch < this.#head ? this.#list.startOf(batch) : this.#tail[batch - this.#head]!.start;
  }

  endOf(batch: number): number {
    return batch < this.#head ? this.#list.endOf(batch) : this.#tail[batch - this.#head]!.end;
  }

  bucketOf(batch: number): number | undefined {
    return batch < this.#head ? this.#list.bucketOf(batch) : this.#tail[batch - this.#head]!.bucket;
  }

  padCountOf(batch: number): number {
    return batch < this.#head ? this.#list.padCountOf(batch) : this.#tail[batch - this.#head]!.padCount;
  }
}

function withCopies(order: EpochOrder, copies: readonly number[]): EpochOrder {
  const positionOf = (position: number): number =>
    position < order.length ? position : copies[position - order.length]!;
  return {
    length: order.length + copies.length,
    itemAt: (position) => order.itemAt(positionOf(position)),
    passAt: (position) => order.passAt(positionOf(position)),
  };
}

/** The draws of batches that a list has and a shorter one has not. */
export function droppedDraws(list: BatchList, { batchCount }: Pick<BatchList, 'batchCount'>): LostDraws {
  const positions: number[] = [];
  for (let batch = batchCount; batch < list.batchCount; batch += 1) {
    for (let position = list.startOf(batch); position < list.endOf(batch); position += 1) positions.push(position);
  }
  return { reason: 'last_batch', order: pickDraws(list.order, positions) };
}
