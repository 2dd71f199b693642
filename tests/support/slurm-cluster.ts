// A Slurm that is up on this machine, as scripts/slurm-up.sh brings it up, and launches of cutroom on it.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { TaskBeat } from '#cutroom/cluster/task-states.js';
import type { EngineRecord } from '#cutroom/cluster/engine.js';
import { parseRanges } from '#cutroom/cluster/slurm-arrays.js';
import { slurmFactsOf, type SlurmFacts } from '#cutroom/cluster/slurm-record.js';

const SAMPLES = fileURLToPath(new URL('../../samples/', import.meta.url));
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** `slurm.conf` of the cluster to test on. */
export const SLURM_CONF = process.env['CUTROOM_SLURM_CONF'] ?? process.env['SLURM_CONF'];

/** Why there is no Slurm to test on; undefined where there is. */
export function whyNoSlurm(): string | undefined {
  if (SLURM_CONF === undefined)
    return 'no Slurm is up: scripts/slurm-up.sh DIR, and name its slurm.conf in CUTROOM_SLURM_CONF';
  const { status, stderr } = askSlurm('sinfo', '--noheader');
  return status === 0 ? undefined : `the Slurm of ${SLURM_CONF} does not answer: ${stderr}`;
}

/** Runs a program of Slurm. */
export function askSlurm(
  program: string,
  ...args: readonly string[]
): { status: number | null; stdout: string; stderr: string } {
  const env = { ...process.env, ...(SLURM_CONF === undefined ? {} : { SLURM_CONF }) };
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env });
  return { status, stdout, stderr };
}

/** Elements of the cluster's arrays have indices below it. */
export function maxArraySize(): number {
  return Number(/^MaxArraySize\s*=\s*(\d+)/mu.exec(askSlurm('scontrol', 'show', 'config').stdout)?.[1]);
}

/** The bundled conversation under so many names, with its manifest: each takes the better part of a second to cut. */
export function writeTalks(folder: string, count: number): void {
  const [line = ''] = readFileSync(path.join(SAMPLES, 'conversation.jsonl'), 'utf8').split('\n');
  const row = JSON.parse(line) as Record<string, unknown>;
  mkdirSync(path.join(folder, 'audio'), { recursive: true });
  const lines: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const id = `talk-${String(n).padStart(2, '0')}`;
    copyFileSync(path.join(SAMPLES, 'conversation.opus'), path.join(folder, 'audio', `${id}.opus`));
    lines.push(`${JSON.stringify({ ...row, id, audio_filepath: `${id}.opus` })}\n`);
  }
  writeFileSync(path.join(folder, 'manifest.jsonl'), lines.join(''));
}

/** Arguments that cut them. */
export function cutArguments(folder: string, out: string): string[] {
  const input = ['--input-manifest', path.join(folder, 'manifest.jsonl'), '--audio-dir', path.join(folder, 'audio')];
  return ['cut', ...input, '--output-dir', out, '--max-duration-sec', '30'];
}

/** The finals of a cut by name, in Latin-1. */
export function finalsIn(out: string): Record<string, string> {
  const names = readdirSync(out, { withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(names.map(({ name }) => [name, readFileSync(path.join(out, name), 'latin1')]));
}

/** A cutroom in a process of its own. */
export class Launch {
  readonly ended: Promise<number | null>;
  readonly #child;
  #said = '';

  constructor(args: readonly string[], variables: Readonly<Record<string, string>> = {}) {
    const env = { ...process.env, ...(SLURM_CONF === undefined ? {} : { SLURM_CONF }), ...variables };
    this.#child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'ignore', 'pipe'], env });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#said += text));
    this.ended = once(this.#child, 'close').then(([code]) => code as number | null);
  }

  /** What it has written to stderr. */
  get said(): string {
    return this.#said;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async end(code: number): Promise<string> {
    expect(await this.ended, this.#said).toBe(code);
    return this.#said;
  }
}

/** The folder of a plan while it is worked on. */
export class PlanWatch {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  get facts(): SlurmFacts | undefined {
    const record = this.#read('engine.json') as EngineRecord | undefined;
    return record === undefined ? undefined : slurmFactsOf(record);
  }

  /** Waits for a task to be run. */
  async running(task: number, isOther: (beat: TaskBeat) => boolean = () => true): Promise<TaskBeat> {
    return await waitFor(`task ${task} to run`, () => {
      const beat = this.#read(`states/${String(task).padStart(5, '0')}.beat`) as TaskBeat | undefined;
      return beat !== undefined && isOther(beat) ? beat : undefined;
    });
  }

  /** How often tasks were handed to Slurm, by task. */
  get attempts(): Record<number, number> {
    const attempts: Record<number, number> = {};
    for (const { tasks } of this.facts?.submissions ?? []) {
      for (const task of parseRanges(tasks)) attempts[task] = (attempts[task] ?? 0) + 1;
    }
    return attempts;
  }

  #read(name: string): unknown {
    const file = path.join(this.folder, name);
    try {
      return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
    } catch {
      // It was replaced or removed just now.
      return undefined;
    }
  }
}

/** Looks again and again until there is something. */
export async function waitFor<Found>(what: string, look: () => Found | undefined, seconds = 60): Promise<Found> {
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs) {
    const found = look();
    if (found !== undefined) return found;
    await sleep(50);
  }
  throw new Error(`Waited ${seconds} s for ${what}`);
}
