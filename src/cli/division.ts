import { UsageError } from '../errors.js';
import type { BackendFlags } from './cluster-flags.js';

/** Whether a command is to be done in tasks. @throws {UsageError} for flags of a cluster without one. */
export function isDivided(flags: BackendFlags): boolean {
  const { backend, tasks, taskHours, plan, map } = flags;
  if (backend.name !== 'slurm') {
    const { partition, time, mem, account, qos, sbatchArg } = flags;
    refuseOthers('slurm', { partition, time, mem, account, qos, 'sbatch-arg': sbatchArg });
  }
  if (backend.name !== 'ray') refuseOthers('ray', { 'ray-address': flags.rayAddress });
  if (backend.name !== 'local') return true;
  const { maxRunning, retries, workerCommand, cpusPerTask } = flags;
  refuseOthers('slurm or ray', {
    'max-running': maxRunning,
    retries,
    'worker-command': workerCommand,
    'cpus-per-task': cpusPerTask,
    map,
  });
  if (tasks !== undefined || taskHours !== undefined) return true;
  if (plan === undefined) return false;
  throw new UsageError('--plan is given without --tasks or --task-hours', {
    hint: 'One of these says how the work is divided; without them it is not, and needs no plan.',
  });
}

function refuseOthers(backend: string, flags: Readonly<Record<string, unknown>>): void {
  const given = Object.entries(flags).find(([, value]) => value !== undefined);
  if (given === undefined) return;
  throw new UsageError(`--${given[0]} goes with --backend ${backend}`);
}

/** What commands need that are done in tasks; others do without. */
export async function loadDivision(): Promise<
  [typeof import('./divided-command.js'), typeof import('./run-divided.js')]
> {
  return await Promise.all([import('./divided-command.js'), import('./run-divided.js')]);
}
