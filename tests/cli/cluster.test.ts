import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { pid } from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TaskStates } from '#cutroom/cluster/task-states.js';
import { acquireLock } from '#cutroom/run/lock.js';
import { makeSegments, wavOfNoise, writeCorpus } from '../support/cut-runs.js';
import { runCli, type CliSetting } from './run-cli.js';

let store: string;
let inputs: string[];
beforeAll(async () => {
  store = mkdtempSync(path.join(tmpdir(), 'cutroom-cluster-'));
  const ids = ['a', 'a-1', 'b'];
  const { options } = await writeCorpus(
    store,
    ids.map((id, k) => ({ id, file: `${id}.wav`, segments: makeSegments(2, 1, 0.7), write: wavOfNoise(2, k + 1) })),
  );
  inputs = [
    '--input-manifest',
    options.inputManifest,
    '--audio-dir',
    options.audioDir ?? '',
    '--max-duration-sec',
    '2',
  ];
});
afterAll(() => rmSync(store, { recursive: true }));

const at = (name: string): string => path.join(store, name);
const planCut = (name: string, ...more: string[]): string[] => [
  ...['plan', 'cut', ...inputs, '--output-dir', at(`${name}-out`), '--plan', at(name), ...more],
];

/** Names and bytes of a folder's files. */
function readFolder(folder: string): Record<string, string> {
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'));
  return Object.fromEntries(names.map((name) => [name, readFileSync(path.join(folder, name)).toString('base64')]));
}

describe('a cut in tasks', () => {
  it('gives the bytes of one run, by plan, run, status and finish', async () => {
    const local = await runCli(['cut', ...inputs, '--output-dir', at('local'), '--jobs', '1']);
    expect(local.exitCode).toBe(0);
    const planned = await runCli(planCut('first', '--tasks', '2', '--json'));
    expect(planned.stderr).toMatch(/^Planned\.\n {2}tasks {7}2\n {2}recordings {2}3\n/u);
    expect(planned.stderr).toContain(`  cutroom run ${at('first')} --task N   one of the tasks, 0 to 1`);
    expect(JSON.parse(planned.stdout)).toMatchObject({ result: 'planned', command: 'cut', tasks: 2, failed_rows: 0 });
    const again = await runCli(planCut('first', '--tasks', '2', '--quiet', '--json'));
    expect(again.stderr).toBe('');
    expect(JSON.parse(again.stdout)).toMatchObject({ result: 'already_planned' });

    const env = { SLURM_ARRAY_TASK_ID: '0', CUTROOM_TASK_OFFSET: '1', SLURM_CPUS_PER_TASK: '1' };
    const one = await runCli(['run', at('first'), '--task-from-env'], { env });
    expect(one).toMatchObject({ exitCode: 0, stdout: '' });
    expect(one.stderr).toMatch(/^Task 1 is done: \d recordings?, 0\.00\d h\.\n$/u);
    const more = await runCli(['run', at('first'), '--task', '1', '--json']);
    expect(more).toMatchObject({ exitCode: 0, stderr: 'Task 1 is done already; nothing was done.\n' });
    expect(JSON.parse(more.stdout)).toMatchObject({ result: 'already_done', task: 1 });

    const status = await runCli(['status', at('first')]);
    expect(status.stdout).toMatch(
      /^plan {3}cut, 2 tasks, 3 recordings\ntasks {2}1 done, 1 waiting\nwork {3}0\.00 of 0\.00 h\n$/u,
    );
    const early = await runCli(['finish', at('first')]);
    expect(early.exitCode).toBe(2);
    expect(early.stderr).toContain('task 0 is not done\nhint: ');

    const rest = await runCli(['run', at('first'), '--finish', '--jobs', '1', '--verbose']);
    expect(rest.exitCode).toBe(0);
    expect(rest.stderr).toMatch(/^Task 0 is done: .*\n1 task is done\.\nDone\.\n {2}in .* 3 recordings, 6 segments/u);
    expect(rest.stderr).not.toContain('real time');
    expect(readFolder(at('first-out'))).toEqual(readFolder(at('local')));

    const finished = await runCli(['finish', at('first'), '--json']);
    expect(finished.exitCode).toBe(0);
    expect(finished.stderr).toContain('This run is finished already; nothing was done.\n');
    expect(JSON.parse(finished.stdout)).toMatchObject({ result: 'already_done', output_snippets: 3 });
    const other = await runCli(['finish', at('first'), '--as-shards']);
    expect(other.exitCode).toBe(2);
    expect(other.stderr).toContain('tasks_as_shards was unset, now 2\nhint: Move the outputs that are there away');
    const json = await runCli(['status', at('first'), '--watch', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      done: 2,
      waiting: 0,
      hours_total: expect.any(Number),
      engine: null,
    });
    expect((await runCli(['run', at('first')])).stderr).toMatch(
      /^No task is left; nothing was done\.\nAll tasks are done\./u,
    );
  });

  it('is one command with --tasks, which goes on with its plan', async () => {
    const args = ['cut', ...inputs, '--output-dir', at('whole'), '--tasks', '2', '--jobs', '1'];
    const { stderr, exitCode } = await runCli([...args, '--execution-mode', 'streaming']);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('note: --execution-mode changes nothing here\n');
    expect(stderr).toContain(`planned: 3 recordings in 2 tasks, in ${at('whole/.cutroom-plan')}\nDone.\n`);
    expect(stderr).toContain(`\n${at('whole/.cutroom-plan')} still holds the tars of the tasks`);
    expect(readFolder(at('whole'))).toEqual(readFolder(at('local')));
    const again = await runCli(args);
    expect(again.stderr).toContain('going on with the plan: 3 recordings in 2 tasks');
    expect(again.stderr).toContain('This run is finished already');
    // Who did the tasks is of no account any more.
    writeFileSync(at('whole/.cutroom-plan/engine.json'), JSON.stringify({ engine: 'slurm', facts: {} }));
    const elsewhere = await runCli([...args.slice(0, -2), '--backend', 'ray']);
    expect(elsewhere).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('finished already') as string });
  });

  it('does not call a folder needless that holds its outputs', async () => {
    const args = ['cut', ...inputs, '--output-dir', at('both'), '--plan', at('both'), '--tasks', '1', '--jobs', '1'];
    const { stderr, exitCode } = await runCli(args);
    expect(exitCode).toBe(0);
    expect(stderr).not.toContain('still holds');
  });

  it('is not done again when its plan was removed and its outputs are there', async () => {
    const args = ['cut', ...inputs, '--output-dir', at('kept'), '--tasks', '2', '--jobs', '1'];
    const plan = at('kept/.cutroom-plan');
    await runCli(args);
    rmSync(plan, { recursive: true });
    const again = await runCli(args);
    expect(again.exitCode).toBe(0);
    expect(again.stderr).toMatch(/^planned: 3 recordings in 0 tasks, in .*\nThis run is finished already/u);
    for (const name of Object.keys(readFolder(at('kept')))) rmSync(path.join(at('kept'), name));
    const gone = await runCli(['finish', plan]);
    expect(gone.exitCode).toBe(2);
    expect(gone.stderr).toContain('the outputs were there when it was made, and are not now');
  });

  it('stops with 143 on SIGTERM and 130 on Ctrl-C, and goes on afterwards', async () => {
    await runCli(planCut('stopped', '--tasks', '1'));
    for (const [name, exitCode] of [
      ['SIGTERM', 143],
      ['SIGINT', 130],
    ] as const) {
      const stop = new AbortController();
      stop.abort(new Error(name));
      const ended = await runCli(['run', at('stopped'), '--task', '0'], { signal: stop.signal });
      expect(ended).toMatchObject({ exitCode, stdout: '' });
      expect(ended.stderr).toContain('error: ');
      expect((await runCli(['run', at('stopped')], { signal: stop.signal })).exitCode).toBe(exitCode);
    }
    expect((await runCli(['status', at('stopped')])).stdout).toContain('0 done, 1 waiting');
  });

  it('does not wait for a cluster that is away to tell how tasks stand', async () => {
    await runCli(planCut('away', '--tasks', '1'));
    const record = { engine: 'ray', options: {}, facts: { address: 'http://127.0.0.1:1' } };
    writeFileSync(at('away/engine.json'), JSON.stringify(record));
    const startMs = performance.now();
    const { stdout, exitCode } = await runCli(['status', at('away')], { env: { HOME: store } });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /\ntasks {2}0 done, 1 waiting\n.*\njobs {3}ray: Cannot reach Ray at http:\/\/127\.0\.0\.1:1: /u,
    );
    expect(performance.now() - startMs).toBeLessThan(4_000);
  });

  it('calls a task stale whose runner says nothing any more', async () => {
    await runCli(planCut('quiet', '--tasks', '1'));
    const beat = at('quiet/states/00000.beat');
    writeFileSync(beat, '{}');
    utimesSync(beat, 1, 1);
    expect((await runCli(['status', at('quiet')])).stdout).toMatch(
      /\ntasks {2}0 done, 1 stale\n.*\nstale:\n {2}0 {2}nothing heard/u,
    );
  });

  it('leaves a task that another process has, and says who', async () => {
    await runCli(planCut('busy', '--tasks', '1'));
    const states = new TaskStates(at('busy'), 1);
    const lock = await acquireLock(states.lockPath(0), { identity: { host: hostname(), pid } });
    const { stderr, exitCode } = await runCli(['run', at('busy'), '--task', '0']);
    expect(exitCode).toBe(0);
    expect(stderr).toBe(`Task 0 is being run by process ${pid} on ${hostname()}; nothing was done.\n`);
    await lock.release();
  });
});

describe('cutroom run', () => {
  it('ends as the error of a task does, and status tells the error', async () => {
    await runCli(planCut('failing', '--tasks', '3'));
    const work = at('failing/work');
    for (const name of readdirSync(work)) writeFileSync(path.join(work, name), 'damaged\n');
    const all = await runCli(['run', at('failing'), '--jobs', '1']);
    expect(all.exitCode).toBe(1);
    expect(all.stderr).toMatch(/^task 0: error: /u);
    expect(all.stderr).toContain('\n0 tasks are done, 3 tasks failed.\n');
    expect((await runCli(['run', at('failing'), '--task', '2'])).exitCode).toBe(1);
    const { stdout } = await runCli(['status', at('failing')]);
    expect(stdout).toContain('0 done, 3 failed');
    expect(stdout).toMatch(/failed:\n {2}0 {2}.*\(.*process \d+\)\n/u);
    expect(stdout).toMatch(/\n {2}2 {2}.*, 2 tries\)/u);
    const salvaged = await runCli(['finish', at('failing'), '--salvage']);
    expect(salvaged).toMatchObject({ exitCode: 2 });
    expect(salvaged.stderr).toContain('there is nothing to salvage');
  });

  it('refuses plans of other versions and what is no plan or task', async () => {
    await runCli(planCut('other', '--tasks', '1'));
    const none = await runCli(['run', at('other'), '--task', '1']);
    expect(none).toMatchObject({ exitCode: 2 });
    expect(none.stderr).toContain('There is no task 1: the plan has 1, counted from 0');
    const file = at('other/plan.json');
    const record = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...record, cutroom_version: '0.0.9' }));
    for (const command of ['run', 'status', 'finish', 'cancel']) {
      const { exitCode, stderr } = await runCli([command, at('other')]);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/was made by cutroom 0\.0\.9, and this is .*\nhint: /u);
      expect((await runCli([command, at('nowhere')])).stderr).toMatch(/There is no plan in .*\nhint: Make one: /u);
    }
  });

  it('takes its task from the environment, and says what is wrong with it', async () => {
    const run = async (env: CliSetting['env']): Promise<string> => {
      const { exitCode, stderr } = await runCli(['run', at('nowhere'), '--task-from-env'], { env: env ?? {} });
      expect(exitCode).toBeGreaterThan(0);
      return stderr;
    };
    expect(await run({})).toContain('neither CUTROOM_TASK nor SLURM_ARRAY_TASK_ID is set');
    expect(await run({ CUTROOM_TASK: 'seven' })).toContain('CUTROOM_TASK is "seven"');
    expect(await run({ CUTROOM_TASK: '', SLURM_ARRAY_TASK_ID: '1', CUTROOM_TASK_OFFSET: '-2' })).toContain(
      'CUTROOM_TASK_OFFSET is "-2"',
    );
    expect(await run({ CUTROOM_TASK: '1', SLURM_ARRAY_TASK_ID: 'x' })).toContain('There is no plan in');
    const both = await runCli(['run', at('nowhere'), '--task-from-env', '--task', '1']);
    expect(both.stderr).toContain('--task and --task-from-env exclude each other');
  });
});

describe('cutroom plan', () => {
  it('refuses what makes no sense in tasks, with what to do instead', async () => {
    const told = async (...more: string[]): Promise<string> => {
      const { exitCode, stderr } = await runCli(planCut('refused', ...more));
      expect(exitCode).not.toBe(0);
      return stderr;
    };
    expect(await told('--tasks', '2', '--dry-run')).toMatch(/--dry-run does not go with tasks\nhint: /u);
    expect(await told('--tasks', '2', '--salvage')).toContain('cutroom finish DIR --salvage');
    expect(await told('--tasks', '2', '--jobs', '4')).toContain('cutroom run DIR --jobs N');
    expect(await told('--tasks', '2', '--task-hours', '4')).toContain('exclude each other');
    expect(await told()).toContain('--tasks or --task-hours is missing');
    expect(await told('--tasks', '0')).toContain('must be a whole number of 1 or more');
    expect(await told('--tasks', '2', '--map', 'a=b')).toContain('--map must be LOCAL=REMOTE');
    expect(await told('--tasks', '2', '--ngramn', '3')).toContain('Did you mean --ngram-n?');
    expect(existsSync(at('refused'))).toBe(false);
  });

  it('names what differs from the plan that is there, and other content', async () => {
    await runCli(planCut('taken', '--tasks', '1'));
    const { stderr, exitCode } = await runCli(planCut('taken', '--tasks', '1', '--min-duration-sec', '1'));
    expect(exitCode).toBe(2);
    expect(stderr).toContain('minDurationSeconds was 0.5, now 1');
    const manifest = inputs[1] ?? '';
    const text = readFileSync(manifest, 'utf8');
    writeFileSync(manifest, text.replace('segment 1', 'segment !'));
    const changed = await runCli(planCut('taken', '--tasks', '1'));
    expect(changed).toMatchObject({ exitCode: 1, stdout: '' });
    expect(changed.stderr).toContain(`has changed: "${manifest}" has another content\nhint: `);
    writeFileSync(manifest, text);
    expect((await runCli(planCut('taken', '--tasks', '1'))).exitCode).toBe(0);
    const mapped = await runCli(planCut('taken', '--tasks', '1', '--map', '/a=/b'));
    expect(mapped.stderr).toContain('map was [], now [{"local":"/a","remote":"/b"}]');
    mkdirSync(at('full'));
    writeFileSync(at('full/notes.txt'), '');
    expect((await runCli(planCut('full', '--tasks', '1'))).stderr).toContain('it holds "notes.txt"');
  });

  it('writes no token into the plan', async () => {
    const planned = await runCli(planCut('secret', '--tasks', '1', '--hf-token', 'hf_secret'));
    expect(planned.exitCode).toBe(0);
    const files = readdirSync(at('secret'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { name, parentPath } of files) {
      expect(readFileSync(path.join(parentPath, name), 'latin1')).not.toContain('hf_secret');
    }
  });
});

describe('--backend', () => {
  it('says what is missing where there is no Slurm, and no jobs where nothing was submitted', async () => {
    const args = ['cut', ...inputs, '--output-dir', at('slurm'), '--backend', 'slurm', '--tasks', '2'];
    const { exitCode, stderr } = await runCli(args, { env: { PATH: at('no-programs') } });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/planned: 3 recordings in 2 tasks.*\nerror: .*\nhint: /u);
    const status = await runCli(['status', at('slurm/.cutroom-plan')], { env: { PATH: at('no-programs') } });
    expect(status.exitCode).toBe(0);
    expect(status.stdout).toMatch(/\njobs {3}slurm: /u);
    const local = await runCli(['cancel', at('first')]);
    expect(local).toMatchObject({ exitCode: 0, stdout: '' });
    expect(local.stderr).toContain('there is nothing to cancel');
  });

  it('refuses flags of another backend, and wrong values', async () => {
    const told = async (...more: string[]): Promise<string> => {
      const { exitCode, stderr } = await runCli(['cut', ...inputs, '--output-dir', at('refused'), ...more]);
      expect(exitCode).not.toBe(0);
      return stderr;
    };
    expect(await told('--partition', 'gpu')).toContain('--partition goes with --backend slurm');
    expect(await told('--retries', '1')).toContain('--retries goes with --backend slurm or ray');
    expect(await told('--backend', 'slurm', '--ray-address', 'http://x:1')).toContain('goes with --backend ray');
    expect(await told('--backend', 'ray', '--jobs', '2')).toContain('--cpus-per-task N');
    expect(await told('--plan', 'x')).toContain('without --tasks or --task-hours');
    expect(await told('--backend', 'dask')).toContain('--backend must be local, slurm or ray');
    expect(await told('--backend', 'slurm', '--time', 'tomorrow')).toContain('must be a time as Slurm takes it');
    expect(await told('--backend', 'slurm', '--mem', 'lots')).toContain('must be memory as Slurm takes it');
    expect(await told('--backend', 'slurm', '--sbatch-arg', 'x')).toContain('with its dashes');
    expect(await told('--backend', 'ray', '--ray-address', 'head')).toContain('must be the address of the dashboard');
    expect(await told('--backend', 'slurm', '--worker-command', 'a "b')).toContain('must close its quote');
    expect(existsSync(at('refused'))).toBe(false);
  });
});
