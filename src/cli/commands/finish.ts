import { buildCommand } from '@stricli/core';
import { PLAN_FOLDER } from '../cluster-flags.js';
import type { CliContext } from '../context.js';

/** The flags of `cutroom finish`, parsed. */
export interface FinishFlags {
  asShards: boolean;
  salvage: boolean;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
}

export const finishCommand = buildCommand<FinishFlags, [string], CliContext>({
  loader: async () => {
    const { runFinish } = await import('../run-finish.js');
    return async function run(this: CliContext, flags, folder) {
      await runFinish(this, flags, folder);
    };
  },
  docs: {
    brief: 'Make the outputs of a plan whose tasks are done',
    fullDescription: [
      'Makes the outputs that the command itself makes on one machine, byte for byte, and prints its summary. It may be given again, and by two at',
      'once: the second waits, and finds the outputs there. While tasks are missing it refuses, unless --salvage takes what there is.',
      '',
      'EXAMPLES',
      '  cutroom finish /shared/plan',
      '  cutroom finish /shared/plan --as-shards   one tar and manifest for each task of a cut, and a list',
    ].join('\n'),
  },
  parameters: {
    positional: PLAN_FOLDER,
    flags: {
      asShards: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Of a cut: one tar and manifest a task, as they are, and a list, in place of one tar',
      },
      salvage: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Make outputs of the tasks that are done, where others are not',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print the summary as JSON on stdout' },
      quiet: { kind: 'boolean', default: false, withNegated: false, brief: 'Print errors only' },
      verbose: { kind: 'boolean', default: false, withNegated: false, brief: 'Print each failure and warning' },
    },
  },
});
