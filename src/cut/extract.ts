import { setImmediate } from 'node:timers/promises';
import { AudioError } from '../audio/audio-error.js';
import { cutSpans } from '../audio/cut-spans.js';
import type { SpanSink } from '../audio/cut-spans.js';
import { createEncoder } from '../audio/snippet-encoder.js';
import type { SnippetEncoder } from '../audio/snippet-encoder.js';
import { errorMessage } from '../errors.js';
import type { Report } from '../run/pool-child.js';
import { PartWriter } from './part.js';
import type { AttemptEnd } from './part.js';
import { PartFault, SnippetBytes } from './snippet-bytes.js';
import { readSourceFacts } from './source-facts.js';
import { endFrame, firstFrame } from '../audio/times.js';
import type { ChannelChoice, OutputFormat } from './types.js';

/** One attempt to cut the snippets of a recording; plain data. */
export interface ExtractJob {
  audioPath: string;
  /** In the order of their starts. */
  snippets: { ordinal: number; snippetId: string; startMicros: number; endMicros: number; isDone: boolean }[];
  /** Hz. */
  targetSampleRate: number;
  outputFormat: OutputFormat;
  channel: ChannelChoice;
  /** The part file to make. */
  part: string;
}

/** How an attempt ended; plain data. Its snippets are in the part file, and how it ended is in its index too. */
export interface ExtractResult {
  /** Why snippets are missing, where some are. */
  failure?: AttemptEnd['failure'];
  /** Set when the part file could not be written: no fault of the recording. */
  outputFault?: { code: string | undefined; message: string };
}

/** Decodes a recording once and writes its snippets; reports the seconds of audio it has passed. Runs in a process of its own. */
export async function extractRecording(job: ExtractJob, report: Report): Promise<ExtractResult> {
  try {
    const earlier = job.snippets.filter(({ isDone }) => isDone).map(({ ordinal }) => ordinal);
    const writer = new PartWriter(job.part, readSourceFacts(job.audioPath), earlier);
    try {
      const { failure } = writer.finish(await extractInto(writer, job, report));
      return failure === undefined ? {} : { failure };
    } finally {
      writer.close();
    }
  } catch (error) {
    if (!(error instanceof PartFault)) throw error;
    return { outputFault: { code: error.code, message: error.message } };
  }
}

async function extractInto(writer: PartWriter, job: ExtractJob, report: Report): Promise<Omit<AttemptEnd, 'ordinals'>> {
  const warnings: string[] = [];
  const { snippets, targetSampleRate, channel, audioPath } = job;
  const reportNowAndThen = thinOut(report);
  using sinks = new SnippetSinks(job, writer);
  try {
    const facts = await cutSpans(
      audioPath,
      (rate) =>
        snippets.map(({ startMicros, endMicros }) => ({
          firstFrame: firstFrame(startMicros, rate),
          endFrame: endFrame(endMicros, rate),
        })),
      (index) => sinks.open(index),
      {
        targetRate: targetSampleRate,
        mix: channel,
        onPosition: (frames, rate) => reportNowAndThen(frames / rate),
        onInfo: ({ sampleRate }) => sinks.setRate(sampleRate),
      },
    );
    if (facts.cancellationDb !== undefined) {
      warnings.push(
        `averaging its ${facts.channels} channels cancels ${(-facts.cancellationDb).toFixed(0)} dB of them: they are in opposite phase; --channel 0 keeps one`,
      );
    }
    return { warnings };
  } catch (error) {
    if (error instanceof PartFault) throw error;
    if (error instanceof AudioError) {
      return { failure: { reason: error.reason, message: error.message, hint: error.hint }, warnings };
    }
    // Whatever a single recording brings about, the others are cut.
    const message = `Cannot cut "${audioPath}": ${errorMessage(error)}`;
    return { failure: { reason: 'decoder_failed', message }, warnings };
  }
}

/** Time between two reports: a message costs both processes as much work as some seconds of audio. */
const REPORT_MS = 100;

/** Passes on some of the reports; the event loop takes its turn at each. */
function thinOut(report: Report): Report {
  let nextMs = 0;
  return async (what) => {
    const nowMs = performance.now();
    if (nowMs < nextMs) return await setImmediate();
    nextMs = nowMs + REPORT_MS;
    await report(what);
  };
}

/**
 * Pieces of encoded audio between two small collections. Each piece keeps a buffer of the codec library alive until it is
 * collected, and these pin the holes that the encoders' large contexts leave: memory would grow with the audio.
 */
const PIECES_A_COLLECTION = 256;

/** Encodes spans and hands each one, once complete, to the part file. */
class SnippetSinks implements Disposable {
  readonly #job: ExtractJob;
  readonly #writer: PartWriter;
  readonly #buffers: SnippetBytes[] = [];
  /** Buffers without a snippet, to be used again. */
  readonly #idle: SnippetBytes[] = [];
  /**
   * Encoders that are done. Each is freed just before another one is made, which then gets its memory (10 MB for FLAC)
   * whole, before smaller things are put there, and without asking the system for fresh pages.
   */
  readonly #spent: SnippetEncoder[] = [];
  /** All that are not freed. */
  readonly #encoders = new Set<SnippetEncoder>();
  #sourceRate = 0;
  #pieces = 0;

  constructor(job: ExtractJob, writer: PartWriter) {
    this.#job = job;
    this.#writer = writer;
  }

  setRate(sourceRate: number): void {
    this.#sourceRate = sourceRate;
  }

  open(index: number): SpanSink | undefined {
    const snippet = this.#job.snippets[index];
    if (snippet === undefined) throw new RangeError(`There is no snippet ${index}`);
    if (snippet.isDone) return undefined;
    const { ordinal, snippetId, endMicros } = snippet;
    const { outputFormat, targetSampleRate } = this.#job;
    const rate = this.#sourceRate;
    const bytes = this.#idle.pop() ?? this.#addBuffer();
    this.#freeSpent();
    const encoder = createEncoder(outputFormat, targetSampleRate, snippetId, {
      write: (piece) => {
        bytes.write(piece);
        this.#collectNowAndThen();
      },
      patch: (offset, piece) => bytes.patch(offset, piece),
    });
    this.#encoders.add(encoder);
    const done = (entry: Parameters<PartWriter['add']>[0], encoded: SnippetBytes | undefined): void => {
      this.#writer.add(entry, encoded);
      this.#spent.push(encoder);
      bytes.clear();
      this.#idle.push(bytes);
    };
    return {
      write: (samples, count) => encoder.write(samples, count),
      finish: (samples, lastFrame) => {
        encoder.finish();
        const { clippedSamples, invalidSamples } = encoder;
        const isShort = lastFrame < endFrame(endMicros, rate);
        const audioEnd = isShort ? { audioEndSeconds: lastFrame / rate } : {};
        done({ ordinal, samples, clippedSamples, invalidSamples, ...audioEnd }, bytes);
      },
      miss: (audioFrames) => {
        done(
          { ordinal, samples: 0, clippedSamples: 0, invalidSamples: 0, audioEndSeconds: audioFrames / rate },
          undefined,
        );
      },
    };
  }

  /** Frees the encoders, and what the snippets hold that were not completed. */
  [Symbol.dispose](): void {
    for (const encoder of this.#encoders) encoder[Symbol.dispose]();
    for (const bytes of this.#buffers) bytes.clear();
  }

  #freeSpent(): void {
    const encoder = this.#spent.pop();
    if (encoder === undefined) return;
    this.#encoders.delete(encoder);
    encoder[Symbol.dispose]();
  }

  #addBuffer(): SnippetBytes {
    const bytes = new SnippetBytes(`${this.#job.part}.${this.#buffers.length + 1}`);
    this.#buffers.push(bytes);
    return bytes;
  }

  #collectNowAndThen(): void {
    this.#pieces += 1;
    if (this.#pieces % PIECES_A_COLLECTION === 0) globalThis.gc?.({ type: 'minor' });
  }
}
