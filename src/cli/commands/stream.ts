import { buildCommand } from '@stricli/core';
import { AUGMENT_FLAGS, type AugmentFlags } from '../augment-flags.js';
import type { CliContext } from '../context.js';
import { PLAN_FLAGS, ROW_FLAGS, SOURCE_FLAGS, type PlanFlags, type RowFlags, type SourceFlags } from '../load-flags.js';
import { epochCount, rateChoice } from '../sample-values.js';
import { nonEmpty, numberWhere, positiveInteger } from '../values.js';
import { WINDOW_FLAGS, type WindowFlags } from '../window-flags.js';

/** The flags of `cutroom stream`, parsed. */
export interface StreamFlags extends SourceFlags, RowFlags, PlanFlags, WindowFlags, AugmentFlags {
  rank: number;
  worldSize: number;
  worker: number;
  workers: number;
  epoch?: number;
  epochs: number | 'forever';
  state?: string;
  batches: boolean;
  format?: 'wav' | 'flac' | 'raw';
  sampleRate?: number | 'native';
  onItemError: 'replace' | 'drop' | 'raise';
  maxFailures?: number;
  jobs?: number;
  prefetch?: number;
  indexes: string;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
}

const count = 'count';
const number = 'number';
const wholeNumber = numberWhere('a whole number of 0 or more', (value) => Number.isSafeInteger(value) && value >= 0);

export const streamCommand = buildCommand<StreamFlags, string[], CliContext>({
  loader: async () => {
    const { runStream } = await import('../run-stream.js');
    return async function run(this: CliContext, flags, ...paths) {
      await runStream(this, flags, paths);
    };
  },
  docs: {
    brief: 'Write samples or batches of any source as a tar to stdout, for WebDataset in Python',
    fullDescription: [
      'Plans epochs as cutroom batches shows them, and writes the share of one rank: each item as KEY.wav and KEY.json, in the order of the plan;',
      'with --batches each batch as arrays of NumPy, KEY.audio.npy and KEY.lengths.npy, and KEY.json. A reader that closes the stream early ends',
      'it, with exit code 0. Sources are those of cutroom batches, and windows of files, as cutroom sample draws them.',
      '',
      'EXAMPLES',
      '  cutroom stream data.lst | tar t',
      '  cutroom stream --source data.lst --max-duration 600 --buckets 30 --batches --rank 0 --world-size 8 --epoch 3',
      '  cutroom stream --group speech=/data/speech:0.7 --group music=/data/music:0.3 --duration 2 --alpha 0.5 --epochs forever',
    ].join('\n'),
  },
  parameters: {
    positional: {
      kind: 'array',
      parameter: { brief: 'More sources, as --source without name and weight', parse: nonEmpty, placeholder: 'path' },
    },
    flags: {
      ...SOURCE_FLAGS,
      ...WINDOW_FLAGS,
      ...ROW_FLAGS,
      ...PLAN_FLAGS,
      ...AUGMENT_FLAGS,
      rank: {
        kind: 'parsed',
        parse: wholeNumber,
        default: '0',
        placeholder: number,
        brief: 'Which of the ranks reads this stream',
      },
      worldSize: {
        kind: 'parsed',
        parse: positiveInteger,
        default: '1',
        placeholder: count,
        brief: 'Ranks that train together',
      },
      worker: {
        kind: 'parsed',
        parse: wholeNumber,
        default: '0',
        placeholder: number,
        brief: "Which of the rank's workers reads it",
      },
      workers: {
        kind: 'parsed',
        parse: positiveInteger,
        default: '1',
        placeholder: count,
        brief: 'Workers of a rank, which take its steps in turn',
      },
      epoch: {
        kind: 'parsed',
        parse: wholeNumber,
        optional: true,
        placeholder: number,
        brief: 'The first epoch [that of --state, or 0]',
      },
      epochs: {
        kind: 'parsed',
        parse: epochCount,
        default: '1',
        placeholder: 'N|forever',
        brief: 'How many epochs follow each other',
      },
      state: {
        kind: 'parsed',
        parse: nonEmpty,
        optional: true,
        placeholder: 'path',
        brief: 'Where the stream goes on, if the file is there; a stream that is the only one keeps it up to date',
      },
      batches: { kind: 'boolean', default: false, withNegated: false, brief: 'Write batches, not single samples' },
      format: {
        kind: 'enum',
        values: ['wav', 'flac', 'raw'],
        optional: true,
        brief: 'Of single samples: exact WAV, FLAC of 16 bits, or the bytes of members as they are [wav]',
      },
      sampleRate: {
        kind: 'parsed',
        parse: rateChoice,
        optional: true,
        placeholder: 'Hz',
        brief: 'Rate of the audio, or "native" for that of each recording [16000]',
      },
      onItemError: {
        kind: 'enum',
        values: ['replace', 'drop', 'raise'],
        default: 'replace',
        brief: 'Items that cannot be read: another takes the place, the batch is shorter, or end with 1',
      },
      maxFailures: {
        kind: 'parsed',
        parse: wholeNumber,
        optional: true,
        placeholder: count,
        brief: 'End with 1 when more items cannot be read [no bound]',
      },
      jobs: {
        kind: 'parsed',
        parse: wholeNumber,
        optional: true,
        placeholder: count,
        brief: 'Processes that decode; 0 decodes in that which writes [one a core]',
      },
      prefetch: {
        kind: 'parsed',
        parse: positiveInteger,
        optional: true,
        placeholder: count,
        brief: 'Batches that are decoded ahead [4]',
      },
      indexes: {
        kind: 'parsed',
        parse: nonEmpty,
        default: 'memory',
        placeholder: 'memory|beside|path',
        brief: 'Where indexes of tars are kept for the next start: nowhere, beside each tar, or in a folder',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print the figures as JSON on stderr' },
      quiet: { kind: 'boolean', default: false, withNegated: false, brief: 'Print errors only' },
      verbose: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Print progress and figures also where stderr is no terminal, and each item that cannot be read',
      },
    },
  },
});
