import type { Lock } from '../run/lock.js';
import { VERSION } from '../version.js';
import type { CutPlan } from './cut-plan.js';
import type { Executed } from './execute.js';
import { writeFailures } from './failures.js';
import type { RunIdentity } from './identity.js';
import type { ShardSection } from './metrics-writer.js';
import type { CutOutputs } from './options.js';
import { publish } from './publish.js';
import type { RunJournal, ShardSizes } from './run-journal.js';
import { describeShards, writeShardList } from './shard-section.js';
import type { FailureRecord } from './types.js';
import { clearWork } from './work-folder.js';

export interface ConcludeParts {
  outputs: CutOutputs;
  /** Where the list of shards says that they are. Default: where they are. */
  listed?: CutOutputs | undefined;
  datasetName: string;
  plan: CutPlan;
  identity: RunIdentity;
  /** What planning found, in the order of the manifest. */
  planned: readonly FailureRecord[];
  locks: readonly Lock[];
  journal: RunJournal;
  /** Completes the outputs, unless an earlier run did: the sizes of the shards that have members. */
  finish: () => Promise<readonly ShardSizes[]>;
  executed: Executed;
}

/**
 * Completes the outputs of a run and publishes them; its work in progress is removed then. Can be repeated after a crash at any point.
 *
 * @returns what the metrics say about shards
 */
export async function conclude(parts: ConcludeParts): Promise<ShardSection | undefined> {
  const { outputs, listed = outputs, datasetName, plan, identity, planned, locks, journal, executed } = parts;
  const complete = executed.isComplete;
  let sizes = journal.publishing?.shards;
  if (sizes === undefined) {
    sizes = await parts.finish();
    await journal.notePublishing(sizes, complete);
  }
  const written = sizes;
  const shards = describeShards(outputs, executed.shards, written, complete);
  for (const lock of locks) await lock.confirm();
  await publish(outputs, written, {
    writeFailures: (write) => writeFailures(plan, planned, executed.failed, write),
    writeList: (write) => writeShardList(listed, executed.shards, written, write),
    writeMetrics: (write) =>
      executed.metrics.write(write, {
        complete,
        dryRun: false,
        datasetName,
        cutroomVersion: VERSION,
        audioArchitecture: identity.audio_architecture,
        options: identity.options,
        shards,
      }),
  });
  await clearWork(outputs);
  return shards;
}
