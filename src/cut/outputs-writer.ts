import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { partialPath } from '../run/atomic-file.js';
import type { CutOutputs } from './options.js';
import type { StoredSnippet } from './part.js';
import type { Checkpoint, ShardSizes } from './run-journal.js';
import { placesOf } from './shard-files.js';
import { requireBytes, ShardWriter } from './shard-writer.js';

/** The outputs of a run while they grow, in the order of member names: one tar with its manifest, or one shard after the other. */
export class OutputsWriter {
  readonly #outputs: CutOutputs;
  readonly #parts = new Map<string, FileHandle>();
  /** All that are whole. */
  readonly #finished: ShardSizes[];
  /** How many of these a checkpoint has. */
  #noted: number;
  #finishedBytes = 0;
  #current: { shard: number; writer: ShardWriter } | undefined;
  #lastMember: string | undefined;

  private constructor(outputs: CutOutputs, finished: readonly ShardSizes[], lastMember: string | undefined) {
    this.#outputs = outputs;
    this.#finished = [...finished];
    this.#noted = finished.length;
    for (const { tarBytes } of finished) this.#finishedBytes += tarBytes;
    this.#lastMember = lastMember;
  }

  /**
   * Opens the files and cuts them back to the checkpoint.
   *
   * @param finished shards that are whole
   * @throws StaleWorkError when they are shorter than the checkpoint; OutputError when they cannot be opened
   */
  static async open(
    outputs: CutOutputs,
    from: Checkpoint,
    finished: readonly ShardSizes[] = [],
  ): Promise<OutputsWriter> {
    for (const { shard, tarBytes, manifestBytes } of finished) {
      const { tar, manifest } = placesOf(outputs, shard);
      await requireBytes(partialPath(tar), tarBytes);
      await requireBytes(partialPath(manifest), manifestBytes);
    }
    const opened = new OutputsWriter(outputs, finished, from.lastMember);
    // A shard is begun by its first snippet, since none is to be empty; a tar of all snippets may be.
    if (!outputs.isSharded || from.tarBytes > 0) await opened.#begin(from.shard, from);
    return opened;
  }

  /** Bytes of all tars; those not yet on the disk for sure are counted too. */
  get tarBytes(): number {
    return this.#finishedBytes + (this.#current?.writer.tarBytes ?? 0);
  }

  /** Appends a snippet and its row to a shard; the one before it is completed. */
  async append(shard: number, member: string, snippet: StoredSnippet, row: string): Promise<void> {
    const { bytes } = snippet;
    if (bytes === undefined) throw new RangeError(`"${member}" has no bytes`);
    const writer = await this.#enter(shard);
    const file = await this.#part(snippet.partPath);
    const place = snippet.member ?? bytes;
    const isMember = snippet.member !== undefined;
    await writer.append(member, { file, offsetBytes: place.offset, sizeBytes: place.size, isMember }, row);
    this.#lastMember = member;
  }

  /** Closes the part files of a recording. */
  async release(partPaths: Iterable<string>): Promise<void> {
    for (const path of new Set(partPaths)) {
      await this.#current?.writer.flush();
      await this.#parts.get(path)?.close();
      this.#parts.delete(path);
    }
  }

  /** Waits until all is on the disk, and says how far that is. */
  async sync(members: number): Promise<Checkpoint> {
    const extent = (await this.#current?.writer.sync()) ?? { tarBytes: 0, manifestBytes: 0 };
    const finished = this.#finished.slice(this.#noted);
    this.#noted = this.#finished.length;
    return { members, shard: this.#current?.shard ?? 0, ...extent, lastMember: this.#lastMember, finished };
  }

  /** Completes the last tar. */
  async finish(): Promise<ShardSizes[]> {
    await this.#complete();
    return [...this.#finished];
  }

  async close(): Promise<void> {
    for (const part of this.#parts.values()) await part.close();
    this.#parts.clear();
    await this.#current?.writer.close();
  }

  async #enter(shard: number): Promise<ShardWriter> {
    if (this.#current?.shard === shard) return this.#current.writer;
    await this.#complete();
    return await this.#begin(shard, { tarBytes: 0, manifestBytes: 0 });
  }

  async #begin(shard: number, from: Pick<Checkpoint, 'tarBytes' | 'manifestBytes'>): Promise<ShardWriter> {
    const writer = await ShardWriter.open(placesOf(this.#outputs, shard), from, this.#lastMember);
    this.#current = { shard, writer };
    return writer;
  }

  async #complete(): Promise<void> {
    if (this.#current === undefined) return;
    const { shard, writer } = this.#current;
    const sizes = await writer.finish();
    this.#finished.push({ shard, ...sizes });
    this.#finishedBytes += sizes.tarBytes;
    this.#current = undefined;
    await writer.close();
  }

  async #part(path: string): Promise<FileHandle> {
    const opened = this.#parts.get(path) ?? (await open(path));
    this.#parts.set(path, opened);
    return opened;
  }
}
