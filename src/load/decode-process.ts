// The program of a process that decodes utterances for the process that started it.
import { setImmediate } from 'node:timers/promises';
import { encodeWavSamples } from '../audio/wav-samples.js';
import { OutputError } from '../errors.js';
import { serveJobs, type Report } from '../run/pool-child.js';
import type { DecodeJob, DecodeResult, SlotFault, SlotPlace } from './decode-job.js';
import type { DecodeRequest, EncodedFormat } from './decode-request.js';
import { SlotWriter } from './decode-slots.js';
import { ItemDecoder } from './item-decoder.js';

/** How often the parent hears that work goes on. */
const REPORT_MS = 5000;

const decoder = new ItemDecoder({ isRoomReused: true });

serveJobs<DecodeJob>(async (job, report): Promise<DecodeResult[] | SlotFault> => {
  try {
    return await decodeAll(job, report);
  } catch (error) {
    if (!(error instanceof OutputError)) throw error;
    return { kind: 'no_room', message: error.message, hint: error.hint };
  }
});

async function decodeAll({ slot, requests, encodeAs }: DecodeJob, report: Report): Promise<DecodeResult[]> {
  let reportedMs = performance.now();
  const writer = new SlotWriter(slot);
  const results: DecodeResult[] = [];
  for (const [item, request] of requests.entries()) {
    writer.noteProgress(item);
    results.push(encodeAs === undefined ? decode(request, writer) : await encode(request, encodeAs, writer));
    // The codec library gives memory back only when the event loop turns, as it does with a report.
    if (performance.now() - reportedMs < REPORT_MS) {
      await setImmediate();
      continue;
    }
    await report(undefined);
    reportedMs = performance.now();
  }
  return results;
}

function decode(request: DecodeRequest, writer: SlotWriter): DecodeResult {
  const outcome = decoder.decode(request);
  if (outcome.kind === 'failed') return outcome;
  const { samples, sampleRate, bytes } = outcome;
  return { kind: 'decoded', sampleRate, samples: leave(writer, samples), bytes: bytes && leave(writer, bytes) };
}

async function encode(request: DecodeRequest, format: EncodedFormat, writer: SlotWriter): Promise<DecodeResult> {
  const outcome = decoder.decodeAsIs(request);
  if (outcome.kind === 'failed') return outcome;
  const { samples, sampleRate } = outcome;
  const chunks = format === 'wav' ? encodeWavSamples(samples, sampleRate) : [await encodeFlac(samples, sampleRate)];
  return { kind: 'encoded', sampleRate, samples: samples.length, bytes: leave(writer, ...chunks) };
}

/** Only those who ask for FLAC wait for its encoder to be loaded. */
async function encodeFlac(samples: Float32Array | Int16Array, sampleRate: number): Promise<Uint8Array> {
  const { encodeFlacSamples } = await import('../audio/flac-samples.js');
  return encodeFlacSamples(samples, sampleRate);
}

/** Chunks lie behind one another. */
function leave(writer: SlotWriter, ...chunks: readonly (Float32Array | Uint8Array)[]): SlotPlace {
  const offsets = chunks.map(({ buffer, byteOffset, byteLength }) =>
    writer.write(new Uint8Array(buffer, byteOffset, byteLength)),
  );
  return { offsetBytes: offsets[0] ?? 0, lengthBytes: chunks.reduce((sum, { byteLength }) => sum + byteLength, 0) };
}
