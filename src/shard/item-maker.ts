import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { describeInvalid } from './invalid-samples.js';
import type { ByteSink } from '../audio/snippet-encoder.js';
import type { ConvertedFacts, OnPosition } from '../audio/convert-recording.js';
import { OutputError } from '../errors.js';
import { mapPath, type PathMapping } from '../run/path-map.js';
import { memberNameFault } from '../tar/member-name.js';
import { writeFailure } from '../tar/write-failure.js';
import type { AudioLength } from './item-duration.js';
import { ItemFault } from './item-fault.js';
import { ItemSource } from './item-source.js';
import type { MemberStream } from './member-stream.js';
import type { AudioTarget, PlannedItem } from './plan.js';

/** What is known of a member that was made. */
export interface MadeMember {
  isCopied: boolean;
  /** Undefined where it was copied without being looked at. */
  length?: AudioLength;
  clippedSamples: number;
  invalidSamples: number;
  warnings: string[];
}

/** By so much a segment may end after its audio without a word: durations in manifests are rounded. */
export const END_TOLERANCE_SECONDS = 0.1;

/**
 * Pieces of encoded audio between two small collections. Each piece keeps a buffer of the codec library alive until it is collected, and these pin
 * the holes that its large contexts leave: memory would grow with the audio.
 */
const PIECES_A_COLLECTION = 256;

const SPOOL_BYTES = 1 << 20;
/** So much is copied between two calls of `onBytes`. */
const BYTES_A_REPORT = 64 << 20;
const MICROS = 1e6;

export interface ItemMakerParts {
  stream: MemberStream;
  target: AudioTarget;
  /** Absolute folder that relative paths are joined to. */
  base: string;
  /** Folders that this machine has elsewhere than the plan says. */
  mappings: readonly PathMapping[];
  /** The file that audio is copied to where it lies in a tar and has to be decoded. */
  spoolPath: string;
  onPosition: OnPosition;
  /** Called now and then while a long file is copied. */
  onBytes: () => Promise<void>;
}

/** What brings the codec library with it, which copies do without. */
type AudioRoad = typeof import('../audio/measure-recording.js') & typeof import('../audio/convert-recording.js');

async function loadAudio(): Promise<AudioRoad> {
  return { ...(await import('../audio/measure-recording.js')), ...(await import('../audio/convert-recording.js')) };
}

/** A copy is decoded where nobody knows how long it is. */
function isDecoded({ how, duration }: PlannedItem): boolean {
  return how === 'encode' || how === 'fit' || (how === 'copy' && duration === undefined);
}

/** Makes members of items: copies or encodes their audio. */
export class ItemMaker {
  readonly #parts: ItemMakerParts;
  readonly #sink: ByteSink;
  #pieces = 0;
  #audio: AudioRoad | undefined;

  constructor(parts: ItemMakerParts) {
    this.#parts = parts;
    const { stream } = parts;
    this.#sink = {
      write: (bytes) => {
        stream.write(bytes);
        this.#collectNowAndThen();
      },
      patch: (offsetBytes, bytes) => stream.patch(offsetBytes, bytes),
    };
  }

  /** Makes ready for an item. What fails here is no fault of any item. */
  async prepare(item: PlannedItem): Promise<void> {
    if (isDecoded(item)) this.#audio ??= await loadAudio();
  }

  /** Where the audio of an item is on this machine. */
  pathOf(item: PlannedItem): string {
    return mapPath(this.plannedPathOf(item), this.#parts.mappings);
  }

  /** Where the plan says that it is. */
  plannedPathOf(item: PlannedItem): string {
    return path.isAbsolute(item.path) ? item.path : path.join(this.#parts.base, item.path);
  }

  /**
   * Appends the member of an item, which was prepared for, to the tar.
   *
   * @throws {OutputError} when the disk does not take it; anything else is a fault of the item, whose member is then to be dropped.
   */
  async make(item: PlannedItem): Promise<MadeMember> {
    const fault = memberNameFault(item.member);
    if (fault !== undefined) {
      throw new ItemFault('bad_member_name', `Cannot name a member ${JSON.stringify(item.member)}: ${fault}`);
    }
    if (!isDecoded(item)) return await this.#copy(item, undefined);
    return await this.#withFile(item, async (file) => {
      if (item.how === 'encode') return await this.#encode(item, file);
      const { target, onPosition } = this.#parts;
      const { measureRecording } = this.#loadedAudio();
      const { frames, sampleRate, channels, format } = await measureRecording(file, onPosition);
      const isRight = target.sampleRate === null || target.sampleRate === sampleRate;
      const isFit = item.span === undefined && channels === 1 && isRight && format === (item.as ?? target.format);
      if (item.how === 'copy' || isFit) return await this.#copy(item, { samples: frames, sampleRate });
      return await this.#encode(item, file);
    });
  }

  async #copy(item: PlannedItem, length: AudioLength | undefined): Promise<MadeMember> {
    const { stream, onBytes } = this.#parts;
    using source = ItemSource.open(this.pathOf(item), item.inside);
    stream.begin(item.member, source.sizeBytes);
    for (let copied = 0; copied < source.sizeBytes;) {
      const wanted = Math.min(BYTES_A_REPORT, source.sizeBytes - copied);
      const taken = stream.take(wanted, source.readInto);
      copied += taken;
      if (taken < wanted) throw source.shortened(copied);
      if (copied < source.sizeBytes) await onBytes();
    }
    stream.end();
    return { isCopied: true, ...(length && { length }), clippedSamples: 0, invalidSamples: 0, warnings: [] };
  }

  async #encode(item: PlannedItem, file: string): Promise<MadeMember> {
    const { stream, target, onPosition } = this.#parts;
    const { convertRecording } = this.#loadedAudio();
    stream.begin(item.member);
    const facts = await convertRecording(
      {
        path: file,
        ...(item.span && { span: item.span }),
        format: item.as ?? target.format,
        sampleRate: target.sampleRate,
        channel: target.channel,
        compressionLevel: target.compressionLevel,
        name: item.member,
      },
      this.#sink,
      onPosition,
    );
    const { samples, sampleRate, clippedSamples, invalidSamples } = facts;
    if (samples === 0) throw this.#pastEnd(item, facts);
    stream.end();
    const length = { samples, sampleRate };
    return { isCopied: false, length, clippedSamples, invalidSamples, warnings: describeWarnings(item, facts) };
  }

  /** Hands over a file with the item's audio: its own, or a copy of what a tar holds. */
  async #withFile<T>(item: PlannedItem, use: (file: string) => Promise<T>): Promise<T> {
    if (item.inside === undefined) return await use(this.pathOf(item));
    const { spoolPath, onBytes } = this.#parts;
    using source = ItemSource.open(this.pathOf(item), item.inside);
    try {
      await writeSpool(spoolPath, source, onBytes);
      return await use(spoolPath);
    } catch (error) {
      // Nobody knows the file of that name.
      if (error instanceof Error && !(error instanceof OutputError))
        error.message = error.message.replaceAll(`"${spoolPath}"`, source.title);
      throw error;
    } finally {
      rmSync(spoolPath, { force: true });
    }
  }

  #pastEnd(item: PlannedItem, { audioEndSeconds = 0 }: ConvertedFacts): ItemFault {
    const start = (item.span?.start ?? 0) / MICROS;
    const title = item.inside === undefined ? `"${this.pathOf(item)}"` : JSON.stringify(item.inside.name);
    return new ItemFault(
      'past_end',
      `The segment begins at ${start} s, and the audio of ${title} ends at ${audioEndSeconds} s`,
    );
  }

  #loadedAudio(): AudioRoad {
    if (this.#audio === undefined) throw new TypeError('The item was not prepared for');
    return this.#audio;
  }

  #collectNowAndThen(): void {
    this.#pieces += 1;
    if (this.#pieces % PIECES_A_COLLECTION === 0) globalThis.gc?.({ type: 'minor' });
  }
}

function describeWarnings(item: PlannedItem, facts: ConvertedFacts): string[] {
  const { cancellationDb, invalidSamples, audioEndSeconds, info } = facts;
  const warnings: string[] = [];
  const end = (item.span?.end ?? 0) / MICROS;
  if (audioEndSeconds !== undefined && end - audioEndSeconds > END_TOLERANCE_SECONDS) {
    warnings.push(`line ${item.line}: the segment ends at ${end} s, and the audio at ${audioEndSeconds} s already`);
  }
  if (cancellationDb !== undefined) {
    warnings.push(
      `averaging its ${info.channels} channels cancels ${(-cancellationDb).toFixed(0)} dB of them: they are in opposite phase; --channel 0 keeps one`,
    );
  }
  if (invalidSamples > 0) warnings.push(describeInvalid(invalidSamples));
  return warnings;
}

/** Copies audio to a file of its own. */
async function writeSpool(spoolPath: string, source: ItemSource, onBytes: () => Promise<void>): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.min(SPOOL_BYTES, source.sizeBytes));
  const file = guardSpool(spoolPath, () => openSync(spoolPath, 'w'));
  try {
    for (let copied = 0; copied < source.sizeBytes;) {
      const read = source.readInto(buffer, 0, Math.min(buffer.length, source.sizeBytes - copied));
      if (read === 0) throw source.shortened(copied);
      for (let written = 0; written < read;) {
        written += guardSpool(spoolPath, () => writeSync(file, buffer, written, read - written));
      }
      copied += read;
      if (copied % BYTES_A_REPORT === 0) await onBytes();
    }
  } finally {
    closeSync(file);
  }
}

function guardSpool<T>(spoolPath: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    throw writeFailure(error, { action: 'Cannot write', path: spoolPath });
  }
}
