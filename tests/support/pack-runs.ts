// Small plans of shards, and runs of them in this process and in others.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { ShardOutcome } from '#cutroom/shard/outcome.js';
import { packShard } from '#cutroom/shard/pack-shard.js';
import type { PackShardJob, PackShardResult } from '#cutroom/shard/pack-shard.js';
import type { PackShardsOptions } from '#cutroom/shard/pack-shards.js';
import { PlanFile, writePlan } from '#cutroom/shard/plan-file.js';
import { PLAN_FORMAT } from '#cutroom/shard/plan.js';
import type { AudioTarget, PlannedItem } from '#cutroom/shard/plan.js';
import { makeNoise } from './signals.js';
import { buildWav } from './wav-files.js';

/** Where a test keeps its sources, its plan and what is made of it. */
export interface PackPlaces {
  plan: PlanFile;
  /** Output folder. */
  out: string;
  workFolder: string;
}

/** An item that copies a file, unless `changes` say otherwise. */
export function itemOf(id: string, file: string, changes: Partial<PlannedItem> = {}): PlannedItem {
  const member = changes.member ?? `${id}${path.extname(file) || '.wav'}`;
  return {
    input: 0,
    line: 1,
    id,
    member,
    path: file,
    how: 'copy',
    row: [`{"audio_filepath":${JSON.stringify(member)},"text":"words of ${id}","duration":`, ',"lang":"de"}'],
    ...changes,
  };
}

/** Writes a plan of these shards beside the sources; tars are `audios/<k>.tar`, manifests `manifests/<k>.jsonl`. */
export async function makePlan(
  folder: string,
  shards: readonly (readonly PlannedItem[])[],
  audio: Partial<AudioTarget> = {},
): Promise<PackPlaces> {
  const file = path.join(folder, 'plan');
  await writePlan(
    file,
    {
      format: PLAN_FORMAT,
      cutroom_version: '0.0.0',
      audio_architecture: 'test',
      command: 'build',
      inputs: [{ path: 'input.tsv', sha256: '0' }],
      options: {},
      base: folder,
      audio: { format: 'wav', sampleRate: null, channel: 'average', compressionLevel: null, ...audio },
      facts: {},
    },
    [],
    shards.map((items, k) => ({ tar: `audios/${k}.tar`, manifest: `manifests/${k}.jsonl`, items, micros: 0 })),
  );
  return placesOf(file, path.join(folder, 'out'));
}

/** Opens a plan that is to be carried out in a folder. */
export function placesOf(planPath: string, out: string): PackPlaces {
  const plan = PlanFile.open(planPath);
  if (plan === undefined) throw new Error(`There is no plan "${planPath}"`);
  return { plan, out, workFolder: path.join(out, '.work') };
}

/** Options that make all shards of a plan. */
export function packOptions(
  { plan, out, workFolder }: PackPlaces,
  changes: Partial<PackShardsOptions> = {},
): PackShardsOptions {
  return {
    plan,
    folder: out,
    workFolder,
    shards: plan.shards.map((_, k) => k),
    jobs: 1,
    silenceSeconds: 60,
    overwrite: false,
    ...changes,
  };
}

/** The job that makes a shard. */
export function jobOf(
  { plan, out, workFolder }: PackPlaces,
  shard: number,
  changes: Partial<PackShardJob> = {},
): PackShardJob {
  return {
    planPath: plan.path,
    planHash: plan.hash,
    shard,
    folder: out,
    workFolder,
    base: plan.header.base,
    dead: [],
    checkpointMs: 2000,
    patienceMs: 1000,
    ...changes,
  };
}

/** What came of a job that did not fail. */
export function outcomeOf(result: PackShardResult): ShardOutcome {
  if (result.kind === 'fault') throw new Error(result.message);
  return result.outcome;
}

/** Does a job in this process; the tar and the manifest stay beside their places. */
export async function makeShard(job: PackShardJob): Promise<ShardOutcome> {
  return outcomeOf(await packShard(job, () => Promise.resolve()));
}

/** All files below a folder with their bytes, by relative path; of the work folder, the outcomes alone. */
export function readTree(folder: string): Map<string, Buffer> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(path.join(folder, name)).isFile())
    .toSorted();
  return new Map(files.map((name) => [name, readFileSync(path.join(folder, name))]));
}

/** Expects that a run left these very bytes and nothing else. */
export function expectTree(folder: string, expected: ReadonlyMap<string, Buffer>, label = ''): void {
  const found = readTree(folder);
  expect([...found.keys()], label).toEqual([...expected.keys()]);
  for (const [name, bytes] of expected)
    expect(found.get(name)?.equals(bytes), `${name} is the same ${label}`).toBe(true);
}

/** Writes a WAV of noise at 16 kHz. */
export async function writeNoise(filePath: string, seconds: number, seed = 1): Promise<void> {
  await writeFile(filePath, buildWav(makeNoise(Math.round(seconds * 16_000), 1, seed), { sampleRate: 16_000 }));
}

/** Rows of a manifest. */
export function readRows(filePath: string): Record<string, unknown>[] {
  const lines = readFileSync(filePath, 'utf8').split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** What a driver says of how its run ended. */
export interface PackDriverEnd {
  outcomes?: ShardOutcome[];
  error?: { name: string; code: string; message: string; hint?: string };
  signal: NodeJS.Signals | null;
}

/** A run in a process of its own, as a command makes it. */
export interface PackDriver {
  pid: number;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<PackDriverEnd>;
}

export function startPackDriver(
  places: PackPlaces,
  changes: Partial<Omit<PackShardsOptions, 'plan' | 'signal' | 'onProgress' | 'isProcessAlive'>> = {},
): PackDriver {
  const program = fileURLToPath(new URL('pack-driver.js', import.meta.url));
  const { plan, ...options } = packOptions(places, changes);
  const child = spawn(process.execPath, [program, JSON.stringify({ planPath: plan.path, options })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(child, 'close').then(([, signal]) => ({
    signal: signal as NodeJS.Signals | null,
    ...(said === '' ? {} : (JSON.parse(said) as Omit<PackDriverEnd, 'signal'>)),
  }));
  if (child.pid === undefined) throw new Error('The driver could not be started');
  return { pid: child.pid, kill: (signal) => void child.kill(signal), ended };
}
