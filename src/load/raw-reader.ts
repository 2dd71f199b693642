import { open, type FileHandle } from 'node:fs/promises';
import { UsageError, errorMessage, systemCode } from '../errors.js';
import { isMemberAt } from '../shard/member-before.js';
import { BLOCK_BYTES } from '../tar/header.js';
import type { DecodeOutcome, DecodeRequest, UtteranceDecoder } from './decode-request.js';

/** Headers of long names stand before that of the member. */
const BEFORE_BYTES = 65 * BLOCK_BYTES;
/** Tars and files that stay open. */
const OPEN_FILES = 64;

/** Reads the encoded bytes of items and decodes none of them: whether audio can be decoded is not seen, whether it is there is. */
export class RawReader implements UtteranceDecoder {
  readonly #files = new Map<string, Promise<FileHandle>>();
  #queue: Promise<unknown> = Promise.resolve();

  /** One after the other: a disk is not faster for being asked several times. */
  async decode(requests: readonly DecodeRequest[], signal?: AbortSignal): Promise<DecodeOutcome[]> {
    const outcomes = this.#queue.then(async () => await this.#readAll(requests, signal));
    this.#queue = outcomes.catch(() => undefined);
    return await outcomes;
  }

  async close(): Promise<void> {
    await this.#queue;
    const files = [...this.#files.values()];
    this.#files.clear();
    await Promise.allSettled(files.map(async (file) => await (await file).close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #readAll(requests: readonly DecodeRequest[], signal: AbortSignal | undefined): Promise<DecodeOutcome[]> {
    const outcomes: DecodeOutcome[] = [];
    for (const request of requests) {
      signal?.throwIfAborted();
      refuseSpan(request);
      try {
        outcomes.push(await this.#read(request));
      } catch (error) {
        const isMissing = ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '');
        const state = isMissing ? 'there is no such file' : errorMessage(error);
        outcomes.push(failed(request, isMissing ? 'missing_recording' : 'unreadable_recording', state));
      }
    }
    return outcomes;
  }

  async #read(request: DecodeRequest): Promise<DecodeOutcome> {
    const { path, inside } = request;
    const file = await this.#open(path);
    const sizeBytes = inside?.sizeBytes ?? (await file.stat()).size;
    if (sizeBytes === 0) return failed(request, 'empty_recording', 'it is empty');
    if (inside === undefined) return decoded(await readAt(file, 0, sizeBytes));
    const { offsetBytes, name } = inside;
    const start = Math.max(0, offsetBytes - BEFORE_BYTES);
    const bytes = await readAt(file, offsetBytes - BLOCK_BYTES, BLOCK_BYTES + sizeBytes);
    const before = isMemberIn(bytes, offsetBytes - BLOCK_BYTES, inside)
      ? undefined
      : await readAt(file, start, offsetBytes - start);
    const isThere = before === undefined || isMemberIn(before, start, inside);
    if (isThere && bytes.length === BLOCK_BYTES + sizeBytes) return decoded(bytes.subarray(BLOCK_BYTES));
    const state = `the tar does not hold ${JSON.stringify(name)} at byte ${offsetBytes.toLocaleString('en-US')}`;
    return failed(request, 'changed_tar', state, 'The tar changed since it was indexed: start anew.');
  }

  async #open(path: string): Promise<FileHandle> {
    const file = this.#files.get(path) ?? open(path, 'r');
    // A map goes through its keys in the order in which they came: the one to close stands first.
    this.#files.delete(path);
    const [oldest] = this.#files;
    if (oldest !== undefined && this.#files.size >= OPEN_FILES) {
      this.#files.delete(oldest[0]);
      await (await oldest[1]).close();
    }
    const handle = await file;
    this.#files.set(path, file);
    return handle;
  }
}

/** @throws UsageError: the bytes of a file are not those of a part of it. */
function refuseSpan({ path, span }: DecodeRequest): void {
  if (span === undefined) return;
  throw new UsageError(`Cannot pass on a part of "${path}" as it is: the row has an "offset"`, {
    hint: 'Give --format wav or --format flac.',
  });
}

function isMemberIn(bytes: Buffer, startBytes: number, inside: NonNullable<DecodeRequest['inside']>): boolean {
  const read = (at: number, lengthBytes: number): Buffer =>
    at < startBytes ? Buffer.alloc(0) : bytes.subarray(at - startBytes, at - startBytes + lengthBytes);
  return isMemberAt(read, { name: inside.name, offset: inside.offsetBytes, size: inside.sizeBytes });
}

function decoded(bytes: Buffer): DecodeOutcome {
  return { kind: 'decoded', samples: new Float32Array(0), sampleRate: 1, bytes };
}

function failed({ path }: DecodeRequest, reason: string, state: string, hint?: string): DecodeOutcome {
  return { kind: 'failed', reason, message: `Cannot read "${path}": ${state}`, hint };
}

async function readAt(file: FileHandle, position: number, lengthBytes: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(lengthBytes);
  let filled = 0;
  while (filled < lengthBytes) {
    const { bytesRead } = await file.read(bytes, filled, lengthBytes - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
