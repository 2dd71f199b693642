import type { FlagParametersForType } from '@stricli/core';
import type { PathMapping } from '../run/path-map.js';
import type { CliContext } from './context.js';
import {
  backendChoice,
  commandWords,
  countOrZero,
  pathMapping,
  rayAddress,
  sbatchArgument,
  slurmMemory,
  slurmName,
  slurmTime,
  type BackendChoice,
} from './cluster-values.js';
import { nonEmpty, positiveInteger, positiveNumber } from './values.js';

/** What commands about a plan are given. */
export const PLAN_FOLDER = {
  kind: 'tuple',
  parameters: [{ parse: nonEmpty, placeholder: 'DIR', brief: 'The folder of the plan' }],
} as const;

/** How work is divided into tasks. */
export interface DivisionFlags {
  plan?: string;
  tasks?: number;
  taskHours?: number;
  map?: readonly PathMapping[];
}

/** Where tasks run, and with what. */
export interface EngineFlags {
  backend: BackendChoice;
  maxRunning?: number;
  retries?: number;
  workerCommand?: readonly string[];
  cpusPerTask?: number;
  partition?: string;
  time?: string;
  mem?: string;
  account?: string;
  qos?: string;
  sbatchArg?: readonly string[];
  rayAddress?: string;
}

/** The flags of a command that runs here or on a cluster. */
export type BackendFlags = EngineFlags & DivisionFlags;

const division = {
  tasks: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: 'count',
    brief: 'Divide the work into so many tasks, of about the same hours of audio',
  },
  taskHours: {
    kind: 'parsed',
    parse: positiveNumber,
    optional: true,
    placeholder: 'hours',
    brief: 'Tasks of about so many hours of audio, in place of --tasks',
  },
  map: {
    kind: 'parsed',
    parse: pathMapping,
    variadic: true,
    optional: true,
    placeholder: 'LOCAL=REMOTE',
    brief: 'Workers have the folder LOCAL of this machine at REMOTE; may be given again',
  },
} as const satisfies Partial<FlagParametersForType<DivisionFlags, CliContext>>;

/** Of `cutroom plan`. */
export const divisionFlags: FlagParametersForType<DivisionFlags & { plan: string }, CliContext> = {
  plan: {
    kind: 'parsed',
    parse: nonEmpty,
    placeholder: 'folder',
    brief: 'Folder of the plan, on storage that all workers share; made if need be',
  },
  ...division,
};

/** Of the commands that can run on a cluster. */
export const backendFlags: FlagParametersForType<BackendFlags, CliContext> = {
  backend: {
    kind: 'parsed',
    parse: backendChoice,
    default: 'local',
    placeholder: 'local|slurm|ray',
    brief: 'Where the work is done: here, or in tasks on a cluster; xenna and ray_data mean ray',
  },
  plan: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: 'folder',
    brief: 'Folder of the plan and its tasks, on storage that all workers share [.cutroom-plan in the output folder]',
  },
  ...division,
  maxRunning: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: 'count',
    brief: 'Tasks of a cluster that run at once, at most',
  },
  retries: {
    kind: 'parsed',
    parse: countOrZero,
    optional: true,
    placeholder: 'count',
    brief: 'How often a task that failed on a cluster is tried again [2]',
  },
  workerCommand: {
    kind: 'parsed',
    parse: commandWords,
    optional: true,
    placeholder: 'command',
    brief: 'What starts cutroom on a worker [this Node.js and this cutroom, by their paths]',
  },
  cpusPerTask: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: 'count',
    brief: 'Cores of a task on a cluster [1]',
  },
  partition: {
    kind: 'parsed',
    parse: slurmName,
    optional: true,
    placeholder: 'name',
    brief: 'Slurm: the partition',
  },
  time: {
    kind: 'parsed',
    parse: slurmTime,
    optional: true,
    placeholder: 'limit',
    brief: 'Slurm: time limit of a task, such as 2:00:00; one that reaches it goes on in another job',
  },
  mem: { kind: 'parsed', parse: slurmMemory, optional: true, placeholder: 'size', brief: 'Slurm: memory of a task' },
  account: { kind: 'parsed', parse: slurmName, optional: true, placeholder: 'name', brief: 'Slurm: the account' },
  qos: { kind: 'parsed', parse: slurmName, optional: true, placeholder: 'name', brief: 'Slurm: quality of service' },
  sbatchArg: {
    kind: 'parsed',
    parse: sbatchArgument,
    variadic: true,
    optional: true,
    placeholder: 'argument',
    brief: 'Slurm: any other argument of sbatch, as --sbatch-arg=--constraint=avx512; may be given again',
  },
  rayAddress: {
    kind: 'parsed',
    parse: rayAddress,
    optional: true,
    placeholder: 'url',
    brief: 'Ray: the dashboard of the head, http://head:8265 [RAY_ADDRESS]',
  },
};

/**
 * Flags that a command has and its plan cannot: they are taken, so that an error can say why, and not shown.
 *
 * @param names of flags that have a default or need none
 */
export function hideFlags<Flags>(
  flags: FlagParametersForType<Flags, CliContext>,
  names: readonly (keyof Flags)[],
): FlagParametersForType<Flags, CliContext> {
  const changed: Record<string, unknown> = { ...flags };
  for (const name of names) changed[String(name)] = { ...flags[name], hidden: true };
  return changed as FlagParametersForType<Flags, CliContext>;
}
