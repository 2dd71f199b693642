import { AV_PKT_DATA_SKIP_SAMPLES } from 'node-av/constants';
import type { Packet } from 'node-av/lib';
import type { FileChunks } from './file-chunks.js';
import { OggPackets } from './ogg-packets.js';
import { PacketIndexBuilder } from './packet-index.js';
import type { PacketIndex } from './packet-index.js';
import type { IndexSteps } from './packet-indexes.js';
import { isSpeechOpus, isXingFrame } from './packet-kinds.js';
import { RecordingReader } from './recording-reader.js';

/** Header packets of a stream in Ogg (RFC 7845, section 3). */
const OPUS_HEADERS = 2;
/** Read in some milliseconds. */
const PACKETS_A_STEP = 1024;

/**
 * Makes the index of an MP3 or of Opus in Ogg: its packets are read, and only the first one is decoded, since their timestamps tell
 * how many frames each gives.
 *
 * @returns undefined where timestamps do not tell, as they do not where files were joined, samples are cut off in the middle, or the
 *   decoder remembers the past for too long, as that of speech in Opus does.
 */
export function* indexByTimestamps(path: string, file: FileChunks): IndexSteps {
  using reader = new RecordingReader(path);
  if (!reader.next()) return undefined;
  const indexer = new Indexer(reader, file);
  const take = indexer.take.bind(indexer);
  while (indexer.isIndexable && reader.visitPackets(PACKETS_A_STEP, take)) yield;
  return indexer.finish();
}

class Indexer {
  readonly #builder: PacketIndexBuilder;
  readonly #file: FileChunks;
  /** The same packets as they lie in the file, for Ogg. */
  readonly #pages: OggPackets | undefined;
  readonly #isMp3: boolean;
  /** False once something was met that an index cannot tell. */
  isIndexable = true;
  /** Where the audio ends, once the end is met. */
  #end: number | undefined;

  constructor(reader: RecordingReader, file: FileChunks) {
    const isOgg = reader.info.container === 'ogg';
    this.#file = file;
    this.#isMp3 = !isOgg;
    this.#builder = new PacketIndexBuilder(isOgg ? 'ogg' : 'plain', reader.packetCount, reader.position);
    if (!isOgg) return;
    this.#pages = new OggPackets(file, 0);
    for (let k = 0; k < OPUS_HEADERS + reader.packetCount; k += 1) this.#pages.next();
  }

  take(packet: Packet, start: number | undefined, frames: number): void {
    if (!this.isIndexable) return;
    this.isIndexable = start === this.#builder.position && this.#cutEnd(packet, frames) && this.#add(packet, frames);
  }

  finish(): PacketIndex | undefined {
    return this.isIndexable ? this.#builder.finish(this.#end ?? this.#builder.position) : undefined;
  }

  /** Samples may be cut off behind the last packets, and nowhere else. In Ogg the last packet's duration leaves them out already. */
  #cutEnd(packet: Packet, frames: number): boolean {
    const cut = packet.getSideData(AV_PKT_DATA_SKIP_SAMPLES);
    if (cut === null) return this.#end === undefined;
    if (cut.readUInt32LE(0) > 0) return false;
    const kept = this.#isMp3 ? frames - cut.readUInt32LE(4) : frames;
    if (kept < 0 || (this.#end !== undefined && kept > 0)) return false;
    this.#end ??= this.#builder.position + kept;
    return true;
  }

  #add(packet: Packet, frames: number): boolean {
    const { data } = packet;
    if (data === null || (this.#isMp3 ? isXingFrame(data) : isSpeechOpus(data))) return false;
    if (this.#pages !== undefined) {
      const own = this.#pages.next();
      return own?.equals(data) === true && this.#builder.add(this.#pages.pageOffset, 0, frames) !== false;
    }
    const offset = Number(packet.pos);
    const added = this.#builder.add(offset, data.length, frames);
    return added === 'checkpoint' ? this.#file.bytes(offset, data.length).equals(data) : added;
  }
}
