import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { errorMessage, InputError, systemCode } from '../errors.js';
import { findPackedShards, type PackedShard } from '../shard/packed-rows.js';

/** A manifest whose rows can be read again by their places. */
export interface ManifestInput {
  /** As it was named. */
  path: string;
  /** Absolute folder that its relative paths are joined to. */
  folder: string;
  /** The file that is read: the manifest, or a copy of what it holds. */
  handle: FileHandle;
  /** Set where the copy is being written: rows come from these shards, and not from the file. */
  shards: readonly PackedShard[] | undefined;
  /** Takes the bytes of the manifest. Done already where `handle` is a copy. */
  hash: Hash;
  isCopy: boolean;
}

/** The manifests of a run. Those that are compressed or packed are copied to a temporary folder, row by row, so that rows can be read again. */
export class Inputs {
  readonly all: ManifestInput[] = [];
  #spool: string | undefined;

  /** @throws InputError when a manifest cannot be read */
  async open(named: string): Promise<void> {
    const shards = await findPackedShards(named);
    if (shards !== undefined) return await this.#openPacked(named, shards);
    const folder = path.dirname(path.resolve(named));
    const hash = createHash('sha256');
    if (!named.endsWith('.gz')) {
      const handle = await openFile(named);
      this.all.push({ path: named, folder, handle, shards: undefined, hash, isCopy: false });
      return;
    }
    const handle = await this.#openSpool();
    this.all.push({ path: named, folder, handle, shards: undefined, hash, isCopy: true });
    await decompress(named, handle, hash);
  }

  async close(): Promise<void> {
    for (const { handle } of this.all) await handle.close();
    if (this.#spool !== undefined) await rm(this.#spool, { recursive: true, force: true });
  }

  async #openPacked(named: string, shards: readonly PackedShard[]): Promise<void> {
    // Every manifest is an input of its own: failures name its lines.
    for (const manifest of new Set(shards.map(({ manifestPath }) => manifestPath))) {
      const own = shards.filter(({ manifestPath }) => manifestPath === manifest);
      const shown = showAs(named, manifest);
      const hash = createHash('sha256');
      const folder = path.dirname(manifest);
      this.all.push({ path: shown, folder, handle: await this.#openSpool(), shards: own, hash, isCopy: true });
      await hashFile(manifest, hash);
    }
  }

  async #openSpool(): Promise<FileHandle> {
    this.#spool ??= await mkdtemp(path.join(tmpdir(), 'cutroom-tar-'));
    return await open(path.join(this.#spool, String(this.all.length)), 'w+');
  }
}

/** A manifest of a packed dataset under the name that the dataset was given. */
function showAs(named: string, manifest: string): string {
  const inside = path.relative(path.resolve(named), manifest);
  if (inside === '') return named;
  if (!inside.startsWith('..')) return path.join(named, inside);
  return path.join(path.dirname(named), path.relative(path.dirname(path.resolve(named)), manifest));
}

async function openFile(named: string): Promise<FileHandle> {
  try {
    const handle = await open(named);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
  } catch (error) {
    throw cannotRead(named, error);
  }
  throw new InputError(`Cannot read "${named}": it is no regular file`, { path: named });
}

function cannotRead(named: string, error: unknown): InputError {
  const reason = systemCode(error) === 'ENOENT' ? 'there is no such file' : errorMessage(error);
  return new InputError(`Cannot read "${named}": ${reason}`, { path: named, cause: error });
}

async function decompress(named: string, into: FileHandle, hash: Hash): Promise<void> {
  try {
    const source = createReadStream(named);
    source.on('data', (chunk) => hash.update(chunk));
    await pipeline(source, createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await into.write(chunk);
    });
  } catch (error) {
    throw cannotRead(named, error);
  }
}

async function hashFile(manifest: string, hash: Hash): Promise<void> {
  try {
    for await (const chunk of createReadStream(manifest)) hash.update(chunk as Buffer);
  } catch (error) {
    throw cannotRead(manifest, error);
  }
}
