import { readdir, readFile, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '../errors.js';
import { removeFile, writeFileAtomic } from '../run/atomic-file.js';
import { writeFailure } from '../tar/write-failure.js';
import type { ShardOutcome } from './outcome.js';
import type { PlanFile } from './plan-file.js';

/**
 * What the work folder holds of a shard: its outcome once it is whole (`json`); until then its journal, the item that is being made (`at`), audio
 * that was taken out of another tar (`spool`), the lock of the run that works on it (`lock`) and that of the process that writes it (`writer`).
 */
export type WorkFileKind = 'json' | 'journal' | 'at' | 'spool' | 'lock' | 'writer';

const WORK_FILE = /^\d{6,}\.(?:json|journal|at|spool)(?:\.partial)?$/u;

/** Where the work folder holds something of a shard. */
export function workFile(workFolder: string, shard: number, kind: WorkFileKind): string {
  return path.join(workFolder, `${String(shard).padStart(6, '0')}.${kind}`);
}

/** The outcomes of all shards of a plan, in its order; undefined for those that are not made yet, or were by another plan. */
export async function readOutcomes(plan: PlanFile, workFolder: string): Promise<(ShardOutcome | undefined)[]> {
  const outcomes: (ShardOutcome | undefined)[] = [];
  for (let shard = 0; shard < plan.shards.length; shard += 1) outcomes.push(await readOutcome(plan, workFolder, shard));
  return outcomes;
}

/** The outcome of one shard, where this plan made it. */
export async function readOutcome(
  plan: PlanFile,
  workFolder: string,
  shard: number,
): Promise<ShardOutcome | undefined> {
  const file = workFile(workFolder, shard, 'json');
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const code = systemCode(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw writeFailure(error, { action: 'Cannot read', path: file });
  });
  const outcome = text === undefined ? undefined : parseOutcome(text);
  return outcome?.plan === plan.hash && outcome.shard === shard ? outcome : undefined;
}

/** Notes that a shard is whole. */
export async function writeOutcome(workFolder: string, outcome: ShardOutcome): Promise<void> {
  await writeFileAtomic(workFile(workFolder, outcome.shard, 'json'), (write) => write(`${JSON.stringify(outcome)}\n`));
}

/**
 * Removes what the making of shards left in a work folder, and the folder where nothing else is in it: locks that others hold stay.
 *
 * @throws {OutputError} when something cannot be removed.
 */
export async function clearWork(workFolder: string): Promise<void> {
  try {
    for (const name of await readdir(workFolder)) {
      if (WORK_FILE.test(name)) await removeFile(path.join(workFolder, name));
    }
    await rmdir(workFolder);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) {
      throw writeFailure(error, { action: 'Cannot remove the folder', path: workFolder });
    }
  }
}

/** A file that is none of ours says nothing about a shard. */
function parseOutcome(text: string): ShardOutcome | undefined {
  try {
    const outcome = JSON.parse(text) as Partial<ShardOutcome> | null;
    const isWhole =
      typeof outcome?.plan === 'string' &&
      Number.isSafeInteger(outcome.shard) &&
      Number.isSafeInteger(outcome.tarBytes) &&
      Number.isSafeInteger(outcome.manifestBytes) &&
      Array.isArray(outcome.failures);
    return isWhole ? (outcome as ShardOutcome) : undefined;
  } catch {
    return undefined;
  }
}
