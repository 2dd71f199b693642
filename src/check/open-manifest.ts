import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { createGunzip, type Gunzip } from 'node:zlib';
import { isUtf8 } from 'node:buffer';

/** A manifest that is open for reading from its first byte on, unpacked where it is gzip. */
export interface OpenManifest {
  /** Only `read` works where the file is compressed, and only from the first byte on. */
  handle: FileHandle;
  /** Of the file as it lies on the disk. */
  sizeBytes: number;
  isCompressed: boolean;
  close(): Promise<void>;
}

/** Opens a manifest. Errors of the system are thrown as they are. */
export async function openManifest(path: string): Promise<OpenManifest> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    const isCompressed = bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
    if (!isCompressed) return { handle, sizeBytes: size, isCompressed, close: async () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
  const { size } = await handle.stat();
  await handle.close();
  const reader = new GunzipReader(path);
  return {
    // Of a handle, the reader of lines uses `read` alone, with places that only grow.
    handle: reader as unknown as FileHandle,
    sizeBytes: size,
    isCompressed: true,
    close: async () => reader.close(),
  };
}

/** How the first bytes of a file look. */
export interface ManifestHead {
  bytes: Buffer;
  sizeBytes: number;
  hasByteOrderMark: boolean;
  encoding: 'utf8' | 'utf16' | 'binary';
}

const HEAD_BYTES = 256 * 1024;

/** Reads the first bytes of a manifest. */
export async function readHead(path: string): Promise<ManifestHead> {
  const manifest = await openManifest(path);
  try {
    const buffer = Buffer.alloc(HEAD_BYTES);
    let filled = 0;
    for (;;) {
      const { bytesRead } = await manifest.handle
        .read(buffer, filled, HEAD_BYTES - filled, filled)
        .catch((error: unknown) => endOrThrow(error, filled));
      filled += bytesRead;
      if (bytesRead === 0 || filled === HEAD_BYTES) break;
    }
    const bytes = buffer.subarray(0, filled);
    const hasByteOrderMark = bytes.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf]));
    return { bytes, sizeBytes: manifest.sizeBytes, hasByteOrderMark, encoding: encodingOf(bytes) };
  } finally {
    await manifest.close();
  }
}

/** Of a torn file what can be read is enough to tell what it is; that it is torn is told by who reads it all. */
function endOrThrow(error: unknown, filledBytes: number): { bytesRead: number } {
  if (filledBytes === 0) throw error;
  return { bytesRead: 0 };
}

const BINARY_PROBE_BYTES = 4096;
/** Of the first bytes of a text in a legacy encoding, fewer are control characters than this. */
const MAX_CONTROL_SHARE = 0.1;

function encodingOf(bytes: Buffer): ManifestHead['encoding'] {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return 'utf16';
  const probe = bytes.subarray(0, BINARY_PROBE_BYTES);
  if (probe.includes(0)) return 'binary';
  let controls = 0;
  for (const byte of probe) {
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) controls += 1;
  }
  if (controls > probe.length * MAX_CONTROL_SHARE && !isUtf8(probe)) return 'binary';
  return 'utf8';
}

/** Reads what a gzip file holds in order, in the way of a file handle. */
class GunzipReader {
  readonly #stream: Gunzip;
  readonly #file: ReturnType<typeof createReadStream>;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.#file = createReadStream(path);
    this.#stream = createGunzip();
    this.#file.on('error', (error) => this.#stream.destroy(error));
    this.#file.pipe(this.#stream);
    this.#chunks = (this.#stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  async read(into: Buffer, offset: number, length: number, _position: number): Promise<{ bytesRead: number }> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) return { bytesRead: 0 };
      this.#rest = next.value;
    }
    const bytesRead = Math.min(length, this.#rest.length);
    this.#rest.copy(into, offset, 0, bytesRead);
    this.#rest = this.#rest.subarray(bytesRead);
    return { bytesRead };
  }

  close(): void {
    this.#stream.destroy();
    this.#file.destroy();
  }
}
