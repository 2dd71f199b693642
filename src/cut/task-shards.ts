import { constants } from 'node:fs';
import { copyFile, link } from 'node:fs/promises';
import path from 'node:path';
import { InputError } from '../errors.js';
import { partialPath, removeFile, sizeOf } from '../run/atomic-file.js';
import { writeFailure } from '../tar/write-failure.js';
import type { CutOutputs } from './options.js';
import type { ShardSizes } from './run-journal.js';
import { placesOf } from './shard-files.js';
import { ShardTally } from './shard-tally.js';
import { TASK_FILES } from './task-outcomes.js';
import type { PlannedSnippet } from './types.js';

/** Counts what comes into each shard where every task is one. */
export class TaskTally extends ShardTally {
  readonly #taskOf: (recording: number) => number;

  /** @param taskOf tells the task of a recording by its position in the plan. */
  constructor(tasks: number, taskOf: (recording: number) => number) {
    super({ by: 'count', value: Math.max(1, tasks) }, tasks);
    this.#taskOf = taskOf;
    if (tasks > 0) this.reach(tasks - 1);
  }

  override get count(): number {
    return this.length;
  }

  override place(_snippet: PlannedSnippet, recording: number): number {
    return this.#taskOf(recording);
  }
}

/**
 * Puts the tars and manifests of tasks beside the places of shards, ready to be published: as second names of the same files where the file
 * system can, else as copies.
 *
 * @param tasks those that have members, with the size of the tar
 * @throws {OutputError} when they cannot be put there;
 * InputError when one is gone or has another size
 */
export async function placeTaskShards(
  outputs: CutOutputs,
  tasks: ReadonlyMap<number, number>,
  folderOf: (task: number) => string,
): Promise<ShardSizes[]> {
  const sizes: ShardSizes[] = [];
  for (const [task, tarBytes] of tasks) {
    const { tar, manifest } = placesOf(outputs, task);
    const folder = folderOf(task);
    sizes.push({
      shard: task,
      tarBytes: await placeFile(path.join(folder, TASK_FILES.tar), partialPath(tar), tarBytes),
      manifestBytes: await placeFile(path.join(folder, TASK_FILES.manifest), partialPath(manifest), undefined),
    });
  }
  return sizes;
}

async function placeFile(from: string, to: string, wantedBytes: number | undefined): Promise<number> {
  const sizeBytes = await sizeOf(from);
  if (sizeBytes === undefined || sizeBytes !== (wantedBytes ?? sizeBytes)) {
    const state =
      sizeBytes === undefined ? 'there is no such file' : `it has ${sizeBytes} bytes instead of ${wantedBytes}`;
    throw new InputError(`Cannot take "${from}" over: ${state}`, {
      path: from,
      hint: `Remove "${path.dirname(from)}" and run the task again.`,
    });
  }
  await removeFile(to);
  try {
    await link(from, to).catch(() => copyFile(from, to, constants.COPYFILE_FICLONE));
  } catch (error) {
    await removeFile(to);
    throw writeFailure(error, { action: 'Cannot write', path: to, neededBytes: sizeBytes });
  }
  return sizeBytes;
}
