import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { slurmOptionsOf, slurmSeconds } from '#cutroom/cluster/slurm-options.js';
import { finishScript, jobNameOf, taskScript } from '#cutroom/cluster/slurm-script.js';
import { FakeSlurm } from '../support/slurm-fakes.js';

const OPTIONS = {
  partition: 'short,long',
  time: '2:00:00',
  mem: '8G',
  cpusPerTask: 4,
  account: 'speech',
  qos: 'normal',
  sbatchArg: ['--constraint=avx512&ib', '--comment=two words', '-x node[1-3]'],
};

describe('taskScript()', () => {
  it('is a script to be read', (context) => {
    const fake = new FakeSlurm(context, 12_000);
    const remoteFolder = "/mnt/it's 100%/plan";
    const script = taskScript(fake.plan, fake.record({ options: OPTIONS, maxRunning: 50, remoteFolder }));
    expect(script).toMatchInlineSnapshot(`
      "#!/bin/bash -l
      # Runs a task of a plan that cutroom made (cut, 12,000 tasks, plan c0ffeec0ffee): each element of an array job is one task.
      #
      # cutroom writes this file and submits it. By hand, from task 0 on:
      #   sbatch --array=0-999%50 '/mnt/it'\\''s 100%/plan/tasks.sbatch'
      # Slurm's indices end below its MaxArraySize (scontrol show config). From task 1000 on, with the offset as an argument:
      #   sbatch --array=0-999%50 '/mnt/it'\\''s 100%/plan/tasks.sbatch' 1000
      # Or tasks that a file names, one a line, the first being index 0:
      #   sbatch --array=0-9%50 '/mnt/it'\\''s 100%/plan/tasks.sbatch' --list FILE
      #
      # Nothing is harmed by running a task again: one that is done is left alone, and one that another process has is waited for.
      # How the plan stands: cutroom status '/mnt/it'\\''s 100%/plan'
      #SBATCH --job-name=cutroom-cut-df863c645f
      #SBATCH --output="/mnt/it's 100%%/plan/logs/slurm-%A_%a.log"
      #SBATCH --open-mode=append
      #SBATCH --nodes=1
      #SBATCH --ntasks=1
      #SBATCH --cpus-per-task=4
      #SBATCH --partition=short,long
      #SBATCH --time=2:00:00
      #SBATCH --mem=8G
      #SBATCH --account=speech
      #SBATCH --qos=normal
      #SBATCH --requeue
      #SBATCH --signal=B:TERM@60
      #SBATCH --export=NIL
      #SBATCH --constraint=avx512&ib
      #SBATCH "--comment=two words"
      #SBATCH -xnode[1-3]

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
      exec /opt/node /opt/cutroom/dist/cli/main.js run '/mnt/it'\\''s 100%/plan' --task-from-env --wait --jobs "\${SLURM_CPUS_PER_TASK:-\${SLURM_CPUS_ON_NODE:-1}}"
      "
    `);
  });

  it.for([
    ['by its index', [], '12'],
    ['by its index and an offset', ['3000'], '3012'],
    ['by a list', ['--list', 'LIST'], '99'],
  ] as const)('runs the worker for the task that is named %s', ([, args, task], context) => {
    const said = runScript(context, args, {});
    expect(said.stdout).toBe(
      `Task ${task}: job 7_12 on ${said.host}\nrun|${said.folder}|--task-from-env|--wait|--jobs|3|\n`,
    );
  });

  it('heeds no task of the shell that submits', (context) => {
    const said = runScript(context, [], { CUTROOM_TASK: '5', CUTROOM_TASK_OFFSET: '7000', SLURM_CPUS_PER_TASK: '2' });
    expect(said.stdout).toContain('Task 12: job 7_12');
    expect(said.stdout).toContain('--jobs|2|');
  });
});

function runScript(
  context: TestContext,
  args: readonly string[],
  variables: Record<string, string>,
): { stdout: string; folder: string; host: string } {
  const fake = new FakeSlurm(context);
  const worker = path.join(fake.folder, "a worker's.sh");
  writeFileSync(worker, `printf '%s|' "$@"; echo\n`);
  const script = path.join(fake.folder, 'tasks.sbatch');
  writeFileSync(script, taskScript(fake.plan, fake.record({ workerCommand: ['/bin/sh', worker] })));
  const list = path.join(fake.folder, 'list');
  writeFileSync(list, Array.from({ length: 20 }, (_, line) => `${line === 12 ? 99 : line}\n`).join(''));
  const given = args.map((argument) => (argument === 'LIST' ? list : argument));
  const inJob = { SLURM_ARRAY_JOB_ID: '7', SLURM_ARRAY_TASK_ID: '12', SLURM_CPUS_ON_NODE: '3' };
  const env = { PATH: '/usr/bin:/bin', ...inJob, ...variables };
  const { stdout, stderr } = spawnSync('/bin/bash', [script, ...given], { encoding: 'utf8', env });
  expect(stderr).toBe('');
  return { stdout, folder: fake.plan.folder, host: spawnSync('uname', ['-n'], { encoding: 'utf8' }).stdout.trim() };
}

describe('finishScript()', () => {
  it('finishes the plan', (context) => {
    const fake = new FakeSlurm(context);
    const script = finishScript(fake.plan, fake.record({ remoteFolder: '/mnt/plan' }));
    expect(script).toMatch(/\nexec \/opt\/node \/opt\/cutroom\/dist\/cli\/main\.js finish \/mnt\/plan\n$/u);
    expect(script).toContain('#SBATCH --output=/mnt/plan/logs/slurm-finish-%j.log\n');
  });
});

describe('jobNameOf()', () => {
  it('is that of the plan in its folder', (context) => {
    const fake = new FakeSlurm(context);
    const name = jobNameOf(fake.plan, fake.record({ remoteFolder: '/a' }));
    expect(name).toMatch(/^cutroom-cut-[0-9a-f]{10}$/u);
    expect(jobNameOf(fake.plan, fake.record({ remoteFolder: '/a', options: { mem: '1G' } }))).toBe(name);
    expect(jobNameOf(fake.plan, fake.record({ remoteFolder: '/b' }))).not.toBe(name);
    // The same work in other tasks.
    const other = new FakeSlurm(context, 11);
    expect(jobNameOf(other.plan, other.record({ remoteFolder: '/a' }))).not.toBe(name);
  });
});

describe('slurmOptionsOf()', () => {
  it.each([
    '--array=0-5',
    '--arr=1',
    '-a1',
    '-a 1',
    '--output=x',
    '--out=x',
    '-ox',
    '-Hox',
    '-e x',
    '--job-name=x',
    '-Jx',
    '--dependency=singleton',
    '--wrap=x',
    '--wait',
    '-W',
    '--parsable',
    '--ntasks=2',
    '-n2',
    '--chdir=/x',
  ])('refuses %s', (argument) => {
    expect(() => slurmOptionsOf({ options: { sbatchArg: [argument] } } as never)).toThrow(/--sbatch-arg cannot give/u);
  });

  it.each(['--constraint=a', '--export=ALL', '--exclude=n1', '-x n1', '-H', '--nice=5', '--signal=B:TERM@30', '-N1'])(
    'takes %s',
    (argument) => {
      const { sbatchArgs } = slurmOptionsOf({ options: { sbatchArg: [argument] } } as never);
      expect(sbatchArgs).toEqual([argument.replace('-x n1', '-xn1')]);
    },
  );
});

describe('slurmSeconds()', () => {
  it.each([
    ['90', 5400],
    ['1:30', 90],
    ['2:00:00', 7200],
    ['1-12', 129_600],
    ['1-12:30', 131_400],
    ['1-12:30:05', 131_405],
    ['UNLIMITED', undefined],
  ])('reads %s', (time, seconds) => {
    expect(slurmSeconds(time)).toBe(seconds);
  });
});
