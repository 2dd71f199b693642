import path from 'node:path';
import { countWords } from '../count-words.js';
import { InputError, UsageError } from '../errors.js';
import { isRateHeld, nameRates, type AudioFormat } from '../audio/sample-rates.js';
import { shardPathFault } from '../manifest/shard-list.js';
import type { PlannedSample } from './plan-sample.js';

/** How draws become shards. */
export interface ExportOptions {
  /** Folder of the plan, the shards and the list; made if need be. */
  outputDir: string;
  /** How many draws, from the first. Default: all, or an epoch where they go on forever. */
  count?: number | undefined;
  /** How many shards. Default 1. */
  numTars?: number | undefined;
  /** The most excerpts of a shard, in place of `numTars`. */
  samplesPerTar?: number | undefined;
  /** Default `flac`. */
  format?: AudioFormat | undefined;
  /** 0 to 1, for MP3 alone. Default 0.65. */
  compressionLevel?: number | undefined;
  /** Shards made at once. Default: one a core. */
  jobs?: number | undefined;
  /** Replaces a plan and shards of other options or files. */
  overwrite?: boolean | undefined;
  /** A recording whose decoder is silent for so long fails, in seconds. Default 300. */
  recordingTimeoutSeconds?: number | undefined;
}

/** Where an export writes; absolute. */
export interface ExportOutputs {
  folder: string;
  plan: string;
  list: string;
  failures: string;
  metrics: string;
  workFolder: string;
}

/** What decides the shards of an export. */
export interface ExportSize {
  draws: number;
  shards: number;
}

/** Names the folder on the command line. */
export const FLAG = 'export';

/** The paths of all outputs but the shards. */
export function exportOutputs(outputDir: string): ExportOutputs {
  const folder = path.resolve(outputDir);
  const place = (name: string): string => path.join(folder, name);
  return {
    folder,
    plan: place('plan.jsonl'),
    list: place('data.lst'),
    failures: place('failures.jsonl'),
    metrics: place('metrics.json'),
    workFolder: place('.cutroom-sample'),
  };
}

/**
 * Checks the options of an export, and says how many excerpts and shards there are to be.
 *
 * @throws {UsageError} when options do not go together, or with what is drawn.
 * @throws {RangeError} when a number is out of its range.
 * @throws {InputError} when there are more shards than draws.
 */
export function sizeOfExport({ plan, output }: PlannedSample, options: ExportOptions): ExportSize {
  const { outputDir, numTars, samplesPerTar, format = 'flac', compressionLevel } = options;
  requireWhole('count', options.count);
  requireWhole('num-tars', numTars);
  requireWhole('samples-per-tar', samplesPerTar);
  requireWhole('jobs', options.jobs);
  if (outputDir.trim() === '') throw new UsageError('The output folder is empty');
  if (numTars !== undefined && samplesPerTar !== undefined) {
    throw new UsageError('Only one of --num-tars and --samples-per-tar can be given');
  }
  const fault = shardPathFault(path.resolve(outputDir));
  if (fault !== undefined) {
    throw new UsageError(`Cannot list shards in "${path.resolve(outputDir)}": ${fault}`, {
      hint: 'Choose another folder.',
    });
  }
  if (!output.mono) {
    throw new UsageError('Shards hold mono audio: --no-mono does not go with --export', { hint: 'Leave it out.' });
  }
  if (compressionLevel !== undefined && !(compressionLevel >= 0 && compressionLevel <= 1)) {
    throw new RangeError(`compression-level must be a number from 0 to 1, but is ${compressionLevel}`);
  }
  if (compressionLevel !== undefined && format !== 'mp3') {
    throw new UsageError(`--compression-level is for MP3 alone, not for ${format.toUpperCase()}`);
  }
  if (output.sampleRate !== null && !isRateHeld(format, output.sampleRate)) {
    throw new UsageError(`${format.toUpperCase()} cannot hold ${output.sampleRate} Hz: it takes ${nameRates(format)}`, {
      hint: 'Choose another --sample-rate or --format.',
    });
  }
  const draws = options.count ?? (Number.isFinite(plan.length) ? plan.length : plan.epochLength);
  if (draws > plan.length) {
    throw new UsageError(`--count ${draws} is more than the ${countWords(plan.length, 'draw')} of the plan`, {
      hint: 'Give more --epochs, or --epochs forever.',
    });
  }
  if (samplesPerTar !== undefined) return { draws, shards: Math.ceil(draws / samplesPerTar) };
  const shards = numTars ?? 1;
  if (shards <= draws) return { draws, shards };
  throw new InputError(`Cannot make ${countWords(shards, 'shard')} of ${countWords(draws, 'draw')}`, {
    hint: `Give --num-tars ${draws} or less: a shard without a row is of no use, and stops some loaders.`,
  });
}

function requireWhole(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) return;
  throw new RangeError(`${name} must be a whole number of 1 or more, but is ${value}`);
}
