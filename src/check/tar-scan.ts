import { errorMessage } from '../errors.js';
import { readShardMembers, type ShardMembers } from '../shard/shard-members.js';
import type { ShardProblem } from '../shard/shard-problem.js';
import type { DatasetFinding, DatasetKind } from './dataset-kinds.js';
import { MemberRules } from './tar-rules.js';
import { findBytesAfterEnd } from './tar-tail.js';

/** A tar, by its headers. */
export interface TarScan extends ShardMembers {
  rules: MemberRules;
  isCompressed: boolean;
}

/** Reads the headers of a tar and tells all that is wrong with it by itself. The process waits for each read. */
export async function scanTar(
  file: string,
  note: (finding: DatasetFinding) => void,
  report: () => Promise<void>,
): Promise<TarScan> {
  const rules = new MemberRules(file, note);
  const found = await readShardMembers(file, report, { watch: (member) => rules.see(member) });
  for (const problem of found.problems) note(asFinding(problem));
  const isCompressed = found.problems.some(({ kind }) => kind === 'compressed_tar');
  if (found.end !== undefined && !isCompressed) {
    const tail = await findBytesAfterEnd(file, found.end).catch((error: unknown): DatasetFinding => {
      return { kind: 'unreadable_tar', message: errorMessage(error), file, offsetBytes: found.end?.endOffsetBytes };
    });
    if (tail !== undefined) note(tail);
  }
  if (found.end?.isComplete === true && found.samples.size === 0) {
    note({ kind: 'empty_shard', message: 'the tar holds no sample', file });
  }
  return { ...found, rules, isCompressed };
}

/** A problem of a shard as a finding. */
export function asFinding({ kind, ...problem }: ShardProblem): DatasetFinding {
  return { ...problem, kind: KINDS[kind] };
}

const KINDS: Readonly<Record<ShardProblem['kind'], DatasetKind>> = {
  missing_tar: 'missing_tar',
  unreadable_tar: 'unreadable_tar',
  unfinished_tar: 'unfinished_tar',
  compressed_tar: 'compressed_tar',
  prefix_mismatch: 'missing_manifest',
  missing_manifest: 'missing_manifest',
  missing_shard: 'missing_tar',
  second_manifest: 'shared_manifest',
  unreadable_manifest: 'unreadable_manifest',
  byte_order_mark: 'byte_order_mark',
  bad_row: 'bad_row',
  missing_audio_filepath: 'missing_audio_filepath',
  missing_text: 'missing_text',
  missing_duration: 'missing_duration',
  bad_duration: 'bad_duration',
  duplicate_row: 'duplicate_row',
  row_without_member: 'row_without_member',
  member_without_row: 'member_without_row',
  duplicate_member: 'duplicate_member',
  duplicate_across_shards: 'duplicate_across_shards',
  unread_member: 'unread_member',
  dotted_name: 'dotted_name',
  split_sample: 'split_sample',
};
