import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEngineRecord, writeEngineRecord } from '#cutroom/cluster/engine-record.js';
import { createEngine } from '#cutroom/cluster/slurm-engine.js';
import { slurmFactsOf } from '#cutroom/cluster/slurm-record.js';
import { jobNameOf } from '#cutroom/cluster/slurm-script.js';
import { OutputError } from '#cutroom/errors.js';
import { FakeSlurm } from '../support/slurm-fakes.js';

const range = (count: number, from = 0): number[] => Array.from({ length: count }, (_, n) => n + from);

describe('submit()', () => {
  it('submits an array of the script in the folder of the plan', async (context) => {
    const fake = new FakeSlurm(context);
    const record = await createEngine(fake.environment).submit(fake.plan, fake.record({ maxRunning: 4 }), range(10), 0);
    const name = `${jobNameOf(fake.plan, record)}-1`;
    const script = path.join(fake.plan.folder, 'tasks.sbatch');
    expect(fake.calls('sbatch').map(({ args }) => args)).toEqual([
      ['--parsable', `--job-name=${name}`, '--array=0-9%4', script],
    ]);
    expect(readFileSync(script, 'utf8')).toContain('\nexec /opt/node /opt/cutroom/dist/cli/main.js run ');
    const submissions = [{ name, job: '101', tasks: '0-9', offset: 0 }];
    expect(record.facts).toEqual({ count: 1, submissions, stops: {}, finishJob: null });
    expect(await readEngineRecord(fake.plan.folder)).toEqual(record);
  });

  it('passes on no variable of the job that it is called in, but for what names the cluster', async (context) => {
    const fake = new FakeSlurm(context);
    Object.assign(fake.environment, {
      SLURM_ARRAY_TASK_ID: '3',
      SLURM_CPUS_PER_TASK: '9',
      SBATCH_PARTITION: 'other',
      SQUEUE_FORMAT: '%i',
      CUTROOM_TASK: '5',
      CUTROOM_TASK_OFFSET: '5',
      SLURM_CONF: '/etc/here',
    });
    const engine = createEngine(fake.environment);
    const record = await engine.submit(fake.plan, fake.record(), [0], 0);
    await engine.look(fake.plan, record, [0]);
    await engine.cancel(fake.plan, record);
    const calls = fake.calls();
    expect(calls.map(({ program }) => program)).toEqual(['scontrol', 'sbatch', 'squeue', 'sacct', 'squeue']);
    for (const { variables } of calls) expect(variables).toEqual(['SLURM_CONF=/etc/here']);
  });

  it('divides what is more than an array takes, and lists tasks far apart', async (context) => {
    const fake = new FakeSlurm(context, 100);
    fake.say('scontrol', 'echo "MaxArraySize            = 5"');
    const engine = createEngine(fake.environment);
    let record = await engine.submit(fake.plan, fake.record(), range(12), 0);
    const arrays = fake.calls('sbatch').map(({ args }) => args.slice(2).map((argument) => path.basename(argument)));
    expect(arrays).toEqual([
      ['--array=0-4', 'tasks.sbatch'],
      ['--array=0-4', 'tasks.sbatch', '5'],
      ['--array=0-1', 'tasks.sbatch', '10'],
    ]);
    record = await engine.submit(fake.plan, record, [20, 40, 60, 80], 0);
    const [call] = fake.calls('sbatch');
    const list = path.join(fake.plan.folder, 'logs', `${jobNameOf(fake.plan, record)}-4.tasks`);
    expect(call?.args.slice(-2)).toEqual(['--list', list]);
    expect(readFileSync(list, 'utf8')).toBe('20\n40\n60\n80\n');
    fake.queue([104, 2, 'RUNNING', 0, 'None', '']);
    const jobs = await engine.look(fake.plan, record, [60]);
    expect(jobs.get(60)).toMatchObject({ id: '104_2', state: 'running' });
  });

  it('has arrays wait for each other where together they would run too many', async (context) => {
    const fake = new FakeSlurm(context);
    fake.say('scontrol', 'echo "MaxArraySize            = 5"');
    await createEngine(fake.environment).submit(fake.plan, fake.record({ maxRunning: 3 }), range(10), 0);
    const [first, second] = fake.calls('sbatch');
    expect(first?.args.some((argument) => argument.startsWith('--dependency'))).toBe(false);
    expect(second?.args).toContain('--dependency=afterany:101');
  });

  it('submits no task that is queued or running', async (context) => {
    const fake = new FakeSlurm(context);
    const engine = createEngine(fake.environment);
    const record = await engine.submit(fake.plan, fake.record(), range(3), 0);
    const { name } = slurmFactsOf(record).submissions[0]!;
    fake.queue(
      [101, 0, 'RUNNING', 0, 'None', name],
      [101, 1, 'PENDING', 0, 'Priority', name],
      [101, 2, 'FAILED', 256, 'NonZeroExitCode', name],
    );
    fake.calls();
    const next = await engine.submit(fake.plan, record, range(3), 1);
    expect(fake.calls('sbatch').map(({ args }) => args[2])).toEqual(['--array=2']);
    expect(slurmFactsOf(next).submissions.map(({ tasks }) => tasks)).toEqual(['0-2', '2']);
  });

  it('finds jobs that were submitted by a launcher that was killed before it knew their number', async (context) => {
    const fake = new FakeSlurm(context);
    const record = await createEngine(fake.environment).submit(fake.plan, fake.record(), range(3), 0);
    const facts = slurmFactsOf(record);
    const torn = { ...record, facts: { ...facts, submissions: [{ ...facts.submissions[0]!, job: null }] } };
    const { name } = facts.submissions[0]!;
    fake.queue(
      // One of the same name that Slurm had refused.
      [90, 'N/A', 'FAILED', 1, 'BadConstraints', name],
      [101, 0, 'RUNNING', 0, 'None', name],
      [101, 1, 'COMPLETED', 0, 'None', name],
      [101, 2, 'PENDING', 0, 'Resources', name],
    );
    fake.calls();
    const engine = createEngine(fake.environment);
    const jobs = await engine.look(fake.plan, torn, range(3));
    expect([...jobs.values()].map(({ id, state }) => `${id} ${state}`)).toEqual([
      '101_0 running',
      '101_1 ended',
      '101_2 queued',
    ]);
    await engine.submit(fake.plan, torn, [0, 2], 0);
    expect(fake.calls('sbatch')).toEqual([]);
    // What never came to be is submitted.
    fake.queue();
    expect(await engine.look(fake.plan, torn, range(3))).toEqual(new Map());
  });

  it('submits what there is room for, and the rest later', async (context) => {
    const fake = new FakeSlurm(context);
    const limited = (most: number): void =>
      fake.say(
        'sbatch',
        `case "$*" in *array=0-[${most}-9]*) echo "sbatch: error: QOSMaxSubmitJobPerUserLimit
sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)" >&2; exit 1;;
*array=0-*) echo 7;; *) echo "sbatch: error: QOSMaxSubmitJobPerUserLimit" >&2; exit 1;; esac`,
      );
    limited(5);
    const engine = createEngine(fake.environment);
    const record = await engine.submit(fake.plan, fake.record(), range(10), 0);
    expect(slurmFactsOf(record).submissions.map(({ tasks }) => tasks)).toEqual(['0-4']);
    fake.queue(...range(5).map((index) => [7, index, 'PENDING', 0, 'Priority', '']));
    const jobs = await engine.look(fake.plan, record, range(10));
    expect([...jobs.keys()].toSorted((a, b) => a - b)).toEqual(range(10));
    expect(jobs.get(9)).toEqual({
      id: 'none',
      state: 'queued',
      reason: 'not taken yet: QOSMaxSubmitJobPerUserLimit',
    });
  });

  it.for([
    [
      'Batch job submission failed: Invalid partition name specified',
      'See the partitions with "sinfo", and name one with --partition.',
    ],
    [
      'QOSMaxWallDurationPerJobLimit\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, …)',
      'See your limits with "sacctmgr show assoc where user=$USER", and name a quality of service with --qos.',
    ],
    [
      'Batch job submission failed: Requested node configuration is not available',
      'See what nodes have with "sinfo -o \'%P %c %m\'", and ask for less with --cpus-per-task or --mem.',
    ],
  ] as const)('says what Slurm says of it: %s', async ([words, hint], context) => {
    const fake = new FakeSlurm(context);
    fake.say('sbatch', `echo 'sbatch: error: ${words}' >&2; exit 1`);
    const engine = createEngine(fake.environment);
    const error: unknown = await engine.submit(fake.plan, fake.record(), [0], 0).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OutputError);
    const message = words.replace('\nsbatch: error: ', '; ');
    expect(error).toMatchObject({ message: `Cannot submit tasks to Slurm: ${message}`, hint });
    expect(slurmFactsOf((await readEngineRecord(fake.plan.folder))!).submissions).toEqual([]);
  });

  it('says where Slurm is not, or does not answer', async (context) => {
    const fake = new FakeSlurm(context);
    const down = 'Unable to contact slurm controller (connect failure)';
    fake.say('scontrol', `echo 'slurm_load_ctl_conf error: ${down}' >&2; exit 1`);
    const engine = createEngine(fake.environment);
    await expect(engine.submit(fake.plan, fake.record(), [0], 0)).rejects.toMatchObject({
      message: `Cannot ask Slurm for its limits: ${down}`,
      hint: 'See whether the controller answers: scontrol ping.',
    });
    fake.remove('scontrol');
    fake.environment['PATH'] = path.join(fake.folder, 'bin');
    await expect(createEngine(fake.environment).submit(fake.plan, fake.record(), [0], 0)).rejects.toMatchObject({
      message: 'Cannot run "scontrol": there is no such program here',
    });
  });

  it('refuses an answer that names no job', async (context) => {
    const fake = new FakeSlurm(context);
    fake.say('sbatch', 'echo Welcome to our cluster');
    const submitted = createEngine(fake.environment).submit(fake.plan, fake.record(), [0], 0);
    await expect(submitted).rejects.toThrow(
      'Cannot read what sbatch answered: "Welcome to our cluster\\n" names no job',
    );
  });

  it('has a job finish the plan behind all that are not over', async (context) => {
    const fake = new FakeSlurm(context);
    const engine = createEngine(fake.environment);
    const asked = fake.record({ options: { finishJob: true } });
    let record = await engine.submit(fake.plan, asked, range(3), 0);
    const [, finish] = fake.calls('sbatch');
    const script = path.join(fake.plan.folder, 'finish.sbatch');
    expect(finish?.args).toEqual(['--parsable', '--dependency=afterany:101', script]);
    expect(existsSync(script)).toBe(true);
    const { name } = slurmFactsOf(record).submissions[0]!;
    fake.queue([101, 0, 'RUNNING', 0, 'None', name], [101, 1, 'FAILED', 256, 'NonZeroExitCode', name]);
    record = await engine.submit(fake.plan, record, [1], 1);
    const calls = fake.calls().filter(({ program }) => program === 'sbatch' || program === 'scancel');
    expect(calls.map(({ args }) => args.at(-1))).toEqual([path.join(fake.plan.folder, 'tasks.sbatch'), '102', script]);
    expect(calls[2]?.args).toContain('--dependency=afterany:101:103');
    expect(slurmFactsOf(record).finishJob).toBe('104');
  });
});

describe('look()', () => {
  it('asks once for all tasks', async (context) => {
    const fake = new FakeSlurm(context);
    fake.say('scontrol', 'echo "MaxArraySize            = 4"');
    const engine = createEngine(fake.environment);
    const record = await engine.submit(fake.plan, fake.record(), range(10), 0);
    fake.calls();
    fake.queue(
      [101, 2, 'RUNNING', 0, 'None', ''],
      [102, 'N/A', 'CANCELLED', 0, 'None', ''],
      [103, 1, 'SUSPENDED', 0, '', ''],
    );
    const jobs = await engine.look(fake.plan, record, [2, 5, 6, 9]);
    const calls = fake.calls('squeue');
    expect(calls).toHaveLength(1);
    const names = slurmFactsOf(record).submissions.map(({ name }) => name);
    const asked = calls[0]?.args.find((argument) => argument.startsWith('--name='));
    expect(asked?.slice(7).split(',').toSorted()).toEqual(names);
    expect([...jobs].map(([task, { id, state }]) => `${task} ${id} ${state}`).toSorted()).toEqual([
      '2 101_2 running',
      '5 102_1 stopped',
      '6 102_2 stopped',
      '9 103_1 running',
    ]);
  });

  it('takes from accounting what Slurm has forgotten, and calls gone what nobody knows', async (context) => {
    const fake = new FakeSlurm(context);
    fake.say('sacct', "echo '101_0|FAILED|1:0'");
    const engine = createEngine(fake.environment);
    const record = await engine.submit(fake.plan, fake.record(), range(2), 0);
    const jobs = await engine.look(fake.plan, record, range(2));
    expect(jobs.get(0)).toEqual({ id: '101_0', state: 'failed', reason: 'FAILED, exit code 1' });
    expect(jobs.get(1)).toEqual({ id: '101_1', state: 'gone', reason: 'Slurm knows it no longer' });
    expect(fake.calls('sacct')[0]?.args).toContain('--jobs=101');
  });

  it('asks for no accounting again where there is none', async (context) => {
    const fake = new FakeSlurm(context);
    const engine = createEngine(fake.environment);
    const record = await engine.submit(fake.plan, fake.record(), [0], 0);
    for (let look = 0; look < 3; look += 1) {
      expect((await engine.look(fake.plan, record, [0])).get(0)?.state).toBe('gone');
    }
    expect(fake.calls('sacct')).toHaveLength(1);
  });

  it('has tasks that the cluster stopped submitted anew, until it is too often', async (context) => {
    const fake = new FakeSlurm(context);
    const engine = createEngine(fake.environment);
    let record = await engine.submit(fake.plan, fake.record(), [0], 0);
    const stopLast = (): void => fake.queue([100 + slurmFactsOf(record).submissions.length, 0, 'TIMEOUT', 0, '', '']);
    stopLast();
    expect(await engine.look(fake.plan, record, [0])).toEqual(new Map());
    record = await engine.submit(fake.plan, record, [0], 0);
    expect(slurmFactsOf(record).stops).toEqual({ 0: 1 });
    record = { ...record, facts: { ...record.facts, stops: { 0: 20 } } };
    await writeEngineRecord(fake.plan.folder, record);
    stopLast();
    expect((await engine.look(fake.plan, record, [0])).get(0)).toEqual({
      id: '102_0',
      state: 'stopped',
      reason: 'TIMEOUT, as 20 times before',
    });
  });

  it('tells nothing of jobs that failed before it was there', async (context) => {
    const fake = new FakeSlurm(context);
    const first = createEngine(fake.environment);
    const record = await first.submit(fake.plan, fake.record(), range(3), 0);
    fake.queue([101, 0, 'FAILED', 256, '', ''], [101, 1, 'RUNNING', 0, '', ''], [101, 2, 'COMPLETED', 0, '', '']);
    const second = createEngine(fake.environment);
    expect([...(await first.look(fake.plan, record, range(3))).keys()]).toEqual([0, 1, 2]);
    expect([...(await second.look(fake.plan, record, range(3))).keys()]).toEqual([1, 2]);
    fake.queue([101, 0, 'FAILED', 256, '', ''], [101, 1, 'FAILED', 9, '', '']);
    expect([...(await second.look(fake.plan, record, range(2))).keys()]).toEqual([1]);
  });

  it('says what was last said while a controller that has answered does not', async (context) => {
    const fake = new FakeSlurm(context);
    const engine = createEngine(fake.environment);
    const record = await engine.submit(fake.plan, fake.record(), range(2), 0);
    fake.queue([101, 0, 'RUNNING', 0, 'None', ''], [101, 1, 'PENDING', 0, 'Priority', '']);
    const jobs = await engine.look(fake.plan, record, range(2));
    expect(jobs.size).toBe(2);
    const down = 'Unable to contact slurm controller (connect failure)';
    for (const program of ['squeue', 'sbatch']) fake.say(program, `echo 'x: error: ${down}' >&2; exit 1`);
    expect(await engine.look(fake.plan, record, range(2))).toEqual(jobs);
    // A new task waits for it.
    const next = await engine.submit(fake.plan, record, [5], 0);
    expect((await engine.look(fake.plan, next, [5])).get(5)).toMatchObject({ state: 'queued', id: 'none' });
    // What runs is not forgotten.
    await expect(engine.cancel(fake.plan, record)).rejects.toThrow('does not answer');
    expect((await readEngineRecord(fake.plan.folder))?.facts['submissions']).not.toEqual([]);
    // One that has never answered is an error.
    await expect(createEngine(fake.environment).look(fake.plan, record, range(2))).rejects.toThrow(down);
  });
});

describe('cancel()', () => {
  it('ends what is not over, and forgets it', async (context) => {
    const fake = new FakeSlurm(context);
    const engine = createEngine(fake.environment);
    const record = await engine.submit(fake.plan, fake.record({ options: { finishJob: true } }), range(3), 0);
    const { name } = slurmFactsOf(record).submissions[0]!;
    fake.queue([101, 0, 'RUNNING', 0, '', name], [101, 1, 'COMPLETED', 0, '', name], [101, 2, 'PENDING', 0, '', name]);
    expect(await createEngine(fake.environment).cancel(fake.plan, record)).toBe(2);
    expect(fake.calls('scancel').map(({ args }) => args)).toEqual([['--quiet', '101', '102']]);
    // Whoever comes later begins anew: no task has failed.
    const later = (await readEngineRecord(fake.plan.folder))!;
    expect(await engine.look(fake.plan, later, range(3))).toEqual(new Map());
    const again = await engine.submit(fake.plan, later, range(3), 0);
    expect(slurmFactsOf(again).submissions.map((submission) => submission.name)).toEqual([name.replace(/1$/u, '2')]);
  });
});

describe('log()', () => {
  it('is the end of what the last job of a task wrote', async (context) => {
    const fake = new FakeSlurm(context);
    const engine = createEngine(fake.environment);
    let record = await engine.submit(fake.plan, fake.record(), range(3), 0);
    const logs = path.join(fake.plan.folder, 'logs');
    expect(await engine.log(fake.plan, record, 2)).toBeUndefined();
    writeFileSync(path.join(logs, 'slurm-101_2.log'), `${'x'.repeat(100_000)}\nline 1\nline 2\n`);
    const text = await engine.log(fake.plan, record, 2);
    expect(text?.endsWith('\nline 1\nline 2\n')).toBe(true);
    expect(text?.length).toBeLessThan(20_000);
    fake.queue([101, 2, 'FAILED', 256, '', '']);
    record = await engine.submit(fake.plan, record, [2], 1);
    expect(await engine.log(fake.plan, record, 2)).toBeUndefined();
    expect(await engine.log(fake.plan, record, 7)).toBeUndefined();
  });
});
