import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { countWords } from '../count-words.js';
import { errorMessage } from '../errors.js';
import { hoursOfMicros } from '../manifest/shard-list.js';
import { PlanFile } from '../shard/plan-file.js';
import { countLines, sizeOfFile } from './dataset-files.js';
import { isMismatch, reportDataset, type DatasetKind } from './dataset-kinds.js';
import { checkListedShards } from './dataset-list.js';
import { countOf, sumCounts } from './dataset-metrics.js';
import { tarNotes } from './dataset-notes.js';
import { inspectShards, type DatasetTotals } from './dataset-shards.js';
import type { CheckContext, Finding, PathFacts } from './finding.js';

const WORK_FOLDER = '.cutroom-build';

/** What the metrics of `cutroom build` say of a shard. */
interface BuiltShard {
  tar?: unknown;
  manifest?: unknown;
  tar_bytes?: unknown;
  manifest_bytes?: unknown;
}

/** Checks a folder that `cutroom build` wrote: its plan, its shards, their list, and metrics that balance with them. */
export async function checkBuildOutputs(
  folder: string,
  names: readonly string[],
  parent: CheckContext,
): Promise<PathFacts> {
  let mismatchCount = 0;
  const context: CheckContext = {
    ...parent,
    report: (finding: Finding) => {
      if (isMismatch(finding)) mismatchCount += 1;
      parent.report(finding);
    },
  };
  const tell = (kind: DatasetKind, file: string, message: string): void => {
    reportDataset(context, { kind, message, file });
  };
  const plan = openPlan(path.join(folder, 'plan.jsonl'), tell);
  const metrics = names.includes('metrics.json') ? await readBuildMetrics(folder, tell) : undefined;
  if (!names.includes('metrics.json')) await tellUnfinished(folder, plan, context);
  if (metrics !== undefined && names.includes(WORK_FOLDER)) {
    tell(
      'unfinished_run',
      path.join(folder, WORK_FOLDER),
      `"${WORK_FOLDER}" is there: a run is under way, or was interrupted`,
    );
  }
  const mismatchesBefore = mismatchCount;
  const { totals, notes } = names.includes('data.lst')
    ? await checkList(folder, context)
    : await checkPlanned(folder, plan, context, tell);
  if (metrics !== undefined) {
    await compareSizes(folder, metrics['shards'], tell);
    if (plan !== undefined && metrics['plan_hash'] !== plan.hash) {
      tell(
        'wrong_metrics',
        path.join(folder, 'metrics.json'),
        'the dataset was made by another plan than the one beside it',
      );
    }
    if (mismatchCount === mismatchesBefore) await compareMetrics(folder, metrics, totals, tell);
    else notes.push('the metrics were not compared with the files, which do not fit each other');
  }
  return {
    kind: 'cut_outputs',
    rows: totals.rows,
    hours: hoursOfMicros(totals.durationMicros),
    members: totals.members,
    shards: totals.shards,
    loader: 'atdataset',
    notes,
  };
}

type Tell = (kind: DatasetKind, file: string, message: string) => void;

function openPlan(file: string, tell: Tell): PlanFile | undefined {
  try {
    return PlanFile.open(file);
  } catch (error) {
    tell('unreadable_metrics', file, errorMessage(error));
    return undefined;
  }
}

/** Says what is left to be done where the metrics are not written yet. */
async function tellUnfinished(folder: string, plan: PlanFile | undefined, context: CheckContext): Promise<void> {
  const shards = plan?.shards ?? [];
  const missing: number[] = [];
  for (const [shard, { tar }] of shards.entries()) {
    if ((await sizeOfFile(path.join(folder, tar))) === undefined) missing.push(shard);
  }
  const [first] = missing;
  const command = `cutroom build --output-dir ${folder}`;
  const unfinished = (message: string, hint?: string): void =>
    reportDataset(context, { kind: 'unfinished_run', message, file: folder, hint });
  if (first === undefined) {
    const isKnown = shards.length > 0;
    unfinished(
      'metrics.json, which is written last, is not there',
      isKnown ? `end the dataset: ${command}` : undefined,
    );
  } else if (missing.length === shards.length) {
    unfinished(
      `it is planned, and none of its ${countWords(shards.length, 'shard')} is made`,
      `make all: ${command}; or parts of them, with --split-start 0 --split-end ${shards.length} or less`,
    );
  } else {
    const gap = missing.findIndex((shard, index) => shard !== first + index);
    const end = first + (gap < 0 ? missing.length : gap);
    unfinished(
      `${missing.length} of ${countWords(shards.length, 'planned shard')} ${missing.length === 1 ? 'is' : 'are'} not made, the first of them ${shards[first]!.tar}`,
      `make ${missing.length === 1 ? 'it' : 'them'}: ${command}; or a part, with --split-start ${first} --split-end ${end}`,
    );
  }
}

async function readBuildMetrics(folder: string, tell: Tell): Promise<Record<string, unknown> | undefined> {
  const file = path.join(folder, 'metrics.json');
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  } catch (error) {
    tell('unreadable_metrics', file, `it cannot be read: ${errorMessage(error)}`);
    return undefined;
  }
}

interface Checked {
  totals: DatasetTotals;
  notes: string[];
}

async function checkList(folder: string, context: CheckContext): Promise<Checked> {
  const { facts, totals } = await checkListedShards(path.join(folder, 'data.lst'), context, { isOwn: true });
  return { totals, notes: [...(facts.notes ?? [])] };
}

/** Without a list, the shards of the plan that are there. */
async function checkPlanned(
  folder: string,
  plan: PlanFile | undefined,
  context: CheckContext,
  tell: Tell,
): Promise<Checked> {
  const planned = (plan?.shards ?? []).map(({ tar, manifest }) => ({
    tarPath: path.join(folder, tar),
    manifestPath: path.join(folder, manifest),
  }));
  const there: typeof planned = [];
  let missingCount = 0;
  for (const shard of planned) {
    const [tarBytes, manifestBytes] = [await sizeOfFile(shard.tarPath), await sizeOfFile(shard.manifestPath)];
    if (tarBytes === undefined && manifestBytes === undefined) missingCount += 1;
    else if (tarBytes === undefined) tell('missing_tar', shard.tarPath, 'the tar of a manifest is not there');
    else if (manifestBytes === undefined)
      tell('missing_manifest', shard.manifestPath, 'the manifest of a tar is not there');
    else there.push(shard);
  }
  const how = { layout: 'atdataset' as const, isOwn: true, isOrdered: true, wantsAudio: context.settings.deep };
  const tasks = there.map((shard) => ({ ...shard, ...how }));
  const totals = await inspectShards(tasks, context, { path: folder });
  const notes = tarNotes(totals);
  if (missingCount > 0)
    notes.push(
      `${missingCount} of ${countWords(planned.length, 'planned shard')} ${missingCount === 1 ? 'is' : 'are'} not made`,
    );
  return { totals, notes };
}

async function compareSizes(folder: string, shards: unknown, tell: Tell): Promise<void> {
  if (!Array.isArray(shards)) return;
  for (const shard of shards as BuiltShard[]) {
    for (const [name, bytes] of [
      [shard.tar, shard.tar_bytes],
      [shard.manifest, shard.manifest_bytes],
    ]) {
      if (typeof name !== 'string' || typeof bytes !== 'number') continue;
      const file = path.join(folder, name);
      const found = await sizeOfFile(file);
      if (found === bytes) continue;
      if (found === undefined) tell('missing_output', file, 'a file of the finished dataset is gone');
      else tell('wrong_metrics', file, `it has ${found} bytes, and had ${bytes} when the dataset was finished`);
    }
  }
}

async function compareMetrics(
  folder: string,
  metrics: Readonly<Record<string, unknown>>,
  totals: DatasetTotals,
  tell: Tell,
): Promise<void> {
  const file = path.join(folder, 'metrics.json');
  const compare = (kind: DatasetKind, name: string, said: number, found: number, what: string): void => {
    if (said !== found) tell(kind, file, `${name} is ${said}, and ${what} ${found}`);
  };
  const samples = countOf(metrics['samples']);
  compare('wrong_metrics', 'samples', samples, totals.rows, 'the manifests have rows:');
  const micros = Math.round(countOf(metrics['duration_sec']) * 1e6);
  compare(
    'wrong_metrics',
    'duration_sec',
    micros / 1e6,
    Number(totals.durationMicros) / 1e6,
    "the rows' durations add up to",
  );
  if (Array.isArray(metrics['shards'])) {
    compare('wrong_metrics', 'the number of shards', metrics['shards'].length, totals.shards.length, 'those found are');
  }
  const failed = sumCounts(metrics['failed_rows']) + sumCounts(metrics['failed_members']);
  compare(
    'unbalanced_metrics',
    'rows_read',
    countOf(metrics['rows_read']),
    samples + failed,
    'samples and failures add up to',
  );
  const failures = path.join(folder, 'failures.jsonl');
  if ((await sizeOfFile(failures)) === undefined) return;
  compare(
    'unbalanced_metrics',
    'the number of failures',
    failed,
    await countLines(failures),
    'failures.jsonl has lines:',
  );
}
