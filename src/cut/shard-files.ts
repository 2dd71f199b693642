import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '../errors.js';
import { shardPathFault } from '../manifest/shard-list.js';
import { partialPath, sizeOf } from '../run/atomic-file.js';
import { writeFailure } from '../tar/write-failure.js';
import type { CutOutputs } from './options.js';

/** Where a shard is written; without shards, where all is. */
export interface ShardPlaces {
  tar: string;
  manifest: string;
}

/** Numbers have at least so many digits, so that names sort as numbers do. */
const DIGITS = 6;

/** Where a shard of the outputs goes: `snippets.tar` becomes `snippets.000000.tar`. */
export function placesOf(outputs: CutOutputs, shard: number): ShardPlaces {
  const { tar, manifest, isSharded } = outputs;
  return isSharded ? { tar: shardPath(tar, shard), manifest: shardPath(manifest, shard) } : { tar, manifest };
}

/** The list of the shards, beside the tars. */
export function listPathOf({ tar }: Pick<CutOutputs, 'tar'>): string {
  const { dir, name } = path.parse(tar);
  return path.join(dir, `${name}.lst`);
}

/** Why the shards cannot be listed, undefined where they can. */
export function findListFault({ tar, manifest }: ShardPlaces): string | undefined {
  for (const file of [tar, manifest]) {
    const fault = shardPathFault(file);
    if (fault !== undefined) return `the path ${JSON.stringify(file)} cannot stand on it: ${fault}`;
  }
  return undefined;
}

/** Whether a file would be taken for a shard of outputs. */
export function isShardFile({ tar, manifest }: ShardPlaces, file: string): boolean {
  return [tar, manifest].some((base) => numberOf(base, file) !== undefined);
}

/**
 * The files at places of outputs that are none of the run's own: shards but those that are named, or all where the run makes none; and a tar
 * and a manifest of all snippets, where it makes shards.
 */
export async function listStrays(outputs: CutOutputs, own: ReadonlySet<number>): Promise<string[]> {
  const strays: string[] = [];
  for (const base of [outputs.tar, outputs.manifest]) {
    if (outputs.isSharded && (await sizeOf(base)) !== undefined) strays.push(base);
    for (const file of await listFiles(path.dirname(base))) {
      const shard = numberOf(base, file);
      if (shard !== undefined && !(outputs.isSharded && own.has(shard))) strays.push(file);
    }
  }
  return strays;
}

/** Whether there is audio at the places of outputs, of shards or not. */
export async function hasAudio(outputs: CutOutputs): Promise<boolean> {
  if ((await sizeOf(outputs.tar)) !== undefined) return true;
  const files = await listFiles(path.dirname(outputs.tar));
  return files.some((file) => numberOf(outputs.tar, file) !== undefined);
}

/** The files in which a run keeps what it has not published yet, with shards or without. */
export async function listPartials(outputs: CutOutputs): Promise<string[]> {
  const partials = [partialPath(outputs.tar), partialPath(outputs.manifest)];
  for (const base of [outputs.tar, outputs.manifest]) {
    for (const file of await listFiles(path.dirname(base))) {
      const final = file.slice(0, -partialPath('').length);
      if (file === partialPath(final) && numberOf(base, final) !== undefined) partials.push(file);
    }
  }
  return partials;
}

function shardPath(base: string, shard: number): string {
  const { dir, name, ext } = path.parse(base);
  return path.join(dir, `${name}.${String(shard).padStart(DIGITS, '0')}${ext}`);
}

function numberOf(base: string, file: string): number | undefined {
  const { name, ext } = path.parse(base);
  const found = path.basename(file);
  if (!found.startsWith(`${name}.`) || !found.endsWith(ext)) return undefined;
  const digits = found.slice(name.length + 1, found.length - ext.length);
  if (!/^\d{6,15}$/u.test(digits)) return undefined;
  const shard = Number(digits);
  return shardPath(base, shard) === file ? shard : undefined;
}

/** In the order of their names. */
async function listFiles(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).toSorted().map((name) => path.join(folder, name));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw writeFailure(error, { action: 'Cannot read the folder', path: folder });
  }
}
