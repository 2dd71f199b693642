import { CutroomError, InputError, OutputError, systemCode } from '../errors.js';
import { ensureFolder, partialPath, publishFile, removeFile, sizeOf } from '../run/atomic-file.js';
import type { Lock } from '../run/lock.js';
import type { JobOutcome, ProcessPool } from '../run/process-pool.js';
import { NO_ITEM, readAt } from './at-file.js';
import { clearShard, inspectShard, lockShard, shardPaths } from './earlier-shard.js';
import { workFile, writeOutcome } from './outcome-file.js';
import type { ShardOutcome } from './outcome.js';
import type { PackMeter } from './pack-meter.js';
import { type DeadItem, type PackShardJob, type PackShardReport, type PackShardResult } from './pack-shard.js';
import type { PackShardsOptions } from './pack-shards.js';
import { isLockTaken } from './writer-lock.js';

export interface PackOneParts extends PackShardsOptions {
  pool: ProcessPool;
  meter: PackMeter;
  checkpointMs: number;
}

/** What came of a shard; with `taken`, another run works on it. */
export type MadeShard = { shard: number; outcome: ShardOutcome } | { shard: number; taken: OutputError };

/** A process that dies at an item gets one more chance: it may have been killed for the machine's sake. */
const MAX_DEATHS = 2;
/** A run that ends removes the work folder, maybe just when a lock is taken in it. */
const MAX_LOCK_TRIES = 5;

/** Makes one shard, and gives its files their names. */
export async function packOne(parts: PackOneParts, shard: number, signal: AbortSignal): Promise<MadeShard> {
  const lock = await takeLock(parts, shard, signal);
  if (lock instanceof OutputError) return { shard, taken: lock };
  try {
    // Another run may have made it since.
    const earlier = await inspectShard(parts, shard);
    if (earlier !== undefined) {
      parts.meter.resume(shard);
      return { shard, outcome: earlier };
    }
    const outcome = await makeFiles(parts, shard, AbortSignal.any([signal, lock.lost]));
    await lock.confirm();
    await publishShard(parts, outcome);
    parts.meter.complete(shard);
    return { shard, outcome };
  } finally {
    await lock.release();
  }
}

async function takeLock(parts: PackOneParts, shard: number, signal: AbortSignal): Promise<Lock | OutputError> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await lockShard({ ...parts, signal }, shard);
    } catch (error) {
      if (!(error instanceof OutputError)) throw error;
      if (isLockTaken(error)) return error;
      if (tries === MAX_LOCK_TRIES || systemCode(error.cause) !== 'ENOENT') throw error;
      await ensureFolder(parts.workFolder);
    }
  }
}

/** Has tar and manifest made by processes, until one lives to tell that they are whole. */
async function makeFiles(parts: PackOneParts, shard: number, signal: AbortSignal): Promise<ShardOutcome> {
  const { plan, folder, workFolder, pool, meter, checkpointMs, silenceSeconds } = parts;
  const atPath = workFile(workFolder, shard, 'at');
  const deaths = new Map<number, number>();
  const dead: DeadItem[] = [];
  for (;;) {
    const job: PackShardJob = {
      planPath: plan.path,
      planHash: plan.hash,
      shard,
      folder,
      workFolder,
      base: parts.base ?? plan.header.base,
      mappings: parts.mappings,
      dead,
      checkpointMs,
      patienceMs: silenceSeconds * 1000,
    };
    await removeFile(atPath);
    const ended = await pool.run<PackShardResult>(job, {
      signal,
      onReport: (report) => {
        if (report !== undefined) meter.note(shard, report as PackShardReport);
      },
    });
    if (ended.kind === 'done') {
      if (ended.value.kind === 'made') return ended.value.outcome;
      throw asError(ended.value);
    }
    const item = await readAt(atPath);
    const count = (deaths.get(item) ?? 0) + 1;
    deaths.set(item, count);
    const isHung = ended.kind === 'hung';
    if (!isHung && count < MAX_DEATHS) continue;
    if (item === NO_ITEM) throw diedWithoutItem(shardPaths(parts, shard).tar, ended);
    dead.push({ item, reason: isHung ? 'decoder_hung' : 'decoder_crashed', how: describeEnd(ended) });
  }
}

type Death = Exclude<JobOutcome<unknown>, { kind: 'done' }>;

function describeEnd(ended: Death): string {
  return ended.kind === 'hung'
    ? `said nothing for ${ended.seconds} s`
    : `process died ${MAX_DEATHS} times (${ended.how})`;
}

function diedWithoutItem(tar: string, ended: Death): CutroomError {
  return new CutroomError(
    'output',
    `Cannot make "${tar}": its process ${describeEnd(ended).replace(/^process /u, '')}`,
    {
      hint: 'See that the disk answers and that memory is free, then run the same command again.',
    },
  );
}

function asError({ code, message, hint, path }: Extract<PackShardResult, { kind: 'fault' }>): CutroomError {
  return code === 'input' ? new InputError(message, { hint, path }) : new OutputError(message, { hint, path });
}

/** Gives tar and manifest their names, notes the outcome and removes the journal. Can be repeated after a crash at any point. */
async function publishShard(parts: PackOneParts, outcome: ShardOutcome): Promise<void> {
  const { shard, tarBytes, manifestBytes } = outcome;
  const { tar, manifest } = shardPaths(parts, shard);
  // That of another plan must not speak for a mix of files.
  await removeFile(workFile(parts.workFolder, shard, 'json'));
  await publishOnce(tar, tarBytes);
  await publishOnce(manifest, manifestBytes);
  await writeOutcome(parts.workFolder, outcome);
  await clearShard(parts, shard);
}

/** Gives the partial file its name, unless an earlier try did. */
async function publishOnce(final: string, sizeBytes: number): Promise<void> {
  const partial = partialPath(final);
  if ((await sizeOf(partial)) === sizeBytes) {
    await publishFile(partial, final);
    return;
  }
  if ((await sizeOf(final)) === sizeBytes) return;
  throw new OutputError(`Cannot publish "${final}": "${partial}" has not the ${sizeBytes} bytes that were written`, {
    path: final,
    hint: 'See that nothing else works in that folder, then run the same command again.',
  });
}
