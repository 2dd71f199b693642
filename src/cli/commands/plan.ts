import { buildCommand, buildRouteMap } from '@stricli/core';
import { divisionFlags, hideFlags, type DivisionFlags } from '../cluster-flags.js';
import type { CliContext } from '../context.js';
import { nonEmpty } from '../values.js';
import { buildFlags, type BuildFlags } from './build.js';
import { cutFlags, type CutFlags } from './cut.js';
import { scanFlags, type ScanFlags } from './scan.js';
import { tarFlags, type TarFlags } from './tar.js';

type Divided<Flags> = Flags & DivisionFlags & { plan: string };

const WORKERS_JOBS = 'It is given where tasks run: cutroom run DIR --jobs N.';

const planCut = buildCommand<Divided<CutFlags>, [], CliContext>({
  loader: async () => {
    const [{ divideCut, refuseJobs }, { runPlan }] = await loadPlanning();
    return async function run(this: CliContext, flags) {
      refuseJobs(flags, WORKERS_JOBS);
      await runPlan(this, await divideCut(flags, this.process.env), flags);
    };
  },
  docs: docsOf(
    'cut',
    'cutroom plan cut --input-manifest talks.jsonl --audio-dir audio --output-dir out --max-duration-sec 30',
  ),
  parameters: { flags: { ...divisionFlags, ...hideFlags(cutFlags, ['dryRun', 'salvage', 'jobs']) } },
});

const planBuild = buildCommand<Divided<BuildFlags>, [], CliContext>({
  loader: async () => {
    const [{ divideBuild, refuseJobs }, { runPlan }] = await loadPlanning();
    return async function run(this: CliContext, flags) {
      refuseJobs(flags, WORKERS_JOBS);
      await runPlan(this, divideBuild(flags, this.process.env), flags);
    };
  },
  docs: docsOf('build', 'cutroom plan build --input train.tsv --output-dir data/tars --num-tars 640'),
  parameters: {
    flags: {
      ...divisionFlags,
      ...hideFlags(buildFlags, ['planOnly', 'splitStart', 'splitEnd', 'jobs', 'workers']),
    },
  },
});

const planTar = buildCommand<Divided<TarFlags>, string[], CliContext>({
  loader: async () => {
    const [{ divideTar, refuseJobs }, { runPlan }] = await loadPlanning();
    return async function run(this: CliContext, flags, ...manifests) {
      refuseJobs(flags, WORKERS_JOBS);
      await runPlan(this, divideTar(flags, manifests, this.process.env), flags);
    };
  },
  docs: docsOf('tar', 'cutroom plan tar --manifest-path train.json --target-dir tarred --num-shards 640'),
  parameters: {
    positional: { kind: 'array', parameter: { parse: nonEmpty, placeholder: 'manifest', brief: 'More manifests' } },
    flags: {
      ...divisionFlags,
      ...hideFlags(tarFlags, ['dryRun', 'writeMetadata', 'onlyManifests', 'jobs', 'workers']),
    },
  },
});

const planScan = buildCommand<Divided<ScanFlags>, string[], CliContext>({
  loader: async () => {
    const [{ divideScan, refuseJobs }, { runPlan }] = await loadPlanning();
    return async function run(this: CliContext, flags, ...sources) {
      refuseJobs(flags, WORKERS_JOBS);
      await runPlan(this, divideScan(flags, sources, this.process.env), flags);
    };
  },
  docs: docsOf('scan', 'cutroom plan scan /data/speech --out cache/'),
  parameters: {
    positional: {
      kind: 'array',
      parameter: {
        brief: 'Files, folders with all below them, and patterns: *, ?, [a-z], {a,b} and **',
        parse: nonEmpty,
        placeholder: 'path',
      },
    },
    flags: { ...divisionFlags, ...hideFlags(scanFlags, ['jobs']) },
  },
});

async function loadPlanning(): Promise<[typeof import('../divided-command.js'), typeof import('../run-plan.js')]> {
  return await Promise.all([import('../divided-command.js'), import('../run-plan.js')]);
}

function docsOf(name: string, example: string): { brief: string; fullDescription: string } {
  return {
    brief: `Divide the work of "cutroom ${name}" into tasks, for many machines`,
    fullDescription: [
      `Takes the flags of "cutroom ${name}", reads what it reads before any audio, and writes a folder from which each task can be done alone,`,
      'anywhere and again without harm: by "cutroom run DIR --task N". The outputs are those of one run on one machine, byte for byte. The same',
      'plan may be made again; another one is refused. No secret is written into it.',
      '',
      'EXAMPLE',
      `  ${example} \\`,
      '    --tasks 100 --plan /shared/plan',
    ].join('\n'),
  };
}

/** The commands that can be divided, by name. */
export const PLAN_COMMANDS = { cut: planCut, build: planBuild, tar: planTar, scan: planScan } as const;

export const planRoutes = buildRouteMap({
  routes: PLAN_COMMANDS,
  docs: {
    brief: 'Divide a command into tasks that many machines run',
    fullDescription:
      'Each of these takes the flags of the command of its name and writes a plan into a folder. "cutroom run" does its tasks, "cutroom status" tells how they stand, "cutroom finish" makes the outputs.',
  },
});
