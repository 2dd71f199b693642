import { statSync } from 'node:fs';
import type { FileChunks } from './file-chunks.js';
import { OggPackets } from './ogg-packets.js';
import { PacketIndexBuilder } from './packet-index.js';
import type { IndexSteps } from './packet-indexes.js';
import type { FirstBlock } from './sequential-source.js';
import { VorbisBlocks } from './vorbis-blocks.js';

/** Identification, comment and setup (Vorbis I, section 4.2.1). */
const HEADERS = 3;
/** Read in some milliseconds. */
const PACKETS_A_STEP = 4096;

/**
 * Makes the index of Vorbis in Ogg without decoding it: blocks tell their sizes, and each page where its audio ends, which must be the same.
 *
 * ```
 * packets   |━━|━━|━|━━|━━|━|━|━━|━━…
 * pages     |       ▲       ▲            positions that they tell
 * ```
 *
 * The durations that the codec library's demuxer gives would do, were not some of them wrong where a page begins.
 *
 * @param start what it takes until there is audio, some of which the container may cut off.
 * @returns undefined where they do not agree, as in streams that were joined, or that begin in the middle.
 */
export function* indexVorbis(path: string, file: FileChunks, start: FirstBlock): IndexSteps {
  const pages = new OggPackets(file, 0, true);
  const blocks = VorbisBlocks.open(Array.from({ length: HEADERS }, () => copyOf(pages.next())));
  const first = blocks && passFirst(start, pages, blocks);
  if (blocks === undefined || first === undefined) return undefined;
  let { blockSize, isPageEnd, packets, position } = first;
  const builder = new PacketIndexBuilder('ogg', packets, position);
  const { size: fileBytes } = statSync(path);
  for (let packet = pages.next(); packet !== undefined; packet = pages.next()) {
    const size = blocks.sizeOf(packet);
    if (size === undefined) return undefined;
    const frames = (blockSize + size) / 4;
    blockSize = size;
    position += frames;
    ({ isPageEnd } = pages);
    packets += 1;
    if (builder.add(pages.pageOffset, 0, frames) === false) return undefined;
    if (isPageEnd && pages.granule !== position) {
      // The last page alone tells of less than its packets hold.
      const cut = position - pages.granule;
      const isEnd = pages.isLastPage && pages.pageEndOffset === fileBytes;
      return isEnd && cut > 0 && cut <= frames ? builder.finish(pages.granule) : undefined;
    }
    if (packets % PACKETS_A_STEP === 0) yield;
  }
  return isPageEnd && pages.pageEndOffset === fileBytes ? builder.finish(position) : undefined;
}

interface FirstPackets {
  packets: number;
  blockSize: number;
  isPageEnd: boolean;
  /** Where the audio of these packets ends. */
  position: number;
}

/** The packets that it takes until there is audio. */
function passFirst(start: FirstBlock, pages: OggPackets, blocks: VorbisBlocks): FirstPackets | undefined {
  const { packets, frames: position } = start;
  let blockSize: number | undefined;
  for (let k = 0; k < packets; k += 1) {
    const packet = pages.next();
    blockSize = packet && blocks.sizeOf(packet);
  }
  if (blockSize === undefined) return undefined;
  const { isPageEnd } = pages;
  return isPageEnd && pages.granule !== position ? undefined : { packets, blockSize, isPageEnd, position };
}

function copyOf(bytes: Buffer | undefined): Buffer | undefined {
  return bytes && Buffer.from(bytes);
}
