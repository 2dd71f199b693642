import { availableParallelism } from 'node:os';
import { InputError, UsageError } from '../errors.js';
import type { PlanOptions } from '../load/batch-options.js';
import { createEncodingLoader, createLoader, createRawLoader } from '../load/create-loader.js';
import type { LoaderState } from '../load/epoch-plan.js';
import type { Loader } from '../load/loader.js';
import type { LoaderOptions } from '../load/loader-options.js';
import { StreamOutput } from '../load/stream-output.js';
import { streamTar, type StreamTarOptions } from '../load/stream-tar.js';
import { checkWritable } from '../run/atomic-file.js';
import { hasAugment, readAugment } from './augment-flags.js';
import type { StreamFlags } from './commands/stream.js';
import type { CliContext } from './context.js';
import { needsTokens, readLoadRequest, readPlanOptions, requireLimit, type LoadRequest } from './load-options.js';
import { formatFaults, openTokenizer } from './open-table.js';
import { hasWindows, openWindows, type OpenedWindows } from './open-windows.js';
import { inFlagNames, withFlagNames } from './option-flags.js';
import { ProgressLine } from './progress-line.js';
import { readState, StateFile } from './stream-state.js';
import { formatStreamFailures, formatStreamProgress, formatStreamSummary, streamAsJson } from './stream-summary.js';

/** Exit code of a command that was stopped. */
const CANCELED_EXIT_CODE = 130;
const DEFAULT_RATE = 16_000;

/** Runs `cutroom stream`. */
export async function runStream(context: CliContext, flags: StreamFlags, paths: readonly string[]): Promise<void> {
  checkFlags(context, flags);
  const { stderr } = context.process;
  // Readers take all that is printed for a fault.
  const isTold = flags.verbose || (stderr.isTerminal && !flags.quiet);
  const line = new ProgressLine(stderr, !isTold);
  let windows: OpenedWindows | undefined;
  try {
    const from = flags.state === undefined ? undefined : await readState(flags.state);
    const warn = (text: string): void => {
      if (flags.quiet) return;
      line.end();
      stderr.write(`warning: ${withFlagNames(text)}\n`);
    };
    // Sources that the windows are mixed with decide how far they go.
    const others = countOthers(flags, paths);
    const configured = others === 0 ? undefined : await readLoadRequest(flags, paths);
    const plan = await readPlanOptions(flags, configured?.configured?.plan);
    windows = await openWindows(flags, {
      sampleRate: rateOf(flags, configured),
      jobs: flags.jobs ?? availableParallelism(),
      seed: plan.seed,
      shuffle: plan.shuffle,
      isAlone: others === 0,
      stop: plan.stop,
      signal: context.signal,
      onNotice: warn,
    });
    const request =
      windows === undefined
        ? (configured ?? (await readLoadRequest(flags, paths)))
        : await readLoadRequest(flags, paths, [windows.source]);
    for (const notice of request.notices) line.note(`note: ${notice}`);
    const options = await loaderOptions(context, flags, request, plan, windows, others, line);
    await using loader = await openLoader(flags, {
      ...options,
      signal: context.signal,
      onWarning: ({ message, hint }) => warn(hint === undefined ? message : `${message}\nhint: ${hint}`),
    });
    refuseFaults(loader, flags);
    await writeStream(context, flags, loader, from, unitOf(flags, plan), line, isTold);
  } catch (error) {
    if (!context.signal.aborted) throw error;
    // Trainers stop their readers in bulk.
    if (isTold) line.note('The stream was stopped');
    context.process.exitCode = CANCELED_EXIT_CODE;
  } finally {
    line.end();
    await windows?.close();
  }
}

async function writeStream(
  context: CliContext,
  flags: StreamFlags,
  loader: Loader,
  from: LoaderState | undefined,
  unit: StreamTarOptions['unit'],
  line: ProgressLine,
  isTold: boolean,
): Promise<void> {
  const { stderr, stdoutBytes } = context.process;
  if (stdoutBytes === undefined) throw new UsageError('There is no standard output for bytes');
  const output = new StreamOutput(stdoutBytes);
  const file = await stateFileOf(context, flags);
  const begin = beginOf(flags, from);
  // A loader that was asked for nothing stands at its start.
  const stateOf = (): LoaderState => (begin.epochs === 0 && from !== undefined ? from : loader.state);
  const started = performance.now();
  const secondsSince = (): number => (performance.now() - started) / 1000;
  let written: Awaited<ReturnType<typeof streamTar>>;
  try {
    written = await streamTar(loader, {
      ...begin,
      unit,
      output,
      signal: context.signal,
      onBatch: async (now, state) => {
        line.show(() => formatStreamProgress(now, secondsSince()));
        await file?.note(state, now.bytes, output.takenBytes);
      },
    });
    if (written.isWhole) await file?.finish(stateOf());
  } catch (error) {
    throw toFlagNames(error);
  } finally {
    await file?.save();
  }
  line.end();
  const { failures } = loader;
  if (failures.count > 0 && !flags.quiet) stderr.write(`${formatStreamFailures(failures, flags.verbose)}\n`);
  if (flags.json) stderr.write(`${JSON.stringify(streamAsJson(written, failures, stateOf(), secondsSince()))}\n`);
  else if (isTold) stderr.write(`${formatStreamSummary(written, secondsSince())}\n`);
  if (written.isWhole && written.items === 0 && failures.count > 0) {
    throw new InputError('The stream is empty: none of its items could be read');
  }
}

function checkFlags({ process: { stdout } }: CliContext, flags: StreamFlags): void {
  if (flags.quiet && flags.verbose) throw new UsageError('--quiet and --verbose exclude each other');
  if (flags.batches && flags.format !== undefined) {
    throw new UsageError('--format is of single samples, and --batches writes arrays');
  }
  if (flags.format === 'raw') refuseChanges(flags);
  if (!stdout.isTerminal) return;
  throw new UsageError('The stream is a tar, and standard output is a terminal', {
    hint: 'Pipe it into a reader, such as: cutroom stream … | tar t',
  });
}

/** Bytes as they are cannot be changed. */
function refuseChanges(flags: StreamFlags): void {
  const { sampleRate, speeds } = flags;
  const changes = {
    '--sample-rate': sampleRate === 'native' ? undefined : sampleRate,
    '--speeds': speeds,
    'noise or gain': hasAugment(flags) || undefined,
    'windows of files': hasWindows(flags) || undefined,
  };
  const [change] = Object.entries(changes).find(([, value]) => value !== undefined) ?? [];
  if (change === undefined) return;
  throw new UsageError(`--format raw passes bytes on as they are, which does not go with ${change}`, {
    hint: 'Give --format wav or --format flac.',
  });
}

function countOthers({ source, manifest, config }: StreamFlags, paths: readonly string[]): number {
  return paths.length + (source?.length ?? 0) + (manifest?.length ?? 0) + (config === undefined ? 0 : 1);
}

function rateOf({ sampleRate }: StreamFlags, request: LoadRequest | undefined): number | null {
  if (sampleRate === 'native') return null;
  return sampleRate ?? request?.configured?.sampleRate ?? DEFAULT_RATE;
}

async function loaderOptions(
  context: CliContext,
  flags: StreamFlags,
  request: LoadRequest,
  plan: PlanOptions,
  windows: OpenedWindows | undefined,
  others: number,
  line: ProgressLine,
): Promise<LoaderOptions> {
  const isRaw = flags.format === 'raw';
  if (isRaw && (plan.speeds ?? []).length > 0) {
    throw new UsageError('--format raw passes bytes on as they are, which does not go with the speeds of --config', {
      hint: 'Give --format wav or --format flac.',
    });
  }
  if (flags.batches) requireLimit(plan);
  const { rank, worldSize, worker, workers, onItemError, maxFailures, jobs, prefetch, indexes, tokenizer } = flags;
  const counter = tokenizer === undefined ? undefined : await openTokenizer(context, tokenizer, line);
  return {
    ...plan,
    epochItems: plan.epochItems ?? windows?.epochItems,
    source: request.source,
    filters: request.filters,
    textField: request.configured?.textField,
    tokenizer: needsTokens(flags, plan) ? counter : undefined,
    augment: await readAugment(flags, context.signal),
    sampleRate: isRaw ? undefined : rateOf(flags, request),
    rowLines: true,
    // Windows are decoded by processes of their own.
    jobs: others === 0 && windows !== undefined ? 0 : jobs,
    prefetch,
    oneByOne: !flags.batches,
    indexes: indexes === 'memory' || indexes === 'beside' ? indexes : { folder: indexes },
    ...{ rank, worldSize, worker, workers, onItemError, maxFailures },
  };
}

async function openLoader({ batches, format = 'wav' }: StreamFlags, options: LoaderOptions): Promise<Loader> {
  try {
    if (batches) return await createLoader(options);
    return await (format === 'raw' ? createRawLoader(options) : createEncodingLoader(options, format));
  } catch (error) {
    throw toFlagNames(error);
  }
}

/** An error of the library in the words of the command line. */
function toFlagNames(error: unknown): unknown {
  try {
    return inFlagNames(() => {
      throw error;
    });
  } catch (named) {
    return named;
  }
}

function refuseFaults({ table }: Loader, { onError, verbose }: StreamFlags): void {
  const faults = onError === 'skip' ? undefined : formatFaults(table.left, verbose);
  if (faults === undefined) return;
  const [first] = table.left.firstFaults;
  throw new InputError('Nothing is streamed: rows are faulty', {
    path: first?.path,
    line: first?.lineNumber,
    hint: 'Mend them, or leave them out with --on-error skip.',
  });
}

function unitOf({ batches, format = 'wav' }: StreamFlags, { numCopies = 1 }: PlanOptions): StreamTarOptions['unit'] {
  return batches ? { kind: 'batches' } : { kind: 'samples', format, copies: numCopies };
}

/** A state of an epoch before the first one that is asked for is passed over; one behind them leaves nothing to do. */
function beginOf(
  { epoch, epochs }: StreamFlags,
  state: LoaderState | undefined,
): Pick<StreamTarOptions, 'from' | 'epochs'> {
  const first = epoch ?? state?.epoch ?? 0;
  if (state === undefined || state.epoch < first) return { from: first, epochs };
  return { from: state, epochs: epochs === 'forever' ? epochs : Math.max(0, first + epochs - state.epoch) };
}

/**
 * Only a stream that is the only one knows what was taken.
 *
 * @throws OutputError when the file cannot be written.
 */
async function stateFileOf({ process: { stderr } }: CliContext, flags: StreamFlags): Promise<StateFile | undefined> {
  const { state, worldSize, workers, quiet } = flags;
  if (state === undefined) return undefined;
  if (worldSize * workers === 1) {
    await checkWritable(state);
    return new StateFile(state);
  }
  if (!quiet) {
    stderr.write(
      `note: "${state}" is read and not written: this is one of ${worldSize * workers} streams, and does not know what the others have come to.\n` +
        'Write the "state" of the samples into it, once all have taken it.\n',
    );
  }
  return undefined;
}
