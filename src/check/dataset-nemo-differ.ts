import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { countWords } from '../count-words.js';
import { CutroomError, errorMessage } from '../errors.js';
import { reasonOf } from '../shard/shard-problem.js';
import type { DatasetFinding } from './dataset-kinds.js';
import { describeByteOrderMark } from './dataset-nemo-index.js';
import { hasByteOrderMark, parsePlainRow, runLines, type RowRun } from './dataset-nemo-lines.js';

/** A shard whose rows stand in two manifests. */
export interface TwiceManifested {
  /** The manifest of all shards, and where the rows of this one stand in it. */
  manifestPath: string;
  runs?: readonly RowRun[] | undefined;
  shardId?: number | undefined;
  shardedPath?: string | undefined;
}

/** The finding about the manifest of one shard that begins with a byte order mark; those of the full one are told of by its index. */
export async function findShardedMark({
  manifestPath,
  runs,
  shardedPath,
}: TwiceManifested): Promise<DatasetFinding | undefined> {
  const file = shardedPath ?? (runs === undefined ? manifestPath : undefined);
  if (file === undefined) return undefined;
  // A file that cannot be opened is told of by who reads its rows.
  return (await hasByteOrderMark(file).catch(() => false)) ? describeByteOrderMark(file) : undefined;
}

/** Where the manifest of a shard is not what the full one says of the shard; undefined where both hold the same rows in the same order. */
export async function findManifestDifference(task: TwiceManifested): Promise<DatasetFinding | undefined> {
  const { manifestPath, runs, shardId, shardedPath } = task;
  if (shardedPath === undefined) return undefined;
  const tell = (message: string, line?: number): DatasetFinding => {
    return { kind: 'manifests_differ', message, file: shardedPath, line };
  };
  try {
    const [full, own] = [await hashLines(manifestPath, runs), await hashLines(shardedPath)];
    if (full.digest === own.digest) return undefined;
    const others = runLines(manifestPath, runs);
    try {
      for await (const { bytes, line } of runLines(shardedPath)) {
        const other = await others.next();
        if (other.done === true)
          return tell(
            `it has ${countWords(own.count, 'row')}, and the full manifest ${full.count} of shard ${shardId}`,
            line,
          );
        if (areSameRows(bytes, other.value.bytes)) continue;
        return tell(`its row differs from that of line ${other.value.line} of the full manifest`, line);
      }
      if ((await others.next()).done === true) return undefined;
    } finally {
      await others.return(undefined);
    }
    return tell(`it has ${countWords(own.count, 'row')}, and the full manifest ${full.count} of shard ${shardId}`);
  } catch (error) {
    if (!(error instanceof CutroomError) && !(error instanceof Error && 'syscall' in error)) throw error;
    return { kind: 'unreadable_manifest', message: reasonOf(errorMessage(error), shardedPath), file: shardedPath };
  }
}

async function hashLines(path: string, runs?: readonly RowRun[]): Promise<{ digest: string; count: number }> {
  const hash = createHash('sha256');
  let count = 0;
  for await (const { bytes } of runLines(path, runs)) {
    hash.update(bytes);
    hash.update(LINE_END);
    count += 1;
  }
  return { digest: hash.digest('hex'), count };
}

const LINE_END = Buffer.from('\n');

/** Whether two lines hold the same row, however they are spelt. */
function areSameRows(a: Buffer, b: Buffer): boolean {
  if (a.equals(b)) return true;
  const [first, second] = [parsePlainRow(a), parsePlainRow(b)];
  return 'value' in first && 'value' in second && isDeepStrictEqual(first.value, second.value);
}
