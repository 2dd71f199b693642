import { buildCommand } from '@stricli/core';
import type { AudioFormat } from '../../audio/sample-rates.js';
import { audioFormat } from '../build-values.js';
import type { CliContext } from '../context.js';
import {
  drawPlace,
  epochCount,
  groupFlag,
  positiveDecimal,
  rateChoice,
  type DrawPlace,
  type GroupFlag,
  type WeightFlag,
} from '../sample-values.js';
import { nonEmpty, numberWhere, positiveInteger, positiveNumber } from '../values.js';
import { WINDOW_FLAGS } from '../window-flags.js';

/** The flags of `cutroom sample`, parsed. */
export interface SampleFlags {
  duration: string;
  hop?: string;
  alpha: number;
  jitter: boolean;
  grid: boolean;
  group?: readonly GroupFlag[];
  weight?: readonly WeightFlag[];
  filepaths?: string;
  scan?: string;
  extensions?: readonly string[];
  sampleRate: number | 'native';
  mono: boolean;
  padMode: 'constant' | 'edge' | 'reflect' | 'symmetric' | 'wrap';
  shuffle: boolean;
  shuffleSeed?: number;
  seed?: number;
  excerptSeed?: number;
  epochs?: number | 'forever';
  stop?: 'first_exhausted' | 'all_exhausted' | 'forever';
  lufsCache?: string;
  lufsCutoff?: number;
  explain?: DrawPlace;
  list?: number;
  from?: number;
  histogram: boolean;
  plot?: string;
  export?: string;
  count?: number;
  numTars?: number;
  samplesPerTar?: number;
  format?: AudioFormat;
  compressionLevel?: number;
  recordingTimeout: number;
  overwrite: boolean;
  onError: 'fail' | 'skip';
  jobs?: number;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
}

const path = 'path';
const count = 'count';
const number = 'number';
const wholeNumber = numberWhere('a whole number', Number.isSafeInteger);

export const sampleCommand = buildCommand<SampleFlags, string[], CliContext>({
  loader: async () => {
    const { runSample } = await import('../run-sample.js');
    return async function run(this: CliContext, flags, ...sources) {
      await runSample(this, flags, sources);
    };
  },
  docs: {
    brief: 'Show what will be drawn from long and short files: figures, single draws, or the audio',
    fullDescription: [
      'Lays windows over files and tells what training would draw: how many, how often each second, how much is padding. A file of n windows has',
      'round(n^alpha) slots: with alpha 0 each file counts as much as any other, with 1 each second does. Groups are mixed by weight, exactly.',
      '',
      '--explain EPOCH:INDEX tells how one draw comes about, --list N prints draws as JSON lines, --histogram shows how they spread, and',
      '--export DIR writes their audio as shards, as cutroom build does. Excerpts of files shorter than a window are exported as long as the file.',
      'Lengths are read from the files, or taken from a scan with --scan.',
      '',
      'EXAMPLE',
      '  cutroom sample --duration 1 --alpha 0.5 /data/speech',
      '  cutroom sample --duration 1 --alpha 0.5 --group speech=/data/speech:0.7 --group music=/data/music:0.3 --histogram',
      '  cutroom sample --duration 2 --scan cache/ --lufs-cutoff -40 --export excerpts/ --count 1000 --sample-rate 16000',
    ].join('\n'),
  },
  parameters: {
    positional: {
      kind: 'array',
      parameter: {
        brief: 'Files, folders with all below them, and patterns: *, ?, [a-z], {a,b} and **',
        parse: nonEmpty,
        placeholder: path,
      },
    },
    flags: {
      duration: {
        kind: 'parsed',
        parse: positiveDecimal,
        default: '1',
        placeholder: 'seconds',
        brief: 'Length of a window',
      },
      hop: WINDOW_FLAGS.hop,
      alpha: {
        kind: 'parsed',
        parse: numberWhere('a number from 0 to 1', (value) => value >= 0 && value <= 1),
        default: '1',
        placeholder: '0–1',
        brief: 'From one slot a file (0) to one a window (1)',
      },
      jitter: WINDOW_FLAGS.jitter,
      grid: WINDOW_FLAGS.grid,
      group: {
        kind: 'parsed',
        parse: groupFlag,
        variadic: true,
        optional: true,
        placeholder: 'NAME=PATH:WEIGHT',
        brief: 'Files of a group, and what it counts for [1]; give it for each group, more than once for more paths',
      },
      weight: WINDOW_FLAGS.weight,
      filepaths: {
        kind: 'parsed',
        parse: nonEmpty,
        optional: true,
        placeholder: path,
        brief: 'A list of files in the order that counts: a path a line, or a manifest of JSON objects',
      },
      scan: {
        kind: 'parsed',
        parse: nonEmpty,
        optional: true,
        placeholder: path,
        brief: 'Folder of cutroom scan: lengths come from it; all its files where no others are given',
      },
      extensions: WINDOW_FLAGS.extensions,
      sampleRate: {
        kind: 'parsed',
        parse: rateChoice,
        default: '44100',
        placeholder: 'Hz',
        brief: 'Rate of the excerpts, or "native" for that of each file',
      },
      mono: { kind: 'boolean', default: true, brief: 'Average the channels to one' },
      padMode: {
        kind: 'enum',
        values: ['constant', 'edge', 'reflect', 'symmetric', 'wrap'],
        default: 'constant',
        brief: 'How a dataset fills up windows of shorter files; exported ones are not',
      },
      shuffle: {
        kind: 'boolean',
        default: true,
        brief: 'An order of its own for each epoch; else file by file, in time',
      },
      shuffleSeed: {
        kind: 'parsed',
        parse: wholeNumber,
        optional: true,
        placeholder: number,
        brief: 'Decides the order [0]',
      },
      seed: {
        kind: 'parsed',
        parse: wholeNumber,
        optional: true,
        placeholder: number,
        brief: 'The same as --shuffle-seed',
      },
      excerptSeed: {
        kind: 'parsed',
        parse: wholeNumber,
        optional: true,
        placeholder: number,
        brief: 'Decides where in their slots windows start [the shuffle seed]',
      },
      epochs: {
        kind: 'parsed',
        parse: epochCount,
        optional: true,
        placeholder: 'N|forever',
        brief: 'Epochs of each group [1; forever with groups]',
      },
      stop: {
        kind: 'enum',
        values: ['first_exhausted', 'all_exhausted', 'forever'],
        optional: true,
        brief: 'When a mixture of so many epochs ends [first_exhausted]',
      },
      lufsCache: {
        kind: 'parsed',
        parse: nonEmpty,
        optional: true,
        placeholder: path,
        brief: 'Folder of a loudness cache, of cutroom scan --lufs or of audiotree: quiet windows are not drawn',
      },
      lufsCutoff: WINDOW_FLAGS.lufsCutoff,
      explain: {
        kind: 'parsed',
        parse: drawPlace,
        optional: true,
        placeholder: 'EPOCH:INDEX',
        brief: 'Tell how a draw comes about; both are counted from 0',
      },
      list: {
        kind: 'parsed',
        parse: positiveInteger,
        optional: true,
        placeholder: count,
        brief: 'Print so many draws as JSON lines',
      },
      from: {
        kind: 'parsed',
        parse: numberWhere('a whole number of 0 or more', (value) => Number.isSafeInteger(value) && value >= 0),
        optional: true,
        placeholder: number,
        brief: 'The first draw of the list [0]',
      },
      histogram: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Show how draws spread over files, seconds and parts of files, as bars',
      },
      plot: {
        kind: 'parsed',
        parse: nonEmpty,
        optional: true,
        placeholder: path,
        brief: 'Write these bars as an SVG file',
      },
      export: {
        kind: 'parsed',
        parse: nonEmpty,
        optional: true,
        placeholder: path,
        brief: 'Write draws as shards into this folder, made if need be',
      },
      count: {
        kind: 'parsed',
        parse: positiveInteger,
        optional: true,
        placeholder: count,
        brief: 'How many draws are exported [all; an epoch where they go on forever]',
      },
      numTars: {
        kind: 'parsed',
        parse: positiveInteger,
        optional: true,
        placeholder: count,
        brief: 'How many shards are exported [1]',
      },
      samplesPerTar: {
        kind: 'parsed',
        parse: positiveInteger,
        optional: true,
        placeholder: count,
        brief: 'The most excerpts of a shard, in place of --num-tars',
      },
      format: {
        kind: 'parsed',
        parse: audioFormat,
        optional: true,
        placeholder: 'FLAC|MP3|WAV|OGG|OPUS',
        brief: 'Of the exported excerpts [FLAC]',
      },
      compressionLevel: {
        kind: 'parsed',
        parse: numberWhere('a number from 0 to 1', (value) => value >= 0 && value <= 1),
        optional: true,
        placeholder: '0–1',
        brief: 'MP3 alone: from the best sound to the smallest files [0.65]',
      },
      recordingTimeout: {
        kind: 'parsed',
        parse: positiveNumber,
        default: '300',
        placeholder: 'seconds',
        brief: 'An excerpt whose decoder is silent for so long fails to be exported',
      },
      overwrite: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Replace an earlier plot, or shards of other options or files',
      },
      onError: {
        kind: 'enum',
        values: ['fail', 'skip'],
        default: 'fail',
        brief: 'Files that cannot be read: end with 1, or leave them out',
      },
      jobs: {
        kind: 'parsed',
        parse: positiveInteger,
        optional: true,
        placeholder: count,
        brief: 'Files read, or shards made, at once [one a core]',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print the figures as JSON on stdout' },
      quiet: { kind: 'boolean', default: false, withNegated: false, brief: 'Print errors only' },
      verbose: { kind: 'boolean', default: false, withNegated: false, brief: 'Print each file that is left out' },
    },
  },
});
