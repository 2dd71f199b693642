// The program of a thread that decodes utterances for the thread that started it.
import { setImmediate } from 'node:timers/promises';
import { serveThreadJobs } from '../run/thread-child.js';
import { ChunkRoom } from './chunk-room.js';
import type { DecodeOutcome, DecodeRequest } from './decode-request.js';
import { ItemDecoder } from './item-decoder.js';

/** Items to decode, one after the other, and memory that their samples may be put in. */
export interface DecodeThreadJob {
  requests: readonly DecodeRequest[];
  chunks: readonly ArrayBuffer[];
}

/** What became of them, and the memory: other samples have memory of their own. */
export interface DecodeThreadResult {
  outcomes: DecodeOutcome[];
  chunks: ArrayBuffer[];
}

const room = new ChunkRoom();
const decoder = new ItemDecoder({ takeRoom: room.take });

serveThreadJobs<DecodeThreadJob>(
  async ({ requests, chunks: given }, task) => {
    room.begin(given);
    const outcomes: DecodeOutcome[] = [];
    for (const [item, request] of requests.entries()) {
      if (!task.isWanted) break;
      task.noteStep(item);
      outcomes.push(decoder.decode(request));
      // The codec library gives memory back only when the event loop turns.
      await setImmediate();
    }
    const value: DecodeThreadResult = { outcomes, chunks: room.end() };
    return { value, moved: listMemory(value) };
  },
  () => decoder[Symbol.dispose](),
);

/** Each once. */
function listMemory({ outcomes, chunks }: DecodeThreadResult): ArrayBuffer[] {
  const memory = new Set<ArrayBufferLike>(chunks);
  for (const outcome of outcomes) {
    if (outcome.kind === 'failed') continue;
    memory.add(outcome.samples.buffer);
    if (outcome.bytes !== undefined) memory.add(outcome.bytes.buffer);
  }
  return [...memory].filter((own) => own instanceof ArrayBuffer);
}
