import { statSync } from 'node:fs';
import { AudioError } from '../audio/audio-error.js';
import { cutSpans } from '../audio/cut-spans.js';
import type { SpanSink } from '../audio/cut-spans.js';
import { createEncoder } from '../audio/snippet-encoder.js';
import { errorMessage, systemCode } from '../errors.js';
import type { Report } from '../run/pool-child.js';
import { PartWriter } from './part.js';
import { SnippetBytes } from './snippet-bytes.js';
import { endFrame, firstFrame } from './times.js';
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

/** How an attempt ended. Snippets are in the part file; plain data. */
export interface ExtractResult {
  /** Why snippets are missing from the part file, where some are. */
  failure?: { reason: string; message: string; hint?: string | undefined };
  /** Set when the part file could not be written: no fault of the recording. */
  outputFault?: { code: string | undefined; message: string };
  warnings: string[];
  /** What the recording's file was when it was read. */
  source?: SourceFacts;
}

/** Tells whether a file is still the one that was read. */
export interface SourceFacts {
  sizeBytes: number;
  modifiedMs: number;
}

/** Decodes a recording once and writes its snippets; reports the seconds of audio it has passed. Runs in a process of its own. */
export async function extractRecording(job: ExtractJob, report: Report): Promise<ExtractResult> {
  const warnings: string[] = [];
  let source: SourceFacts | undefined;
  try {
    const writer = new PartWriter(job.part);
    try {
      source = readSourceFacts(job.audioPath);
      const sinks = new SnippetSinks(job, writer);
      const { snippets, targetSampleRate, channel } = job;
      const facts = await cutSpans(
        job.audioPath,
        (rate) =>
          snippets.map(({ startMicros, endMicros }) => ({
            firstFrame: firstFrame(startMicros, rate),
            endFrame: endFrame(endMicros, rate),
          })),
        (index) => sinks.open(index),
        {
          targetRate: targetSampleRate,
          mix: channel,
          onPosition: (frames, rate) => report(frames / rate),
          onInfo: ({ sampleRate }) => sinks.setRate(sampleRate),
        },
      );
      if (facts.cancellationDb !== undefined) {
        warnings.push(
          `averaging its ${facts.channels} channels cancels ${(-facts.cancellationDb).toFixed(0)} dB of them: they are in opposite phase; --channel 0 keeps one`,
        );
      }
      if (sinks.invalidSamples > 0) warnings.push(`${sinks.invalidSamples} samples are not numbers and became silence`);
    } finally {
      writer.close();
    }
  } catch (error) {
    const rest = { warnings, ...(source === undefined ? {} : { source }) };
    if (error instanceof AudioError) {
      return { failure: { reason: error.reason, message: error.message, hint: error.hint }, ...rest };
    }
    const code = systemCode(error);
    if (code === undefined) throw error;
    return { outputFault: { code, message: errorMessage(error) }, ...rest };
  }
  return { warnings, ...(source === undefined ? {} : { source }) };
}

/** What a file is now, or undefined where it cannot be looked at. */
export function readSourceFacts(audioPath: string): SourceFacts | undefined {
  const facts = statSync(audioPath, { throwIfNoEntry: false });
  return facts === undefined ? undefined : { sizeBytes: facts.size, modifiedMs: facts.mtimeMs };
}

/**
 * Pieces of encoded audio between two small collections. Each piece keeps a buffer of the codec library alive until it is
 * collected, and these pin the holes that the encoders' large contexts leave: memory would grow with the audio.
 */
const PIECES_A_COLLECTION = 256;

/** Encodes spans and hands each one, once complete, to the part file. */
class SnippetSinks {
  invalidSamples = 0;
  readonly #job: ExtractJob;
  readonly #writer: PartWriter;
  /** Buffers without a snippet, to be used again. */
  readonly #idle: SnippetBytes[] = [];
  #bufferCount = 0;
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
    const { outputFormat, targetSampleRate, part } = this.#job;
    const rate = this.#sourceRate;
    const bytes = this.#idle.pop() ?? new SnippetBytes(`${part}.${(this.#bufferCount += 1)}`);
    const encoder = createEncoder(outputFormat, targetSampleRate, snippetId, {
      write: (piece) => {
        bytes.write(piece);
        this.#collectNowAndThen();
      },
      patch: (offset, piece) => bytes.patch(offset, piece),
    });
    const done = (entry: Parameters<PartWriter['add']>[0], encoded: SnippetBytes | undefined): void => {
      encoder[Symbol.dispose]();
      this.#writer.add(entry, encoded);
      bytes.clear();
      this.#idle.push(bytes);
    };
    return {
      write: (samples, count) => encoder.write(samples, count),
      finish: (samples, lastFrame) => {
        encoder.finish();
        const { clippedSamples, invalidSamples } = encoder;
        this.invalidSamples += invalidSamples;
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

  #collectNowAndThen(): void {
    this.#pieces += 1;
    if (this.#pieces % PIECES_A_COLLECTION === 0) globalThis.gc?.({ type: 'minor' });
  }
}
