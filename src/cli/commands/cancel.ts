import { buildCommand } from '@stricli/core';
import { PLAN_FOLDER } from '../cluster-flags.js';
import type { CliContext } from '../context.js';

/** The flags of `cutroom cancel`, parsed. */
export interface CancelFlags {
  json: boolean;
  quiet: boolean;
}

export const cancelCommand = buildCommand<CancelFlags, [string], CliContext>({
  loader: async () => {
    const { runCancel } = await import('../run-cancel.js');
    return async function run(this: CliContext, flags, folder) {
      await runCancel(this, flags, folder);
    };
  },
  docs: {
    brief: 'End the jobs that a cluster runs for a plan',
    fullDescription: [
      'Ends all jobs of a plan that "--backend slurm" or "--backend ray" submitted, those that wait and those that run. Tasks that are done stay',
      'done, and every snippet that is finished is kept; the command that submitted them goes on with the rest.',
      '',
      'EXAMPLE',
      '  cutroom cancel /shared/plan',
    ].join('\n'),
  },
  parameters: {
    positional: PLAN_FOLDER,
    flags: {
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print how many as JSON on stdout' },
      quiet: { kind: 'boolean', default: false, withNegated: false, brief: 'Print errors only' },
    },
  },
});
