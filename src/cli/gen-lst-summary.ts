import { countWords } from '../count-words.js';
import type { GenerateListResult } from '../build/generate-list.js';
import type { ShardProblem, ShardProblemKind } from '../shard/shard-problem.js';
import { hoursOfMicros } from '../manifest/shard-list.js';
import { count, duration } from './cut-progress.js';

/** How many problems of a kind are shown unless all are asked for. */
const MAX_SHOWN = 5;

const DECIMALS = 6;

/** A problem with its place, on one line: `warning: train.jsonl:3: …`. */
export function formatShardProblem({ file, line, column, offsetBytes, message, hint }: ShardProblem): string {
  const place = line === undefined ? '' : `:${line}${column === undefined ? '' : `:${column}`}`;
  const byte = offsetBytes === undefined ? '' : ` at byte ${count(offsetBytes)}`;
  return `warning: ${file}${place}${byte}: ${message}${hint === undefined ? '' : ` (${hint})`}`;
}

/** The problems and the table at the end of `cutroom gen-lst`. Problems that were shown as they were met are not shown again. */
export function formatListSummary(result: GenerateListResult, isVerbose: boolean): string {
  const { shardCount, leftOutCount, sampleCount, durationMicros, seconds } = result;
  const rows: [string, string][] = [
    ['shards', `${count(shardCount)} listed, ${count(leftOutCount)} left out`],
    ['samples', count(sampleCount)],
    ['audio', `${hoursOfMicros(durationMicros).toFixed(DECIMALS)} h`],
    ['problems', listCounts(result)],
    ['time', duration(seconds)],
  ];
  if (result.kind === 'written') rows.push(['list', result.output]);
  const width = Math.max(...rows.map(([name]) => name.length));
  const table = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
  return [...(isVerbose ? [] : listFirst(result)), HEADLINES[result.kind], ...table].join('\n');
}

/** Why there is no list. */
export function formatListRefusal({ shardCount, output, problemCounts }: GenerateListResult): string {
  const total = Object.values(problemCounts).reduce((sum, number) => sum + number, 0);
  const reason =
    shardCount === 0 ? 'no shard is left to list' : `${countWords(total, 'problem')}, and --strict allows none`;
  return `error: "${output}" was not written: ${reason}`;
}

/** The same as plain data. */
export function listSummaryAsJson(result: GenerateListResult): Record<string, unknown> {
  return {
    result: result.kind,
    shards: result.shardCount,
    shards_left_out: result.leftOutCount,
    samples: result.sampleCount,
    duration_sec: Number(result.durationMicros) / 1e6,
    duration_hours: hoursOfMicros(result.durationMicros),
    problem_counts: result.problemCounts,
    problems: result.problems.map(({ kind, message, hint, file, line, column, offsetBytes, id }) => ({
      kind,
      message,
      hint,
      file,
      line,
      column,
      offset_bytes: offsetBytes,
      id,
    })),
    wall_sec: Number(result.seconds.toFixed(3)),
    outputs: { list: result.kind === 'written' ? result.output : null },
  };
}

const HEADLINES: Readonly<Record<GenerateListResult['kind'], string>> = {
  written: 'Done.',
  refused: 'No list was written.',
};

/** The first problems of each kind, in the order of the list, and how many are not shown. */
function listFirst({ problems, problemCounts }: GenerateListResult): string[] {
  const shown = new Map<ShardProblemKind, number>();
  const lines: string[] = [];
  for (const problem of problems) {
    const number = (shown.get(problem.kind) ?? 0) + 1;
    if (number > MAX_SHOWN) continue;
    shown.set(problem.kind, number);
    lines.push(formatShardProblem(problem));
  }
  const hidden = Object.entries(problemCounts).filter(([, number]) => number > MAX_SHOWN);
  for (const [kind, number] of hidden) {
    lines.push(`warning: ${count(number - MAX_SHOWN)} more of ${kind}; --verbose shows all`);
  }
  return lines;
}

function listCounts({ problemCounts }: GenerateListResult): string {
  const listed = Object.entries(problemCounts);
  return listed.length === 0 ? 'none' : listed.map(([kind, number]) => `${kind} ${count(number)}`).join(', ');
}
