import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '../errors.js';

/** The files of a tarred NeMo dataset, by their names. */
export interface NemoLayout {
  folder: string;
  /** Full manifests by version, the oldest first; the first conversion has version 0. */
  manifests: { version: number; file: string }[];
  /** By shard. */
  sharded: ReadonlyMap<number, string>;
  /** By shard. */
  tars: ReadonlyMap<number, string>;
  /** By version. */
  metadata: ReadonlyMap<number, string>;
  /** Folders of datasets by their range of durations. */
  buckets: string[];
  /** Tars of one number: the second is not among `tars`. */
  repeatedTars: string[];
}

const FULL_NAME = /^tarred_audio_manifest(?:_version_(\d+))?\.json$/u;
const METADATA_NAME = /^metadata(?:_version_(\d+))?\.yaml$/u;
/** Loaders take the last number of a name for the shard's. */
const TAR_NAME = /(\d+)\.tar(?:\.gz)?$/u;
const SHARDED_NAME = /(\d+)\.jsonl?$/u;

/** Finds the files of a dataset. Throws what the system says when the folder cannot be read. */
export async function readNemoLayout(folder: string): Promise<NemoLayout> {
  const names = (await readdir(folder)).sort();
  const sharded = numbered(await listFolder(path.join(folder, 'sharded_manifests')), SHARDED_NAME);
  const tars = numbered(names, TAR_NAME);
  const versions = (pattern: RegExp): { version: number; file: string }[] =>
    names
      .flatMap((name) => {
        const found = pattern.exec(name);
        return found === null ? [] : [{ version: Number(found[1] ?? 0), file: path.join(folder, name) }];
      })
      .sort((a, b) => a.version - b.version);
  return {
    folder,
    manifests: versions(FULL_NAME),
    sharded: join(path.join(folder, 'sharded_manifests'), sharded.first),
    tars: join(folder, tars.first),
    metadata: new Map(versions(METADATA_NAME).map(({ version, file }) => [version, file])),
    buckets: names
      .filter((name) => /^bucket\d+$/u.test(name))
      .sort((a, b) => Number(a.slice('bucket'.length)) - Number(b.slice('bucket'.length)))
      .map((name) => path.join(folder, name)),
    repeatedTars: tars.repeated.map((name) => path.join(folder, name)),
  };
}

function numbered(names: readonly string[], pattern: RegExp): { first: Map<number, string>; repeated: string[] } {
  const first = new Map<number, string>();
  const repeated: string[] = [];
  // The converter writes numbers without zeros before them: where two names have one number, that is the one.
  for (const name of names.toSorted((a, b) => a.length - b.length)) {
    const found = pattern.exec(name);
    if (found === null || name.startsWith('.')) continue;
    const shard = Number(found[1]);
    if (first.has(shard)) repeated.push(name);
    else first.set(shard, name);
  }
  return { first: new Map([...first].sort(([a], [b]) => a - b)), repeated };
}

function join(folder: string, names: ReadonlyMap<number, string>): Map<number, string> {
  return new Map([...names].map(([shard, name]) => [shard, path.join(folder, name)]));
}

async function listFolder(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}
