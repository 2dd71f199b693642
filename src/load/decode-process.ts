// The program of a process that decodes utterances for the process that started it.
import { setImmediate } from 'node:timers/promises';
import { serveJobs } from '../run/pool-child.js';
import type { DecodeJob, DecodeResult, SlotPlace } from './decode-job.js';
import { SlotWriter } from './decode-slots.js';
import { ItemDecoder } from './item-decoder.js';

/** How often the parent hears that work goes on. */
const REPORT_MS = 5000;

const decoder = new ItemDecoder({ isRoomReused: true });

serveJobs<DecodeJob>(async ({ slot, requests }, report) => {
  let reportedMs = performance.now();
  const writer = new SlotWriter(slot);
  const results: DecodeResult[] = [];
  for (const [item, request] of requests.entries()) {
    writer.noteProgress(item);
    const outcome = decoder.decode(request);
    results.push(
      outcome.kind === 'failed'
        ? outcome
        : {
            kind: 'decoded',
            sampleRate: outcome.sampleRate,
            samples: leave(writer, outcome.samples),
            bytes: outcome.bytes && leave(writer, outcome.bytes),
          },
    );
    // The codec library gives memory back only when the event loop turns, as it does with a report.
    if (performance.now() - reportedMs < REPORT_MS) {
      await setImmediate();
      continue;
    }
    await report(undefined);
    reportedMs = performance.now();
  }
  return results;
});

function leave(writer: SlotWriter, array: Float32Array | Uint8Array): SlotPlace {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  return { offsetBytes: writer.write(bytes), lengthBytes: bytes.length };
}
