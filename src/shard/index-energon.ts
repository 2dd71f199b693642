import { createHash } from 'node:crypto';
import { rmdir } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '../errors.js';
import { ensureFolder, removeFile, writeFileAtomic } from '../run/atomic-file.js';
import { writeFailure } from '../tar/write-failure.js';
import { writeEnergonRows } from './index-energon-rows.js';
import { SampleDatabase, type IndexedSample } from './index-sample-database.js';
import type { ShardLayout } from './index-shard-files.js';
import type { IndexedDataset } from './index-types.js';
import { IndexWarnings } from './index-warnings.js';
import { isLoaderMeta, loaderGroup } from './sample-key.js';

/** The folder that makes a folder a dataset for Energon. */
const META_FOLDER = '.nv-meta';

/** The version whose layout this is; Energon shows it and makes nothing of it. */
const ENERGON_VERSION = '7.4.1';

const DATABASE_FILE = `${META_FOLDER}/index.sqlite`;

/**
 * What `energon prepare` makes, so that Energon opens the folder without it: offsets beside each tar, and in `.nv-meta/` the shards, their
 * split (all is `train`), the type of the samples (`CrudeWebdataset`: the bytes of all parts), and a database to find samples by name. A
 * metadataset joins the rows to them (see `writeEnergonRows`).
 */
export class EnergonIndex {
  readonly warnings = new IndexWarnings('energon');
  readonly #dataset: IndexedDataset;
  readonly #shards: { name: string; sampleCount: number }[] = [];
  readonly #hash = createHash('sha256');
  readonly #files: string[] = [];
  #database: SampleDatabase | undefined;
  #hasFolder = false;
  #areNamesUnique = true;

  constructor(dataset: IndexedDataset) {
    this.#dataset = dataset;
  }

  /** Writes the offsets of a tar's samples, and adds them to the database. */
  async addShard(layout: ShardLayout, signal: AbortSignal | undefined): Promise<void> {
    const { tarName, endOffsetBytes } = layout;
    const offsets: number[] = [];
    for (const { offsetBytes } of samplesOf(layout, this.#shards.length)) offsets.push(offsetBytes);
    this.#checkName(tarName, offsets.length);
    if (offsets.length === 0) return;
    await this.#addToDatabase(layout, signal);
    this.#shards.push({ name: tarName, sampleCount: offsets.length });
    const index = Buffer.alloc(8 * (offsets.length + 1));
    for (const [at, offset] of [...offsets, endOffsetBytes].entries()) index.writeBigUInt64LE(BigInt(offset), 8 * at);
    this.#hash.update(`${tarName}\0${offsets.length}\0`).update(index);
    const indexName = tarName.replace(/(?:\.[^./]*)?$/u, '.tar.idx');
    await this.#write(indexName, index);
  }

  /** Writes the files of the folder; returns the names of all files. `onShard` is told of each shard whose rows are written. */
  async finish(signal: AbortSignal | undefined, onShard: () => void): Promise<string[]> {
    await this.#ensureFolder();
    const counts = Object.fromEntries(this.#shards.map(({ name, sampleCount }) => [name, sampleCount]));
    const info = { energon_version: ENERGON_VERSION, shard_counts: counts };
    const names = this.#shards.map(({ name }) => `\n  - ${JSON.stringify(name)}`).join('');
    await this.#write(
      `${META_FOLDER}/split.yaml`,
      `split_parts:\n  train:${names || ' []'}\n  val: []\n  test: []\nexclude: []\n`,
    );
    await this.#write(`${META_FOLDER}/dataset.yaml`, '__module__: megatron.energon\n__class__: CrudeWebdataset\n');
    await this.#finishDatabase();
    await this.#write(`${META_FOLDER}/index.uuid`, uuidOf(this.#hash.digest()));
    this.#files.push(...(await writeEnergonRows(this.#dataset, this.warnings, signal, onShard)));
    // Last: with it Energon takes the folder for a dataset.
    await this.#write(`${META_FOLDER}/.info.json`, `${JSON.stringify(info, undefined, 2)}\n`);
    return this.#files;
  }

  /** Removes what is not whole; to be called in any case. */
  async discard(): Promise<void> {
    await this.#database?.discard();
    if (!this.#hasFolder) return;
    const place = path.join(this.#dataset.folder, META_FOLDER);
    try {
      await rmdir(place);
    } catch (error) {
      if (!FOLDER_STAYS.has(systemCode(error) ?? ''))
        throw writeFailure(error, { action: 'Cannot remove', path: place });
    }
  }

  async #addToDatabase(layout: ShardLayout, signal: AbortSignal | undefined): Promise<void> {
    const samples = samplesOf(layout, this.#shards.length);
    for (const { key, shard } of await (await this.#openDatabase()).add(samples, signal)) {
      this.#areNamesUnique = false;
      const tars = [this.#shards[shard]?.name ?? layout.tarName, layout.tarName].map((name) => `"${name}"`);
      this.warnings.add(DUPLICATE_STATE, `${JSON.stringify(key)} in ${tars.join(' and ')}`, DUPLICATE_HINT);
    }
  }

  async #openDatabase(): Promise<SampleDatabase> {
    if (this.#database !== undefined) return this.#database;
    await this.#ensureFolder();
    this.#database = await SampleDatabase.open(path.join(this.#dataset.folder, DATABASE_FILE));
    return this.#database;
  }

  async #ensureFolder(): Promise<void> {
    await ensureFolder(path.join(this.#dataset.folder, META_FOLDER));
    this.#hasFolder = true;
  }

  async #finishDatabase(): Promise<void> {
    if (!this.#areNamesUnique) return removeFile(path.join(this.#dataset.folder, DATABASE_FILE));
    await (await this.#openDatabase()).publish();
    this.#files.push(DATABASE_FILE);
  }

  #checkName(tarName: string, sampleCount: number): void {
    if (sampleCount === 0) this.warnings.add('a shard without samples is left out', `"${tarName}"`);
    if (!/[{}]/u.test(tarName)) return;
    this.warnings.add('Energon takes braces in a path for a range', `"${tarName}"`, 'Rename the tar.');
  }

  async #write(name: string, content: string | Uint8Array): Promise<void> {
    await writeFileAtomic(path.join(this.#dataset.folder, name), (write) => write(content));
    this.#files.push(name);
  }
}

/** Members in one sample after the other, as WebDataset groups neighbours. */
function* samplesOf({ members, endOffsetBytes }: ShardLayout, shard: number): Generator<IndexedSample> {
  let sample: IndexedSample | undefined;
  for (const { name, offsetBytes, sizeBytes, headerOffsetBytes } of members) {
    const key = loaderGroup(name);
    if (key === undefined || isLoaderMeta(name)) continue;
    if (key !== sample?.key) {
      if (sample !== undefined) yield endedAt(sample, headerOffsetBytes);
      const number: number = sample === undefined ? 0 : sample.number + 1;
      sample = { key, shard, number, offsetBytes: headerOffsetBytes, sizeBytes: 0, parts: [] };
    }
    sample.parts.push({ name: name.slice(key.length + 1), offsetBytes, sizeBytes });
  }
  if (sample !== undefined) yield endedAt(sample, endOffsetBytes);
}

function endedAt(sample: IndexedSample, endBytes: number): IndexedSample {
  return { ...sample, sizeBytes: endBytes - sample.offsetBytes };
}

/** Why a folder is not removed: something else is in it, or it is not there. */
const FOLDER_STAYS: ReadonlySet<string> = new Set(['ENOTEMPTY', 'EEXIST', 'ENOENT']);

const DUPLICATE_STATE =
  'samples of one name: Energon reads them in order, but there is no index.sqlite to find them by name';
const DUPLICATE_HINT = 'Give members names that are unique in the dataset.';

/** A UUID of the form that RFC 9562 leaves to the maker (version 8), of the first bytes of a hash. */
function uuidOf(hash: Buffer): string {
  const bytes = Buffer.from(hash.subarray(0, 16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/u, '$1-$2-$3-$4-');
}
