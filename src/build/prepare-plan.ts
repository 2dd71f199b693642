import path from 'node:path';
import { audioArchitecture } from '../audio/architecture.js';
import { InputError, OutputError, UsageError } from '../errors.js';
import { removeFile, sizeOf, writeFileAtomic } from '../run/atomic-file.js';
import { foreignOutputs } from '../shard/metrics-owner.js';
import { clearWork } from '../shard/outcome-file.js';
import type { OptionValue } from '../shard/plan.js';
import { PlanFile } from '../shard/plan-file.js';
import { findPackedShards } from '../shard/packed-rows.js';
import type { OnPackProgress } from '../shard/progress.js';
import { VERSION } from '../version.js';
import { withBuildLock, type BuildLockContext } from './build-lock.js';
import { isFinished, removePartLists } from './finish.js';
import { openInput, STDIN } from './input-file.js';
import {
  describeGivenOptions,
  describePlanOptions,
  hasSizing,
  jobsOf,
  resolvePlanOptions,
  type BuildOptions,
  type BuildOutputs,
} from './options.js';
import { inputsOf, writeBuildPlan, type BuildInput } from './plan-build.js';

/** What planning is given beside its options. */
export interface PrepareContext extends BuildLockContext {
  stdin: AsyncIterable<Uint8Array> | undefined;
  onProgress: OnPackProgress;
}

/** How long a process that measures files may say nothing, unless it is said. */
export const SILENCE_SECONDS = 300;

/**
 * Finds the plan of an output folder that fits the options, or makes it.
 *
 * @throws UsageError when there is none, and not enough is said to make one; OutputError when the plan there is of other input or options
 */
export async function preparePlan(
  options: BuildOptions,
  outputs: BuildOutputs,
  context: PrepareContext,
): Promise<PlanFile> {
  return await withBuildLock('plan.lock', context, async () => {
    try {
      return await preparePlanLocked(options, outputs, context);
    } finally {
      await removeFile(path.join(outputs.workFolder, 'input'));
    }
  });
}

async function preparePlanLocked(
  options: BuildOptions,
  outputs: BuildOutputs,
  context: PrepareContext,
): Promise<PlanFile> {
  const canPlan = options.input !== undefined && hasSizing(options);
  const isPart = options.splitStart !== undefined || options.splitEnd !== undefined;
  const mayReplace = canPlan && !isPart && options.overwrite === true;
  const existing = openPlan(outputs.plan, mayReplace);
  if (existing === undefined) requirePlannable(options, outputs);
  const input = options.input === undefined ? undefined : await findInput(options.input, context);
  if (existing !== undefined) {
    if (existing.header.command !== 'build') {
      throw foreignOutputs(outputs.plan, existing.header.command, 'output-dir');
    }
    // What another version finished is finished; only what is made anew, or gone on with, has to be of one version.
    const isKept = options.overwrite !== true && (await isFinished(existing, outputs));
    const differences = await findDifferences(existing, options, input, { isFull: canPlan && !isPart, isKept });
    if (differences.length === 0) return existing;
    if (!mayReplace) throw otherPlan(outputs, differences, canPlan && !isPart);
  }
  if (input === undefined) throw new TypeError('A plan needs an input');
  const planOptions = resolvePlanOptions(options);
  if (options.overwrite !== true) await refuseEarlier(outputs);
  await writeBuildPlan({
    input,
    options: planOptions,
    outputs,
    jobs: jobsOf(options),
    silenceSeconds: options.recordingTimeoutSeconds ?? SILENCE_SECONDS,
    signal: context.signal,
    onProgress: context.onProgress,
    beforePublish: () => (options.overwrite === true ? removeEarlier(outputs, existing) : Promise.resolve()),
  });
  const plan = PlanFile.open(outputs.plan);
  if (plan === undefined) throw new OutputError(`The plan "${outputs.plan}" is gone`, { path: outputs.plan });
  if (plan.failureCount > 0) {
    await writeFileAtomic(outputs.failures, async (write) => {
      for (const failure of plan.failures()) await write(`${JSON.stringify(failure)}\n`);
    });
  }
  return plan;
}

/** The plan that is there. A damaged one is as good as none where it may be replaced. */
function openPlan(file: string, mayReplace: boolean): PlanFile | undefined {
  try {
    return PlanFile.open(file);
  } catch (error) {
    if (mayReplace && error instanceof InputError) return undefined;
    throw error;
  }
}

async function findInput(input: string, context: PrepareContext): Promise<BuildInput> {
  const shards = input === STDIN ? undefined : await findPackedShards(input);
  if (shards !== undefined) return { kind: 'packed', shards };
  const { stdin, workFolder, signal } = context;
  return { kind: 'manifest', file: await openInput({ input, stdin, workFolder, signal }) };
}

/**
 * Finds out whether enough is said to make a plan.
 *
 * @throws UsageError when it is not
 */
export function requirePlannable(options: BuildOptions, { plan }: BuildOutputs): void {
  const isSizeMissing = options.input !== undefined;
  if (isSizeMissing && hasSizing(options)) return;
  throw new UsageError(
    isSizeMissing
      ? 'It is not said how many shards there are to be'
      : `There is no plan "${plan}", and no --input to plan`,
    {
      hint: isSizeMissing
        ? 'Give --num-tars, --samples-per-tar or --duration-per-tar; without them a plan must be in the output folder.'
        : 'Make the plan first: cutroom build --input train.tsv --output-dir … --num-tars … --plan-only',
    },
  );
}

/**
 * What of the input and the options is not that of a plan, in words.
 *
 * @param how `isFull` says whether options that are not given count with their defaults, too; `isKept`, that nothing is to be made
 */
async function findDifferences(
  plan: PlanFile,
  options: BuildOptions,
  input: BuildInput | undefined,
  { isFull, isKept }: { isFull: boolean; isKept: boolean },
): Promise<string[]> {
  const { header } = plan;
  const differences: string[] = [];
  if (header.cutroom_version !== VERSION && !isKept) {
    differences.push(`it was made by cutroom ${header.cutroom_version}, and this is ${VERSION}`);
  }
  if (header.audio_architecture !== audioArchitecture()) {
    differences.push(
      `it was made on a machine of kind ${header.audio_architecture}, and this is ${audioArchitecture()}`,
    );
  }
  if (input !== undefined) {
    const hashes = (await inputsOf(input)).map(({ sha256 }) => sha256);
    const planned = header.inputs.map(({ sha256 }) => sha256);
    if (hashes.join(' ') !== planned.join(' ')) differences.push('the input is another, or was changed since');
  }
  const asked = isFull ? describePlanOptions(resolvePlanOptions(options)) : describeGivenOptions(options);
  for (const [name, value] of Object.entries(asked)) {
    const known = header.options[name] ?? null;
    if (known !== value) differences.push(`--${name} is ${spell(known)} there, and ${spell(value)} here`);
  }
  // A part may be made on a machine where the audio lies elsewhere.
  const base = isFull ? resolvePlanOptions(options).base : header.base;
  if (base !== header.base) differences.push(`--base is "${header.base}" there, and "${base}" here`);
  return differences;
}

function spell(value: OptionValue): string {
  return value === null ? 'not given' : String(value);
}

function otherPlan({ plan, folder }: BuildOutputs, differences: readonly string[], canReplace: boolean): OutputError {
  const remedy = canReplace
    ? 'or give --overwrite to replace the plan and its shards'
    : `or plan anew with --input, --num-tars and --overwrite`;
  return new OutputError(`The plan "${plan}" does not fit: ${differences.join('; ')}`, {
    path: folder,
    hint: `Give the options that it was made with, choose another --output-dir, ${remedy}.`,
  });
}

/** Files of another dataset are not replaced unasked; the shards themselves are looked at when they are made. */
async function refuseEarlier(outputs: BuildOutputs): Promise<void> {
  for (const file of [outputs.metrics, outputs.list]) {
    if ((await sizeOf(file)) === undefined) continue;
    throw new OutputError(`Cannot plan in "${outputs.folder}": "${file}" is of another dataset`, {
      path: file,
      hint: 'Choose another --output-dir, or give --overwrite to replace it.',
    });
  }
}

/** Removes an earlier dataset but for its plan, the sign that it is whole first. */
async function removeEarlier(outputs: BuildOutputs, existing: PlanFile | undefined): Promise<void> {
  for (const file of [outputs.metrics, outputs.list, outputs.failures]) await removeFile(file);
  await removePartLists(outputs);
  for (const { tar, manifest } of existing?.shards ?? []) {
    for (const file of [tar, manifest]) await removeFile(path.join(outputs.folder, file));
  }
  await clearWork(outputs.workFolder);
}
