import { UsageError } from '../errors.js';
import type { StopRule } from '../random/balance.js';
import type { OutputOptions } from './excerpt-dataset.js';
import type { SamplePlanOptions } from './sample-plan.js';
import { checkListPath, checkNamed, checkPaths } from './path-list.js';
import type { ScanFailure } from './scan-types.js';
import { weightsOf } from '../random/weights.js';

/** What `planSample` is asked for: of `sources`, `filepaths`, `groups` and `scan` as much as says which files. */
export interface SampleOptions
  extends Omit<SamplePlanOptions, 'numEpochs' | 'stop'>, Pick<OutputOptions, 'sampleRate' | 'mono' | 'padMode'> {
  /** Files, folders, which are searched with all below them, and patterns. */
  sources?: readonly string[] | undefined;
  /** A list of files in the order that counts: a path a line, or a manifest of JSON objects. */
  filepaths?: string | undefined;
  /** In place of sources: files, folders and patterns by the name of their group, to be mixed by weight. */
  groups?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Of groups, by their names; 1 where none is given. */
  weights?: Readonly<Record<string, number | string>> | undefined;
  /** Folder of a finished scan: lengths are taken from it. Without sources all its files are sampled. */
  scan?: string | undefined;
  /** Folder of a loudness cache. Default: that of the scan, where a cutoff is given. */
  lufsCache?: string | undefined;
  /** LUFS that each part of a window must have. Default -40 where a cache is given. */
  lufsCutoff?: number | undefined;
  /** Of each group, or `null` for no end. Default 1, and `null` with groups. */
  numEpochs?: number | null | undefined;
  /** When a mixture ends. Default `forever` for epochs without end, else `first_exhausted`. */
  stop?: StopRule | undefined;
  /** Extensions of the files that are taken from folders and patterns. Default: all that are known of audio. */
  extensions?: readonly string[] | undefined;
  /** Files that cannot be read: an error, or left out. Default `fail`. */
  onError?: 'fail' | 'skip' | undefined;
  /** Files read at once. Default: one a core. */
  jobs?: number | undefined;
}

/** How far the planning is. */
export type SampleProgress = { stage: 'find'; files: number } | { stage: 'read'; files: number; totalFiles: number };

/** What `planSample` is given beside its options. */
export interface SampleContext {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: SampleProgress) => void) | undefined;
  /** Takes each file that cannot be read, where these are left out. */
  onFailure?: ((failure: ScanFailure) => void) | undefined;
  /** Takes what is to be said of the list of files: that some are given twice. */
  onNotice?: ((message: string) => void) | undefined;
}

/**
 * Checks what can be checked without looking at a file.
 *
 * @throws {UsageError} when options do not go together, or say nothing.
 * @throws {TypeError} when paths are none.
 * @throws {RangeError} when a number is out of its range.
 */
export function checkSampleOptions(options: SampleOptions): void {
  checkSources(options);
  checkGroups(options);
  const { lufsCutoff, lufsCache, scan, jobs = 1 } = options;
  if (lufsCutoff !== undefined && lufsCache === undefined && scan === undefined) {
    throw new UsageError('A loudness cutoff is given without the loudness of the files', {
      hint: 'Measure it with "cutroom scan PATH --out DIR --lufs", and give --lufs-cache DIR.',
    });
  }
  const { alpha = 1, durationSeconds, hopSeconds = durationSeconds } = options;
  if (!(typeof alpha === 'number' && alpha >= 0 && alpha <= 1))
    throw new RangeError(`alpha must be from 0 to 1, not ${alpha}`);
  if (!(Number(durationSeconds) > 0)) throw new RangeError(`duration must be more than 0 s, not ${durationSeconds}`);
  if (!(Number(hopSeconds) > 0)) throw new RangeError(`hop must be more than 0 s, not ${hopSeconds}`);
  if (!(Number.isSafeInteger(jobs) && jobs >= 1)) throw new RangeError(`jobs must be 1 or more, not ${jobs}`);
}

function checkSources({ sources = [], filepaths, groups, scan }: SampleOptions): void {
  checkPaths('sources', sources);
  checkListPath('filepaths', filepaths);
  const given = [sources.length > 0, filepaths !== undefined, groups !== undefined].filter(Boolean).length;
  if (given > 1) {
    throw new UsageError('Files are given in more than one way', {
      hint: 'Give paths, or --filepaths LIST, or --group NAME=PATH for each group.',
    });
  }
  if (given === 0 && scan === undefined) {
    throw new UsageError('There is nothing to sample', {
      hint: 'Give files, folders or patterns, --group NAME=PATH:WEIGHT, --filepaths LIST or --scan DIR.',
    });
  }
}

function checkGroups({ groups, weights = {}, stop, numEpochs }: SampleOptions): void {
  const [weighted] = Object.keys(weights);
  if (groups !== undefined) checkNamed('groups', groups);
  for (const [name, paths] of Object.entries(groups ?? {})) checkPaths(`groups.${name}`, paths);
  if (groups !== undefined) weightsOf(Object.keys(groups), weights);
  else if (weighted !== undefined) {
    throw new UsageError(`A weight is given for "${weighted}", and there are no groups`, {
      hint: 'Name its files with --group NAME=PATH.',
    });
  }
  if (stop === undefined) return;
  if (groups === undefined) {
    throw new UsageError('--stop is given, and there are no groups that could end before each other', {
      hint: 'Give --group NAME=PATH for each group, or leave it out.',
    });
  }
  if ((numEpochs ?? null) === null && stop !== 'forever') {
    throw new UsageError(`A mixture of epochs without end cannot stop by "${stop}"`, { hint: 'Give --epochs too.' });
  }
}
