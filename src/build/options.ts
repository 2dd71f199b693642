import { availableParallelism } from 'node:os';
import path from 'node:path';
import { isRateHeld, nameRates, type AudioFormat } from '../audio/sample-rates.js';
import type { ChannelMix } from '../audio/channel-mix.js';
import { UsageError } from '../errors.js';
import { shardPathFault } from '../manifest/shard-list.js';
import type { OptionValue } from '../shard/plan.js';

export type InputFormat = 'auto' | 'tsv' | 'csv' | 'jsonl';

/** At most so many failures, or so many in a hundred. */
export type BuildFailureLimit = { count: number } | { percent: number };

/** What `build` is asked for. */
export interface BuildOptions {
  /** TSV, CSV or JSONL, plain or gzipped; `-` with `stdin` of the context; a packed dataset. Not needed where a plan is in `outputDir`. */
  input?: string | undefined;
  outputDir: string;
  /** How many shards there are to be. This, `samplesPerTar` or `durationPerTar` is needed for a plan. */
  numTars?: number | undefined;
  /** The most samples of a shard. */
  samplesPerTar?: number | undefined;
  /** Hours of a shard, about. */
  durationPerTar?: number | undefined;
  /** Default `duration`, and `samples` with `samplesPerTar`. */
  balanceBy?: 'samples' | 'duration' | undefined;
  /** Default `flac`. */
  format?: AudioFormat | undefined;
  /** MP3 alone: 0 is the best sound, 1 the smallest file. Default 0.65. */
  compressionLevel?: number | undefined;
  /** Hz. Default: that of each recording. */
  sampleRate?: number | undefined;
  /** Default `average`. */
  channel?: ChannelMix | undefined;
  /** Takes files as they are where format, rate and channels fit. */
  copy?: boolean | undefined;
  /** Default `none`. */
  normalizeText?: 'none' | 'cjk' | undefined;
  /** Default: the folder of the input; for standard input the working folder. */
  base?: string | undefined;
  /** Default `auto`. */
  inputFormat?: InputFormat | undefined;
  /** What becomes of ids that a loader would not find again: the row fails, or dots and the like become `_`. Default `fail`. */
  onBadId?: 'fail' | 'flatten' | undefined;
  /** Default 42. */
  seed?: number | undefined;
  /** Digits of a shard's number. Default 6. */
  splitBits?: number | undefined;
  /** Default: the name of the input without its suffix. */
  tarPrefix?: string | undefined;
  /** Writes no list. */
  noLst?: boolean | undefined;
  /** Stops when the plan is written. */
  planOnly?: boolean | undefined;
  /** The first shard to make, counted from 0. */
  splitStart?: number | undefined;
  /** The shard before which to stop. */
  splitEnd?: number | undefined;
  /** Decoder processes. Default: one a core. */
  jobs?: number | undefined;
  /** `skip` counts any number of failures as success. Default `fail`. */
  onError?: 'fail' | 'skip' | undefined;
  /** Failures that still count as success. Default: none. */
  maxFailures?: BuildFailureLimit | undefined;
  /** Replaces a plan and shards of other input or options. */
  overwrite?: boolean | undefined;
  /** A recording whose decoder is silent for so long fails, in seconds. Default 300. */
  recordingTimeoutSeconds?: number | undefined;
}

/** How rows are spread over shards. */
export type Sizing =
  | { kind: 'num-tars'; count: number }
  | { kind: 'samples-per-tar'; each: number }
  | { kind: 'duration-per-tar'; each: number };

/** What decides a plan, with every default filled in. */
export interface PlanOptions {
  sizing: Sizing;
  balanceBy: 'samples' | 'duration';
  format: AudioFormat;
  compressionLevel: number | null;
  sampleRate: number | null;
  channel: ChannelMix;
  copy: boolean;
  normalizeText: 'none' | 'cjk';
  inputFormat: InputFormat;
  onBadId: 'fail' | 'flatten';
  seed: number;
  splitBits: number;
  tarPrefix: string;
  /** Absolute. */
  base: string;
}

/** Where a run writes. */
export interface BuildOutputs {
  folder: string;
  plan: string;
  list: string;
  failures: string;
  metrics: string;
  workFolder: string;
}

/** The paths of all outputs but the shards, absolute. */
export function buildOutputs(outputDir: string): BuildOutputs {
  const folder = path.resolve(outputDir);
  const place = (name: string): string => path.join(folder, name);
  return {
    folder,
    plan: place('plan.jsonl'),
    list: place('data.lst'),
    failures: place('failures.jsonl'),
    metrics: place('metrics.json'),
    workFolder: place('.cutroom-build'),
  };
}

const SIZINGS = '--num-tars, --samples-per-tar or --duration-per-tar';
const MAX_SPLIT_BITS = 16;

/**
 * Checks what can be checked without looking at a file.
 *
 * @throws UsageError when options clash
 * @throws RangeError when a number is out of its range
 */
export function checkBuildOptions(options: BuildOptions): void {
  if (options.outputDir.trim() === '') throw new UsageError('The output folder is empty');
  requireWhole('num-tars', options.numTars, 1);
  requireWhole('samples-per-tar', options.samplesPerTar, 1);
  requireWhole('sample-rate', options.sampleRate, 1);
  requireWhole('split-bits', options.splitBits, 1, MAX_SPLIT_BITS);
  requireWhole('split-start', options.splitStart, 0);
  requireWhole('split-end', options.splitEnd, 1);
  requireWhole('jobs', options.jobs, 1);
  requireWhole('seed', options.seed, Number.MIN_SAFE_INTEGER);
  const { durationPerTar, compressionLevel, recordingTimeoutSeconds, splitStart = 0, splitEnd = Infinity } = options;
  if (durationPerTar !== undefined && !(durationPerTar > 0 && Number.isFinite(durationPerTar)))
    throw new RangeError(`duration-per-tar must be a number greater than 0, but is ${durationPerTar}`);
  if (compressionLevel !== undefined && !(compressionLevel >= 0 && compressionLevel <= 1))
    throw new RangeError(`compression-level must be a number from 0 to 1, but is ${compressionLevel}`);
  if (recordingTimeoutSeconds !== undefined && !(recordingTimeoutSeconds > 0))
    throw new RangeError(`recording-timeout must be a number greater than 0, but is ${recordingTimeoutSeconds}`);
  checkSizing(options);
  if (splitStart >= splitEnd) {
    throw new UsageError(`--split-start ${splitStart} is not below --split-end ${splitEnd}`, {
      hint: 'The shards from the start up to, but not with, the end are made.',
    });
  }
  if (options.planOnly === true && (options.splitStart !== undefined || options.splitEnd !== undefined)) {
    throw new UsageError('--plan-only makes no shards: it does not go with --split-start and --split-end');
  }
  if (options.tarPrefix !== undefined) checkPrefix(options.tarPrefix);
  if (options.input === '') throw new UsageError('The input is empty');
  if (compressionLevel !== undefined && options.format !== 'mp3' && options.format !== undefined) {
    throw new UsageError(`--compression-level is for MP3 alone, not for ${options.format.toUpperCase()}`, {
      hint: 'Leave it out, or give --format MP3.',
    });
  }
}

function checkSizing(options: BuildOptions): void {
  const { numTars, samplesPerTar, durationPerTar, balanceBy } = options;
  const given = [numTars, samplesPerTar, durationPerTar].filter((value) => value !== undefined);
  if (given.length > 1) {
    throw new UsageError(`Only one of ${SIZINGS} can be given`, { hint: 'Say either how many shards, or how large.' });
  }
  if (samplesPerTar !== undefined && balanceBy === 'duration')
    throw new UsageError('--samples-per-tar does not go with --balance-by duration', { hint: BALANCE_HINT });
  if (durationPerTar !== undefined && balanceBy === 'samples')
    throw new UsageError('--duration-per-tar does not go with --balance-by samples', { hint: BALANCE_HINT });
}

const BALANCE_HINT = 'Give --num-tars to choose what is balanced.';

/** Whether enough is said to make a plan. */
export function hasSizing({ numTars, samplesPerTar, durationPerTar }: BuildOptions): boolean {
  return (numTars ?? samplesPerTar ?? durationPerTar) !== undefined;
}

/**
 * Fills in the defaults of what decides a plan.
 *
 * @throws UsageError when the size of shards is not given, or the format cannot hold the rate
 */
export function resolvePlanOptions(options: BuildOptions): PlanOptions {
  const { numTars, samplesPerTar, durationPerTar, input = '-' } = options;
  const format = options.format ?? 'flac';
  const sampleRate = options.sampleRate ?? null;
  if (options.compressionLevel !== undefined && format !== 'mp3') {
    throw new UsageError(`--compression-level is for MP3 alone, not for ${format.toUpperCase()}`, {
      hint: 'Leave it out, or give --format MP3.',
    });
  }
  if (sampleRate !== null && !isRateHeld(format, sampleRate)) {
    throw new UsageError(`${format.toUpperCase()} cannot hold ${sampleRate} Hz: it takes ${nameRates(format)}`, {
      hint: 'Choose another --sample-rate or --format.',
    });
  }
  const tarPrefix = options.tarPrefix ?? prefixOf(input);
  checkPrefix(tarPrefix);
  return {
    sizing: sizingOf({ numTars, samplesPerTar, durationPerTar }),
    balanceBy: options.balanceBy ?? (samplesPerTar === undefined ? 'duration' : 'samples'),
    format,
    compressionLevel: format === 'mp3' ? (options.compressionLevel ?? 0.65) : null,
    sampleRate,
    channel: options.channel ?? 'average',
    copy: options.copy ?? false,
    normalizeText: options.normalizeText ?? 'none',
    inputFormat: options.inputFormat ?? 'auto',
    onBadId: options.onBadId ?? 'fail',
    seed: options.seed ?? 42,
    splitBits: options.splitBits ?? 6,
    tarPrefix,
    base: path.resolve(options.base ?? (input === '-' ? '.' : path.dirname(path.resolve(input)))),
  };
}

function sizingOf(given: Pick<BuildOptions, 'numTars' | 'samplesPerTar' | 'durationPerTar'>): Sizing {
  const { numTars, samplesPerTar, durationPerTar } = given;
  if (numTars !== undefined) return { kind: 'num-tars', count: numTars };
  if (samplesPerTar !== undefined) return { kind: 'samples-per-tar', each: samplesPerTar };
  if (durationPerTar !== undefined) return { kind: 'duration-per-tar', each: durationPerTar };
  throw new UsageError('It is not said how many shards there are to be', { hint: `Give ${SIZINGS}.` });
}

/** `corpus/train.tsv.gz` is `train`; standard input is `data`. */
function prefixOf(input: string): string {
  if (input === '-') return 'data';
  const name = path.basename(path.resolve(input));
  return name.replace(/\.gz$/iu, '').replace(/(?<=.)\.[^.]*$/u, '');
}

function checkPrefix(prefix: string): void {
  const fault = prefix.includes('/') || prefix.includes('\\') ? 'it holds a slash' : shardPathFault(prefix);
  const other = prefix.startsWith('.') ? 'it starts with a dot, which hides the shards' : undefined;
  if (fault === undefined && other === undefined) return;
  throw new UsageError(`Cannot name shards "${prefix}": ${fault ?? other}`, { hint: 'Give another --tar-prefix.' });
}

/** A plan's options by their names on the command line, as the plan's header holds them. */
export function describePlanOptions(options: PlanOptions): Record<string, OptionValue> {
  const { sizing } = options;
  return {
    'num-tars': sizing.kind === 'num-tars' ? sizing.count : null,
    'samples-per-tar': sizing.kind === 'samples-per-tar' ? sizing.each : null,
    'duration-per-tar': sizing.kind === 'duration-per-tar' ? sizing.each : null,
    'balance-by': options.balanceBy,
    format: options.format,
    'compression-level': options.compressionLevel,
    'sample-rate': options.sampleRate,
    channel: options.channel,
    copy: options.copy,
    'normalize-text': options.normalizeText,
    'input-format': options.inputFormat,
    'on-bad-id': options.onBadId,
    seed: options.seed,
    'split-bits': options.splitBits,
    'tar-prefix': options.tarPrefix,
  };
}

/** The same of those options alone that were given. */
export function describeGivenOptions(options: BuildOptions): Record<string, OptionValue> {
  const given: Record<string, OptionValue | undefined> = {
    'num-tars': options.numTars,
    'samples-per-tar': options.samplesPerTar,
    'duration-per-tar': options.durationPerTar,
    'balance-by': options.balanceBy,
    format: options.format,
    'compression-level': options.compressionLevel,
    'sample-rate': options.sampleRate,
    channel: options.channel,
    copy: options.copy === true ? true : undefined,
    'normalize-text': options.normalizeText,
    'input-format': options.inputFormat,
    'on-bad-id': options.onBadId,
    seed: options.seed,
    'split-bits': options.splitBits,
    'tar-prefix': options.tarPrefix,
  };
  const entries = Object.entries(given).filter((entry): entry is [string, OptionValue] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}

/** How many processes work at once. */
export function jobsOf({ jobs }: BuildOptions): number {
  return jobs ?? availableParallelism();
}

function requireWhole(name: string, value: number | undefined, least: number, most = Number.MAX_SAFE_INTEGER): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least && value <= most)) return;
  const range = most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`;
  throw new RangeError(`${name} must be a whole number ${range}, but is ${value}`);
}
