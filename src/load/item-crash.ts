import type { DecodeOutcome, DecodeRequest } from './decode-request.js';

/** An item whose decoder process ended or hung at it. */
export function describeCrash(request: DecodeRequest, how: string): DecodeOutcome {
  return {
    kind: 'failed',
    reason: 'corrupt_recording',
    message: `Cannot read ${titleOf(request)}: decoding it ${how}`,
    hint: 'Decode the recording with another program, or leave it out.',
  };
}

/** Names an item in messages. */
export function titleOf({ path, inside }: Pick<DecodeRequest, 'path' | 'inside'>): string {
  return inside === undefined ? `"${path}"` : `${JSON.stringify(inside.name)} in "${path}"`;
}
