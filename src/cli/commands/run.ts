import { buildCommand } from '@stricli/core';
import { PLAN_FOLDER } from '../cluster-flags.js';
import { taskNumber } from '../cluster-values.js';
import type { CliContext } from '../context.js';
import { positiveInteger } from '../values.js';

/** The flags of `cutroom run`, parsed. */
export interface RunFlags {
  task?: number;
  taskFromEnv: boolean;
  jobs?: number;
  wait: boolean;
  finish: boolean;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
}

export const runCommand = buildCommand<RunFlags, [string], CliContext>({
  loader: async () => {
    const { runTasks } = await import('../run-tasks.js');
    return async function run(this: CliContext, flags, folder) {
      await runTasks(this, flags, folder);
    };
  },
  docs: {
    brief: 'Do tasks of a plan: one, or all that are left',
    fullDescription: [
      'Does a task of a plan that "cutroom plan" made, on any machine that sees the folder of the plan and the audio, with the same version of',
      'cutroom. A task may be run again and again: one that is done says so, and one that was stopped or killed goes on where it was. While',
      'another process has a task this one leaves it, or waits with --wait. Without --task all tasks that are left are done, one after the other;',
      'several machines may do that at once. SIGTERM stops with exit code 143 and keeps every snippet that is finished.',
      '',
      'EXAMPLES',
      '  cutroom run /shared/plan --task 7 --jobs 8',
      '  cutroom run /shared/plan --task-from-env   in a job of a Slurm array, or with CUTROOM_TASK set',
      '  cutroom run /shared/plan --finish',
    ].join('\n'),
  },
  parameters: {
    positional: PLAN_FOLDER,
    flags: {
      task: {
        kind: 'parsed',
        parse: taskNumber,
        optional: true,
        placeholder: 'number',
        brief: 'The task, counted from 0 [all that are left]',
      },
      taskFromEnv: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Take it from CUTROOM_TASK, or from SLURM_ARRAY_TASK_ID plus CUTROOM_TASK_OFFSET',
      },
      jobs: {
        kind: 'parsed',
        parse: positiveInteger,
        optional: true,
        placeholder: 'count',
        brief: 'Decoder processes [one a core; with --task-from-env those of SLURM_CPUS_PER_TASK]',
      },
      wait: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Wait for a task that another process has, in place of leaving it',
      },
      finish: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Make the outputs when all tasks are done',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print what came of it as JSON on stdout' },
      quiet: { kind: 'boolean', default: false, withNegated: false, brief: 'Print errors only' },
      verbose: { kind: 'boolean', default: false, withNegated: false, brief: 'Print a line for each task that ends' },
    },
  },
});
