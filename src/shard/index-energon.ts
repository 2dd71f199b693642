import { createHash } from 'node:crypto';
import path from 'node:path';
import { ensureFolder, removeFile, writeFileAtomic } from '../run/atomic-file.js';
import { writeEnergonRows } from './index-energon-rows.js';
import { SampleTable } from './index-sample-table.js';
import type { ShardLayout } from './index-shard-files.js';
import { MAX_RECORD_BYTES } from './index-sqlite-record.js';
import { writeSqliteFile } from './index-sqlite-file.js';
import type { IndexedDataset } from './index-types.js';
import { IndexWarnings } from './index-warnings.js';
import { isLoaderMeta, loaderGroup } from './sample-key.js';

/** The folder that makes a folder a dataset for Energon. */
const META_FOLDER = '.nv-meta';

/** The version whose layout this is; Energon shows it and makes nothing of it. */
const ENERGON_VERSION = '7.4.1';

/** Keys of this size leave room for the other columns of a record. */
const MAX_KEY_BYTES = MAX_RECORD_BYTES - 64;

/**
 * What `energon prepare` makes, so that Energon opens the folder without it: offsets beside each tar, and in `.nv-meta/` the shards, their
 * split (all is `train`), the type of the samples (`CrudeWebdataset`: the bytes of all parts), and a database to find samples by name. A
 * metadataset joins the rows to them (see `writeEnergonRows`).
 */
export class EnergonIndex {
  readonly warnings = new IndexWarnings('energon');
  readonly #dataset: IndexedDataset;
  readonly #samples = new SampleTable();
  readonly #shards: { name: string; sampleCount: number }[] = [];
  readonly #hash = createHash('sha256');
  readonly #files: string[] = [];
  #longKey: string | undefined;

  constructor(dataset: IndexedDataset) {
    this.#dataset = dataset;
  }

  /** Writes the offsets of a tar's samples. */
  async addShard(layout: ShardLayout): Promise<void> {
    const { tarName, endOffsetBytes } = layout;
    const offsets = this.#addSamples(layout);
    this.#checkName(tarName, offsets.length);
    if (offsets.length === 0) return;
    this.#shards.push({ name: tarName, sampleCount: offsets.length });
    const index = Buffer.alloc(8 * (offsets.length + 1));
    for (const [at, offset] of [...offsets, endOffsetBytes].entries()) index.writeBigUInt64LE(BigInt(offset), 8 * at);
    this.#hash.update(`${tarName}\0${offsets.length}\0`).update(index);
    const indexName = tarName.replace(/(?:\.[^./]*)?$/u, '.tar.idx');
    await this.#write(indexName, index);
  }

  /** Writes the files of the folder; returns the names of all files. `onShard` is told of each shard whose rows are written. */
  async finish(signal: AbortSignal | undefined, onShard: () => void): Promise<string[]> {
    const { folder } = this.#dataset;
    await ensureFolder(path.join(folder, META_FOLDER));
    const counts = Object.fromEntries(this.#shards.map(({ name, sampleCount }) => [name, sampleCount]));
    const info = { energon_version: ENERGON_VERSION, shard_counts: counts };
    const names = this.#shards.map(({ name }) => `\n  - ${JSON.stringify(name)}`).join('');
    await this.#write(
      `${META_FOLDER}/split.yaml`,
      `split_parts:\n  train:${names || ' []'}\n  val: []\n  test: []\nexclude: []\n`,
    );
    await this.#write(`${META_FOLDER}/dataset.yaml`, '__module__: megatron.energon\n__class__: CrudeWebdataset\n');
    await this.#writeDatabase(signal);
    await this.#write(`${META_FOLDER}/index.uuid`, uuidOf(this.#hash.digest()));
    this.#files.push(...(await writeEnergonRows(this.#dataset, this.warnings, signal, onShard)));
    // Last: with it Energon takes the folder for a dataset.
    await this.#write(`${META_FOLDER}/.info.json`, `${JSON.stringify(info, undefined, 2)}\n`);
    return this.#files;
  }

  /** Takes the samples of a tar; returns where they start. */
  #addSamples({ members, endOffsetBytes }: ShardLayout): number[] {
    const shard = this.#shards.length;
    const starts: number[] = [];
    let last: string | undefined;
    for (const { name, offsetBytes, sizeBytes, headerOffsetBytes } of members) {
      const key = loaderGroup(name);
      if (key === undefined || isLoaderMeta(name)) continue;
      if (key !== last) {
        if (starts.length > 0) this.#samples.endSample(headerOffsetBytes);
        this.#samples.addSample(key, shard, starts.length, headerOffsetBytes);
        starts.push(headerOffsetBytes);
        if (Buffer.byteLength(name) > MAX_KEY_BYTES) this.#longKey ??= name;
        last = key;
      }
      this.#samples.addPart(name.slice(key.length + 1), offsetBytes, sizeBytes);
    }
    if (starts.length > 0) this.#samples.endSample(endOffsetBytes);
    return starts;
  }

  #checkName(tarName: string, sampleCount: number): void {
    if (sampleCount === 0) this.warnings.add('a shard without samples is left out', `"${tarName}"`);
    if (!/[{}]/u.test(tarName)) return;
    this.warnings.add('Energon takes braces in a path for a range', `"${tarName}"`, 'Rename the tar.');
  }

  async #writeDatabase(signal: AbortSignal | undefined): Promise<void> {
    const name = `${META_FOLDER}/index.sqlite`;
    const place = path.join(this.#dataset.folder, name);
    const order = this.#samples.sortByKey();
    if (this.#warnOfDuplicates(order) || this.#warnOfLongKey()) {
      await removeFile(place);
      return;
    }
    await writeSqliteFile(place, this.#samples.tables(order), signal);
    this.#files.push(name);
  }

  #warnOfDuplicates(order: Uint32Array): boolean {
    let isAny = false;
    for (let at = 1; at < order.length; at += 1) {
      const [first, second] = [order[at - 1]!, order[at]!];
      const key = this.#samples.keyOf(second);
      if (!this.#samples.keyOf(first).equals(key)) continue;
      isAny = true;
      const tars = [first, second].map((sample) => `"${this.#shards[this.#samples.shardOf(sample)]?.name ?? ''}"`);
      const state =
        'samples of one name: Energon reads them in order, but there is no index.sqlite to find them by name';
      this.warnings.add(state, `${JSON.stringify(key.toString())} in ${tars.join(' and ')}`, DUPLICATE_HINT);
    }
    return isAny;
  }

  #warnOfLongKey(): boolean {
    if (this.#longKey === undefined) return false;
    const state = `a name of over ${MAX_KEY_BYTES} bytes: there is no index.sqlite to find samples by name`;
    this.warnings.add(state, JSON.stringify(this.#longKey), 'Give members shorter names.');
    return true;
  }

  async #write(name: string, content: string | Uint8Array): Promise<void> {
    await writeFileAtomic(path.join(this.#dataset.folder, name), (write) => write(content));
    this.#files.push(name);
  }
}

const DUPLICATE_HINT = 'Give members names that are unique in the dataset.';

/** A UUID of the form that RFC 9562 leaves to the maker (version 8), of the first bytes of a hash. */
function uuidOf(hash: Buffer): string {
  const bytes = Buffer.from(hash.subarray(0, 16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/u, '$1-$2-$3-$4-');
}
