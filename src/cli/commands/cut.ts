import { buildCommand, type FlagParametersForType } from '@stricli/core';
import { backendFlags, type BackendFlags } from '../cluster-flags.js';
import { isDivided, loadDivision } from '../division.js';
import type { CliContext } from '../context.js';
import {
  channelChoice,
  failureLimit,
  finiteNumber,
  nonEmpty,
  nonNegativeNumber,
  positiveInteger,
  positiveNumber,
} from '../values.js';

/** The flags of `cutroom cut`, parsed. */
export interface CutFlags {
  inputManifest: string;
  audioDir?: string;
  outputDir: string;
  outputManifest?: string;
  outputAudioTarPath?: string;
  metricsPath?: string;
  numShards?: number;
  snippetsPerShard?: number;
  hoursPerShard?: number;
  maxDurationSec: number;
  minDurationSec: number;
  minOverlapSec: number;
  maxSegmentGapInSnippet: number;
  tokenizerPath?: string;
  tokenizerCacheDir?: string;
  hfToken?: string;
  hfTokenFile?: string;
  repetitionFilter: boolean;
  ngramN: number;
  ngramMaxCount: number;
  targetSampleRate: number;
  outputFormat: 'flac' | 'wav' | 'ogg';
  channel: 'average' | number;
  audioFilepathKey: string;
  audioPathResolution: 'basename' | 'relative' | 'as_is';
  datasetName: string;
  onClash: 'refuse' | 'suffix';
  dryRun: boolean;
  overwrite: boolean;
  salvage: boolean;
  maxFailures: { count: number } | { percent: number };
  jobs?: number;
  recordingTimeout: number;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
}

/** The same, and where it is done. */
export type CutCommandFlags = CutFlags & BackendFlags & { executionMode?: 'streaming' | 'batch' };

const seconds = 'seconds';
const path = 'path';

/** What `cutroom cut` takes, but how it is divided. */
export const cutFlags: FlagParametersForType<CutFlags, CliContext> = {
  inputManifest: {
    kind: 'parsed',
    parse: nonEmpty,
    placeholder: path,
    brief: 'Long-form JSONL, one recording a line',
  },
  audioDir: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: path,
    brief: 'Folder of the recordings; not needed with as_is paths',
  },
  outputDir: {
    kind: 'parsed',
    parse: nonEmpty,
    placeholder: path,
    brief: 'Folder of the outputs; made if need be',
  },
  outputManifest: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: path,
    brief: 'Output manifest [snippets.jsonl in --output-dir]',
  },
  outputAudioTarPath: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: path,
    brief: 'Output tar [snippets.tar in --output-dir]',
  },
  metricsPath: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: path,
    brief: 'Output metrics [metrics.json in --output-dir]',
  },
  numShards: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: 'count',
    brief: 'So many shards instead of one tar, and a .lst that names them',
  },
  snippetsPerShard: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: 'count',
    brief: 'Shards of so many snippets',
  },
  hoursPerShard: {
    kind: 'parsed',
    parse: positiveNumber,
    optional: true,
    placeholder: 'hours',
    brief: 'Shards of so many planned hours: each ends with the snippet that reaches them',
  },
  maxDurationSec: {
    kind: 'parsed',
    parse: positiveNumber,
    placeholder: seconds,
    brief: 'Longest snippet; longer segments are dropped',
  },
  minDurationSec: {
    kind: 'parsed',
    parse: nonNegativeNumber,
    default: '0.5',
    placeholder: seconds,
    brief: 'Shortest snippet',
  },
  minOverlapSec: {
    kind: 'parsed',
    parse: finiteNumber,
    default: '0.5',
    placeholder: seconds,
    brief: 'Segments that overlap by this or more are both dropped',
  },
  maxSegmentGapInSnippet: {
    kind: 'parsed',
    parse: nonNegativeNumber,
    default: '30',
    placeholder: seconds,
    brief: 'Longest pause inside a snippet',
  },
  tokenizerPath: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: 'path|id',
    brief: 'Tokenizer: folder, tokenizer.json or Hub repository [built-in words]',
  },
  tokenizerCacheDir: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: path,
    brief: 'Cache for tokenizers of the Hub [the Hugging Face cache]',
  },
  hfToken: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: 'token',
    brief: 'Token for gated repositories; better in HF_TOKEN or --hf-token-file',
  },
  hfTokenFile: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: path,
    brief: 'File that holds the token',
  },
  repetitionFilter: { kind: 'boolean', default: true, brief: 'Drop snippets whose transcript loops' },
  ngramN: {
    kind: 'parsed',
    parse: positiveInteger,
    default: '10',
    placeholder: 'count',
    brief: 'Tokens in an n-gram',
  },
  ngramMaxCount: {
    kind: 'parsed',
    parse: positiveInteger,
    default: '3',
    placeholder: 'count',
    brief: 'A snippet with an n-gram more often than this is dropped',
  },
  targetSampleRate: {
    kind: 'parsed',
    parse: positiveInteger,
    default: '16000',
    placeholder: 'Hz',
    brief: 'Sample rate of the snippets',
  },
  outputFormat: {
    kind: 'enum',
    values: ['flac', 'wav', 'ogg'],
    default: 'flac',
    brief: 'FLAC or WAV of 16 bits, or Ogg Vorbis',
  },
  channel: {
    kind: 'parsed',
    parse: channelChoice,
    default: 'average',
    placeholder: 'average|N',
    brief: 'Average of all channels, or one of them, counted from 0',
  },
  audioFilepathKey: {
    kind: 'parsed',
    parse: nonEmpty,
    default: 'audio_filepath',
    placeholder: 'key',
    brief: 'Field that holds the path of the audio, in both manifests',
  },
  audioPathResolution: {
    kind: 'enum',
    values: ['basename', 'relative', 'as_is'],
    default: 'basename',
    brief: 'Join the last part of the path to --audio-dir, or all of it, or nothing',
  },
  datasetName: {
    kind: 'parsed',
    parse: nonEmpty,
    default: 'long_form_audio',
    placeholder: 'name',
    brief: 'Name in the metrics',
  },
  onClash: {
    kind: 'enum',
    values: ['refuse', 'suffix'],
    default: 'refuse',
    brief: 'Two snippets with one name: stop at once, or tell them apart by a hash',
  },
  dryRun: {
    kind: 'boolean',
    default: false,
    withNegated: false,
    brief: 'Plan only: manifest and metrics, without reading audio',
  },
  overwrite: {
    kind: 'boolean',
    default: false,
    withNegated: false,
    brief: 'Replace outputs of other options or input',
  },
  salvage: {
    kind: 'boolean',
    default: false,
    withNegated: false,
    brief: 'Publish what an interrupted run has finished, and end that run',
  },
  maxFailures: {
    kind: 'parsed',
    parse: failureLimit,
    default: '0',
    placeholder: 'N|P%',
    brief: 'Rows and snippets that may fail before the exit code is 1',
  },
  jobs: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: 'count',
    brief: 'Decoder processes [one a core]',
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
  verbose: {
    kind: 'boolean',
    default: false,
    withNegated: false,
    brief: 'Print each failure and warning as it is met',
  },
};

const executionMode = {
  kind: 'enum',
  values: ['streaming', 'batch'],
  optional: true,
  brief: 'Taken for the sake of commands for NeMo Curator; changes nothing',
} as const;

export const cutCommand = buildCommand<CutCommandFlags, [], CliContext>({
  loader: async () => {
    const { runCut } = await import('../run-cut.js');
    return async function run(this: CliContext, flags) {
      if (flags.executionMode !== undefined && !flags.quiet) {
        this.process.stderr.write('note: --execution-mode changes nothing here\n');
      }
      if (!isDivided(flags)) {
        await runCut(this, flags);
        return;
      }
      const [{ divideCut }, { runDivided }] = await loadDivision();
      await runDivided(this, await divideCut(flags, this.process.env), flags);
    };
  },
  docs: {
    brief: 'Cut long recordings with transcripts into snippets: one tar, one manifest, metrics',
    fullDescription: [
      'Cuts diarized, transcribed recordings into bounded mono snippets. Each line of the input manifest is a recording with its segments; the',
      'outputs are a tar of audio sorted by name, a manifest with a row for each snippet in the same order, metrics, and a list of all failures.',
      'With one of --num-shards, --snippets-per-shard and --hours-per-shard that order is cut into shards, snippets.000000.tar and so on.',
      'The same command goes on where an interrupted one stopped.',
      '',
      'EXAMPLE',
      '  cutroom cut --input-manifest talks.jsonl --audio-dir audio --output-dir out --max-duration-sec 30',
    ].join('\n'),
  },
  parameters: {
    flags: { ...cutFlags, ...backendFlags, executionMode },
  },
});
