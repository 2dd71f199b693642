import type { PackFailure } from '../shard/plan.js';
import type { OnPackProgress } from '../shard/progress.js';

/** What a run is given beside its options. */
export interface TarContext {
  /** Stops the run; what is finished is kept. */
  signal?: AbortSignal | undefined;
  onProgress?: OnPackProgress | undefined;
  /** Takes each row that cannot be used, in the order of the manifests. */
  onFailure?: ((failure: PackFailure) => void) | undefined;
  /** `SOURCE_DATE_EPOCH` is the time in the metadata. Default: none. */
  environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Tells whether a process of this machine lives, where there is no `/proc`. */
  isProcessAlive?: ((pid: number) => boolean) | undefined;
  /** How often the shards are made sure of on the disk, in milliseconds. Default 2,000. */
  checkpointMs?: number | undefined;
}
