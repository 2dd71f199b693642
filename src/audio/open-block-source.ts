import type { BlockSource } from './block-source.js';
import { FileChunks } from './file-chunks.js';
import { FlacSource } from './flac-source.js';
import { indexByDecoding } from './index-by-decoding.js';
import { indexByTimestamps } from './index-by-timestamps.js';
import { IndexedSource } from './indexed-source.js';
import type { ReadingMethod } from './indexed-source.js';
import type { PacketIndex } from './packet-index.js';
import type { PacketIndexes } from './packet-indexes.js';
import { anchorStart, mp3Start, opusStart } from './packet-start.js';
import { PlainWavSource } from './plain-wav-source.js';
import type { RecordingInfo } from './recording-reader.js';
import { SequentialSource } from './sequential-source.js';

/**
 * Opens a recording in the way by which any place of it is reached soonest: a WAV by its bytes, FLAC by the numbers of its frames, MP3, Opus, Vorbis and AAC
 * by an index that a first pass over the file makes; anything else is decoded from its start.
 *
 * @throws AudioError where it cannot be opened.
 */
export function openBlockSource(path: string, indexes: PacketIndexes): BlockSource {
  const wav = PlainWavSource.open(path);
  if (wav !== undefined) return wav;
  const flac = FlacSource.open(path);
  if (flac !== undefined) return flac;
  const sequential = new SequentialSource(path);
  try {
    const method = indexMethod(sequential.info);
    const index = method && indexes.get(path, () => makeIndex(path, sequential.info, method));
    return method === undefined || index === undefined
      ? sequential
      : new IndexedSource(path, sequential, index, method);
  } catch (error) {
    sequential[Symbol.dispose]();
    throw error;
  }
}

/** MP4 and its kin, and the bare stream. */
const AAC_CONTAINERS = new Set(['mov', 'aac']);

interface IndexMethod extends ReadingMethod {
  make: (path: string, file: FileChunks, info: RecordingInfo) => PacketIndex | undefined;
}

function indexMethod({ container, codec }: RecordingInfo): IndexMethod | undefined {
  const needsNewDecoder = codec === 'aac';
  if (container === 'mp3' && codec.startsWith('mp3')) {
    return { make: indexByTimestamps, findStart: mp3Start, needsNewDecoder };
  }
  if (container === 'ogg' && codec === 'opus') {
    return { make: indexByTimestamps, findStart: opusStart, needsNewDecoder };
  }
  const isCounted = (container === 'ogg' && codec === 'vorbis') || (AAC_CONTAINERS.has(container) && codec === 'aac');
  return isCounted ? { make: indexByDecoding, findStart: anchorStart, needsNewDecoder } : undefined;
}

function makeIndex(path: string, info: RecordingInfo, { make }: IndexMethod): PacketIndex | undefined {
  using file = new FileChunks(path);
  return make(path, file, info);
}
