import { createHash } from 'node:crypto';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { audioArchitecture } from '../audio/architecture.js';
import { toMicros } from '../audio/times.js';
import { CanceledError, InputError, OutputError } from '../errors.js';
import { removeFile, sizeOf } from '../run/atomic-file.js';
import { foreignOutputs } from '../shard/metrics-owner.js';
import { clearWork } from '../shard/outcome-file.js';
import { PLAN_FORMAT, type OptionValue, type PlanHeader, type PlannedItem } from '../shard/plan.js';
import { PlanFile, writePlan, type ShardToWrite } from '../shard/plan-file.js';
import { VERSION } from '../version.js';
import { rowOfDraw } from './draw-row.js';
import { FLAG } from './export-options.js';
import type { ExportOptions, ExportOutputs, ExportSize } from './export-options.js';
import type { PlannedSample } from './plan-sample.js';
import type { SampledGroup } from './sample-plan.js';
import { partStart } from './window-offsets.js';

const PREFIX = 'excerpts';
const SHARD_DIGITS = 6;
const EPOCH_DIGITS = 4;
/** Draws between two looks at the signal. */
const DRAWS_A_LOOK = 5000;
const DEFAULT_LEVEL = 0.65;

export interface ExportPlanParts {
  sample: PlannedSample;
  options: ExportOptions;
  size: ExportSize;
  outputs: ExportOutputs;
  signal: AbortSignal | undefined;
}

/**
 * Finds the plan of an output folder that fits, or makes it.
 *
 * @throws {OutputError} when the folder holds another dataset, which is not to be replaced.
 */
export async function prepareExportPlan(parts: ExportPlanParts): Promise<PlanFile> {
  const { options, outputs } = parts;
  const overwrite = options.overwrite === true;
  const header = headerOf(parts);
  const existing = openPlan(outputs.plan, overwrite);
  if (existing !== undefined) {
    const { command } = existing.header;
    if (command !== header.command) throw foreignOutputs(outputs.plan, command, FLAG);
    const differences = differencesOf(existing.header, header);
    if (differences.length === 0) return existing;
    if (!overwrite) {
      throw new OutputError(`The plan "${outputs.plan}" does not fit: ${differences.join('; ')}`, {
        path: outputs.folder,
        hint: 'Give the options that it was made with, choose another folder, or give --overwrite to replace it and its shards.',
      });
    }
  }
  if (overwrite) await removeEarlier(outputs, existing);
  else await refuseEarlier(outputs);
  await writePlan(outputs.plan, header, [], plannedShards(parts));
  const plan = PlanFile.open(outputs.plan);
  if (plan === undefined) throw new OutputError(`The plan "${outputs.plan}" is gone`, { path: outputs.plan });
  return plan;
}

/** Files of another dataset are not replaced unasked; the shards themselves are looked at when they are made. */
async function refuseEarlier({ folder, metrics, list }: ExportOutputs): Promise<void> {
  for (const file of [metrics, list]) {
    if ((await sizeOf(file)) === undefined) continue;
    throw new OutputError(`Cannot plan in "${folder}": "${file}" is of another dataset`, {
      path: file,
      hint: 'Choose another folder, or give --overwrite to replace it.',
    });
  }
}

/** Removes an earlier dataset, the sign that it is whole first. */
async function removeEarlier(outputs: ExportOutputs, existing: PlanFile | undefined): Promise<void> {
  for (const file of [outputs.metrics, outputs.list, outputs.failures, outputs.plan]) await removeFile(file);
  for (const { tar, manifest } of existing?.shards ?? []) {
    for (const file of [tar, manifest]) await removeFile(path.join(outputs.folder, file));
  }
  await clearWork(outputs.workFolder);
}

/** A damaged plan is as good as none where it may be replaced. */
function openPlan(file: string, mayReplace: boolean): PlanFile | undefined {
  try {
    return PlanFile.open(file);
  } catch (error) {
    if (mayReplace && error instanceof InputError) return undefined;
    throw error;
  }
}

/** All that decides the items: two plans of the same header are the same. */
function headerOf({ sample, options, size }: ExportPlanParts): PlanHeader {
  const { plan, output, lufsCutoff } = sample;
  const { durationSeconds, hopSeconds = durationSeconds, alpha = 1, ...asked } = sample.options;
  const { format = 'flac', compressionLevel = DEFAULT_LEVEL } = options;
  const { shuffle, excerpt } = plan.plans[0]!.seeds;
  return {
    format: PLAN_FORMAT,
    cutroom_version: VERSION,
    audio_architecture: audioArchitecture(),
    command: 'sample',
    inputs: plan.groups.map((group) => ({
      path: group.name === '' ? 'recordings' : group.name,
      sha256: hashGroup(group, sample),
    })),
    options: {
      duration: durationSeconds,
      hop: hopSeconds,
      alpha,
      grid: asked.grid ?? false,
      jitter: asked.jitter ?? true,
      shuffle: asked.shuffle ?? true,
      'shuffle-seed': shuffle,
      'excerpt-seed': excerpt,
      weights: plan.groups.map(({ weight }) => weight),
      'lufs-cutoff': lufsCutoff ?? null,
      'sample-rate': output.sampleRate,
      count: size.draws,
      'num-tars': size.shards,
      format,
      'compression-level': format === 'mp3' ? compressionLevel : null,
    },
    base: path.resolve('/'),
    audio: {
      format,
      sampleRate: output.sampleRate,
      channel: 'average',
      compressionLevel: format === 'mp3' ? compressionLevel : null,
    },
    facts: { draws: size.draws, epochDraws: plan.epochLength },
  };
}

/** What the draws of a group hang on: its files, by path, length and size, and what a filter leaves of them. */
function hashGroup({ recordings, kept }: SampledGroup, { sizeBytesOf }: PlannedSample): string {
  const hash = createHash('sha256');
  for (let file = 0; file < recordings.length; file += 1) {
    const name = recordings.path(file);
    const facts = [name, recordings.frames(file), recordings.sampleRate(file), sizeBytesOf(name) ?? null];
    hash.update(`${JSON.stringify(facts)}\n`);
  }
  if (kept !== undefined)
    for (const { buffer } of [kept.firstSpan, kept.starts, kept.ends]) hash.update(new Uint8Array(buffer));
  return hash.digest('hex');
}

function differencesOf(known: PlanHeader, asked: PlanHeader): string[] {
  const differences: string[] = [];
  if (known.cutroom_version !== asked.cutroom_version) {
    differences.push(`it was made by cutroom ${known.cutroom_version}, and this is ${asked.cutroom_version}`);
  }
  if (known.audio_architecture !== asked.audio_architecture) {
    differences.push(
      `it was made on a machine of kind ${known.audio_architecture}, and this is ${asked.audio_architecture}`,
    );
  }
  for (const [name, value] of Object.entries(asked.options)) {
    const before = known.options[name] ?? null;
    if (JSON.stringify(before) !== JSON.stringify(value)) {
      differences.push(`${name} is ${spell(before)} there, and ${spell(value)} here`);
    }
  }
  const inputs = (header: PlanHeader): string => JSON.stringify(header.inputs);
  if (differences.length === 0 && inputs(known) !== inputs(asked)) {
    differences.push('the files are others, or were changed since');
  }
  return differences;
}

function spell(value: OptionValue): string {
  return value === null ? 'not given' : String(value);
}

async function* plannedShards(parts: ExportPlanParts): AsyncGenerator<ShardToWrite> {
  const { sample, size } = parts;
  for (let shard = 0; shard < size.shards; shard += 1) {
    const from = partStart(shard, size.shards, size.draws);
    const to = partStart(shard + 1, size.shards, size.draws);
    const name = `${PREFIX}.${String(shard).padStart(SHARD_DIGITS, '0')}`;
    yield {
      tar: path.posix.join('audios', `${name}.tar`),
      manifest: path.posix.join('manifests', `${name}.jsonl`),
      items: items(parts, from, to),
      micros: microsOf(sample, from, to),
    };
    await setImmediate();
  }
}

function microsOf({ plan }: PlannedSample, from: number, to: number): number {
  let micros = 0;
  for (let draw = from; draw < to; draw += 1) micros += toMicros(rowOfDraw(plan, plan.at(draw)).duration);
  return micros;
}

async function* items(
  { sample, options, signal }: ExportPlanParts,
  from: number,
  to: number,
): AsyncGenerator<PlannedItem> {
  const { plan } = sample;
  const digits = String(plan.epochLength - 1).length;
  for (let at = from; at < to; at += 1) {
    if (at % DRAWS_A_LOOK === 0) {
      if (signal?.aborted === true) {
        throw new CanceledError('The run was stopped before its plan was made', { cause: signal.reason });
      }
      await setImmediate();
    }
    const drawn = plan.at(at);
    const { epoch, index, group, filepath, offset, duration, sample_rate: rate } = rowOfDraw(plan, drawn);
    const { startFrame, frames } = drawn.window;
    const id = `e${String(epoch).padStart(EPOCH_DIGITS, '0')}-${String(index).padStart(digits, '0')}`;
    const member = `${id}.${options.format ?? 'flac'}`;
    // `offset` would have some loaders cut the member itself.
    const source = {
      ...(group === undefined ? {} : { group }),
      source: filepath,
      source_offset: offset,
      epoch,
      index,
    };
    yield {
      input: drawn.group,
      line: 0,
      id,
      member,
      path: filepath,
      span: { start: toMicros(offset), end: toMicros((startFrame + frames) / rate) },
      how: 'encode',
      row: [`{"audio_filepath":${JSON.stringify(member)},"text":"","duration":`, `,${JSON.stringify(source).slice(1)}`],
      duration: JSON.stringify(duration),
    };
  }
}
