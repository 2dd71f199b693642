import type { BlockSource } from './block-source.js';
import { FileChunks } from './file-chunks.js';
import { FlacSource } from './flac-source.js';
import { indexByDecoding } from './index-by-decoding.js';
import { indexByTimestamps } from './index-by-timestamps.js';
import { indexOpus, isMultiStreamOpus } from './index-opus.js';
import { indexVorbis } from './index-vorbis.js';
import { IndexedSource } from './indexed-source.js';
import type { KnownRecording, ReadingMethod } from './indexed-source.js';
import { AudioError } from './audio-error.js';
import type { PacketIndex } from './packet-index.js';
import type { BetweenSteps, IndexSteps, PacketIndexes } from './packet-indexes.js';
import { checkFile } from './open-recording.js';
import { opusStart } from './opus-start.js';
import type { SharedDecoders } from './packet-decoders.js';
import { anchorStart, mp3Start, vorbisStart } from './packet-start.js';
import { readOnePageFrames } from './one-page-vorbis.js';
import { PlainWavSource } from './plain-wav-source.js';
import type { RecordingInfo } from './recording-reader.js';
import { SequentialSource } from './sequential-source.js';

/**
 * Opens a recording in the way by which any place of it is reached soonest: a WAV by its bytes, FLAC by the numbers of its frames, MP3, Opus, Vorbis and AAC
 * by an index that a first pass over the file makes; anything else is decoded from its start.
 *
 * @param shared lends decoders to recordings that are read by an index, and to FLAC; without it, each has its own.
 * @throws AudioError where it cannot be opened.
 */
export function openBlockSource(path: string, indexes: PacketIndexes, shared?: SharedDecoders): BlockSource {
  const again = openAgain(path, indexes, shared);
  if (again !== undefined) return again;
  const opened = openWithoutIndex(path, shared);
  if (!(opened instanceof IndexableSource)) return opened;
  return opened.orDispose(() => opened.finish(indexes, shared));
}

/**
 * The same, where other work is done between the steps of a first pass.
 *
 * @throws AudioError where it cannot be opened; what `between` throws.
 */
export async function openBlockSourceInTurns(
  path: string,
  indexes: PacketIndexes,
  between: BetweenSteps,
  shared?: SharedDecoders,
): Promise<BlockSource> {
  const again = openAgain(path, indexes, shared);
  if (again !== undefined) return again;
  const opened = openWithoutIndex(path, shared);
  if (!(opened instanceof IndexableSource)) return opened;
  try {
    await indexes.prepare(path, () => opened.makeIndex(), between);
  } catch (error) {
    opened.sequential[Symbol.dispose]();
    throw error;
  }
  return opened.orDispose(() => opened.finish(indexes, shared));
}

/** A recording of which all is known that its container tells. */
function openAgain(path: string, indexes: PacketIndexes, shared: SharedDecoders | undefined): BlockSource | undefined {
  const known = indexes.recall(path);
  if (known === undefined) return undefined;
  const method = indexMethod(known.recording.info);
  if (method === undefined) return undefined;
  checkFile(path);
  return new IndexedSource(path, known.recording, undefined, known.index, method, shared);
}

/**
 * The steps of making the index of a recording.
 *
 * @returns undefined for one that is reached without.
 * @throws AudioError where it cannot be opened.
 */
export function indexSteps(path: string): IndexSteps | undefined {
  const opened = openWithoutIndex(path);
  if (opened instanceof IndexableSource) return makeAndDispose(opened);
  opened[Symbol.dispose]();
  return undefined;
}

function* makeAndDispose(opened: IndexableSource): IndexSteps {
  using _ = opened.sequential;
  return yield* opened.makeIndex();
}

/** Whether a kind of recording is read by an index, if it can have one. */
export function isIndexedKind(kind: Pick<RecordingInfo, 'container' | 'codec'>): boolean {
  return indexMethod(kind) !== undefined;
}

function openWithoutIndex(path: string, shared?: SharedDecoders): BlockSource | IndexableSource {
  checkFile(path);
  const openFlac = (): BlockSource | undefined => FlacSource.open(path, shared?.flac);
  const openWav = (): BlockSource | undefined => PlainWavSource.open(path);
  // The content decides; the name tells what is likely.
  const direct = /\.flac$/iu.test(path) ? (openFlac() ?? openWav()) : (openWav() ?? openFlac());
  if (direct !== undefined) return direct;
  const sequential = new SequentialSource(path);
  const method = indexMethod(sequential.info);
  return method === undefined ? sequential : new IndexableSource(path, sequential, method);
}

/** A recording that is read by an index, before it is known whether it can have one. */
class IndexableSource {
  readonly sequential: SequentialSource;
  readonly #path: string;
  readonly #method: IndexMethod;

  constructor(path: string, sequential: SequentialSource, method: IndexMethod) {
    this.#path = path;
    this.sequential = sequential;
    this.#method = method;
  }

  *makeIndex(): IndexSteps {
    using file = new FileChunks(this.#path);
    return yield* this.#method.make(this.#path, file, this.sequential);
  }

  finish(indexes: PacketIndexes, shared: SharedDecoders | undefined): BlockSource {
    const index = indexes.get(this.#path, () => this.makeIndex());
    if (index === undefined) return this.sequential;
    const { info, decoderKey } = this.sequential;
    indexes.note(this.#path, { info, decoderKey });
    return new IndexedSource(this.#path, { info, decoderKey }, this.sequential, index, this.#method, shared);
  }

  orDispose<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.sequential[Symbol.dispose]();
      throw error;
    }
  }
}

/** MP4 and its kin, and the bare stream. */
const AAC_CONTAINERS = new Set(['mov', 'aac']);

interface IndexMethod extends ReadingMethod {
  /** @param source the same recording, just opened. */
  make: (path: string, file: FileChunks, source: SequentialSource) => IndexSteps;
}

function indexMethod({ container, codec }: Pick<RecordingInfo, 'container' | 'codec'>): IndexMethod | undefined {
  if (container === 'mp3' && codec.startsWith('mp3')) {
    return { make: indexByTimestamps, findStart: mp3Start, needsNewDecoder: false };
  }
  if (container === 'ogg' && codec === 'opus') {
    return { make: indexOpusOrTimestamps, findStart: opusStart, needsNewDecoder: false };
  }
  if (container === 'ogg' && codec === 'vorbis') {
    return { make: indexVorbisOrDecode, ...VORBIS_READING };
  }
  if (AAC_CONTAINERS.has(container) && codec === 'aac') {
    return {
      make: (path, file, { info }) => indexByDecoding(path, file, info),
      findStart: anchorStart,
      needsNewDecoder: true,
    };
  }
  return undefined;
}

const VORBIS_READING: ReadingMethod = { findStart: vorbisStart, needsNewDecoder: false };

/** Where packets and pages do not agree on how long it is, the codec library is asked. */
function* indexOpusOrTimestamps(path: string, file: FileChunks, source: SequentialSource): IndexSteps {
  // What a decoder remembers hangs on packets of all streams, and only those of one are understood.
  if (isMultiStreamOpus(file)) return undefined;
  const first = source.firstBlock();
  return (first && (yield* indexOpus(path, file, first))) ?? (yield* indexByTimestamps(path, file));
}

/** Where blocks and pages do not agree on how long it is, all of it is decoded. */
function* indexVorbisOrDecode(path: string, file: FileChunks, source: SequentialSource): IndexSteps {
  // A second at most, whose end the demuxer does not know.
  if (readOnePageFrames(path) !== undefined) return undefined;
  const first = source.firstBlock();
  const index = first && (yield* indexVorbis(path, file, first));
  return index !== undefined && hasItsEnd(path, source, index)
    ? index
    : yield* indexByDecoding(path, file, source.info);
}

/** The last page may tell of more audio than there is. */
function hasItsEnd(path: string, known: KnownRecording, index: PacketIndex): boolean {
  using source = new IndexedSource(path, known, undefined, index, VORBIS_READING, undefined);
  try {
    return source.decode(index.totalFrames - 1, () => false) === index.totalFrames;
  } catch (error) {
    if (error instanceof AudioError) return false;
    throw error;
  }
}
