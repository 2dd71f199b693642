import path from 'node:path';
import { countWords } from '../count-words.js';
import { CutroomError, errorMessage } from '../errors.js';
import { hoursOfMicros } from '../manifest/shard-list.js';
import { reasonOf } from '../shard/shard-problem.js';
import { reportDataset, type DatasetKind } from './dataset-kinds.js';
import { indexByShard, type ShardRuns } from './dataset-nemo-index.js';
import { readNemoLayout, type NemoLayout } from './dataset-nemo-layout.js';
import { checkMetadata } from './dataset-nemo-metadata.js';
import { checkVersions } from './dataset-nemo-versions.js';
import { tarNotes } from './dataset-notes.js';
import type { ShardTask } from './dataset-shard.js';
import { inspectShards, type DatasetTotals } from './dataset-shards.js';
import type { CheckContext, PathFacts } from './finding.js';

/** Checks a folder of NeMo's tars with their manifests, or of several such folders named `bucketN`. */
export async function checkNemoFolder(folder: string, context: CheckContext): Promise<PathFacts> {
  const layout = await readNemoLayout(path.resolve(folder));
  const { manifests, sharded, tars, buckets } = layout;
  const isDataset = manifests.length > 0 || sharded.size > 0 || tars.size > 0;
  const parts: PathFacts[] = isDataset ? [await checkDataset(layout, folder, context)] : [];
  for (const bucket of buckets) {
    const name = path.basename(bucket);
    const facts = await checkNemoFolder(path.join(folder, name), context);
    parts.push({ ...facts, notes: facts.notes?.map((note) => `${name}: ${note}`) });
  }
  return {
    kind: 'nemo_tarred',
    rows: parts.reduce((sum, { rows }) => sum + rows, 0),
    hours: parts.reduce((sum, { hours }) => sum + hours, 0),
    members: parts.reduce((sum, { members = 0 }) => sum + members, 0),
    shards: parts.flatMap(({ shards = [] }) => shards),
    notes: parts.flatMap(({ notes = [] }) => notes),
  };
}

interface NemoTask extends ShardTask {
  shardId: number;
}

/** @param shown the folder as the user named it */
async function checkDataset(layout: NemoLayout, shown: string, context: CheckContext): Promise<PathFacts> {
  const { folder } = layout;
  const tell = (kind: DatasetKind, file: string, message: string, line?: number): void => {
    reportDataset(context, { kind, message, file, line });
  };
  for (const file of layout.repeatedTars) {
    tell('duplicate_shard', file, 'another tar has the same number: loaders take one of the two for its rows');
  }
  const full = layout.manifests.at(-1)?.file;
  let index: Map<number, ShardRuns> | undefined;
  if (full === undefined) {
    if (layout.tars.size > 0) tell('missing_full_manifest', folder, 'there is no tarred_audio_manifest.json');
  } else {
    index = await readIndex(full, shown, context);
    await checkVersions(layout, context);
  }
  const tasks = planTasks(layout, index, context, tell);
  const totals = await inspectShards(tasks, context, { path: shown });
  checkNumbers(layout, index, tell);
  checkEvenness(folder, tasks, totals, tell);
  await checkMetadata(layout, index, totals, context);
  return {
    kind: 'nemo_tarred',
    rows: totals.rows,
    hours: hoursOfMicros(totals.durationMicros),
    members: totals.members,
    shards: totals.shards,
    notes: tarNotes(totals),
  };
}

async function readIndex(
  full: string,
  shown: string,
  context: CheckContext,
): Promise<Map<number, ShardRuns> | undefined> {
  try {
    return await indexByShard(
      full,
      (finding) => reportDataset(context, finding),
      (items) => {
        context.signal.throwIfAborted();
        context.onProgress({ path: shown, stage: 'read', items });
      },
    );
  } catch (error) {
    if (context.signal.aborted) throw error;
    if (!(error instanceof CutroomError) && !(error instanceof Error && 'syscall' in error)) throw error;
    const message = reasonOf(errorMessage(error), full);
    reportDataset(context, { kind: 'unreadable_manifest', message, file: full });
    return undefined;
  }
}

type Tell = (kind: DatasetKind, file: string, message: string, line?: number) => void;

/** The shards in the order of their numbers, with what speaks against some of them told. */
function planTasks(
  { manifests, sharded, tars }: NemoLayout,
  index: ReadonlyMap<number, ShardRuns> | undefined,
  context: CheckContext,
  tell: Tell,
): NemoTask[] {
  const full = manifests.at(-1)?.file;
  const tasks: NemoTask[] = [];
  const wantsAudio = context.settings.deep;
  for (const shardId of shardNumbers(tars, index, sharded)) {
    const tarPath = tars.get(shardId);
    const rows = index?.get(shardId);
    const shardedPath = sharded.get(shardId);
    const manifestPath = rows === undefined ? shardedPath : full;
    if (index !== undefined && rows === undefined && shardedPath !== undefined) {
      tell('manifests_differ', shardedPath, `the full manifest has no row of shard ${shardId}`);
    }
    if (rows !== undefined && shardedPath === undefined && sharded.size > 0) {
      tell(
        'missing_sharded_manifest',
        full ?? '',
        `shard ${shardId} has no manifest in sharded_manifests`,
        rows.runs[0]?.line,
      );
    }
    if (tarPath === undefined) {
      const which = rows === undefined ? '' : `${countWords(rows.rowCount, 'row')} of `;
      const verb = rows === undefined || rows.rowCount === 1 ? 'has' : 'have';
      tell('missing_shard', manifestPath ?? '', `${which}shard ${shardId} ${verb} no tar`, rows?.runs[0]?.line);
      continue;
    }
    if (manifestPath === undefined) {
      tell('shard_without_rows', tarPath, `no row has the shard_id ${shardId}`);
      tasks.push({ layout: 'tar', tarPath, shardId, wantsAudio: false });
      continue;
    }
    const twice = rows === undefined ? {} : { runs: rows.runs, shardedPath };
    tasks.push({ layout: 'nemo', tarPath, manifestPath, shardId, wantsAudio, ...twice });
  }
  return tasks;
}

function shardNumbers(...maps: (ReadonlyMap<number, unknown> | undefined)[]): number[] {
  return [...new Set(maps.flatMap((map) => [...(map?.keys() ?? [])]))].sort((a, b) => a - b);
}

const MAX_NAMED = 5;

/** Loaders name tars and manifests by ranges of numbers. */
function checkNumbers(layout: NemoLayout, index: ReadonlyMap<number, ShardRuns> | undefined, tell: Tell): void {
  const numbers = new Set(shardNumbers(layout.tars, index, layout.sharded));
  if (numbers.size === 0) return;
  const last = [...numbers].reduce((a, b) => Math.max(a, b));
  const missing: number[] = [];
  let missingCount = 0;
  for (let number = 0; number < last && missingCount + numbers.size <= last + 1; number += 1) {
    if (numbers.has(number)) continue;
    missingCount += 1;
    if (missing.length < MAX_NAMED) missing.push(number);
    if (missingCount === last + 1 - numbers.size) break;
  }
  if (missingCount === 0) return;
  const named = `${missing.join(', ')}${missingCount > MAX_NAMED ? ', …' : ''}`;
  tell(
    'shard_gap',
    layout.folder,
    `shards go up to ${last}, and ${missingCount} of the numbers ${missingCount === 1 ? 'is' : 'are'} not there: ${named}`,
  );
}

/** Each rank takes as many shards as the others: where these hold more samples, it ends later. */
function checkEvenness(folder: string, tasks: readonly NemoTask[], totals: DatasetTotals, tell: Tell): void {
  if (!totals.isReadable || tasks.some(({ layout }) => layout === 'tar')) return;
  const [first] = totals.shards;
  if (first === undefined) return;
  let [least, most] = [first, first];
  for (const shard of totals.shards) {
    if (shard.rows < least.rows) least = shard;
    if (shard.rows > most.rows) most = shard;
  }
  if (most.rows - least.rows <= 1) return;
  const message = `"${path.basename(least.path)}" has ${countWords(least.rows, 'row')} and "${path.basename(most.path)}" ${most.rows}`;
  tell('uneven_shards', folder, message);
}
