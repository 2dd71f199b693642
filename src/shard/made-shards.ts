import path from 'node:path';
import { formatShardLine, hoursOfMicros, shardPathFault } from '../manifest/shard-list.js';
import { CanceledError, OutputError } from '../errors.js';
import { writeFileAtomic } from '../run/atomic-file.js';
import { inspectShard } from './earlier-shard.js';
import type { ShardOutcome } from './outcome.js';
import type { PlanFile } from './plan-file.js';

/** Where shards are made, as this machine names it. */
export interface MadePlaces {
  folder: string;
  workFolder: string;
}

/** The list of the shards that are there of a dataset whose others were given up. */
export function salvagedListPath(folder: string): string {
  return path.join(folder, 'data.salvaged.lst');
}

/** What came of each shard of a plan; undefined for those that are not there whole. */
export async function inspectShards(
  plan: PlanFile,
  { folder, workFolder }: MadePlaces,
  signal: AbortSignal,
): Promise<(ShardOutcome | undefined)[]> {
  const outcomes: (ShardOutcome | undefined)[] = [];
  for (let shard = 0; shard < plan.shards.length; shard += 1) {
    if (signal.aborted)
      throw new CanceledError('The dataset was not ended: the run was stopped', { cause: signal.reason });
    outcomes.push(await inspectShard({ plan, folder, workFolder, overwrite: true }, shard));
  }
  return outcomes;
}

/**
 * Lists the shards that are there of a dataset whose others were given up; each of them is whole.
 *
 * @param listedFolder how the list names the folder
 * @returns the list
 * @throws {OutputError} when a list cannot hold the paths.
 */
export async function salvageShards(
  plan: PlanFile,
  folder: string,
  listedFolder: string,
  outcomes: readonly ShardOutcome[],
): Promise<string> {
  const fault = shardPathFault(listedFolder);
  if (fault !== undefined) {
    throw new OutputError(`Cannot list the shards in "${listedFolder}": ${fault}`, {
      path: listedFolder,
      hint: 'Each shard that is there is whole, and can be taken as it is.',
    });
  }
  const file = salvagedListPath(folder);
  await writeShardList(file, plan, listedFolder, outcomes);
  return file;
}

/** Writes a list of shards, by what came of them; `folder` is how it names the folder that they lie in. */
export async function writeShardList(
  file: string,
  plan: PlanFile,
  folder: string,
  outcomes: readonly ShardOutcome[],
): Promise<void> {
  await writeFileAtomic(file, async (write) => {
    for (const { shard, rows, durationMicros } of outcomes) {
      const { tar, manifest } = plan.shards[shard]!;
      const line = formatShardLine({
        tarPath: path.join(folder, tar),
        manifestPath: path.join(folder, manifest),
        hours: hoursOfMicros(BigInt(durationMicros)),
        sampleCount: rows,
      });
      await write(`${line}\n`);
    }
  });
}

/** The error for a shard that a task made, and that is not there whole when the dataset is to end. */
export function shardGone(plan: PlanFile, folder: string, shard: number, command: 'build' | 'tar'): OutputError {
  const tar = path.join(folder, plan.shards[shard]?.tar ?? '');
  return new OutputError(`Cannot finish "${folder}": a task made "${tar}", and it is gone or changed`, {
    path: tar,
    hint: `Run "cutroom ${command}" with the options of the plan where the audio is: it makes what is missing, and ends the dataset.`,
  });
}
