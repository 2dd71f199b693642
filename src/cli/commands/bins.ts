import { buildCommand } from '@stricli/core';
import type { CliContext } from '../context.js';
import {
  LIMIT_FLAGS,
  ROW_FLAGS,
  SOURCE_FLAGS,
  type LimitFlags,
  type RowFlags,
  type SourceFlags,
} from '../load-flags.js';
import { secondsOrAuto } from '../load-values.js';
import { nonEmpty, positiveInteger } from '../values.js';

/** The flags of `cutroom bins`, parsed. */
export interface BinsFlags
  extends SourceFlags, RowFlags, Pick<LimitFlags, 'maxDuration' | 'batchDuration' | 'quadraticDuration'> {
  buckets: number;
  tokens: boolean;
  tokenBuckets?: number;
  inner: boolean;
  maxBatchDuration?: number | 'auto';
  memoryModel?: string;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
}

export const binsCommand = buildCommand<BinsFlags, string[], CliContext>({
  loader: async () => {
    const { runBins } = await import('../run-bins.js');
    return async function run(this: CliContext, flags, ...paths) {
      await runBins(this, flags, paths);
    };
  },
  docs: {
    brief: 'Estimate duration bins for bucketing, and batch sizes for them',
    fullDescription: [
      'Divides rows into buckets of equal time, and prints num_buckets and bucket_duration_bins as NeMo takes them. Bins are upper bounds, the last one',
      'the longest row, as its estimate_duration_bins.py of 2026 prints them; --inner leaves the last out, as the one of 2025 did. What each bucket',
      'holds, and the padding that it saves, are told on stderr.',
      '',
      '--max-batch-duration adds bucket_batch_size: seconds divided by the bound of each bucket, or, with "auto", what fits into the memory of the',
      'device by points that were measured. Their file is JSON: {"points": [{"seconds": 5, "batchSize": 32, "memoryBytes": 9e9}, …],',
      '"limitBytes": 40e9}, 4 points or more, of several durations and batch sizes.',
      '',
      'EXAMPLES',
      '  cutroom bins train.json --buckets 30',
      '  cutroom bins train.json --buckets 30 --tokens --token-buckets 2 --tokenizer tokenizer.json',
      '  cutroom bins data.lst --buckets 10 --max-batch-duration auto --memory-model memory.json > bins.yaml',
    ].join('\n'),
  },
  parameters: {
    positional: {
      kind: 'array',
      parameter: {
        brief: 'NeMo manifests, .lst files and datasets; as --source without name and weight',
        parse: nonEmpty,
        placeholder: 'manifest',
      },
    },
    flags: {
      buckets: {
        kind: 'parsed',
        parse: positiveInteger,
        default: '30',
        placeholder: 'count',
        brief: 'Buckets of durations',
      },
      tokens: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Divide each bucket by tokens, too: bins of two dimensions',
      },
      tokenBuckets: {
        kind: 'parsed',
        parse: positiveInteger,
        optional: true,
        placeholder: 'count',
        brief: 'Buckets of tokens in each bucket of durations [2]',
      },
      inner: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Leave out the bound of the last bucket',
      },
      maxBatchDuration: {
        kind: 'parsed',
        parse: secondsOrAuto,
        optional: true,
        placeholder: 'seconds|auto',
        brief: 'Print the batch size of each bucket, too: by seconds with padding, or by --memory-model',
      },
      memoryModel: {
        kind: 'parsed',
        parse: nonEmpty,
        optional: true,
        placeholder: 'path',
        brief: 'Measured memory of steps, for --max-batch-duration auto',
      },
      ...SOURCE_FLAGS,
      ...ROW_FLAGS,
      maxDuration: {
        ...LIMIT_FLAGS.maxDuration,
        brief: 'Batches that padding is told for: longest item · items [600, or the batch sizes that are asked for]',
      },
      batchDuration: LIMIT_FLAGS.batchDuration,
      quadraticDuration: LIMIT_FLAGS.quadraticDuration,
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print all as JSON on stdout' },
      quiet: { kind: 'boolean', default: false, withNegated: false, brief: 'Print the bins and errors only' },
      verbose: { kind: 'boolean', default: false, withNegated: false, brief: 'Print each row that is refused' },
    },
  },
});
