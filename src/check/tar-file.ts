import path from 'node:path';
import { hoursOfMicros } from '../manifest/shard-list.js';
import { tarNotes } from './dataset-notes.js';
import { inspectShards } from './dataset-shards.js';
import type { CheckContext, PathFacts } from './finding.js';

/** Checks a tar of samples that has no manifest. */
export async function checkTar(tarPath: string, context: CheckContext): Promise<PathFacts> {
  const task = { layout: 'tar' as const, tarPath: path.resolve(tarPath), wantsAudio: context.settings.deep };
  const totals = await inspectShards([task], context, { path: tarPath });
  const hours = hoursOfMicros(totals.durationMicros);
  return { kind: 'tar', rows: 0, hours, members: totals.members, shards: totals.shards, notes: tarNotes(totals) };
}
