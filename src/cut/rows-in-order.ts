import { readSync } from 'node:fs';
import { errorMessage, InputError } from '../errors.js';
import type { CutPlan } from './cut-plan.js';

/** Rows that lie close together are read at once, up to about so many bytes. */
const READ_BYTES = 1 << 20;
/** Bytes between two rows that are rather read than passed over. */
const GAP_BYTES = 1 << 14;

/**
 * The rows of the recordings that have snippets, as they stand in the manifest, in the order of members. Each holds until the next is asked for.
 *
 * The process waits for each read: where the manifest has another order, there is one for each row, and half of the time would go into
 * waiting for another thread.
 *
 * @throws {InputError} when the manifest cannot be read, or is shorter than it was.
 */
export function* rowsInOrder(plan: CutPlan): Generator<Buffer> {
  const { table } = plan.parts;
  const order = plan.recordingsInOrder();
  let buffer = Buffer.allocUnsafe(READ_BYTES);
  for (let unit = 0; unit < order.length;) {
    const start = table.offsetAt(order[unit]!);
    let end = start + table.lengthAt(order[unit]!);
    let next = unit + 1;
    for (; next < order.length; next += 1) {
      const from = table.offsetAt(order[next]!);
      const to = from + table.lengthAt(order[next]!);
      if (from < end || from - end > GAP_BYTES || to - start > READ_BYTES) break;
      end = to;
    }
    if (end - start > buffer.length) buffer = Buffer.allocUnsafe(end - start);
    fill(plan, buffer.subarray(0, end - start), start);
    for (; unit < next; unit += 1) {
      const at = table.offsetAt(order[unit]!) - start;
      yield buffer.subarray(at, at + table.lengthAt(order[unit]!));
    }
  }
}

function fill(plan: CutPlan, into: Buffer, offsetBytes: number): void {
  const { handle, settings } = plan.parts;
  const path = settings.inputManifest;
  for (let filled = 0; filled < into.length;) {
    const at = offsetBytes + filled;
    let read: number;
    try {
      read = readSync(handle.fd, into, filled, into.length - filled, at);
    } catch (error) {
      const state = errorMessage(error);
      throw new InputError(`Cannot read "${path}" at byte ${at}: ${state}`, { path, offsetBytes: at, cause: error });
    }
    if (read === 0) {
      throw new InputError(`Cannot read "${path}" again: it is shorter than it was`, {
        path,
        offsetBytes: at,
        hint: 'Leave the manifest as it is while it is being worked on.',
      });
    }
    filled += read;
  }
}
