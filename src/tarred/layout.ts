import { readdir, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '../errors.js';
import { removeFile } from '../run/atomic-file.js';
import { listIndexFiles, removeIndexFiles } from '../shard/index-file-names.js';
import { INDEX_KINDS } from '../shard/index-types.js';
import { writeFailure } from '../tar/write-failure.js';
import type { DatasetPlan } from './dataset-plan.js';

/** Journal, plan and lock while a run is under way, in the target folder. */
export const WORK_FOLDER = '.cutroom-tar';

/** Where a run writes; absolute. */
export interface TarOutputs {
  folder: string;
  workFolder: string;
  metrics: string;
  failures: string;
  /** What the options and inputs of the run that is under way are. */
  identity: string;
  plan: string;
}

/** @param version of the dataset that rows are added to becomes; undefined for a new one */
export function outputsOf(folder: string, version: number | undefined): TarOutputs {
  const suffix = version === undefined ? '' : `_version_${version}`;
  const workFolder = path.join(folder, WORK_FOLDER);
  return {
    folder,
    workFolder,
    metrics: path.join(folder, `metrics${suffix}.json`),
    failures: path.join(folder, `failures${suffix}.jsonl`),
    identity: path.join(workFolder, 'identity.json'),
    plan: path.join(workFolder, 'plan.jsonl'),
  };
}

/** Files of one dataset, relative to the target folder. */
export interface DatasetFiles {
  manifest: string;
  metadata: string;
}

/** @param version as `outputsOf` takes it */
export function datasetFiles({ prefix }: Pick<DatasetPlan, 'prefix'>, version: number | undefined): DatasetFiles {
  const suffix = version === undefined ? '' : `_version_${version}`;
  return { manifest: `${prefix}tarred_audio_manifest${suffix}.json`, metadata: `${prefix}metadata${suffix}.yaml` };
}

/**
 * The files of a shard, relative to the target folder.
 *
 * @param shardManifests false puts its manifest where it is removed at the end
 */
export function shardFiles(
  { prefix }: Pick<DatasetPlan, 'prefix'>,
  shardId: number,
  shardManifests: boolean,
): { tar: string; manifest: string } {
  const folder = shardManifests ? `${prefix}sharded_manifests` : `${WORK_FOLDER}/${prefix}manifests`;
  return { tar: `${prefix}audio_${shardId}.tar`, manifest: `${folder}/manifest_${shardId}.json` };
}

/** Names in a dataset's folder that a run writes. */
const OWN_FILE =
  /^(?:audio_\d+\.tar|tarred_audio_manifest\.json|metadata\.yaml|failures\.jsonl|metrics\.json)(?:\.partial)?$/u;
const OWN_MANIFEST = /^manifest_\d+\.json(?:\.partial)?$/u;

/** The files of an earlier dataset in a folder, buckets included, that a new one would replace or mix with. */
export async function listEarlierFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await listNames(folder)) {
    if (OWN_FILE.test(name)) found.push(path.join(folder, name));
    else if (name === 'sharded_manifests') {
      for (const inner of await listNames(path.join(folder, name))) {
        if (OWN_MANIFEST.test(inner)) found.push(path.join(folder, name, inner));
      }
    } else if (/^bucket\d+$/u.test(name)) found.push(...(await listEarlierFiles(path.join(folder, name))));
  }
  return [...found, ...(await listIndexFiles(folder, INDEX_KINDS))];
}

/** Removes an earlier dataset: its metrics first, without which it does not count as whole. */
export async function removeEarlierFiles(outputs: TarOutputs): Promise<void> {
  await removeFile(outputs.metrics);
  const folders = new Set<string>();
  for (const file of await listEarlierFiles(outputs.folder)) {
    await removeFile(file);
    folders.add(path.dirname(file));
  }
  for (const folder of [...folders]) await removeIndexFiles(folder, INDEX_KINDS);
  folders.delete(outputs.folder);
  // The deepest first; what somebody else put there stays.
  for (const folder of [...folders].sort().reverse()) await removeIfEmpty(folder);
}

/** Removes a folder unless something is in it, or it is gone. */
export async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) {
      throw writeFailure(error, { action: 'Cannot remove the folder', path: folder });
    }
  }
}

async function listNames(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return [];
    throw writeFailure(error, { action: 'Cannot read the folder', path: folder });
  }
}
