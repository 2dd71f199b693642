import { buildCommand, type FlagParametersForType } from '@stricli/core';
import type { AudioFormat } from '../../audio/sample-rates.js';
import { backendFlags, type BackendFlags } from '../cluster-flags.js';
import { isDivided, loadDivision } from '../division.js';
import type { CliContext } from '../context.js';
import { audioFormat, yesOrNo } from '../build-values.js';
import { channelChoice, failureLimit, nonEmpty, numberWhere, positiveInteger, positiveNumber } from '../values.js';

/** The flags of `cutroom build`, parsed. */
export interface BuildFlags {
  input?: string;
  outputDir: string;
  numTars?: number;
  samplesPerTar?: number;
  durationPerTar?: number;
  balanceBy?: 'samples' | 'duration';
  format?: AudioFormat;
  compressionLevel?: number;
  sampleRate?: number;
  channel?: 'average' | number;
  copy: boolean;
  normalizeText?: 'none' | 'cjk';
  base?: string;
  inputFormat?: 'auto' | 'tsv' | 'csv' | 'jsonl';
  onBadId?: 'fail' | 'flatten';
  seed?: number;
  splitBits?: number;
  tarPrefix?: string;
  noLst?: boolean;
  planOnly: boolean;
  splitStart?: number;
  splitEnd?: number;
  jobs?: number;
  workers?: number;
  onError: 'fail' | 'skip';
  maxFailures: { count: number } | { percent: number };
  overwrite: boolean;
  recordingTimeout: number;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
}

/** The same, and where it is done. */
export type BuildCommandFlags = BuildFlags & BackendFlags;

const path = 'path';
const count = 'count';

/** What `cutroom build` takes, but how it is divided. */
export const buildFlags: FlagParametersForType<BuildFlags, CliContext> = {
  input: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: path,
    brief: 'TSV, CSV, JSONL or packed dataset; - is standard input; not needed with a plan',
  },
  outputDir: {
    kind: 'parsed',
    parse: nonEmpty,
    placeholder: path,
    brief: 'Folder of the plan, the shards and the list; made if need be',
  },
  numTars: { kind: 'parsed', parse: positiveInteger, optional: true, placeholder: count, brief: 'How many shards' },
  samplesPerTar: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: count,
    brief: 'The most samples of a shard, in place of --num-tars',
  },
  durationPerTar: {
    kind: 'parsed',
    parse: positiveNumber,
    optional: true,
    placeholder: 'hours',
    brief: 'Hours of a shard, about, in place of --num-tars',
  },
  balanceBy: {
    kind: 'enum',
    values: ['samples', 'duration'],
    optional: true,
    brief: 'What shards have equally much of [duration; samples with --samples-per-tar]',
  },
  format: {
    kind: 'parsed',
    parse: audioFormat,
    optional: true,
    placeholder: 'FLAC|MP3|WAV|OGG|OPUS',
    brief: 'FLAC, MP3, WAV, OGG or OPUS; the loader of ATdataset reads the first three [FLAC]',
  },
  compressionLevel: {
    kind: 'parsed',
    parse: numberWhere('a number from 0 to 1', (value) => value >= 0 && value <= 1),
    optional: true,
    placeholder: '0–1',
    brief: 'MP3 alone: from the best sound to the smallest files [0.65]',
  },
  sampleRate: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: 'Hz',
    brief: 'Sample rate of the members [that of each recording]',
  },
  channel: {
    kind: 'parsed',
    parse: channelChoice,
    optional: true,
    placeholder: 'average|N',
    brief: 'Average of all channels, or one of them, counted from 0 [average]',
  },
  copy: {
    kind: 'boolean',
    default: false,
    withNegated: false,
    brief: 'Take files as they are where format, rate and channels fit already',
  },
  normalizeText: {
    kind: 'enum',
    values: ['none', 'cjk'],
    optional: true,
    brief: 'cjk: consistent spacing of Chinese and Japanese; Korean keeps its spaces [none]',
  },
  base: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: path,
    brief: 'Folder of relative audio paths [that of the input]',
  },
  inputFormat: {
    kind: 'enum',
    values: ['auto', 'tsv', 'csv', 'jsonl'],
    optional: true,
    brief: 'Kind of the input [auto: by its name, or its first line]',
  },
  onBadId: {
    kind: 'enum',
    values: ['fail', 'flatten'],
    optional: true,
    brief: 'Ids that loaders would lose, as those with dots: the row fails, or "." becomes "_" [fail]',
  },
  seed: {
    kind: 'parsed',
    parse: numberWhere('a whole number', Number.isSafeInteger),
    optional: true,
    placeholder: 'number',
    brief: 'Decides the order [42]',
  },
  splitBits: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: count,
    brief: "Digits of a shard's number [6]",
  },
  tarPrefix: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: 'text',
    brief: 'What the names of shards begin with [the name of the input]',
  },
  noLst: {
    kind: 'parsed',
    parse: yesOrNo,
    inferEmpty: true,
    optional: true,
    placeholder: 'yes|no',
    brief: 'Write no list',
  },
  planOnly: {
    kind: 'boolean',
    default: false,
    withNegated: false,
    brief: 'Stop when the plan is written, and show it',
  },
  splitStart: {
    kind: 'parsed',
    parse: numberWhere('a whole number of 0 or more', (value) => Number.isSafeInteger(value) && value >= 0),
    optional: true,
    placeholder: 'number',
    brief: 'First shard to make, counted from 0; needs the plan alone',
  },
  splitEnd: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: 'number',
    brief: 'Shard before which to stop',
  },
  jobs: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: count,
    brief: 'Shards made at once [one a core]',
  },
  workers: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: count,
    brief: 'The same as --jobs',
  },
  onError: {
    kind: 'enum',
    values: ['fail', 'skip'],
    default: 'fail',
    brief: 'Exit code where more fails than --max-failures allows: 1, or 0 all the same',
  },
  maxFailures: {
    kind: 'parsed',
    parse: failureLimit,
    default: '0',
    placeholder: 'N|P%',
    brief: 'Rows that may fail before the exit code is 1',
  },
  overwrite: {
    kind: 'boolean',
    default: false,
    withNegated: false,
    brief: 'Replace a plan and shards of other options or input',
  },
  recordingTimeout: {
    kind: 'parsed',
    parse: positiveNumber,
    default: '300',
    placeholder: 'seconds',
    brief: 'A recording whose decoder is silent for so long fails',
  },
  json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print the summary as JSON on stdout' },
  quiet: { kind: 'boolean', default: false, withNegated: false, brief: 'Print errors only' },
  verbose: { kind: 'boolean', default: false, withNegated: false, brief: 'Print each failure and warning' },
};

export const buildShardsCommand = buildCommand<BuildCommandFlags, [], CliContext>({
  loader: async () => {
    const { runBuild } = await import('../run-build.js');
    return async function run(this: CliContext, flags) {
      if (!isDivided(flags)) {
        await runBuild(this, flags);
        return;
      }
      const [{ divideBuild }, { runDivided }] = await loadDivision();
      await runDivided(this, divideBuild(flags, this.process.env), flags);
    };
  },
  docs: {
    brief: 'Pack utterances into tar shards for ATdataset: tars, manifests and a .lst file',
    fullDescription: [
      'Packs the utterances of a manifest into exactly as many shards as are asked for, at random by the seed: audios/<prefix>.<number>.tar,',
      'manifests/<prefix>.<number>.jsonl and data.lst. The input is a TSV of id, audio_path, text[, start, duration[, JSON object]] or with a',
      'header line, a CSV with a header, JSONL, any of them gzipped, or a packed dataset: a folder or list that cutroom made, or a manifest beside',
      'its tar. A duration below 0 goes to the end of the file.',
      '',
      'The plan is written first, as plan.jsonl in the output folder; --split-start and --split-end make a part of its shards, on any machine. The',
      'same command goes on where an interrupted one stopped. What cannot be packed is listed in failures.jsonl, the rest is packed.',
      '',
      'EXAMPLE',
      '  cutroom build --input train.tsv --output-dir data/tars --num-tars 64 --sample-rate 16000',
    ].join('\n'),
  },
  parameters: {
    flags: { ...buildFlags, ...backendFlags },
  },
});
