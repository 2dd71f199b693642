import { createHash } from 'node:crypto';
import { countWords } from '../count-words.js';
import type { EngineRecord } from './engine.js';
import type { PlanFolder } from './plan-folder.js';
import { formatRanges } from './slurm-arrays.js';
import { slurmOptionsOf, slurmSeconds, type SlurmOptions } from './slurm-options.js';

/** Scripts in the folder of a plan. */
export const SCRIPTS = { tasks: 'tasks.sbatch', finish: 'finish.sbatch' } as const;

/** A worker is told to stop so long before its time is up: what it holds has to reach the disk. */
const STOP_SECONDS = 60;
/** As many as Slurm takes into one array unless it is told otherwise. */
const FIRST_TASKS = 1000;

/**
 * What all jobs of a plan are called, before a number: made of the plan, of how many tasks it has and of the folder that it is in, so that whoever
 * comes later finds them, and not those of a plan that was in the folder before.
 */
export function jobNameOf(plan: PlanFolder, record: EngineRecord): string {
  const { hash: planHash, tasks, kind } = plan.record;
  const hash = createHash('sha256').update(`${planHash}\n${tasks}\n${record.remoteFolder}`).digest('hex');
  return `cutroom-${kind}-${hash.slice(0, 10)}`;
}

/** Where an element of an array writes what it says, in the plan's folder. */
export function logNameOf(job: string, index: number): string {
  return `slurm-${job}_${index}.log`;
}

/** The script that runs one task as an element of an array. */
export function taskScript(plan: PlanFolder, record: EngineRecord): string {
  const { remoteFolder, workerCommand, maxRunning } = record;
  const { kind, hash, tasks } = plan.record;
  const options = slurmOptionsOf(record);
  const firstTasks = Array.from({ length: Math.min(tasks, FIRST_TASKS) }, (_, task) => task);
  const script = shellWord(`${remoteFolder}/${SCRIPTS.tasks}`);
  const atOnce = maxRunning === null ? '' : `%${maxRunning}`;
  const command = [...workerCommand, 'run', remoteFolder, '--task-from-env'].map(shellWord).join(' ');
  return `#!/bin/bash -l
# Runs a task of a plan that cutroom made (${kind}, ${countWords(tasks, 'task')}, plan ${hash.slice(0, 12)}): each element of an array job is one task.
#
# cutroom writes this file and submits it. By hand, from task 0 on:
#   sbatch --array=${formatRanges(firstTasks)}${atOnce} ${script}
${tasks > FIRST_TASKS ? hintOfOffsets(atOnce, script) : ''}#
# Nothing is harmed by running a task again: one that is done is left alone, and one that another process has is waited for.
# How the plan stands: cutroom status ${shellWord(remoteFolder)}
${directives(jobNameOf(plan, record), logPattern(remoteFolder, 'slurm-%A_%a.log'), options)}
set -eu
unset CUTROOM_TASK CUTROOM_TASK_OFFSET
if [ "\${1-}" = --list ]; then
  CUTROOM_TASK=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" "$2")
  export CUTROOM_TASK
else
  export CUTROOM_TASK_OFFSET="\${1:-0}"
fi
echo "Task \${CUTROOM_TASK:-$((SLURM_ARRAY_TASK_ID + CUTROOM_TASK_OFFSET))}: job \${SLURM_ARRAY_JOB_ID}_\${SLURM_ARRAY_TASK_ID} on $(uname -n)"

# In place of this shell, so that Slurm's signals reach it: at SIGTERM it stops and keeps what it has finished.
exec ${command} --wait --jobs "\${SLURM_CPUS_PER_TASK:-\${SLURM_CPUS_ON_NODE:-1}}"
`;
}

function hintOfOffsets(atOnce: string, script: string): string {
  return `# Slurm's indices end below its MaxArraySize (scontrol show config). From task 1000 on, with the offset as an argument:
#   sbatch --array=0-999${atOnce} ${script} 1000
# Or tasks that a file names, one a line, the first being index 0:
#   sbatch --array=0-9${atOnce} ${script} --list FILE
`;
}

/** The script that finishes a plan when its tasks are over. */
export function finishScript(plan: PlanFolder, record: EngineRecord): string {
  const { remoteFolder, workerCommand } = record;
  const { kind, hash } = plan.record;
  return `#!/bin/bash -l
# Makes the finals of a plan that cutroom made (${kind}, plan ${hash.slice(0, 12)}), when all of its tasks are done; once more does no harm.
# By hand:
#   sbatch ${shellWord(`${remoteFolder}/${SCRIPTS.finish}`)}
${directives(`${jobNameOf(plan, record)}-finish`, logPattern(remoteFolder, 'slurm-finish-%j.log'), slurmOptionsOf(record))}
set -eu
# In place of this shell, so that Slurm's signals reach it.
exec ${[...workerCommand, 'finish', remoteFolder].map(shellWord).join(' ')}
`;
}

function directives(name: string, log: string, options: SlurmOptions): string {
  const { partition, time, mem, cpusPerTask, account, qos, sbatchArgs } = options;
  const seconds = time === undefined ? undefined : slurmSeconds(time);
  const stopSeconds =
    seconds === undefined ? STOP_SECONDS : Math.max(1, Math.min(STOP_SECONDS, Math.floor(seconds / 4)));
  const lines = [
    `--job-name=${name}`,
    `--output=${directiveWord(log)}`,
    // A job that is started anew goes on in the log of its first start.
    '--open-mode=append',
    '--nodes=1',
    '--ntasks=1',
    ...(cpusPerTask === undefined ? [] : [`--cpus-per-task=${cpusPerTask}`]),
    ...given('partition', partition),
    ...given('time', time),
    ...given('mem', mem),
    ...given('account', account),
    ...given('qos', qos),
    '--requeue',
    `--signal=B:TERM@${stopSeconds}`,
    // What a node gives its user on login, and nothing of the shell that submits.
    '--export=NIL',
    ...sbatchArgs.map(directiveWord),
  ];
  return lines.map((line) => `#SBATCH ${line}\n`).join('');
}

function logPattern(folder: string, name: string): string {
  return `${folder.replaceAll('%', '%%')}/logs/${name}`;
}

function given(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`--${name}=${directiveWord(value)}`];
}

/** A word of a shell, quoted where it has to be. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A value on a line of `#SBATCH`, which are not read by a shell: quotes and backslashes count, nothing else does. */
function directiveWord(word: string): string {
  return /^[\w@%+=:,./[\]&|*-]+$/u.test(word) ? word : `"${word.replaceAll(/["\\]/gu, String.raw`\$&`)}"`;
}
