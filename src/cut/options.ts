import { availableParallelism } from 'node:os';
import path from 'node:path';
import { SAMPLE_RATES } from '../audio/sample-rates.js';
import { UsageError } from '../errors.js';
import { partialPath } from '../run/atomic-file.js';
import { findListFault, isShardFile, listPathOf } from './shard-files.js';
import { resolveSharding, type Sharding, type ShardingOptions } from './sharding.js';
import type { AudioPathResolution, ChannelChoice, OutputFormat, PlanSettings } from './types.js';

/** At most so many failures, or so many in a hundred. */
export type FailureLimit = { count: number } | { percent: number };

/** What `cut` is asked for. Everything but the first three has a default. */
export interface CutOptions extends ShardingOptions {
  /** Long-form JSONL: one recording a line. */
  inputManifest: string;
  /** Folder of the outputs that have no path of their own, and of the work in progress. */
  outputDir: string;
  /** The longest snippet, in seconds. */
  maxDurationSeconds: number;
  /** Folder that `basename` and `relative` audio paths are joined to; needed unless `audioPathResolution` is `as_is`. */
  audioDir?: string | undefined;
  /** Default: `snippets.jsonl` in `outputDir`. With shards, `rows.jsonl` stands for `rows.000000.jsonl` and so on. */
  outputManifest?: string | undefined;
  /** Default: `snippets.tar` in `outputDir`. With shards, `audio.tar` stands for `audio.000000.tar` and so on, listed in `audio.lst`. */
  outputAudioTarPath?: string | undefined;
  /** Default: `metrics.json` in `outputDir`. */
  metricsPath?: string | undefined;
  /** The shortest snippet, in seconds. Default 0.5. */
  minDurationSeconds?: number | undefined;
  /** Segments that overlap by so much are both dropped, in seconds. Default 0.5. */
  minOverlapSeconds?: number | undefined;
  /** The longest pause inside a snippet, in seconds. Default 30. */
  maxSegmentGapSeconds?: number | undefined;
  /** A folder or `tokenizer.json`, or a Hub repository id. Default: the built-in `words` tokenizer. */
  tokenizerPath?: string | undefined;
  /** Default: the standard Hugging Face cache. */
  tokenizerCacheDir?: string | undefined;
  /** Token for gated tokenizer repositories. Default: what the environment and the Hub's login give. */
  hfToken?: string | undefined;
  hfTokenFile?: string | undefined;
  /** False keeps transcripts that loop. Default true. */
  repetitionFilter?: boolean | undefined;
  /** Tokens in an n-gram. Default 10. */
  ngramN?: number | undefined;
  /** A snippet with an n-gram more often than this is dropped. Default 3. */
  ngramMaxCount?: number | undefined;
  /** Hz. Default 16,000. */
  targetSampleRate?: number | undefined;
  /** Default `flac`. */
  outputFormat?: OutputFormat | undefined;
  /** Default `audio_filepath`. */
  audioFilepathKey?: string | undefined;
  /** Default `basename`. */
  audioPathResolution?: AudioPathResolution | undefined;
  /** Default `long_form_audio`. */
  datasetName?: string | undefined;
  /** Default `average`. */
  channel?: ChannelChoice | undefined;
  /** Default `refuse`. */
  onClash?: 'refuse' | 'suffix' | undefined;
  /** Plans only: manifest and metrics, without reading audio. */
  dryRun?: boolean | undefined;
  /** Decoder processes. Default: one a core. */
  jobs?: number | undefined;
  /** Replaces outputs of other options or input. */
  overwrite?: boolean | undefined;
  /** Publishes what an interrupted run has finished, and ends that run. */
  salvage?: boolean | undefined;
  /** Failures that still count as success. Default: none. */
  maxFailures?: FailureLimit | undefined;
  /** A recording whose decoder is silent for so long fails, in seconds. Default 300. */
  recordingTimeoutSeconds?: number | undefined;
}

/** Where a run writes. */
export interface CutOutputs {
  /** Of the outputs without a path of their own. */
  folder: string;
  /** Whether tar and manifest are split into shards, of which the names are made from theirs. */
  isSharded: boolean;
  manifest: string;
  tar: string;
  /** Names the shards; undefined without shards, and where a path holds white space, which a list cannot. */
  list: string | undefined;
  metrics: string;
  failures: string;
  /** Journal, lock and parts while a run is under way. */
  workFolder: string;
}

/** `CutOptions` with every default filled in. */
export interface ResolvedCutOptions {
  settings: PlanSettings;
  sharding: Sharding | undefined;
  outputs: CutOutputs;
  tokenizer: {
    path: string | undefined;
    cacheDir: string | undefined;
    token: string | undefined;
    tokenFile: string | undefined;
  };
  datasetName: string;
  channel: ChannelChoice;
  dryRun: boolean;
  jobs: number;
  overwrite: boolean;
  salvage: boolean;
  maxFailures: FailureLimit;
  recordingTimeoutSeconds: number;
}

/**
 * Fills in the defaults and checks what can be checked without looking at a file.
 *
 * @throws UsageError when outputs clash, the format cannot hold the rate, or shards are asked for in two ways
 * @throws RangeError when a number is out of its range
 */
export function resolveCutOptions(options: CutOptions): ResolvedCutOptions {
  const folder = path.resolve(options.outputDir);
  const place = (given: string | undefined, name: string): string =>
    given === undefined ? path.join(folder, name) : path.resolve(given);
  const sharding = resolveSharding(options);
  const places = {
    manifest: place(options.outputManifest, 'snippets.jsonl'),
    tar: place(options.outputAudioTarPath, 'snippets.tar'),
  };
  const outputs: CutOutputs = {
    folder,
    isSharded: sharding !== undefined,
    ...places,
    list: sharding === undefined || findListFault(places) !== undefined ? undefined : listPathOf(places),
    metrics: place(options.metricsPath, 'metrics.json'),
    failures: path.join(folder, 'failures.jsonl'),
    workFolder: path.join(folder, '.cutroom-cut'),
  };
  checkDistinct(outputs, path.resolve(options.inputManifest));
  const settings: PlanSettings = {
    inputManifest: options.inputManifest,
    audioDir: options.audioDir,
    audioFilepathKey: options.audioFilepathKey ?? 'audio_filepath',
    audioPathResolution: options.audioPathResolution ?? 'basename',
    maxDurationSeconds: options.maxDurationSeconds,
    minDurationSeconds: options.minDurationSeconds ?? 0.5,
    minOverlapSeconds: options.minOverlapSeconds ?? 0.5,
    maxSegmentGapSeconds: options.maxSegmentGapSeconds ?? 30,
    repetitionFilter: options.repetitionFilter ?? true,
    ngramN: options.ngramN ?? 10,
    ngramMaxCount: options.ngramMaxCount ?? 3,
    targetSampleRate: options.targetSampleRate ?? 16_000,
    outputFormat: options.outputFormat ?? 'flac',
    onClash: options.onClash ?? 'refuse',
  };
  checkRate(settings);
  const jobs = options.jobs ?? availableParallelism();
  if (!Number.isSafeInteger(jobs) || jobs < 1)
    throw new RangeError(`jobs must be a whole number of 1 or more, but is ${jobs}`);
  return {
    settings,
    sharding,
    outputs,
    tokenizer: {
      path: options.tokenizerPath,
      cacheDir: options.tokenizerCacheDir,
      token: options.hfToken,
      tokenFile: options.hfTokenFile,
    },
    datasetName: options.datasetName ?? 'long_form_audio',
    channel: options.channel ?? 'average',
    dryRun: options.dryRun ?? false,
    jobs,
    overwrite: options.overwrite ?? false,
    salvage: options.salvage ?? false,
    maxFailures: options.maxFailures ?? { count: 0 },
    recordingTimeoutSeconds: options.recordingTimeoutSeconds ?? 300,
  };
}

function checkDistinct(outputs: CutOutputs, inputManifest: string): void {
  const roles = [
    ['the input manifest', inputManifest],
    ['the output manifest', outputs.manifest],
    ['the audio tar', outputs.tar],
    ['the metrics', outputs.metrics],
    ['the failures', outputs.failures],
    ...(outputs.isSharded ? [['the list of shards', listPathOf(outputs)] as const] : []),
  ] as const;
  const seen = new Map<string, string>();
  for (const [role, file] of roles) {
    const other = seen.get(file);
    if (other !== undefined) {
      throw new UsageError(`${other} and ${role} have one path, "${file}"`, { hint: 'Give each its own path.' });
    }
    seen.set(file, role);
    // With --overwrite it would be removed as what an earlier run left.
    if (!isShardFile(outputs, file)) continue;
    throw new UsageError(`The path of ${role}, "${file}", is that of a shard of the outputs`, {
      hint: 'Choose another --output-dir, or other names.',
    });
  }
  for (const [role, file] of roles.slice(1)) {
    for (const beside of [partialPath(file), `${file}.lock`]) {
      const other = seen.get(beside);
      if (other === undefined) continue;
      throw new UsageError(`The path of ${other}, "${beside}", is needed while ${role} is written`, {
        hint: 'Choose another one.',
      });
    }
  }
}

function checkRate({ targetSampleRate, outputFormat }: PlanSettings): void {
  const { min, max } = SAMPLE_RATES[outputFormat];
  if (targetSampleRate >= min && targetSampleRate <= max) return;
  throw new UsageError(`${outputFormat} cannot hold ${targetSampleRate} Hz: it takes ${min} to ${max}`, {
    hint: 'Choose another --target-sample-rate or --output-format.',
  });
}
