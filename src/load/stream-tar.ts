import { setImmediate } from 'node:timers/promises';
import { BLOCK_BYTES, END_OF_ARCHIVE, paddingBytes, tarHeader } from '../tar/header.js';
import type { Batch } from './batch.js';
import type { LoaderState } from './epoch-plan.js';
import type { Loader } from './loader.js';
import { batchMembers, SampleMembers } from './stream-members.js';
import type { StreamFormat, StreamMember } from './stream-members.js';
import { ReaderClosed } from './stream-output.js';
import type { StreamOutput } from './stream-output.js';

export interface StreamTarOptions {
  /** Where the stream begins: an epoch, or a state. */
  from: number | LoaderState;
  /** Epochs, of which the first may be the rest of one. */
  epochs: number | 'forever';
  /** A sample for each item, in this format; or one for each batch, as arrays. */
  unit: { kind: 'samples'; format: StreamFormat; copies: number } | { kind: 'batches' };
  output: StreamOutput;
  signal: AbortSignal;
  /** Told after each batch, when there is room for the next. */
  onBatch?: ((now: StreamSummary, state: LoaderState) => Promise<void>) | undefined;
}

/** What was written so far. */
export interface StreamSummary {
  /** False where the reader closed the stream, or before its end. */
  isWhole: boolean;
  batches: number;
  items: number;
  hours: number;
  bytes: number;
}

/**
 * Writes batches as a tar that WebDataset reads: the members of a sample behind each other, samples in the order of the plan.
 *
 * ```
 * ├ KEY.wav ┼ KEY.json ┼ KEY.wav ┼ KEY.json ┤ …               single samples
 * ├ 000000-000000003.audio.npy ┼ ….lengths.npy ┼ ….json ┤ …   batches
 * ```
 *
 * A reader that closes the stream early ends it quietly. No more is held than a batch, what is decoded ahead, and 4 MiB.
 *
 * @throws OutputError when the stream cannot be written; what the loader throws; the signal's reason.
 */
export async function streamTar(loader: Loader, options: StreamTarOptions): Promise<StreamSummary> {
  const { output, signal, unit } = options;
  const samples = unit.kind === 'samples' ? new SampleMembers(unit.format, unit.copies) : undefined;
  const now: StreamSummary = { isWhole: false, batches: 0, items: 0, hours: 0, bytes: 0 };
  const waiting: { batch: Batch; endBytes: number }[] = [];
  try {
    for await (const batch of epochsOf(loader, options)) {
      if (samples === undefined) await output.write(toTar(batchMembers(batch)), signal);
      else await writeSamples(samples, batch, options);
      now.batches += 1;
      now.items += batch.ids.length;
      now.hours += batch.audioLengths.reduce((sum, length) => sum + length, 0) / (batch.sampleRate || 1) / 3600;
      now.bytes = output.writtenBytes;
      await options.onBatch?.(now, batch.state);
      waiting.push({ batch, endBytes: output.writtenBytes });
      while ((waiting[0]?.endBytes ?? Infinity) <= output.takenBytes) loader.recycle(waiting.shift()!.batch);
    }
    await output.write([END_OF_ARCHIVE], signal);
    await output.flush(signal);
    return { ...now, isWhole: true, bytes: output.writtenBytes };
  } catch (error) {
    if (error instanceof ReaderClosed) return now;
    throw error;
  }
}

/** Encoding blocks: what is waiting goes out in between. */
async function writeSamples(samples: SampleMembers, batch: Batch, { output, signal }: StreamTarOptions): Promise<void> {
  let members: StreamMember[] = [];
  for await (const member of samples.of(batch)) {
    members.push(member);
    if (members.length < MEMBERS_OF_SAMPLE) continue;
    await output.write(toTar(members), signal);
    members = [];
    await setImmediate();
  }
}

/** The audio and its row. */
const MEMBERS_OF_SAMPLE = 2;

async function* epochsOf(loader: Loader, { from, epochs }: StreamTarOptions): AsyncGenerator<Batch, void, undefined> {
  if (epochs === 'forever') {
    yield* loader.stream(from);
    return;
  }
  for (let epoch = 0; epoch < epochs; epoch += 1) yield* loader.batches(epoch === 0 ? from : loader.state);
}

function toTar(members: readonly StreamMember[]): Uint8Array[] {
  const chunks = members.flatMap(({ name, chunks: payload }) => {
    const sizeBytes = payload.reduce((sum, { length }) => sum + length, 0);
    return [tarHeader({ name, sizeBytes }), ...payload, ZEROS.subarray(0, paddingBytes(sizeBytes))];
  });
  return joinSmall(chunks);
}

const ZEROS: Readonly<Uint8Array> = new Uint8Array(BLOCK_BYTES);
/** A chunk of its own costs more than copying so much. */
const SMALL_BYTES = 4096;

/** Headers, rows and padding between two payloads become one chunk. */
function joinSmall(chunks: readonly Uint8Array[]): Uint8Array[] {
  const joined: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  for (const chunk of chunks) {
    if (chunk.length < SMALL_BYTES) {
      small.push(chunk);
      continue;
    }
    joined.push(Buffer.concat(small), chunk);
    small = [];
  }
  joined.push(Buffer.concat(small));
  return joined.filter(({ length }) => length > 0);
}
