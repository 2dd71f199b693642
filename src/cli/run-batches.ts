import { setImmediate } from 'node:timers/promises';
import { CanceledError, CutroomError, UsageError } from '../errors.js';
import type { PlanReport } from '../load/epoch-plan.js';
import type { ItemTable } from '../load/item-table.js';
import { createPlanner, type Planner } from '../load/plan-epochs.js';
import type { PlannerOptions } from '../load/plan-settings.js';
import type { BarChart } from '../sample/histogram.js';
import { chartOfBuckets, chartOfEpoch, chartOfSteps } from './batch-charts.js';
import { batchesAsJson, formatBatches, type StrategyOutcome } from './batches-summary.js';
import type { BatchesFlags } from './commands/batches.js';
import type { CliContext } from './context.js';
import { formatBars } from './histogram-bars.js';
import { needsTokens, readLoadRequest, readPlanOptions, requireLimit } from './load-options.js';
import { formatFaults, openTable } from './open-table.js';
import { inFlagNames, withFlagNames } from './option-flags.js';
import { refuseEarlierPlot, writePlot } from './plot-file.js';
import { ProgressLine } from './progress-line.js';

/** Exit code when rows are faulty and that was not allowed. */
const DATA_EXIT_CODE = 1;
const DEFAULT_COLUMNS = 80;
/** Draws of all ranks that are planned for the sake of a comparison. */
const MAX_COMPARED_DRAWS = 20_000_000;
const STRATEGIES = ['exact', 'scatter', 'replicate'] as const;

/** Runs `cutroom batches`. */
export async function runBatches(context: CliContext, flags: BatchesFlags, paths: readonly string[]): Promise<void> {
  const { stdout, stderr } = context.process;
  if (flags.quiet && flags.verbose) throw new UsageError('--quiet and --verbose exclude each other');
  await refuseEarlierPlot(flags.plot, flags.overwrite);
  const line = new ProgressLine(stderr, flags.quiet);
  try {
    const started = performance.now();
    const loading = await readLoadRequest(flags, paths);
    const plan = await readPlanOptions(flags, loading.configured?.plan);
    requireLimit(plan);
    const options: PlannerOptions = { ...plan, worldSize: flags.worldSize };
    const { tokenizer } = flags;
    const table = await openTable(context, { ...loading, tokenizer, needsTokens: needsTokens(flags, plan) }, line);
    const openSeconds = (performance.now() - started) / 1000;
    const planStarted = performance.now();
    const planner = inFlagNames(() => createPlanner(table, options));
    const first = planner.planEpoch(0);
    const planSeconds = (performance.now() - planStarted) / 1000;
    const reports: PlanReport[] = [];
    for (let epoch = 0; epoch < flags.epochs; epoch += 1) {
      await pause(context, line, `planning: epoch ${epoch} of ${flags.epochs}`);
      reports.push((epoch === 0 ? first : planner.planEpoch(epoch)).report());
    }
    const strategies = flags.worldSize === 1 ? [] : await compareStrategies(context, table, options, reports[0]!, line);
    line.end();
    const result = { table, worldSize: flags.worldSize, reports, strategies, openSeconds, planSeconds };
    if (!flags.quiet) tellWarnings(context, table, planner.warnings, flags.verbose);
    if (flags.json) stdout.write(`${JSON.stringify(batchesAsJson(result))}\n`);
    else if (!flags.quiet) {
      stdout.write(`${formatBatches(result, flags.verbose)}\n`);
      const bars = [chartOfSteps(reports)].filter(hasBars);
      if (flags.histogram && bars.length > 0)
        stdout.write(`\n${formatBars(bars, stdout.columns ?? DEFAULT_COLUMNS)}\n`);
    }
    if (flags.plot !== undefined) {
      await writePlot(flags.plot, chartsOf(reports));
      if (!flags.quiet) stderr.write(`Plotted as ${flags.plot}\n`);
    }
    if (table.left.firstFaults.length > 0 && flags.onError === 'fail') context.process.exitCode = DATA_EXIT_CODE;
  } finally {
    line.end();
  }
}

/** Plans are made in one go: between two of them the signal is looked at. */
async function pause(context: CliContext, line: ProgressLine, what: string): Promise<void> {
  line.show(() => what);
  await setImmediate();
  if (context.signal.aborted) throw new CanceledError('The planning was stopped', { cause: context.signal.reason });
}

/** What every strategy would make of the first epoch; the one that was asked for is known. */
async function compareStrategies(
  context: CliContext,
  table: ItemTable,
  options: PlannerOptions,
  known: PlanReport,
  line: ProgressLine,
): Promise<StrategyOutcome[]> {
  const outcomes: StrategyOutcome[] = [];
  for (const strategy of STRATEGIES) {
    await pause(context, line, `planning: strategy ${strategy}`);
    const { worldSize } = options;
    const isLarge = strategy === 'replicate' && known.distinctItems * worldSize > MAX_COMPARED_DRAWS;
    if (strategy === (options.strategy ?? 'exact')) {
      outcomes.push({ strategy, report: known, plannedRanks: worldSize, reason: undefined });
    } else {
      // Each rank reads as much as any other: one tells of all.
      outcomes.push(
        tryStrategy(table, { ...options, strategy, strict: false, worldSize: isLarge ? 1 : worldSize }, strategy),
      );
    }
  }
  return outcomes;
}

function tryStrategy(
  table: ItemTable,
  options: PlannerOptions,
  strategy: StrategyOutcome['strategy'],
): StrategyOutcome {
  try {
    const report = createPlanner(table, options).planEpoch(0).report();
    return { strategy, report, plannedRanks: options.worldSize, reason: undefined };
  } catch (error) {
    // Sources without shards, for example, are no fault of who did not ask for them to be dealt out.
    if (error instanceof CutroomError) {
      return { strategy, report: undefined, plannedRanks: options.worldSize, reason: withFlagNames(error.message) };
    }
    throw error;
  }
}

function chartsOf(reports: readonly PlanReport[]): BarChart[] {
  const [first] = reports;
  if (first === undefined) return [];
  const buckets = chartOfBuckets(first);
  return [chartOfSteps(reports), chartOfEpoch(first, 0), ...(buckets === undefined ? [] : [buckets])].filter(hasBars);
}

/** An epoch may have no step. */
function hasBars({ bars }: BarChart): boolean {
  return bars.length > 0;
}

function tellWarnings(context: CliContext, table: ItemTable, warnings: Planner['warnings'], isVerbose: boolean): void {
  const { stderr } = context.process;
  for (const { message, hint } of warnings) {
    stderr.write(`warning: ${withFlagNames(message)}\n`);
    if (hint !== undefined) stderr.write(`hint: ${withFlagNames(hint)}\n`);
  }
  const faults = formatFaults(table.left, isVerbose);
  if (faults !== undefined) stderr.write(`${faults}\n`);
}
