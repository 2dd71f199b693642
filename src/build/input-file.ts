import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { CanceledError, CutroomError, errorMessage, InputError, systemCode, UsageError } from '../errors.js';
import { ensureFolder, writeFileAtomic } from '../run/atomic-file.js';

/** Bytes of an input that can be read at any place, as often as need be. */
export interface InputFile {
  /** As it was named. */
  name: string;
  /** Where its text lies: the input itself, or its copy in the work folder. */
  path: string;
  /** Of the text, after decompression; in hex. */
  sha256: string;
}

export interface InputSource {
  /** A path, or `-`. */
  input: string;
  stdin: AsyncIterable<Uint8Array> | undefined;
  workFolder: string;
  signal: AbortSignal | undefined;
}

/** The magic number of gzip (RFC 1952, section 2.3.1). */
const GZIP_MAGIC = [0x1f, 0x8b];

/** What names standard input. */
export const STDIN = '-';

/**
 * Hashes an input; standard input and what is gzipped, by content and not by name, is laid down in the work folder as plain text.
 *
 * @throws InputError when it cannot be read; UsageError when there is no standard input
 */
export async function openInput(source: InputSource): Promise<InputFile> {
  const { input, workFolder, signal } = source;
  const name = input === STDIN ? 'standard input' : input;
  if (input !== STDIN) await requireFile(input);
  try {
    const bytes = input === STDIN ? stdinOf(source) : createReadStream(input, { highWaterMark: 1 << 20 });
    const { isGzip, whole } = await lookForGzip(bytes);
    const text = isGzip ? gunzip(whole) : whole;
    const hash = createHash('sha256');
    const hashed = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of text) {
        signal?.throwIfAborted();
        hash.update(chunk);
        yield chunk;
      }
    };
    if (input !== STDIN && !isGzip) {
      for await (const chunk of hashed()) void chunk;
      return { name, path: path.resolve(input), sha256: hash.digest('hex') };
    }
    const spool = path.join(workFolder, 'input');
    await ensureFolder(workFolder);
    await writeFileAtomic(spool, async (write) => {
      for await (const chunk of hashed()) await write(chunk);
    });
    return { name, path: spool, sha256: hash.digest('hex') };
  } catch (error) {
    if (error instanceof CutroomError) throw error;
    if (signal?.aborted === true)
      throw new CanceledError('The input was not read: the run was stopped', { cause: error });
    throw unreadable(name, error);
  }
}

/** The first line that is not blank, at most 64 KiB of it. */
export async function readFirstLine({ path: file, name }: InputFile): Promise<string> {
  try {
    const handle = await open(file);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(FIRST_LINE_BYTES), 0, FIRST_LINE_BYTES, 0);
      const text = buffer.toString('utf8', 0, bytesRead).replace(/^\uFEFF/u, '');
      return /^\s*(?<line>[^\r\n]*)/u.exec(text)?.groups?.['line'] ?? '';
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw unreadable(name, error);
  }
}

const FIRST_LINE_BYTES = 64 * 1024;

async function requireFile(input: string): Promise<void> {
  const stats = await stat(input).catch((error: unknown) => {
    throw unreadable(input, error);
  });
  if (stats.isDirectory()) {
    throw new InputError(`Cannot read "${input}": it is a folder`, {
      path: input,
      hint: 'Name a manifest, a .lst file, or a folder that "cutroom cut", "cutroom build" or "cutroom tar" made.',
    });
  }
}

function stdinOf({ stdin }: InputSource): AsyncIterable<Uint8Array> {
  if (stdin !== undefined) return stdin;
  throw new UsageError('There is no standard input to read', { hint: 'Name a file with --input.' });
}

function gunzip(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const plain = createGunzip();
  // Whatever fails ends the reading of `plain` with its error, also where it begins after that.
  plain.on('error', () => undefined);
  pipeline(Readable.from(bytes), plain).catch(() => undefined);
  return plain as AsyncIterable<Uint8Array>;
}

/** Looks at the first two bytes, and gives all of them back. */
async function lookForGzip(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ isGzip: boolean; whole: AsyncIterable<Uint8Array> }> {
  const chunks = bytes[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  let size = 0;
  while (size < GZIP_MAGIC.length) {
    const step = await chunks.next();
    if (step.done === true) break;
    first.push(step.value);
    size += step.value.length;
  }
  const start = Buffer.concat(first);
  const whole = async function* (): AsyncGenerator<Uint8Array> {
    yield start;
    for (let step = await chunks.next(); step.done !== true; step = await chunks.next()) yield step.value;
  };
  return { isGzip: GZIP_MAGIC.every((byte, at) => start[at] === byte), whole: whole() };
}

function unreadable(name: string, error: unknown): InputError {
  const code = systemCode(error);
  if (code === 'ENOENT') return new InputError(`Cannot read "${name}": it is not there`, { path: name, cause: error });
  const isTorn = code === 'Z_BUF_ERROR' || code === 'Z_DATA_ERROR';
  return new InputError(
    `Cannot read "${name}": ${isTorn ? `its gzip data is damaged (${errorMessage(error)})` : errorMessage(error)}`,
    {
      path: name,
      cause: error,
      hint: isTorn ? 'The file may be cut off: see "gzip --test", and fetch it again.' : undefined,
    },
  );
}
