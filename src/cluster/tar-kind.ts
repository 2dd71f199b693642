import type { TarOptions } from '../tarred/options.js';
import { finishTarTasks, planTarTasks, runTarTask } from '../tarred/tar-tasks.js';
import type { TaskKind } from './task-kind.js';

/** `cutroom tar` in tasks: each makes a stretch of the plan's shards, where they belong in the target folder. */
export const tarKind: TaskKind = {
  name: 'tar',

  async plan(request, folder, { division, signal, onProgress, environment }) {
    return await planTarTasks(request as TarOptions, folder, {
      division,
      signal,
      environment,
      onProgress: (progress) => {
        if (progress.stage === 'plan') onProgress?.(progress.rows);
      },
    });
  },

  async run(plan, task, context) {
    return await runTarTask(plan.folder, task, { ...context, hash: plan.hash });
  },

  /** The summary is a `TarResult`; what is salvaged is a list of the shards that are there, without one. */
  async finish({ folder, hash }, { signal, mappings, salvage }) {
    const result = await finishTarTasks(folder, { hash, signal, mappings, salvage });
    if ('salvagedList' in result) {
      return { kind: 'salvaged', outputs: [result.salvagedList], summary: null, isWithinLimit: true };
    }
    const { kind, targetDir, failuresPath, metricsPath, isWithinLimit } = result;
    return {
      kind: kind === 'already_done' ? 'already_done' : 'finished',
      outputs: [targetDir, failuresPath, metricsPath].filter((file) => file !== undefined),
      summary: result,
      isWithinLimit,
    };
  },
};
