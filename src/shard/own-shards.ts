import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { sizeOf } from '../run/atomic-file.js';
import { readMetricsOwner } from './metrics-owner.js';
import { readMetrics } from './metrics-reader.js';
import type { PackedShard } from './packed-shards.js';

/** A shard that `cut` or `build` made: its members are mono, and its rows have the exact durations of their samples. */
export interface OwnShard {
  /** Hz, of all members; null where they keep the rates of their sources. */
  sampleRate: number | null;
}

/**
 * The shards that the metrics of a finished `cut` or `build` beside them name, and that still have the sizes which are written there; by their
 * place among those that are given. Of a `cut` into one tar, whose size is not written, it is to be the only tar there.
 *
 * @throws OutputError when a file cannot be looked at
 */
export async function findOwnShards(shards: readonly PackedShard[]): Promise<Map<number, OwnShard>> {
  const own = new Map<number, OwnShard>();
  const datasets = new Map<string, Promise<Dataset | undefined>>();
  const open = (folder: string): Promise<Dataset | undefined> => {
    const known = datasets.get(folder) ?? readDataset(folder);
    datasets.set(folder, known);
    return known;
  };
  for (const [index, shard] of shards.entries()) {
    const folder = path.dirname(shard.tarPath);
    const dataset = (await open(folder)) ?? (await open(path.dirname(folder)));
    if (dataset !== undefined && (await isNamed(dataset, shard))) own.set(index, { sampleRate: dataset.sampleRate });
  }
  return own;
}

/** A finished dataset, by its metrics. */
interface Dataset extends OwnShard {
  /** By the absolute path of the tar. */
  shards: ReadonlyMap<string, NamedShard>;
}

interface NamedShard {
  manifestPath: string;
  /** Undefined where it is not written. */
  tarBytes: unknown;
  manifestBytes: unknown;
}

async function readDataset(folder: string): Promise<Dataset | undefined> {
  const file = path.join(folder, 'metrics.json');
  const owner = await readMetricsOwner(file);
  if (owner !== 'cut' && owner !== 'build') return undefined;
  const metrics = await readMetrics(file).catch((error: unknown) => {
    // Damaged ones prove nothing.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  });
  if (typeof metrics !== 'object' || metrics === null) return undefined;
  const values = metrics as Record<string, unknown>;
  const options = (values['options'] ?? {}) as Record<string, unknown>;
  const rate = options[owner === 'cut' ? 'target_sample_rate' : 'sample-rate'];
  const shards = owner === 'cut' ? await shardsOfCut(folder, values) : shardsOfBuild(folder, values);
  return { sampleRate: typeof rate === 'number' ? rate : null, shards };
}

async function shardsOfCut(folder: string, values: Record<string, unknown>): Promise<Dataset['shards']> {
  if (values['complete'] !== true || values['dry_run'] !== false) return new Map();
  if (values['shards'] === undefined) {
    const [only, ...others] = (await readdir(folder)).filter((name) => name.endsWith('.tar'));
    if (only === undefined || others.length > 0) return new Map();
    const manifestPath = path.join(folder, `${only.slice(0, -'.tar'.length)}.jsonl`);
    return new Map([[path.join(folder, only), { manifestPath, tarBytes: undefined, manifestBytes: undefined }]]);
  }
  return namedShards(folder, values['shards'], { tar: 'name', tarBytes: 'bytes' });
}

function shardsOfBuild(folder: string, values: Record<string, unknown>): Dataset['shards'] {
  return namedShards(folder, values['shards'], { tar: 'tar', tarBytes: 'tar_bytes' });
}

function namedShards(folder: string, listed: unknown, keys: { tar: string; tarBytes: string }): Dataset['shards'] {
  const shards = new Map<string, NamedShard>();
  for (const entry of Array.isArray(listed) ? (listed as Record<string, unknown>[]) : []) {
    const { [keys.tar]: tar, manifest, [keys.tarBytes]: tarBytes, manifest_bytes: manifestBytes } = entry;
    if (typeof tar !== 'string' || typeof manifest !== 'string') continue;
    const manifestPath = path.join(folder, manifest);
    shards.set(path.join(folder, tar), { manifestPath, tarBytes, manifestBytes });
  }
  return shards;
}

async function isNamed({ shards }: Dataset, { tarPath, manifestPath }: PackedShard): Promise<boolean> {
  const named = shards.get(tarPath);
  if (named === undefined || named.manifestPath !== manifestPath) return false;
  const { tarBytes, manifestBytes } = named;
  if (tarBytes !== undefined && tarBytes !== (await sizeOf(tarPath))) return false;
  return manifestBytes === undefined || manifestBytes === (await sizeOf(manifestPath));
}
