import { createHash } from 'node:crypto';
import { PacketIndex } from './packet-index.js';
import type { PacketIndexParts } from './packet-index.js';
import type { KeptIndex } from './packet-indexes.js';

/** What an index is of. */
export interface IndexKey {
  /** Absolute path of the recording. */
  path: string;
  sizeBytes: number;
  /** When the recording was last written, in nanoseconds since 1970. */
  mtimeNanos: string;
  /** Of the program that made it: another one may count otherwise. */
  producer: string;
}

interface Head {
  key: IndexKey;
  index: (Omit<PacketIndexParts, 'checkpoints' | 'sizes' | 'frames'> & Counts) | null;
}

interface Counts {
  checkpoints: number;
  sizes: number;
  /** How many there are, or the one number that all have. */
  frames: { each: number } | { all: number };
}

const MAGIC = Buffer.from('cutroom index 1\n', 'latin1');
const HASH_BYTES = 32;
const [F64, U16] = [Float64Array.BYTES_PER_ELEMENT, Uint16Array.BYTES_PER_ELEMENT];

/**
 * An index as a file:
 *
 * ```
 * "cutroom index 1\n" | bytes of the head, as 32 bits | head, JSON | checkpoints: packets, offsets, frames | sizes | frames | SHA-256 of all that
 *                                                                    64-bit floats                         | 16 bits each
 * ```
 */
export function formatIndex(key: IndexKey, { index }: KeptIndex): Buffer {
  const parts = index?.parts;
  const head = Buffer.from(JSON.stringify({ key, index: parts === undefined ? null : headOf(parts) } satisfies Head));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  const arrays = parts === undefined ? [] : arraysOf(parts).map(bytesOf);
  const body = Buffer.concat([MAGIC, length, head, ...arrays]);
  return Buffer.concat([body, hashOf(body)]);
}

/** What a file holds; undefined where it is damaged. */
export function parseIndex(bytes: Buffer): (KeptIndex & { key: IndexKey }) | undefined {
  const body = bytes.subarray(0, -HASH_BYTES);
  if (bytes.length < MAGIC.length + 4 + HASH_BYTES || !body.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  if (!hashOf(body).equals(bytes.subarray(-HASH_BYTES))) return undefined;
  const headStart = MAGIC.length + 4;
  const headEnd = headStart + body.readUInt32LE(MAGIC.length);
  const { key, index: head } = JSON.parse(body.toString('utf8', headStart, headEnd)) as Head;
  if (head === null) return { key, index: undefined };
  let at = headEnd;
  const take = (length: number): ArrayBuffer => Uint8Array.from(body.subarray(at, (at += length))).buffer;
  const floats = (): Float64Array => new Float64Array(take(head.checkpoints * F64));
  const checkpoints = { packets: floats(), offsets: floats(), frames: floats() };
  const sizes = new Uint16Array(take(head.sizes * U16));
  const frames = 'all' in head.frames ? head.frames.all : new Uint16Array(take(head.frames.each * U16));
  const { layout, firstPacket, totalFrames, packets } = head;
  return { key, index: new PacketIndex({ layout, firstPacket, totalFrames, packets, checkpoints, sizes, frames }) };
}

function headOf({ checkpoints, sizes, frames, ...rest }: PacketIndexParts): NonNullable<Head['index']> {
  const each = typeof frames === 'number' ? { all: frames } : { each: frames.length };
  return { ...rest, checkpoints: checkpoints.packets.length, sizes: sizes.length, frames: each };
}

function arraysOf({ checkpoints, sizes, frames }: PacketIndexParts): (Float64Array | Uint16Array)[] {
  const { packets, offsets, frames: starts } = checkpoints;
  return [packets, offsets, starts, sizes, ...(typeof frames === 'number' ? [] : [frames])];
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array | Uint16Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function hashOf(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
