import type { ShardProblem } from './shard-problem.js';
import { readShardMembers } from './shard-members.js';
import { readShardRows } from './shard-rows.js';

/** A tar and its manifest, by absolute paths. */
export interface ShardPair {
  tarPath: string;
  manifestPath: string;
}

/** What a shard is found to be. Plain data: it travels between processes. */
export interface ShardFacts {
  rowCount: number;
  durationMicros: bigint;
  /** Ids of the samples of the tar, in its order. */
  ids: string[];
  /** Where the headers of their members start. */
  offsetsBytes: number[];
  /** Those of the tar first, then those of the manifest by line, then members without rows. */
  problems: ShardProblem[];
  /** False where the tar or the manifest cannot be read: no loader could. */
  isListable: boolean;
}

/** Compares the members of a tar, by its headers, with the rows of its manifest. */
export async function compareShard(
  { tarPath, manifestPath }: ShardPair,
  report: (what: unknown) => Promise<void>,
): Promise<ShardFacts> {
  const tellAlive = (): Promise<void> => report(undefined);
  const tar = await readShardMembers(tarPath, tellAlive);
  const rows = await readShardRows(manifestPath, tar.isReadable ? tar.samples : undefined, tellAlive);
  const problems = [...tar.problems, ...rows.problems];
  if (tar.isReadable && rows.isReadable) {
    for (const [id, { name, offsetBytes, rowLine }] of tar.samples) {
      if (rowLine !== undefined) continue;
      const message = `the member ${JSON.stringify(name)} has no row`;
      problems.push({ kind: 'member_without_row', message, file: tarPath, offsetBytes, id });
    }
  }
  return {
    rowCount: rows.rowCount,
    durationMicros: rows.durationMicros,
    ids: [...tar.samples.keys()],
    offsetsBytes: Array.from(tar.samples.values(), ({ offsetBytes }) => offsetBytes),
    problems,
    isListable: rows.isReadable && !tar.problems.some(({ kind }) => kind === 'unreadable_tar'),
  };
}
