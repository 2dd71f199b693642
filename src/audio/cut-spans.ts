import { AV_CHANNEL_ORDER_NATIVE } from 'node-av/constants';
import type { ChannelLayout } from 'node-av/lib';
import type { BlockReader } from './block-reader.js';
import { CancellationMeter } from './cancellation-meter.js';
import type { ChannelMix } from './channel-mix.js';
import { positionedLayout } from './channel-weights.js';
import { AudioError } from './audio-error.js';
import { refuseEarlyEnd, refuseFormatChange } from './recording-faults.js';
import { RecordingReader } from './recording-reader.js';
import type { RecordingInfo } from './recording-reader.js';
import { createResampler } from './span-resampler.js';
import type { ResamplerInput, SpanResampler } from './span-resampler.js';

/** A span of a recording, in its own frames; half-open. The end may lie past the audio. */
export interface FrameSpan {
  firstFrame: number;
  endFrame: number;
}

/** Takes the samples of one span, in order. */
export interface SpanSink {
  /** The first `count` samples hold until the call returns. */
  write(samples: Float32Array, count: number): void;
  /**
   * The span is complete.
   *
   * @param samples how many samples were written: ceil(frames · target / source).
   * @param endFrame where the span ended: less than asked for where the recording ends before.
   */
  finish(samples: number, endFrame: number): void;
  /** The recording ends at `audioFrames`, at or before the span's first frame; nothing was written. */
  miss(audioFrames: number): void;
}

export interface CutSpansOptions {
  /** Hz; null keeps the recording's. */
  targetRate: number | null;
  mix: ChannelMix;
  /**
   * Called now and then while audio is decoded, with the position in frames. The work goes on when it resolves, which
   * must take a turn of the event loop.
   */
  onPosition(frames: number, sampleRate: number): Promise<void>;
  /** Opens the recording; without it, with the codec library. */
  open?: (path: string) => BlockReader;
  /** Called once, before anything is decoded. */
  onInfo?(info: RecordingInfo): void;
}

/** What was seen of a recording while spans were cut out of it. */
export interface RecordingFacts extends RecordingInfo {
  /** Set when the mono mix is far quieter than its channels, in dB (negative). */
  cancellationDb: number | undefined;
}

/** Frames between two calls of `onPosition`; the codec library gives memory back only when the event loop turns. */
export const FRAMES_A_REPORT = 1 << 17;

/**
 * Cuts spans out of one recording in a single pass: decode, mix to mono, resample.
 *
 * @param spansOf gives the spans, once the recording's rate is known, in the order of their first frames.
 * @param sinkOf makes the place for the samples of the span with that index; undefined for one that is not wanted, past
 *   which the recording is decoded all the same, so that what is met on the way does not hang on which spans are wanted.
 * @throws AudioError when audio that a span needs is not to be had; sinks that were finished before keep their samples.
 */
export async function cutSpans(
  path: string,
  spansOf: (sampleRate: number) => readonly FrameSpan[],
  sinkOf: (index: number) => SpanSink | undefined,
  options: CutSpansOptions,
): Promise<RecordingFacts> {
  using reader = (options.open ?? openReader)(path);
  const { sampleRate, channels } = reader.info;
  options.onInfo?.(reader.info);
  if (options.mix !== 'average' && options.mix >= channels) {
    throw new AudioError(
      'bad_channel',
      path,
      `channel ${options.mix} was asked for, it has ${channels} (counted from 0)`,
    );
  }
  using sweep = new Sweep(reader, spansOf(sampleRate), sinkOf, options);
  for (let reportAt = FRAMES_A_REPORT; !sweep.isDone;) {
    sweep.step();
    if (reader.position < reportAt) continue;
    await options.onPosition(reader.position, sampleRate);
    reportAt = reader.position + FRAMES_A_REPORT;
  }
  return { ...reader.info, cancellationDb: sweep.cancellationDb };
}

function openReader(path: string): BlockReader {
  return new RecordingReader(path);
}

/** A span that decoded audio is being fed to. */
interface OpenSpan {
  span: FrameSpan;
  sink: SpanSink;
  resampler: SpanResampler;
  /** Samples that the span will have; fewer when the recording ends early. */
  wanted: number;
  written: number;
}

/** Moves along the recording and keeps the spans open that the current block, or its context, belongs to. */
class Sweep implements Disposable {
  readonly #reader: BlockReader;
  readonly #spans: readonly FrameSpan[];
  readonly #sinkOf: (index: number) => SpanSink | undefined;
  readonly #options: CutSpansOptions;
  readonly #meter: CancellationMeter | undefined;
  /** Resamplers without a span, to be used again: their filters are made once. */
  readonly #idle: SpanResampler[] = [];
  #input: ResamplerInput | undefined;
  #contextFrames = 0;
  /** Set where the blocks come without channel positions. */
  #layout: ChannelLayout | undefined;
  #open: OpenSpan[] = [];
  /** The spans so far, wanted or not, are decoded up to here. */
  #neededFrames = 0;
  /** The last of them ends here. */
  #spanEnd = 0;
  #next = 0;

  constructor(
    reader: BlockReader,
    spans: readonly FrameSpan[],
    sinkOf: (index: number) => SpanSink | undefined,
    options: CutSpansOptions,
  ) {
    this.#reader = reader;
    this.#spans = spans;
    this.#sinkOf = sinkOf;
    this.#options = options;
    this.#meter =
      options.mix === 'average' && reader.info.channels > 1 ? new CancellationMeter(reader.info) : undefined;
  }

  get isDone(): boolean {
    const isAllBegun = this.#open.length === 0 && this.#next >= this.#spans.length;
    return isAllBegun && this.#reader.position >= this.#spanEnd;
  }

  get cancellationDb(): number | undefined {
    return this.#meter?.cancellationDb;
  }

  /** Decodes one block and feeds it to the spans that need it; at the end of the audio, ends them all. */
  step(): void {
    const reader = this.#reader;
    const upcoming = this.#spans[this.#next];
    const isBetween = this.#open.length === 0 && reader.position >= this.#neededFrames;
    if (isBetween && upcoming !== undefined) {
      reader.skip(this.#neededFrames, upcoming.firstFrame - this.#contextFrames);
    }
    if (!reader.next()) {
      this.#end();
      return;
    }
    this.#checkFormat();
    this.#openSpans();
    // By place alone, wanted or not: what is said of a recording does not hang on which of its spans an earlier run cut.
    if (reader.blockStart < this.#spanEnd) this.#meter?.add(reader.block, reader.blockStart);
    for (const open of this.#open) {
      this.#emit(open, open.resampler.push(reader.block, reader.blockFrames, open.wanted - open.written));
    }
    this.#open = this.#open.filter((open) => !this.#finishIfComplete(open));
  }

  [Symbol.dispose](): void {
    for (const { resampler } of this.#open) resampler[Symbol.dispose]();
    for (const resampler of this.#idle) resampler[Symbol.dispose]();
  }

  /** The rate, channels and sample format must stay what they were in the first block. */
  #checkFormat(): void {
    const { block, info } = this.#reader;
    // Containers without channel positions leave them open; the resampler wants them spelt out, in every block.
    if (this.#layout !== undefined) block.channelLayout = this.#layout;
    if (this.#input === undefined) {
      if (block.channelLayout.order !== AV_CHANNEL_ORDER_NATIVE) {
        this.#layout = positionedLayout(info.channels);
        block.channelLayout = this.#layout;
      }
      this.#input = { layout: block.channelLayout, format: block.format, sampleRate: info.sampleRate };
      const resampler = this.#takeResampler();
      this.#contextFrames = resampler.contextFrames;
      this.#idle.push(resampler);
      return;
    }
    refuseFormatChange(this.#reader, this.#input.layout.nbChannels);
  }

  /** Opens the spans whose context begins in the current block. */
  #openSpans(): void {
    const { position, blockStart } = this.#reader;
    for (let span = this.#spans[this.#next]; span !== undefined; span = this.#spans[this.#next]) {
      if (span.firstFrame - this.#contextFrames >= position) return;
      const sink = this.#sinkOf(this.#next);
      this.#next += 1;
      this.#spanEnd = Math.max(this.#spanEnd, span.endFrame);
      this.#neededFrames = this.#spanEnd + this.#contextFrames;
      if (sink === undefined) continue;
      const resampler = this.#takeResampler();
      resampler.begin(span.firstFrame, blockStart);
      const wanted = resampler.outputLength(span.endFrame - span.firstFrame);
      this.#open.push({ span, sink, resampler, wanted, written: 0 });
    }
  }

  #takeResampler(): SpanResampler {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    if (this.#input === undefined) throw new Error('No block was decoded yet');
    const targetRate = this.#options.targetRate ?? this.#input.sampleRate;
    return createResampler(this.#input, targetRate, this.#options.mix);
  }

  #emit(open: OpenSpan, made: number): void {
    const count = Math.min(made, open.wanted - open.written);
    if (count <= 0) return;
    open.sink.write(open.resampler.samples, count);
    open.written += count;
  }

  #finishIfComplete(open: OpenSpan): boolean {
    if (open.written < open.wanted) return false;
    open.sink.finish(open.written, open.span.endFrame);
    this.#idle.push(open.resampler);
    return true;
  }

  /** The recording is over: what is open is filled from the context of silence, what is ahead is missed. */
  #end(): void {
    const audioFrames = this.#reader.position;
    refuseEarlyEnd(this.#reader);
    for (const open of this.#open) {
      this.#idle.push(open.resampler);
      const { span, sink, resampler } = open;
      if (span.firstFrame >= audioFrames) {
        sink.miss(audioFrames);
        continue;
      }
      const endFrame = Math.min(span.endFrame, audioFrames);
      open.wanted = resampler.outputLength(endFrame - span.firstFrame);
      for (let isFirst = true; open.written < open.wanted; isFirst = false) {
        const made = resampler.flush(isFirst);
        if (made === 0) throw new Error(`The resampler gave ${open.written} of ${open.wanted} samples`);
        this.#emit(open, made);
      }
      sink.finish(open.written, endFrame);
    }
    this.#open = [];
    this.#spanEnd = 0;
    for (; this.#next < this.#spans.length; this.#next += 1) this.#sinkOf(this.#next)?.miss(audioFrames);
  }
}
