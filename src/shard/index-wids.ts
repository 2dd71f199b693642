import path from 'node:path';
import { writeFileAtomic } from '../run/atomic-file.js';
import { placeInFolder, type ShardLayout } from './index-shard-files.js';
import type { IndexedDataset } from './index-types.js';
import { IndexWarnings } from './index-warnings.js';

/** The file that `wids.ShardListDataset` opens. */
export const WIDS_FILE = 'wids.json';

/** The name field of a tar header, all that wids reads of a name. */
const NAME_FIELD_BYTES = 100;

interface WidsShard {
  url: string;
  nsamples: number;
  filesize: number;
  /** Not of the format: wids passes over it, and a program finds the rows by it. */
  manifest?: string;
}

/**
 * The index of `wids`, WebDataset's random access (format `wids-shard-index-v1`): paths relative to it, samples and bytes of each tar.
 *
 * wids reads the headers of a tar itself, when it opens it; its samples hold what the tar holds.
 */
export class WidsIndex {
  readonly warnings = new IndexWarnings('wids');
  readonly #dataset: IndexedDataset;
  readonly #shards: WidsShard[] = [];

  constructor(dataset: IndexedDataset) {
    this.#dataset = dataset;
  }

  addShard({ shard, tarName, tarBytes, members }: ShardLayout): void {
    if (/[#?;]/u.test(tarName)) {
      const hint = 'Rename the tar: wids takes paths for addresses, and has no way to write these characters.';
      this.warnings.add('wids cannot open a path with "#", "?" or ";" in it', `"${tarName}"`, hint);
    }
    let nsamples = 0;
    let last: string | undefined;
    for (const { name } of members) {
      if (Buffer.byteLength(name) > NAME_FIELD_BYTES) {
        const state = `wids reads names of over ${NAME_FIELD_BYTES} bytes in part`;
        this.warnings.add(state, `${JSON.stringify(name)} in "${tarName}"`, 'Give members shorter names.');
      }
      const key = widsKey(name);
      if (key === undefined) continue;
      if (key !== last) nsamples += 1;
      last = key;
    }
    const { manifestPath } = shard;
    const rows = manifestPath === undefined ? {} : { manifest: placeInFolder(this.#dataset.folder, manifestPath) };
    this.#shards.push({ url: tarName, nsamples, filesize: tarBytes, ...rows });
  }

  /** Writes the index; returns the names of the files. */
  async finish(): Promise<string[]> {
    const { folder, name } = this.#dataset;
    await writeFileAtomic(path.join(folder, WIDS_FILE), async (write) => {
      await write('{\n  "__kind__": "wids-shard-index-v1",\n  "wids_version": 1,\n');
      await write(`  "name": ${JSON.stringify(name)},\n  "shardlist": [`);
      for (const [index, shard] of this.#shards.entries()) {
        await write(`${index === 0 ? '' : ','}\n    ${JSON.stringify(shard)}`);
      }
      await write('\n  ]\n}\n');
    });
    return [WIDS_FILE];
  }
}

/**
 * What wids groups members by: all before the first dot of the last part that has one. Otherwise than WebDataset it takes hidden names and
 * `__notes__` for samples, too.
 *
 * @returns undefined for names without a dot, which it passes over
 */
export function widsKey(name: string): string | undefined {
  for (let end = name.length; end >= 0;) {
    const start = name.lastIndexOf('/', end - 1) + 1;
    const dot = name.indexOf('.', start);
    if (dot >= 0) return name.slice(0, dot);
    if (start === 0) return undefined;
    end = start - 1;
  }
  return undefined;
}
