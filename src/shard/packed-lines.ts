import { open, type FileHandle } from 'node:fs/promises';
import { errorMessage, InputError, systemCode } from '../errors.js';
import { JsonObject } from '../manifest/json-object.js';
import { manifestLines, readLineAt, type ManifestLine } from '../manifest/lines.js';
import { parseRowLine } from '../manifest/row-line.js';
import type { PackedProblem } from './packed-problem.js';
import type { PackedShard } from './packed-shards.js';

/** A line of a manifest. */
export type PackedLine = Pick<ManifestLine, 'number' | 'bytes'>;

/** Reads the lines of shards, one manifest open at a time. */
export class PackedLines {
  readonly #shards: readonly PackedShard[];
  readonly #onProblem: (problem: PackedProblem) => void;
  #open: OpenManifest | undefined;

  constructor(shards: readonly PackedShard[], onProblem: (problem: PackedProblem) => void) {
    this.#shards = shards;
    this.#onProblem = onProblem;
  }

  /**
   * The lines of a shard that are not blank. Of a manifest of all shards those with its `shard_id`; the first time, rows that belong to no
   * shard are problems.
   *
   * @throws InputError when the manifest cannot be read
   */
  async *of(shard: PackedShard): AsyncGenerator<PackedLine> {
    const { manifestPath, shardId } = shard;
    if (shardId === undefined) {
      const handle = await openManifest(manifestPath);
      try {
        yield* manifestLines(handle, manifestPath);
      } finally {
        await handle.close();
      }
      return;
    }
    if (this.#open?.path !== manifestPath) {
      await this.close();
      const handle = await openManifest(manifestPath);
      this.#open = { path: manifestPath, handle, places: new Map() };
      await this.#findPlaces(this.#open);
    }
    const window = new LineWindow(this.#open.handle, manifestPath);
    const places = this.#open.places.get(shardId) ?? [];
    for (let at = 0; at < places.length; at += NUMBERS_A_LINE) {
      const [number = 0, offsetBytes = 0, lengthBytes = 0] = places.slice(at, at + NUMBERS_A_LINE);
      yield { number, bytes: await window.read(offsetBytes, lengthBytes) };
    }
  }

  async close(): Promise<void> {
    await this.#open?.handle.close();
    this.#open = undefined;
  }

  async #findPlaces({ path, handle, places }: OpenManifest): Promise<void> {
    const known = new Set(this.#shards.filter((shard) => shard.manifestPath === path).map(({ shardId }) => shardId));
    for await (const line of manifestLines(handle, path)) {
      const row = parseRowLine(line);
      const problem = { file: path, line: line.number };
      if (!(row instanceof JsonObject)) {
        this.#onProblem({ ...problem, reason: row.reason, message: row.message, hint: row.hint });
        continue;
      }
      const id = row.value('shard_id');
      if (typeof id !== 'number' || !known.has(id)) {
        const message =
          typeof id === 'number' ? `there is no "audio_${id}.tar" for the row` : 'the row has no "shard_id"';
        this.#onProblem({ ...problem, reason: 'bad_shard_id', message });
        continue;
      }
      const list = places.get(id) ?? [];
      list.push(line.number, line.offsetBytes, line.lengthBytes);
      places.set(id, list);
    }
  }
}

/** A manifest of all shards. */
interface OpenManifest {
  path: string;
  handle: FileHandle;
  places: ShardPlaces;
}

/** By shard: number, offset and length of each line, one after the other. Flat: a million lines take 24 MB. */
type ShardPlaces = Map<number, number[]>;

const NUMBERS_A_LINE = 3;

async function openManifest(path: string): Promise<FileHandle> {
  try {
    return await open(path);
  } catch (error) {
    const reason = systemCode(error) === 'ENOENT' ? 'there is no such file' : errorMessage(error);
    throw new InputError(`Cannot read "${path}": ${reason}`, { path, cause: error });
  }
}

const WINDOW_BYTES = 1 << 18;

/** Reads lines that mostly follow each other, many with one read. */
class LineWindow {
  readonly #handle: FileHandle;
  readonly #path: string;
  #held = Buffer.alloc(0);
  #offsetBytes = 0;

  constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  /** @returns bytes that hold until the next line is read */
  async read(offsetBytes: number, lengthBytes: number): Promise<Buffer> {
    let start = offsetBytes - this.#offsetBytes;
    if (start < 0 || start + lengthBytes > this.#held.length) {
      if (lengthBytes > WINDOW_BYTES) return await readLineAt(this.#handle, this.#path, offsetBytes, lengthBytes);
      const window = Buffer.allocUnsafe(WINDOW_BYTES);
      const { bytesRead } = await this.#handle.read(window, 0, WINDOW_BYTES, offsetBytes);
      if (bytesRead < lengthBytes) return await readLineAt(this.#handle, this.#path, offsetBytes, lengthBytes);
      this.#held = window.subarray(0, bytesRead);
      this.#offsetBytes = offsetBytes;
      start = 0;
    }
    return this.#held.subarray(start, start + lengthBytes);
  }
}
