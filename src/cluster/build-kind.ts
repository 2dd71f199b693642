import { finishBuildTasks, planBuildTasks, runBuildTask } from '../build/build-tasks.js';
import type { BuildOptions } from '../build/options.js';
import type { TaskKind } from './task-kind.js';

/** `cutroom build` in tasks: each makes a stretch of the plan's shards, where they belong in the output folder. */
export const buildKind: TaskKind = {
  name: 'build',

  async plan(request, folder, { division, signal, onProgress }) {
    return await planBuildTasks(request as BuildOptions, folder, {
      division,
      signal,
      onProgress: (progress) => {
        if (progress.stage === 'plan') onProgress?.(progress.rows);
      },
    });
  },

  async run(plan, task, context) {
    return await runBuildTask(plan.folder, task, plan.request as BuildOptions, { ...context, hash: plan.hash });
  },

  /** The summary is a `BuildResult`; what is salvaged is a list of the shards that are there. */
  async finish({ folder, request, hash }, { signal, mappings, salvage }) {
    const result = await finishBuildTasks(folder, request as BuildOptions, { hash, signal, mappings, salvage });
    const { kind, list, outputs, isWithinLimit } = result;
    const listed = list === undefined ? [] : [list];
    if (kind === 'part') return { kind: 'salvaged', outputs: listed, summary: result, isWithinLimit };
    return {
      kind: kind === 'already_done' ? 'already_done' : 'finished',
      outputs: [outputs.plan, ...listed, outputs.failures, outputs.metrics],
      summary: result,
      isWithinLimit,
    };
  },
};
