// Whole launches on a real Slurm: scripts/slurm-up.sh brings one up, with MAX_ARRAY_SIZE=5 to have arrays divided.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCutroom } from '../support/command-line.js';
import { makeMixedCorpus } from '../support/cut-runs.js';
import {
  askSlurm,
  cutArguments,
  finalsIn,
  Launch,
  maxArraySize,
  PlanWatch,
  SLURM_CONF,
  waitFor,
  whyNoSlurm,
  writeTalks,
} from '../support/slurm-cluster.js';
import { mountSmallDisk } from '../support/small-disk.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TALKS = 6;
const TASKS = 3;
const ONCE = { 0: 1, 1: 1, 2: 1 };
const reason = whyNoSlurm();
if (reason !== undefined) process.stderr.write(`tests of Slurm are skipped: ${reason}\n`);

let folder: string;
/** What one run on this machine makes of the talks. */
let expected: Record<string, string>;
let runs = 0;

beforeAll(() => {
  if (reason !== undefined) return;
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-on-slurm-'));
  writeTalks(folder, TALKS);
  runCutroom([...cutArguments(folder, path.join(folder, 'local')), '--quiet']);
  expected = finalsIn(path.join(folder, 'local'));
});
afterAll(() => {
  if (reason === undefined) rmSync(folder, { recursive: true });
});

/** The place of a cut of the talks, and its plan. */
function newPlace(): { out: string; plan: PlanWatch } {
  runs += 1;
  const out = path.join(folder, `out-${runs}`);
  return { out, plan: new PlanWatch(path.join(out, '.cutroom-plan')) };
}

function onSlurm(out: string, ...more: readonly string[]): string[] {
  return [...cutArguments(folder, out), '--backend', 'slurm', '--tasks', String(TASKS), ...more];
}

describe.skipIf(reason !== undefined)('a cut on Slurm', () => {
  it('makes the bytes of one machine, whatever job it is launched from', async () => {
    const { out, plan } = newPlace();
    const launch = new Launch(onSlurm(out, '--max-running', '2', '--cpus-per-task', '1'), {
      SLURM_JOB_ID: '999999',
      SLURM_ARRAY_JOB_ID: '999999',
      SLURM_ARRAY_TASK_ID: '3',
      SLURM_CPUS_PER_TASK: '64',
      SLURM_MEM_PER_NODE: '1',
      SBATCH_PARTITION: 'nowhere',
      SBATCH_TIMELIMIT: '0:01',
      SQUEUE_FORMAT: '%i',
      CUTROOM_TASK: '2',
    });
    await launch.end(0);
    expect(finalsIn(out)).toEqual(expected);
    expect(plan.attempts).toEqual(ONCE);
  });

  it('accounts for what fails as one machine does, in more tasks than an array takes', async (context) => {
    const place = path.join(folder, 'mixed');
    mkdirSync(place);
    const { options } = await makeMixedCorpus(place);
    const args = [
      ...['cut', '--input-manifest', options.inputManifest, '--audio-dir', options.audioDir ?? ''],
      ...['--max-duration-sec', '2', '--max-segment-gap-in-snippet', '0'],
    ];
    runCutroom([...args, '--output-dir', path.join(place, 'local'), '--quiet'], 1);
    const out = path.join(place, "a cluster's 100%");
    const watch = new PlanWatch(path.join(place, 'a plan'));
    await new Launch([
      ...[...args, '--output-dir', out, '--backend', 'slurm', '--tasks', '7', '--plan', watch.folder],
    ]).end(1);
    expect(finalsIn(out)).toEqual(finalsIn(path.join(place, 'local')));
    const tasks = Object.keys(watch.attempts).length;
    expect(tasks).toBeGreaterThan(5);
    if (maxArraySize() > tasks) context.skip('MaxArraySize of this Slurm is large: no array was divided');
    expect(watch.facts?.submissions.length).toBe(Math.ceil(tasks / maxArraySize()));
  });

  it('goes on with tasks that are killed and canceled', async () => {
    const { out, plan } = newPlace();
    const launch = new Launch(onSlurm(out));
    const killed = await plan.running(0);
    process.kill(killed.pid, 'SIGKILL');
    const canceled = await plan.running(1);
    expect(askSlurm('scancel', canceled.job!).status).toBe(0);
    await launch.end(0);
    expect(finalsIn(out)).toEqual(expected);
    expect(plan.attempts).toMatchObject({ 0: 2, 1: 2 });
  });

  it('goes on with a task whose job is requeued', async () => {
    const { out, plan } = newPlace();
    const launch = new Launch(onSlurm(out));
    const { job: requeued = '' } = await plan.running(0);
    expect(askSlurm('scontrol', 'requeue', requeued).status).toBe(0);
    // Slurm lets such a job wait for two minutes.
    await waitFor('the job to be queued again', () => {
      const { stdout } = askSlurm('squeue', '--noheader', '--format=%T', `--jobs=${requeued}`);
      return stdout.trim() === 'PENDING' ? true : undefined;
    });
    expect(askSlurm('scontrol', 'update', `JobId=${requeued}`, 'StartTime=now').status).toBe(0);
    await launch.end(0);
    expect(finalsIn(out)).toEqual(expected);
    // A launcher that looks between the job's stop and its requeue hands the task in anew: the second runner finds it done.
    expect(plan.attempts[0]).toBeLessThanOrEqual(2);
  });

  it('goes on when a disk that was full has room again', async (context) => {
    const disk = mountSmallDisk(context, 3_000_000);
    const out = path.join(disk, 'out');
    const plan = new PlanWatch(path.join(disk, 'plan'));
    const args = onSlurm(out, '--plan', plan.folder, '--retries', '0');
    const full = new Launch(args);
    expect(await full.ended).not.toBe(0);
    expect(full.said).toMatch(/no space left|ENOSPC/iu);
    expect(spawnSync('mount', ['-o', 'remount,size=100000000', disk]).status).toBe(0);
    await new Launch(args).end(0);
    expect(finalsIn(out)).toEqual(expected);
  });

  it('is taken up again by a second launcher when the first is killed, which submits nothing anew', async () => {
    const { out, plan } = newPlace();
    const first = new Launch(onSlurm(out));
    await plan.running(0);
    first.kill('SIGKILL');
    await first.ended;
    await new Launch(onSlurm(out)).end(0);
    expect(finalsIn(out)).toEqual(expected);
    expect(plan.attempts).toEqual(ONCE);
  });

  it('is submitted once by two launchers', async () => {
    const { out, plan } = newPlace();
    const first = new Launch(onSlurm(out));
    await waitFor('the first to submit', () => plan.facts?.submissions[0]?.job ?? undefined);
    const second = new Launch(onSlurm(out));
    await first.end(0);
    expect(await second.end(0)).toContain('looking on');
    expect(finalsIn(out)).toEqual(expected);
    expect(plan.attempts).toEqual(ONCE);
  });

  it('is finished by the cluster when no launcher is there any more', async () => {
    const { out, plan } = newPlace();
    const first = new Launch(onSlurm(out));
    await waitFor('the finishing job', () => plan.facts?.finishJob ?? undefined);
    first.kill('SIGINT');
    expect(await first.end(130)).toContain('cutroom cancel');
    const { finishJob } = plan.facts!;
    await waitFor('the jobs to end', () => {
      const { stdout } = askSlurm(
        'squeue',
        '--noheader',
        '--states=all',
        '--format=%T',
        `--jobs=${finishJob},${finishJob}`,
      );
      return stdout.trim() === 'COMPLETED' ? true : undefined;
    });
    expect(finalsIn(out)).toEqual(expected);
  });

  it('outlives a restart of the controller', async (context) => {
    const pid =
      readPid(path.join(path.dirname(SLURM_CONF!), 'slurmctld.pid')) ??
      context.skip('the controller of this Slurm is not ours to restart');
    const { out, plan } = newPlace();
    const launch = new Launch(onSlurm(out));
    await plan.running(0);
    process.kill(pid, 'SIGTERM');
    await sleep(4_000);
    expect(askSlurm('slurmctld').status).toBe(0);
    await launch.end(0);
    expect(finalsIn(out)).toEqual(expected);
    expect(plan.attempts).toEqual(ONCE);
  });

  it('ends by "cutroom cancel" for whoever watches, and goes on later', async () => {
    const { out, plan } = newPlace();
    const launch = new Launch(onSlurm(out));
    await plan.running(0);
    await new Launch(['cancel', plan.folder]).end(0);
    expect(await launch.end(130)).toContain('canceled');
    await waitFor('the jobs to end', () => (askSlurm('squeue', '--noheader').stdout === '' ? true : undefined));
    await new Launch(onSlurm(out, '--retries', '0')).end(0);
    expect(finalsIn(out)).toEqual(expected);
  });
});

// These wait most of the time: they do so together.
describe.skipIf(reason !== undefined).concurrent('a cut on Slurm that is ended or cannot be done', () => {
  it('goes on after the time limit without counting it as a failure', async () => {
    const { out, plan } = newPlace();
    const launch = new Launch(onSlurm(out, '--time', '1', '--retries', '0', '--sbatch-arg=--signal=B:TERM@59'));
    const held = await plan.running(0);
    // The processes of the task stand still until Slurm has told them to stop, at the next look at its clock.
    process.kill(held.pid, 'SIGSTOP');
    await waitFor('Slurm to tell it to stop', () => (isAlive(held.pid) ? undefined : true));
    await launch.end(0);
    expect(finalsIn(out)).toEqual(expected);
    expect(plan.attempts[0]).toBe(2);
    expect(plan.facts?.stops[0]).toBe(1);
  });

  it('says that its worker command does not start', async () => {
    const { out, plan } = newPlace();
    const worker = path.join(folder, 'no', 'cutroom');
    const launch = new Launch(onSlurm(out, '--retries', '1', '--worker-command', worker));
    expect(await launch.ended).not.toBe(0);
    expect(launch.said).toContain(`${worker}: No such file or directory`);
    expect(plan.attempts).toEqual({ 0: 2, 1: 2, 2: 2 });
    expect(runStatus(plan)).toContain(`${worker}: No such file or directory`);
  });

  it('names both versions where a worker has another one', async () => {
    const { out, plan } = newPlace();
    const copy = path.join(folder, 'other-version');
    mkdirSync(copy);
    cpSync(path.join(ROOT, 'dist'), path.join(copy, 'dist'), { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
    const about = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
    writeFileSync(path.join(copy, 'package.json'), JSON.stringify({ ...about, version: '9.8.7' }));
    const worker = `${process.execPath} ${path.join(copy, 'dist/cli/main.js')}`;
    const launch = new Launch(onSlurm(out, '--retries', '0', '--worker-command', worker));
    expect(await launch.ended).not.toBe(0);
    const both = `was made by cutroom ${about.version}, and this is 9.8.7`;
    expect(launch.said).toContain(both);
    expect(runStatus(plan)).toContain(both);
  });

  it('says what Slurm says of a partition that is not there', async () => {
    const { out } = newPlace();
    const said = await new Launch(onSlurm(out, '--partition', 'nowhere')).end(2);
    expect(said).toContain('Cannot submit tasks to Slurm: ');
    expect(said).toContain('nvalid partition');
    expect(said).toContain('sinfo');
  });
});

function runStatus(plan: PlanWatch): string {
  const main = path.join(ROOT, 'dist/cli/main.js');
  const { stdout, stderr } = spawnSync(process.execPath, [main, 'status', plan.folder], { encoding: 'utf8' });
  return stdout + stderr;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function readPid(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
