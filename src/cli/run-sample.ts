import { setImmediate } from 'node:timers/promises';
import { thereAre } from '../count-words.js';
import { CanceledError, UsageError } from '../errors.js';
import { rowOfDraw } from '../sample/draw-row.js';
import { chartsOf, type BarChart } from '../sample/histogram.js';
import { planSample, type PlannedSample } from '../sample/plan-sample.js';
import type { SampleOptions } from '../sample/sample-options.js';
import { figuresOf } from '../sample/sample-figures.js';
import type { SamplePlan } from '../sample/sample-plan.js';
import type { SampleFlags } from './commands/sample.js';
import type { CliContext } from './context.js';
import { explanationAsJson, formatExplanation } from './explain-draw.js';
import { exportSummaryAsJson, formatExportSummary } from './export-summary.js';
import { formatBars } from './histogram-bars.js';
import { formatPackProgress } from './pack-progress.js';
import { refuseEarlierPlot, writePlot } from './plot-file.js';
import { ProgressLine } from './progress-line.js';
import { figuresAsJson, formatFigures, formatLeftOut, formatSampleProgress, removedLines } from './sample-summary.js';
import { collectGroups, type DrawPlace } from './sample-values.js';
import { formatPackFailure } from './build-summary.js';

/** Exit code when some of what was to be exported cannot be read. */
const DATA_EXIT_CODE = 1;
const DEFAULT_COLUMNS = 80;
/** Lines that are written at once. */
const LINES_A_WRITE = 500;

/** Runs `cutroom sample`. */
export async function runSample(context: CliContext, flags: SampleFlags, sources: readonly string[]): Promise<void> {
  checkFlags(flags);
  await refuseEarlierPlot(flags.plot, flags.overwrite);
  const { stderr } = context.process;
  const line = new ProgressLine(stderr, flags.quiet);
  try {
    const sample = await planSample(optionsOf(flags, sources), {
      signal: context.signal,
      onProgress: (now) => line.show(() => formatSampleProgress(now)),
      onNotice: (message) => {
        if (!flags.quiet) line.note(`warning: ${message}`);
      },
    });
    line.end();
    if (!flags.quiet && sample.leftOut.length > 0) stderr.write(`${formatLeftOut(sample.leftOut, flags.verbose)}\n`);
    if (flags.explain !== undefined) explain(context, flags, sample, flags.explain);
    else if (flags.list !== undefined) await list(context, sample.plan, flags.from ?? 0, flags.list);
    else if (flags.export !== undefined) await runExport(context, flags, sample, flags.export, line);
    else {
      if (flags.verbose) await writeLines(context, 'stderr', removedLines(sample.plan));
      await showFigures(context, flags, sample);
    }
  } finally {
    line.end();
  }
}

function checkFlags(flags: SampleFlags): void {
  const { quiet, verbose, explain: place, list: listed, export: folder, histogram, plot } = flags;
  if (quiet && verbose) throw new UsageError('--quiet and --verbose exclude each other');
  const actions = Object.entries({ '--explain': place, '--list': listed, '--export': folder });
  const asked = actions.filter(([, value]) => value !== undefined).map(([name]) => name);
  if (histogram || plot !== undefined) asked.push(histogram ? '--histogram' : '--plot');
  if (asked.length > 1) throw new UsageError(`${asked.join(' and ')} are given: each is a run of its own`);
  if (flags.seed !== undefined && flags.shuffleSeed !== undefined) {
    throw new UsageError('--seed and --shuffle-seed are the same: give one of them');
  }
  if (flags.from !== undefined && listed === undefined) throw new UsageError('--from is given without --list');
  if (listed !== undefined && flags.json) {
    throw new UsageError('--list prints JSON lines by itself', { hint: 'Leave out --json.' });
  }
  const { count, numTars, samplesPerTar, format, compressionLevel } = flags;
  const ofExport = { '--count': count, '--num-tars': numTars, '--samples-per-tar': samplesPerTar, '--format': format };
  const [lone] =
    Object.entries({ ...ofExport, '--compression-level': compressionLevel }).find(([, value]) => value !== undefined) ??
    [];
  if (lone !== undefined && folder === undefined) {
    throw new UsageError(`${lone} is given without --export`, { hint: 'Give the folder of the shards: --export DIR.' });
  }
  if (flags.overwrite && folder === undefined && plot === undefined) {
    throw new UsageError('--overwrite is given, and nothing is written: there is neither --export nor --plot');
  }
}

function optionsOf(flags: SampleFlags, sources: readonly string[]): SampleOptions {
  const { duration, hop, group, weight = [], sampleRate, epochs, seed, shuffleSeed } = flags;
  const { filepaths, scan, extensions, alpha, jitter, grid, mono, padMode, shuffle, excerptSeed } = flags;
  const groups = collectGroups(group ?? [], weight);
  return {
    sources,
    filepaths,
    groups: group === undefined ? undefined : groups.sources,
    weights: groups.weights,
    scan,
    extensions,
    durationSeconds: duration,
    hopSeconds: hop,
    alpha,
    jitter,
    grid,
    sampleRate: sampleRate === 'native' ? null : sampleRate,
    mono,
    padMode,
    shuffle,
    shuffleSeed: shuffleSeed ?? seed,
    excerptSeed,
    numEpochs: epochs === 'forever' ? null : epochs,
    stop: flags.stop,
    lufsCache: flags.lufsCache,
    lufsCutoff: flags.lufsCutoff,
    onError: flags.onError,
    jobs: flags.jobs,
  };
}

async function showFigures({ process }: CliContext, flags: SampleFlags, sample: PlannedSample): Promise<void> {
  const { stdout, stderr } = process;
  const figures = figuresOf(sample.plan, sample.durationSeconds);
  const charts = flags.histogram || flags.plot !== undefined ? chartsOf(sample.plan) : [];
  // The figures are what the command is asked for: data, unless they go out as JSON.
  if (flags.json) {
    stdout.write(`${JSON.stringify({ ...figuresAsJson(sample, figures), ...chartsAsJson(charts) })}\n`);
  } else if (!flags.quiet) {
    stdout.write(`${formatFigures(sample, figures, flags.verbose)}\n`);
    if (flags.histogram) stdout.write(`\n${formatBars(charts, stdout.columns ?? DEFAULT_COLUMNS)}\n`);
  }
  if (flags.plot === undefined) return;
  await writePlot(flags.plot, charts);
  if (!flags.quiet) stderr.write(`Plotted as ${flags.plot}\n`);
}

function chartsAsJson(charts: readonly BarChart[]): Record<string, unknown> {
  return charts.length === 0 ? {} : { charts };
}

function explain({ process }: CliContext, flags: SampleFlags, { plan }: PlannedSample, place: DrawPlace): void {
  const draw = drawAt(plan, place);
  const { stdout } = process;
  if (flags.json) stdout.write(`${JSON.stringify(explanationAsJson(plan, draw))}\n`);
  else if (!flags.quiet) stdout.write(`${formatExplanation(plan, draw, flags.padMode)}\n`);
}

function drawAt(plan: SamplePlan, { epoch, index }: DrawPlace): ReturnType<SamplePlan['at']> {
  if (epoch !== undefined && index >= plan.epochLength) {
    throw new UsageError(`There is no draw ${index} in an epoch: it has ${plan.epochLength}, counted from 0`);
  }
  const draw = epoch === undefined ? index : epoch * plan.epochLength + index;
  if (draw < plan.length && Number.isSafeInteger(draw)) return plan.at(draw);
  const title = epoch === undefined ? `draw ${draw}` : `draw ${index} of epoch ${epoch}`;
  throw new UsageError(`There is no ${title}: ${thereAre(plan.length, 'draw')}, and an epoch has ${plan.epochLength}`, {
    hint: 'Both are counted from 0; give more --epochs, or --epochs forever.',
  });
}

async function list(context: CliContext, plan: SamplePlan, from: number, most: number): Promise<void> {
  if (from >= plan.length) {
    throw new UsageError(`There is no draw ${from}: ${thereAre(plan.length, 'draw')}, counted from 0`, {
      hint: 'Give a lower --from, or more --epochs.',
    });
  }
  await writeLines(context, 'stdout', drawLines(plan, from, Math.min(plan.length, from + most)));
}

function* drawLines(plan: SamplePlan, from: number, end: number): Generator<string> {
  for (let draw = from; draw < end; draw += 1) yield JSON.stringify(rowOfDraw(plan, plan.at(draw)));
}

/** Writes many lines, between which the event loop turns. */
async function writeLines(
  { process, signal }: CliContext,
  to: 'stdout' | 'stderr',
  lines: Iterable<string>,
): Promise<void> {
  let waiting: string[] = [];
  for (const text of lines) {
    waiting.push(`${text}\n`);
    if (waiting.length < LINES_A_WRITE) continue;
    process[to].write(waiting.join(''));
    waiting = [];
    await setImmediate();
    if (signal.aborted) throw new CanceledError('The list was stopped', { cause: signal.reason });
  }
  if (waiting.length > 0) process[to].write(waiting.join(''));
}

async function runExport(
  context: CliContext,
  flags: SampleFlags,
  sample: PlannedSample,
  outputDir: string,
  line: ProgressLine,
): Promise<void> {
  const { exportExcerpts } = await import('../sample/export-excerpts.js');
  const { stdout, stderr } = context.process;
  const { count, numTars, samplesPerTar, format, compressionLevel, overwrite, jobs, recordingTimeout } = flags;
  const result = await exportExcerpts(
    sample,
    {
      outputDir,
      count,
      numTars,
      samplesPerTar,
      format,
      compressionLevel,
      overwrite,
      jobs,
      recordingTimeoutSeconds: recordingTimeout,
    },
    {
      signal: context.signal,
      isProcessAlive: (pid) => context.isProcessAlive(pid),
      onProgress: (now) => line.show(() => formatPackProgress(now)),
    },
  );
  line.end();
  if (flags.json) stdout.write(`${JSON.stringify(exportSummaryAsJson(result))}\n`);
  if (!flags.quiet) stderr.write(`${formatExportSummary(result, flags.verbose)}\n`);
  const { failed, firstFailures } = result.summary;
  if (Object.keys(failed).length === 0 || flags.onError === 'skip') return;
  if (flags.quiet) stderr.write(`error: ${firstFailures.map(formatPackFailure).join('\n')}\n`);
  context.process.exitCode = DATA_EXIT_CODE;
}
