// Programs of Slurm that say what a test has them say, in a folder of their own.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'vitest';
import type { EngineRecord } from '#cutroom/cluster/engine.js';
import type { PlanFolder } from '#cutroom/cluster/plan-folder.js';

/** A call of a program: its arguments, and the variables of Slurm that it was given. */
export interface FakeCall {
  program: string;
  args: readonly string[];
  variables: readonly string[];
}

/** A plan in a folder, and programs beside it. */
export class FakeSlurm {
  readonly folder: string;
  readonly plan: PlanFolder;
  readonly environment: Record<string, string>;
  readonly #programs: string;

  /** By default jobs are numbered from 101 on, nothing is queued, and there is no accounting. */
  constructor(context: Pick<TestContext, 'onTestFinished'>, tasks = 10) {
    this.folder = mkdtempSync(path.join(tmpdir(), 'cutroom-slurm-'));
    context.onTestFinished(() => rmSync(this.folder, { recursive: true }));
    this.#programs = path.join(this.folder, 'bin');
    const folder = path.join(this.folder, 'plan');
    for (const place of [this.#programs, folder, path.join(folder, 'logs')]) mkdirSync(place);
    this.plan = { folder, record: { kind: 'cut', hash: 'c0ffee'.repeat(10), tasks } } as PlanFolder;
    this.environment = { PATH: `${this.#programs}:/usr/bin:/bin` };
    this.say('sbatch', `n=100; [ -e "$0.count" ] && read n <"$0.count"; n=$((n + 1)); echo $n >"$0.count"; echo $n`);
    this.say('squeue', ':');
    this.say('scontrol', 'echo "MaxArraySize            = 1001"');
    this.say('sacct', 'echo "Slurm accounting storage is disabled" >&2; exit 1');
    this.say('scancel', ':');
  }

  /** Has a program run this piece of shell script. */
  say(program: string, script: string): void {
    const file = path.join(this.#programs, program);
    const log = path.join(this.folder, 'calls');
    // Without another process: tests of whole launches call it often.
    const note = `{ printf '%s\\n' ${program} "$@"; export -p; echo .; } >>'${log}'`;
    writeFileSync(file, `#!/bin/sh\n${note}\n${script}\n`);
    chmodSync(file, 0o755);
  }

  /** Has `squeue` tell of jobs: number, index, state, status as of `wait`, reason, name. */
  queue(...rows: readonly (readonly (string | number)[])[]): void {
    const lines = rows.map((row) => `${row.map((field) => String(field).padEnd(20)).join('|')}\n`);
    const file = path.join(this.folder, 'queue');
    writeFileSync(file, lines.join(''));
    this.say('squeue', `cat '${file}'`);
  }

  remove(program: string): void {
    rmSync(path.join(this.#programs, program));
  }

  /** The calls since this was last asked. */
  calls(program?: string): FakeCall[] {
    const log = path.join(this.folder, 'calls');
    if (!existsSync(log)) return [];
    const blocks = readFileSync(log, 'utf8').split('\n.\n').slice(0, -1);
    rmSync(log);
    const calls = blocks.map((block): FakeCall => {
      const [name = '', ...lines] = block.split('\n');
      const exported = lines.filter((line) => line.startsWith('export '));
      const variables = exported
        .map((line) => line.replace(/^export (\w+)='(.*)'$/u, '$1=$2'))
        .filter((variable) => /^(?:SLURM|SBATCH|SQUEUE|CUTROOM)/u.test(variable));
      return { program: name, args: lines.filter((line) => !exported.includes(line)), variables };
    });
    return program === undefined ? calls : calls.filter((call) => call.program === program);
  }

  record(changes: Partial<EngineRecord> = {}): EngineRecord {
    return {
      engine: 'slurm',
      options: {},
      retries: 2,
      maxRunning: null,
      workerCommand: ['/opt/node', '/opt/cutroom/dist/cli/main.js'],
      remoteFolder: this.plan.folder,
      facts: {},
      ...changes,
    };
  }
}
