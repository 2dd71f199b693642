import { buildCommand, type FlagParametersForType } from '@stricli/core';
import { backendFlags, type BackendFlags } from '../cluster-flags.js';
import { isDivided, loadDivision } from '../division.js';
import type { CliContext } from '../context.js';
import {
  channelChoice,
  failureLimit,
  nonEmpty,
  nonNegativeNumber,
  positiveInteger,
  positiveNumber,
} from '../values.js';

/** The flags of `cutroom tar`, parsed. */
export interface TarFlags {
  manifestPath?: readonly string[];
  concatManifestPaths?: readonly string[];
  metadataPath?: string;
  targetDir: string;
  numShards?: number;
  maxDuration?: number;
  minDuration?: number;
  shuffle?: boolean;
  shuffleSeed?: number;
  sortInShards?: boolean;
  keepFilesTogether?: boolean;
  remainder: 'spread' | 'drop';
  forceCodec?: 'flac' | 'wav' | 'ogg' | 'opus' | 'mp3';
  forceSamplingRate?: number;
  channel?: 'average' | number;
  sliceWithOffset?: boolean;
  subRows: boolean;
  bucketsNum: number;
  dynamicBucketsNum: number;
  shardManifests?: boolean;
  onlyManifests: boolean;
  index?: readonly ('wids' | 'energon' | 'lhotse')[];
  writeMetadata: boolean;
  dryRun: boolean;
  base?: string;
  onError: 'fail' | 'skip';
  maxFailures: { count: number } | { percent: number };
  overwrite: boolean;
  jobs?: number;
  workers?: number;
  recordingTimeout: number;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
}

/** The same, and where it is done. */
export type TarCommandFlags = TarFlags & BackendFlags;

const path = 'path';
const count = 'count';
const seconds = 'seconds';

/** What `cutroom tar` takes, but how it is divided. */
export const tarFlags: FlagParametersForType<TarFlags, CliContext> = {
  manifestPath: {
    kind: 'parsed',
    parse: nonEmpty,
    variadic: true,
    optional: true,
    placeholder: path,
    brief: 'NeMo manifest (.json, .jsonl, .gz), several with commas or one by one, or a packed dataset',
  },
  targetDir: {
    kind: 'parsed',
    parse: nonEmpty,
    default: './tarred',
    placeholder: path,
    brief: 'Folder of the dataset; made if need be',
  },
  numShards: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: count,
    brief: 'Shards, of each bucket',
  },
  maxDuration: {
    kind: 'parsed',
    parse: positiveNumber,
    optional: true,
    placeholder: seconds,
    brief: 'Leave out rows of this duration or longer [no bound]',
  },
  minDuration: {
    kind: 'parsed',
    parse: nonNegativeNumber,
    optional: true,
    placeholder: seconds,
    brief: 'Leave out shorter rows [no bound]',
  },
  shuffle: {
    kind: 'boolean',
    optional: true,
    withNegated: false,
    brief: "Shuffle the rows as Python's random does",
  },
  shuffleSeed: {
    kind: 'parsed',
    parse: wholeNumber,
    optional: true,
    placeholder: 'seed',
    brief: 'Seed of the shuffle [0]',
  },
  sortInShards: { kind: 'boolean', optional: true, withNegated: false, brief: 'Sort each shard by duration' },
  keepFilesTogether: {
    kind: 'boolean',
    optional: true,
    withNegated: false,
    brief: 'Put all rows of a file into one shard',
  },
  remainder: {
    kind: 'enum',
    values: ['spread', 'drop'],
    default: 'spread',
    brief: 'Rows too many for equal shards: one more in some shards, or dropped and listed',
  },
  sliceWithOffset: {
    kind: 'boolean',
    optional: true,
    withNegated: false,
    brief: "Cut each row's offset and duration out of its file",
  },
  subRows: {
    kind: 'boolean',
    default: false,
    withNegated: false,
    brief: "Rows that repeat a file share its member as NAME-sub1 and so on, as NeMo's converter does",
  },
  forceCodec: {
    kind: 'enum',
    values: ['flac', 'wav', 'ogg', 'opus', 'mp3'],
    optional: true,
    brief: 'Format of all members, mono [files as they are; cuts of WAV in WAV, others in FLAC]',
  },
  forceSamplingRate: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: 'Hz',
    brief: 'Sample rate of all members [that of each file]',
  },
  channel: {
    kind: 'parsed',
    parse: channelChoice,
    optional: true,
    placeholder: 'average|N',
    brief: 'Average of all channels, or one of them, counted from 0 [average where audio is encoded]',
  },
  bucketsNum: {
    kind: 'parsed',
    parse: positiveInteger,
    default: '1',
    placeholder: count,
    brief: 'Datasets by duration: bucket1/, bucket2/ and so on',
  },
  dynamicBucketsNum: {
    kind: 'parsed',
    parse: positiveInteger,
    default: '30',
    placeholder: count,
    brief: 'Buckets that the duration bins in the metadata are for',
  },
  shardManifests: { kind: 'boolean', optional: true, brief: 'Write sharded_manifests/ [yes]' },
  onlyManifests: {
    kind: 'boolean',
    default: false,
    withNegated: false,
    brief: 'Write manifests and metadata, no tars',
  },
  index: {
    kind: 'enum',
    values: ['wids', 'energon', 'lhotse'],
    variadic: ',',
    optional: true,
    brief: 'Indexes beside the shards, of all shards of each folder; a finished dataset gets those that it lacks',
  },
  writeMetadata: {
    kind: 'boolean',
    default: false,
    withNegated: false,
    brief: 'Write default_metadata.yaml and nothing else',
  },
  dryRun: { kind: 'boolean', default: false, withNegated: false, brief: 'Plan only, and write nothing' },
  concatManifestPaths: {
    kind: 'parsed',
    parse: nonEmpty,
    variadic: true,
    optional: true,
    placeholder: path,
    brief: 'Add rows to a dataset: its tarred_audio_manifest.json, then the manifests of the rows',
  },
  metadataPath: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: path,
    brief: 'metadata.yaml of the dataset that gains rows; options that are not given are as it says',
  },
  base: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: path,
    brief: 'Folder of relative paths [that of the manifest, else the current one]',
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
    brief: 'Replace a dataset of other options or input',
  },
  jobs: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: count,
    brief: 'Processes that make shards [one a core]',
  },
  workers: {
    kind: 'parsed',
    parse: workerCount,
    optional: true,
    placeholder: count,
    brief: 'The same by its name in NeMo; -1 is one a core',
  },
  recordingTimeout: {
    kind: 'parsed',
    parse: positiveNumber,
    default: '300',
    placeholder: seconds,
    brief: 'A recording whose decoder is silent for so long fails',
  },
  json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print the summary as JSON on stdout' },
  quiet: { kind: 'boolean', default: false, withNegated: false, brief: 'Print errors only' },
  verbose: { kind: 'boolean', default: false, withNegated: false, brief: 'Print each failure and warning' },
};

export const tarCommand = buildCommand<TarCommandFlags, string[], CliContext>({
  loader: async () => {
    const { runTar } = await import('../run-tar.js');
    return async function run(this: CliContext, flags, ...manifests) {
      if (!isDivided(flags)) {
        await runTar(this, flags, manifests);
        return;
      }
      const [{ divideTar }, { runDivided }] = await loadDivision();
      await runDivided(this, divideTar(flags, manifests, this.process.env), flags);
    };
  },
  docs: {
    brief: 'Pack NeMo manifests into tarred datasets: shards, their manifests, metadata',
    fullDescription: [
      "Makes what NeMo's convert_to_tarred_audio_dataset.py makes: audio_0.tar and so on, tarred_audio_manifest.json, sharded_manifests/ and",
      'metadata.yaml, with the same rows, names and order. Nothing is lost: rows that no shard can take evenly are spread, files whose names clash',
      'are told apart, rows that repeat a file get members of their own. Datasets that are packed already (a folder, a .lst, a manifest beside its',
      'tar) are taken as input, too. The same command goes on where an interrupted one stopped. Flags may be spelled with "_" for "-".',
      '',
      'EXAMPLES',
      '  cutroom tar --manifest-path train.json --target-dir tarred --num-shards 64 --max-duration 20 --min-duration 0.1 --shuffle',
      '  cutroom tar --manifest-path train.json --num-shards 64 --dry-run',
      '  cutroom tar --manifest-path train.json --target-dir tarred --num-shards 64 --index wids,energon,lhotse',
      '  cutroom tar --concat-manifest-paths tarred/tarred_audio_manifest.json more.json --metadata-path tarred/metadata.yaml --target-dir tarred',
    ].join('\n'),
  },
  parameters: {
    positional: {
      kind: 'array',
      parameter: { parse: nonEmpty, placeholder: 'manifest', brief: 'More manifests' },
    },
    flags: { ...tarFlags, ...backendFlags },
  },
});

function wholeNumber(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new SyntaxError('must be a whole number');
}

function workerCount(text: string): number {
  return text.trim() === '-1' ? -1 : positiveInteger(text);
}
