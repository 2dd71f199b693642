import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { AudioError } from '../audio/audio-error.js';
import { UtteranceReader } from '../audio/utterance-reader.js';
import type { UtteranceReaderOptions, UtteranceSamples, UtteranceWish } from '../audio/utterance-reader.js';
import { errorMessage, systemCode } from '../errors.js';
import { ItemFault } from '../shard/item-fault.js';
import { isMemberAt } from '../shard/member-before.js';
import { BLOCK_BYTES } from '../tar/header.js';
import type { DecodeOutcome, DecodeRequest } from './decode-request.js';
import { titleOf } from './item-crash.js';

/** Tars and files that stay open. */
const OPEN_FILES = 64;
/** Room for larger members is given back. */
const KEPT_ROOM_BYTES = 16 * 2 ** 20;

export interface DecodedAsIs {
  kind: 'decoded';
  samples: Float32Array | Int16Array;
  /** Hz. */
  sampleRate: number;
}

/** Decodes one item after the other. All calls block. */
export class ItemDecoder implements Disposable {
  readonly #reader: UtteranceReader;
  readonly #files = new Map<string, number>();
  /** Members are read into one place, one after the other. */
  #room = Buffer.alloc(0);

  constructor(options: UtteranceReaderOptions = {}) {
    this.#reader = new UtteranceReader(options);
  }

  /** Never throws for the fault of an item. */
  decode(request: DecodeRequest): DecodeOutcome {
    try {
      const { samples, sampleRate, member } = this.#decode(request, false);
      const bytes = request.wantsBytes ? this.#copyOf(member, request.path) : undefined;
      return { kind: 'decoded', samples, sampleRate, bytes };
    } catch (error) {
      return describeFailure(error, request);
    }
  }

  /** The same of samples that are left at 16 bits where they have no more, and hold until the next call only. */
  decodeAsIs(request: DecodeRequest): DecodedAsIs | Extract<DecodeOutcome, { kind: 'failed' }> {
    try {
      const { samples, pcm16, sampleRate } = this.#decode(request, true);
      return { kind: 'decoded', samples: pcm16 ?? samples, sampleRate };
    } catch (error) {
      return describeFailure(error, request);
    }
  }

  [Symbol.dispose](): void {
    this.#reader[Symbol.dispose]();
    for (const file of this.#files.values()) closeSync(file);
    this.#files.clear();
  }

  #decode(request: DecodeRequest, takesPcm16: boolean): UtteranceSamples & { member: Buffer | undefined } {
    const { path, inside, span, sampleRate, speed } = request;
    const wish: UtteranceWish = {
      span: span && { start: span.startMicros, end: span.endMicros },
      sampleRate,
      speed,
      takesPcm16,
    };
    const member = inside === undefined ? undefined : this.#readMember(request, inside);
    const decoded =
      member === undefined || inside === undefined
        ? this.#reader.readFile(path, wish)
        : this.#reader.readBytes(member, inside.name, wish);
    if ((decoded.pcm16 ?? decoded.samples).length === 0) throw pastEnd(request);
    return { ...decoded, member };
  }

  /** Reads a member with the header before it, which tells whether the tar is still the one that was indexed. */
  #readMember(request: DecodeRequest, inside: NonNullable<DecodeRequest['inside']>): Buffer {
    const { path } = request;
    const { offsetBytes, sizeBytes, name } = inside;
    const file = this.#open(path, titleOf(request));
    if (sizeBytes === 0) {
      throw new ItemFault('empty_recording', `Cannot read ${titleOf(request)}: the member is empty`);
    }
    const start = offsetBytes - BLOCK_BYTES;
    const bytes = start < 0 ? Buffer.alloc(0) : readAt(file, start, this.#roomOf(BLOCK_BYTES + sizeBytes), request);
    const read = (at: number, lengthBytes: number): Buffer =>
      at === start ? bytes.subarray(0, lengthBytes) : readAt(file, at, Buffer.alloc(lengthBytes), request);
    const isThere =
      bytes.length === BLOCK_BYTES + sizeBytes && isMemberAt(read, { name, offset: offsetBytes, size: sizeBytes });
    if (isThere) return bytes.subarray(BLOCK_BYTES);
    this.#close(path);
    throw new ItemFault(
      'changed_tar',
      `Cannot read ${titleOf(request)}: the tar does not hold it at byte ${offsetBytes.toLocaleString('en-US')}`,
      { hint: 'The tar changed since it was indexed: start anew.' },
    );
  }

  #roomOf(lengthBytes: number): Buffer {
    if (lengthBytes > KEPT_ROOM_BYTES) return Buffer.allocUnsafeSlow(lengthBytes);
    if (lengthBytes > this.#room.length) this.#room = Buffer.allocUnsafeSlow(lengthBytes);
    return this.#room.subarray(0, lengthBytes);
  }

  #copyOf(bytes: Buffer | undefined, path: string): Uint8Array {
    if (bytes !== undefined) return new Uint8Array(bytes);
    const request = { path, inside: undefined };
    const file = this.#open(path, titleOf(request));
    return readAt(file, 0, Buffer.allocUnsafeSlow(fstatSync(file).size), request);
  }

  #open(path: string, title: string): number {
    const file = this.#files.get(path) ?? openFile(path, title);
    // A map goes through its keys in the order in which they came: the one to close stands first.
    this.#files.delete(path);
    this.#files.set(path, file);
    if (this.#files.size > OPEN_FILES) this.#close([...this.#files.keys()][0] ?? '');
    return file;
  }

  #close(path: string): void {
    const file = this.#files.get(path);
    if (file !== undefined) closeSync(file);
    this.#files.delete(path);
  }
}

function openFile(path: string, title: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    const code = systemCode(error);
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    const state = isMissing ? 'there is no such file' : errorMessage(error);
    const reason = isMissing ? 'missing_recording' : 'unreadable_recording';
    throw new ItemFault(reason, `Cannot read ${title}: ${state}`, { cause: error });
  }
}

/** Fills the room from a place of a file, as far as the file goes. */
function readAt(file: number, position: number, room: Buffer, request: Pick<DecodeRequest, 'path' | 'inside'>): Buffer {
  let filled = 0;
  try {
    while (filled < room.length) {
      const read = readSync(file, room, filled, room.length - filled, position + filled);
      if (read === 0) break;
      filled += read;
    }
  } catch (error) {
    const state = errorMessage(error);
    throw new ItemFault('unreadable_recording', `Cannot read ${titleOf(request)}: ${state} at byte ${position}`, {
      cause: error,
    });
  }
  return room.subarray(0, filled);
}

function pastEnd(request: DecodeRequest): ItemFault {
  const start = (request.span?.startMicros ?? 0) / 1_000_000;
  const message = `Cannot read ${titleOf(request)}: its span begins at ${start} s, behind the end of the audio`;
  return new ItemFault('past_end', message);
}

function describeFailure(error: unknown, request: DecodeRequest): DecodeOutcome {
  if (error instanceof ItemFault) {
    return { kind: 'failed', reason: error.reason, message: error.message, hint: error.hint };
  }
  if (error instanceof AudioError) {
    const message = `Cannot read ${titleOf(request)}: ${error.state}`;
    return { kind: 'failed', reason: error.reason, message, hint: error.hint };
  }
  const message = `Cannot read ${titleOf(request)}: ${errorMessage(error)}`;
  return { kind: 'failed', reason: 'decoder_failed', message, hint: undefined };
}
