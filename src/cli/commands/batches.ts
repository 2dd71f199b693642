import { buildCommand } from '@stricli/core';
import type { CliContext } from '../context.js';
import { PLAN_FLAGS, ROW_FLAGS, SOURCE_FLAGS, type PlanFlags, type RowFlags, type SourceFlags } from '../load-flags.js';
import { nonEmpty, positiveInteger } from '../values.js';

/** The flags of `cutroom batches`, parsed. */
export interface BatchesFlags extends SourceFlags, RowFlags, PlanFlags {
  worldSize: number;
  epochs: number;
  histogram: boolean;
  plot?: string;
  overwrite: boolean;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
}

export const batchesCommand = buildCommand<BatchesFlags, string[], CliContext>({
  loader: async () => {
    const { runBatches } = await import('../run-batches.js');
    return async function run(this: CliContext, flags, ...paths) {
      await runBatches(this, flags, paths);
    };
  },
  docs: {
    brief: 'Show the batches of whole epochs, without decoding: steps, padding, losses, hours a step',
    fullDescription: [
      'Plans epochs as training gets them, and tells how many steps each rank has, how much of the batches is padding, how even the steps are, and',
      'what each strategy would lose. Only manifests are read. Rows are left out by --min-length and the like; --max-duration and',
      'the like say what a batch may hold, and one of them is needed.',
      '',
      'EXAMPLES',
      '  cutroom batches --source data.lst --max-duration 600 --buckets 30 --world-size 8 --epochs 2',
      '  cutroom batches --source speech=a.lst:0.7 --source noisy=b.lst:0.3 --batch-size 16 --epoch-items 100000 --json',
      '  cutroom batches --manifest sharded_manifests/manifest__OP_0..63_CL_.json --tars audio__OP_0..63_CL_.tar --batch-size 16 --strategy scatter',
    ].join('\n'),
  },
  parameters: {
    positional: {
      kind: 'array',
      parameter: { brief: 'More sources, as --source without name and weight', parse: nonEmpty, placeholder: 'path' },
    },
    flags: {
      ...SOURCE_FLAGS,
      ...ROW_FLAGS,
      ...PLAN_FLAGS,
      worldSize: {
        kind: 'parsed',
        parse: positiveInteger,
        default: '1',
        placeholder: 'count',
        brief: 'Ranks that train together',
      },
      epochs: {
        kind: 'parsed',
        parse: positiveInteger,
        default: '1',
        placeholder: 'count',
        brief: 'Epochs that are planned',
      },
      histogram: { kind: 'boolean', default: true, brief: 'Show how hours spread over steps, as bars' },
      plot: {
        kind: 'parsed',
        parse: nonEmpty,
        optional: true,
        placeholder: 'path',
        brief: 'Write these bars, and those of the buckets, as an SVG file',
      },
      overwrite: { kind: 'boolean', default: false, withNegated: false, brief: 'Replace an earlier plot' },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print the figures as JSON on stdout' },
      quiet: { kind: 'boolean', default: false, withNegated: false, brief: 'Print errors only' },
      verbose: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Print each bucket, and each row that is refused',
      },
    },
  },
});
