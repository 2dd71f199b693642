import { stat } from 'node:fs/promises';
import path from 'node:path';
import { InputError, UsageError } from '../errors.js';
import { findPackedShards } from '../shard/packed-shards.js';
import type { TablePart } from './item-table.js';
import type { NemoTarredSource } from './sources.js';
import type { LeafSource, LeafSpec } from './source-tree.js';
import { expandFilePatterns } from './tar-patterns.js';

/** A manifest that is read from its first line to its last, and where its rows belong. */
export interface ManifestReading {
  manifestPath: string;
  /** The part of all rows, or the part of each `shard_id`. */
  parts: number | ReadonlyMap<number, number>;
}

/** What a leaf is read from. */
export interface LeafFiles {
  readings: ManifestReading[];
}

/**
 * Finds the files of leaves; new parts are added to `parts`.
 *
 * @throws {InputError} that names the files that are not there, of all leaves.
 * @throws {UsageError} for sources that cannot be understood.
 */
export async function findLeafFiles(leaves: readonly LeafSource[], parts: TablePart[]): Promise<LeafFiles[]> {
  const missing = new MissingFiles();
  const found: LeafFiles[] = [];
  for (const [leaf, { name, spec }] of leaves.entries()) {
    const finder = new LeafFinder(leaf, name, parts, missing);
    await finder.find(spec);
    found.push({ readings: finder.readings });
  }
  missing.throwIfAny();
  return found;
}

class LeafFinder {
  readonly readings: ManifestReading[] = [];
  readonly #leaf: number;
  readonly #name: string;
  readonly #parts: TablePart[];
  readonly #missing: MissingFiles;
  /** By path: the reading of a manifest of all shards. */
  readonly #byShardId = new Map<string, Map<number, number>>();

  constructor(leaf: number, name: string, parts: TablePart[], missing: MissingFiles) {
    this.#leaf = leaf;
    this.#name = name;
    this.#parts = parts;
    this.#missing = missing;
  }

  async find(spec: LeafSpec): Promise<void> {
    if (spec.type === 'path') await this.#findPath(spec.path);
    else if (spec.type === 'nemo') await this.#findManifests(spec.manifests);
    else if (spec.type === 'nemo_tarred') await this.#findTarred(spec);
  }

  async #findPath(given: string): Promise<void> {
    for (const place of await this.#expand([given])) {
      const shards = this.#missing.has(place) ? undefined : await findPackedShards(place);
      if (shards === undefined) {
        await this.#add(place, undefined);
        continue;
      }
      for (const { manifestPath, tarPath, shardId } of shards) await this.#add(manifestPath, tarPath, shardId);
    }
  }

  async #findManifests(patterns: readonly string[]): Promise<void> {
    for (const manifest of await this.#expand(patterns)) await this.#add(manifest, undefined);
  }

  async #findTarred(spec: NemoTarredSource): Promise<void> {
    const manifests = await this.#expand(spec.manifests);
    const tars = await this.#expand(spec.tars);
    const [only] = manifests;
    if (only === undefined || tars.length === 0) {
      const what = only === undefined ? 'manifest' : 'tar';
      throw new UsageError(`The source "${this.#name}" names no ${what}`);
    }
    if (manifests.length > 1) {
      for (const [manifest, tar] of this.#pair(manifests, tars)) await this.#add(manifest, tar);
    } else if (tars.length === 1) await this.#add(only, tars[0]);
    else for (const [shardId, tar] of this.#numberTars(tars)) await this.#add(only, tar, shardId);
  }

  /** Manifests and tars that belong together: by the last number in their names, or in order where names have none that tell them apart. */
  #pair(manifests: readonly string[], tars: readonly string[]): [string, string][] {
    const byNumber = numbersOf(manifests);
    const tarByNumber = numbersOf(tars);
    if (byNumber !== undefined && tarByNumber !== undefined) {
      const alone = [
        ...[...byNumber].filter(([number]) => !tarByNumber.has(number)).map(([, file]) => file),
        ...[...tarByNumber].filter(([number]) => !byNumber.has(number)).map(([, file]) => file),
      ];
      if (alone.length === 0) return [...byNumber].map(([number, manifest]) => [manifest, tarByNumber.get(number)!]);
      throw new UsageError(`Manifests and tars of "${this.#name}" do not belong together: ${listFiles(alone)}`, {
        hint: 'The numbers at the end of their names must be the same: manifest_7.json is that of audio_7.tar.',
      });
    }
    if (manifests.length === tars.length) return manifests.map((manifest, at) => [manifest, tars[at]!]);
    throw new UsageError(`The source "${this.#name}" has ${manifests.length} manifests and ${tars.length} tars`, {
      hint: 'Name one manifest of all tars, or one a tar; make sources of their own of several datasets.',
    });
  }

  #numberTars(tars: readonly string[]): Map<number, string> {
    const numbers = numbersOf(tars);
    if (numbers !== undefined) return numbers;
    const twice = tars.find((tar) => numberOf(tar) === undefined) ?? tars[0]!;
    throw new UsageError(
      `Cannot tell which shard of "${this.#name}" is which: ${
        numberOf(twice) === undefined ? `"${twice}" has no number in its name` : 'two tars have the same number'
      }`,
      {
        hint: 'A row\'s "shard_id" is the number at the end of a tar\'s name, as in audio_7.tar; or name a manifest for each tar.',
      },
    );
  }

  async #expand(patterns: readonly string[]): Promise<string[]> {
    const { paths, missing } = await expandFilePatterns(patterns);
    for (const file of missing) this.#missing.add(file);
    return paths;
  }

  async #add(manifestPath: string, tarPath: string | undefined, shardId?: number): Promise<void> {
    await this.#missing.look(manifestPath);
    if (tarPath !== undefined) await this.#missing.look(tarPath);
    if (/\.ya?ml$/iu.test(manifestPath)) {
      throw new UsageError(`"${manifestPath}" is a configuration, and no manifest`, {
        hint: 'Read its sources with readLoaderConfig(), or on the command line with --config.',
      });
    }
    if (/\.(?:tar\.gz|tgz)$/iu.test(manifestPath) && !this.#missing.has(manifestPath)) {
      throw new InputError(`Cannot read "${manifestPath}" at any place: it is compressed, and no manifest`, {
        path: manifestPath,
        hint: 'Decompress it: gunzip -k FILE.',
      });
    }
    const audioFolder = path.dirname(path.resolve(manifestPath));
    this.#parts.push({ leaf: this.#leaf, manifestPath, tarPath, audioFolder });
    const part = this.#parts.length - 1;
    if (shardId === undefined) {
      this.readings.push({ manifestPath, parts: part });
      return;
    }
    let known = this.#byShardId.get(manifestPath);
    if (known === undefined) {
      known = new Map();
      this.#byShardId.set(manifestPath, known);
      this.readings.push({ manifestPath, parts: known });
    }
    known.set(shardId, part);
  }
}

/** Files by the last number in their names; undefined where a name has none, or two have the same. */
function numbersOf(files: readonly string[]): Map<number, string> | undefined {
  const byNumber = new Map<number, string>();
  for (const file of files) {
    const number = numberOf(file);
    if (number === undefined || byNumber.has(number)) return undefined;
    byNumber.set(number, file);
  }
  return byNumber;
}

function numberOf(file: string): number | undefined {
  const digits = /(\d{1,15})\D*$/u.exec(path.parse(file).name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** More are counted, and not named. */
const MAX_NAMED = 5;

function listFiles(files: readonly string[]): string {
  const named = files.slice(0, MAX_NAMED).map((file) => `"${file}"`);
  const rest = files.length - named.length;
  return rest > 0 ? `${named.join(', ')} and ${rest} more` : named.join(', ');
}

/** Files that sources name and that are not there. */
class MissingFiles {
  readonly #missing = new Set<string>();
  readonly #seen = new Set<string>();

  has(file: string): boolean {
    return this.#missing.has(file);
  }

  add(file: string): void {
    this.#seen.add(file);
    this.#missing.add(file);
  }

  async look(file: string): Promise<void> {
    if (this.#seen.has(file)) return;
    this.#seen.add(file);
    const stats = await stat(file).catch(() => undefined);
    if (stats === undefined) this.#missing.add(file);
    else if (!stats.isFile()) {
      throw new InputError(`Cannot read "${file}": it is no regular file`, {
        path: file,
        hint: stats.isDirectory() ? 'Folders of datasets are sources of type path.' : 'Write it to a file first.',
      });
    }
  }

  throwIfAny(): void {
    const files = [...this.#missing];
    if (files.length === 0) return;
    const count = files.length === 1 ? '1 file is' : `${files.length} files are`;
    throw new InputError(`Cannot open the sources: ${count} not there: ${listFiles(files)}`, {
      path: files[0],
      hint: 'Nothing was left out silently: name the files that are there, or mount what holds the others.',
    });
  }
}
