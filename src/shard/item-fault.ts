import { errorMessage, InputError, OutputError } from '../errors.js';

/** Why an item has no member, where its audio is not what the codec library could not read. */
export type ItemFaultReason =
  /** Its segment begins where the audio has ended already. */
  | 'past_end'
  /** The process died at it twice. */
  | 'decoder_crashed'
  /** The process said nothing for too long. */
  | 'decoder_hung'
  /** Anything that the codec library is not expected to do. */
  | 'decoder_failed'
  | 'missing_recording'
  | 'unreadable_recording'
  | 'empty_recording'
  /** It became shorter while it was copied. */
  | 'changed_recording'
  /** The tar does not hold the member where the plan found it. */
  | 'changed_tar'
  | 'bad_member_name'
  /** An encoded member of 8 GiB or more. */
  | 'too_large'
  /** A row without a member of its own, whose member is not in the shard. */
  | 'missing_member';

/** Why an item failed: plain data, which a journal can hold. */
export interface ItemFailure {
  /** An `ItemFaultReason`, or the reason of an `AudioError`. */
  reason: string;
  message: string;
  hint?: string | undefined;
}

/** An item that cannot be made, through no fault of the disk that it goes to. */
export class ItemFault extends Error {
  override readonly name = 'ItemFault';
  readonly reason: ItemFaultReason;
  readonly hint: string | undefined;

  constructor(reason: ItemFaultReason, message: string, options: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.hint = options.hint;
  }
}

/**
 * What a failed item is counted under. Whatever a single item brings about, the others are made.
 *
 * @throws {OutputError} as it is: the disk's fault is not the item's.
 */
export function describeFault(error: unknown, path: string): ItemFailure {
  if (error instanceof OutputError) throw error;
  if (error instanceof ItemFault) return { reason: error.reason, message: error.message, hint: error.hint };
  // An AudioError, told by its shape: its class comes with the codec library, which copies do without.
  if (error instanceof InputError && 'reason' in error && typeof error.reason === 'string') {
    return { reason: error.reason, message: error.message, hint: error.hint };
  }
  const reason: ItemFaultReason = 'decoder_failed';
  return { reason, message: `Cannot read "${path}": ${errorMessage(error)}` };
}
