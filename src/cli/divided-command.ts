import { homedir } from 'node:os';
import path from 'node:path';
import type { KindName } from '../cluster/task-kind.js';
import { UsageError } from '../errors.js';
import { resolveToken } from '../text/token.js';
import type { BuildFlags } from './commands/build.js';
import type { CutFlags } from './commands/cut.js';
import type { ScanFlags } from './commands/scan.js';
import type { TarFlags } from './commands/tar.js';
import { buildOptionsOf, checkBuildFlags } from './run-build.js';
import { checkCutFlags, cutOptionsOf } from './run-cut.js';
import { checkScanFlags, scanOptionsOf } from './run-scan.js';
import { checkTarFlags, tarOptionsOf } from './run-tar.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A command as it is laid down in a plan. */
export interface DividedCommand {
  kind: KindName;
  /** The options of the command: no secret, nothing that is a matter of one machine. Outputs have absolute paths. */
  request: Readonly<Record<string, unknown>>;
  /** Where the outputs go, absolute. */
  outputFolder: string;
  /** Variables for planning; a token that was given is among them. */
  environment: Environment;
}

/** @throws UsageError for flags that contradict each other or make no sense in tasks. */
export async function divideCut(flags: CutFlags, environment: Environment): Promise<DividedCommand> {
  checkCutFlags(flags);
  refuse('--dry-run', flags.dryRun, 'A preview is made on this machine: leave out what divides it.');
  refuse('--salvage', flags.salvage, 'Salvage at the end: cutroom finish DIR --salvage.');
  const { jobs, dryRun, salvage, hfToken, hfTokenFile, ...options } = cutOptionsOf(flags);
  void [jobs, dryRun, salvage];
  return {
    kind: 'cut',
    request: {
      ...options,
      outputDir: path.resolve(flags.outputDir),
      outputManifest: absolute(flags.outputManifest),
      outputAudioTarPath: absolute(flags.outputAudioTarPath),
      metricsPath: absolute(flags.metricsPath),
    },
    outputFolder: path.resolve(flags.outputDir),
    environment: await withToken(environment, hfToken, hfTokenFile),
  };
}

/** @throws UsageError as `divideCut`. */
export function divideBuild(flags: BuildFlags, environment: Environment): DividedCommand {
  checkBuildFlags(flags);
  const hint = 'Leave it out: the plan is made anyway, and each task makes a part of the shards.';
  refuse('--plan-only', flags.planOnly, hint);
  refuse('--split-start', flags.splitStart, hint);
  refuse('--split-end', flags.splitEnd, hint);
  const { jobs, planOnly, splitStart, splitEnd, ...options } = buildOptionsOf(flags);
  void [jobs, planOnly, splitStart, splitEnd];
  const outputDir = path.resolve(flags.outputDir);
  return { kind: 'build', request: { ...options, outputDir }, outputFolder: outputDir, environment };
}

/** @throws UsageError as `divideCut`. */
export function divideTar(flags: TarFlags, manifests: readonly string[], environment: Environment): DividedCommand {
  checkTarFlags(flags);
  refuse('--dry-run', flags.dryRun, 'A preview is made on this machine: leave out what divides it.');
  refuse('--write-metadata', flags.writeMetadata, 'It writes one small file: leave out what divides it.');
  refuse('--only-manifests', flags.onlyManifests, 'Manifests are written on this machine: leave out what divides it.');
  const { jobs, dryRun, writeMetadata, onlyManifests, ...options } = tarOptionsOf(flags, manifests);
  void [jobs, dryRun, writeMetadata, onlyManifests];
  const targetDir = path.resolve(flags.targetDir);
  return { kind: 'tar', request: { ...options, targetDir }, outputFolder: targetDir, environment };
}

/** @throws UsageError as `divideCut`. */
export function divideScan(flags: ScanFlags, sources: readonly string[], environment: Environment): DividedCommand {
  checkScanFlags(flags);
  const { jobs, ...options } = scanOptionsOf(flags, sources);
  void jobs;
  const out = path.resolve(flags.out);
  return { kind: 'scan', request: { ...options, out, onError: flags.onError }, outputFolder: out, environment };
}

/** Workers are told how many processes they have where they are started. */
export function refuseJobs({ jobs, workers }: { jobs?: number; workers?: number }, hint: string): void {
  refuse('--jobs', jobs, hint);
  refuse('--workers', workers, hint);
}

function refuse(name: string, value: unknown, hint: string): void {
  if (value === undefined || value === false) return;
  throw new UsageError(`${name} does not go with tasks`, { hint });
}

function absolute(file: string | undefined): string | undefined {
  return file === undefined ? undefined : path.resolve(file);
}

/** Only planning needs a token: it goes the way of the environment, which nothing writes down. */
async function withToken(
  environment: Environment,
  token: string | undefined,
  tokenFile: string | undefined,
): Promise<Environment> {
  if (token === undefined && tokenFile === undefined) return environment;
  const secret = await resolveToken({ token, tokenFile, environment, homeDir: homedir() });
  return { ...environment, HF_TOKEN: secret?.reveal() };
}
