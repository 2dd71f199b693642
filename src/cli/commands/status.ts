import { buildCommand } from '@stricli/core';
import { PLAN_FOLDER } from '../cluster-flags.js';
import type { CliContext } from '../context.js';

/** The flags of `cutroom status`, parsed. */
export interface StatusFlags {
  watch: boolean;
  json: boolean;
  verbose: boolean;
}

export const statusCommand = buildCommand<StatusFlags, [string], CliContext>({
  loader: async () => {
    const { runStatus } = await import('../run-status.js');
    return async function run(this: CliContext, flags, folder) {
      await runStatus(this, flags, folder);
    };
  },
  docs: {
    brief: 'Tell how the tasks of a plan stand',
    fullDescription: [
      'Tells how many tasks of a plan wait, run, are done, have failed or are stale (their runner says nothing any more), how many hours are done,',
      'how fast it goes and how long it takes yet, what runs where, and the last error of tasks that failed. Where a cluster runs them also what',
      'it says of its jobs.',
      '',
      'EXAMPLES',
      '  cutroom status /shared/plan',
      '  cutroom status /shared/plan --watch',
    ].join('\n'),
  },
  parameters: {
    positional: PLAN_FOLDER,
    flags: {
      watch: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Look again and again until all tasks are done: on a terminal in place, else a line every 10 s',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print it as JSON on stdout, a line a look' },
      verbose: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'List all tasks that run or failed, in place of the first 20',
      },
    },
  },
});
