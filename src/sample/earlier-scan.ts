import { InputError, OutputError } from '../errors.js';
import { refuseForeignOutputs } from '../shard/metrics-owner.js';
import { sizeOf } from '../run/atomic-file.js';
import path from 'node:path';
import { BAG_NAME, MANIFEST_NAME, openLufsCache } from './lufs-cache.js';
import type { LufsCache } from './lufs-cache.js';
import { openScan, readFailures } from './read-scan.js';
import type { Scan } from './read-scan.js';
import { SCAN_NAME } from './scan-files.js';
import type { ScanPlaces } from './scan-files.js';
import type { ScanIdentity } from './scan-metrics.js';
import type { ScanTable } from './scan-table.js';
import type { ScanFailure } from './scan-types.js';
import type { Spool } from './spool.js';

/** A finished scan in the folder that a scan is to go to: what it knows is not read again. */
export class EarlierScan {
  readonly scan: Scan;
  /** Whether it measured the loudness that is asked for now. */
  readonly #hasLoudness: boolean;
  readonly #needsLoudness: boolean;

  private constructor(scan: Scan, identity: ScanIdentity) {
    this.scan = scan;
    this.#hasLoudness = scan.metrics.identity.loudness !== null;
    this.#needsLoudness = identity.loudness !== null;
  }

  /**
   * @returns undefined where there is none, or none that may be used.
   * @throws OutputError where the folder holds something that the new scan would damage.
   */
  static async open(places: ScanPlaces, identity: ScanIdentity, isReplaced: boolean): Promise<EarlierScan | undefined> {
    await refuseForeignOutputs(places.metrics, 'scan', 'out');
    if (isReplaced) return undefined;
    if ((await sizeOf(places.metrics)) === undefined) {
      await refuseOthers(places);
      return undefined;
    }
    const scan = await openScan(places.folder).catch((error: unknown) => {
      if (!(error instanceof InputError)) throw error;
      throw new OutputError(`Cannot scan into "${places.folder}": ${error.message}`, {
        path: places.folder,
        cause: error,
        hint: 'Give another folder with --out, or replace what is there with --overwrite.',
      });
    });
    const difference = findDifference(scan.metrics.identity, identity);
    if (difference !== undefined) {
      throw new OutputError(`Cannot scan into "${places.folder}": it holds a scan ${difference}`, {
        path: places.folder,
        hint: 'Give another folder with --out, or replace that scan with --overwrite.',
      });
    }
    return new EarlierScan(scan, identity);
  }

  /**
   * Hands over what is known of files that are still to be scanned.
   *
   * @returns how many are not.
   */
  async load(table: ScanTable, spool: Spool): Promise<number> {
    if (this.#needsLoudness && !this.#hasLoudness) return await this.#countRemoved(table);
    using cache = this.#needsLoudness ? await openLufsCache(this.scan.folder) : undefined;
    let removed = 0;
    let number = 0;
    for await (const { path: name, filepath, loudness, ...facts } of this.scan.files()) {
      void filepath;
      const index = table.find(name);
      if (index === undefined) removed += 1;
      else if (cache === undefined) table.set(index, facts, loudness, undefined);
      else table.set(index, facts, loudness, spool.add(valuesAt(cache, number, name)));
      number += 1;
    }
    return removed;
  }

  /** Whether a scan that read nothing new found the same as this one. */
  async isSame(identity: ScanIdentity, keptFiles: number, failures: readonly ScanFailure[]): Promise<boolean> {
    const { metrics, folder } = this.scan;
    return (
      JSON.stringify(metrics.identity) === JSON.stringify(identity) &&
      metrics.summary.files === keptFiles &&
      JSON.stringify(await readFailures(folder)) === JSON.stringify(failures)
    );
  }

  async #countRemoved(table: ScanTable): Promise<number> {
    let removed = 0;
    for await (const file of this.scan.files()) if (table.find(file.path) === undefined) removed += 1;
    return removed;
  }
}

/** A cache holds the files of its scan, in its order. */
function valuesAt(cache: LufsCache, number: number, name: string): Float32Array {
  if (cache.filepaths[number] === name) return cache.values(number);
  throw new InputError(`Cannot use "${cache.folder}": file ${number + 1} of its loudness cache is not "${name}"`, {
    path: cache.folder,
    hint: 'Its files are not of one scan: scan again with --overwrite.',
  });
}

/** In words what an earlier scan has other than a new one; loudness may be added to it. */
function findDifference(earlier: ScanIdentity, now: ScanIdentity): string | undefined {
  for (const [key, name] of [
    ['sources', 'sources'],
    ['filepaths', 'a list of files'],
    ['extensions', 'extensions'],
    ['base', 'a base'],
  ] as const) {
    if (JSON.stringify(earlier[key]) !== JSON.stringify(now[key])) return `with other ${name.replace(/^a /u, '')}`;
  }
  if (earlier.loudness === null || JSON.stringify(earlier.loudness) === JSON.stringify(now.loudness)) return undefined;
  const { windowSeconds, sampleRate, mono } = earlier.loudness;
  return (
    `with loudness by windows of ${windowSeconds} s, at ${sampleRate ?? 'native'} Hz, ${mono ? 'mono' : 'all channels'}` +
    `, which this one ${now.loudness === null ? 'does not measure' : 'measures otherwise'}`
  );
}

async function refuseOthers({ folder, scan }: ScanPlaces): Promise<void> {
  for (const name of [SCAN_NAME, MANIFEST_NAME, BAG_NAME]) {
    if ((await sizeOf(path.join(folder, name))) === undefined) continue;
    throw new OutputError(`Cannot scan into "${folder}": it holds "${name}", which is not of a finished scan`, {
      path: scan,
      hint: 'Give another folder with --out, or replace what is there with --overwrite.',
    });
  }
}
