import { UsageError } from '../errors.js';
import { AudioReader } from './audio-reader.js';
import { Augmenter } from './augment.js';
import { BatchLimit } from './batch-limits.js';
import { BatchMaker } from './batch-maker.js';
import type { UtteranceDecoder } from './decode-request.js';
import { TableDescriber } from './describe-items.js';
import { ItemLookup } from './item-pools.js';
import { ItemRows } from './item-rows.js';
import type { ItemTable } from './item-table.js';
import { Loader } from './loader.js';
import type { WarningList } from './loader.js';
import type { LoaderOptions, LoaderSettings, LoaderWarning } from './loader-options.js';
import { NoiseMixer } from './noise-mixer.js';
import { noisesOfTable } from './noise-source.js';
import type { NoiseSource } from './noise-source.js';
import type { DurationLimit } from './overlong.js';
import { stepOfItems } from './one-by-one.js';
import type { StepSize } from './one-by-one.js';
import { openSources } from './open-sources.js';
import { createPlanner } from './plan-epochs.js';
import { settlePlanOptions } from './plan-settings.js';
import type { PlannerOptions } from './plan-settings.js';
import { Replacements } from './replacements.js';
import { ShardIndexes } from './shard-indexes.js';
import { toSourceSpec } from './source-spec.js';
import { flattenSources } from './source-tree.js';
import type { ExcerptDataset, SourceSpec } from './sources.js';
import { describeLosses } from './table-warnings.js';

/**
 * Makes the loader that `createLoader` says, which takes over the decoder.
 *
 * @throws as `createLoader` does; the decoder is left to the caller then.
 */
export async function openLoader(
  options: LoaderOptions,
  given: LoaderSettings,
  decoder: UtteranceDecoder,
): Promise<Loader> {
  const warnings = new Warnings(options.onWarning);
  const closing = new AbortController();
  const signal = options.signal === undefined ? closing.signal : AbortSignal.any([options.signal, closing.signal]);
  const shards = new ShardIndexes(options.indexes ?? 'memory', signal, (note) => warnings.add(note));
  const spec = toSourceSpec(options.source);
  const table = await openTable(spec, options);
  refuseSpeedOfExcerpts(table, options);
  const step = given.oneByOne ? stepOf(table, given) : undefined;
  const settings = { ...given, prefetch: options.prefetch ?? step?.prefetch ?? given.prefetch };
  const batchSize = options.batchSize ?? step?.batchSize;
  const planner = createPlanner(table, { ...plannerOptions(options, settings), batchSize });
  for (const warning of [...describeLosses(table), ...planner.warnings]) warnings.add(warning);
  const noiseTable = await openNoiseTable(options, settings);
  if (noiseTable !== undefined) for (const warning of describeLosses(noiseTable)) warnings.add(warning);
  const rows = new ItemRows(table, { textField: options.textField, keepLines: settings.rowLines });
  const noiseRows = noiseTable && new ItemRows(noiseTable);
  const noises = await chooseNoises(settings, noiseTable, noiseRows, shards);
  const lookup = new ItemLookup(table);
  const { augment, sampleRate, rawBytes, rowLines, numCopies, onItemError } = settings;
  const hasAugmentations = augment !== undefined || (options.speeds ?? []).length > 0;
  const maker = new BatchMaker({
    describer: new TableDescriber(table, rows, shards, datasetsOf(spec)),
    audio: new AudioReader(decoder, sampleRate, rawBytes),
    speedOf: planner.speedOf,
    durationMicrosOf: (item) => lookup.durationMicros(item),
    limit: durationLimitOf(options, settings),
    replacements: new Replacements(table, planner.seed),
    augmenter: hasAugmentations ? new Augmenter(planner.seed, augment ?? {}) : undefined,
    noises: noises && new NoiseMixer(noises, new AudioReader(decoder, sampleRate, false), sampleRate ?? 0),
    ...{ onItemError, copies: numCopies, wantsBytes: rawBytes, wantsLines: rowLines, sampleRate },
  });
  return new Loader({
    ...{ table, planner, maker, settings, warnings, closing, signal },
    release: async () => {
      await Promise.all([decoder.close(), rows.close(), noiseRows?.close()]);
    },
  });
}

async function openTable(spec: SourceSpec, options: LoaderOptions): Promise<ItemTable> {
  const { filters, tokenizer, textField, signal, onProgress, tokenBuckets, bins } = options;
  const needsTokens = tokenizer !== undefined || tokenBuckets !== undefined || Array.isArray(bins?.[0]);
  return await openSources(spec, { filters, tokenizer, textField, signal, onProgress, needsTokens });
}

function stepOf(table: ItemTable, { sampleRate, jobs, numCopies }: LoaderSettings): StepSize {
  return stepOfItems(table, { isNative: sampleRate === null, jobs, copies: numCopies });
}

function plannerOptions(options: LoaderOptions, { worldSize, numCopies }: LoaderSettings): PlannerOptions {
  return { ...options, worldSize, numCopies };
}

function durationLimitOf(options: LoaderOptions, settings: LoaderSettings): DurationLimit | undefined {
  if (options.maxDuration === undefined && options.batchDuration === undefined) return undefined;
  return new BatchLimit(
    settlePlanOptions({ ...plannerOptions(options, settings), batchSize: undefined, maxSamples: undefined }),
  );
}

/** @throws UsageError */
function refuseSpeedOfExcerpts(table: ItemTable, { speeds = [] }: LoaderOptions): void {
  if (speeds.length === 0 || table.leaves.every(({ excerpts }) => excerpts === undefined)) return;
  throw new UsageError('Excerpts have one duration, and cannot be sped up', {
    hint: 'Leave out speeds, or make a source of their recordings.',
  });
}

/** Of each leaf of the table, in its order. */
function datasetsOf(spec: SourceSpec): (ExcerptDataset | undefined)[] {
  return flattenSources(spec).leaves.map((leaf) => (leaf.spec.type === 'excerpts' ? leaf.spec.dataset : undefined));
}

async function openNoiseTable(options: LoaderOptions, { augment }: LoaderSettings): Promise<ItemTable | undefined> {
  const source = augment?.noise?.source;
  if (source === undefined) return undefined;
  const table = await openSources(toSourceSpec(source), { signal: options.signal });
  if (table.rowCount > 0) return table;
  throw new UsageError('The source of noise has no rows', { hint: 'Name a manifest, a list, or files.' });
}

async function chooseNoises(
  { augment }: LoaderSettings,
  table: ItemTable | undefined,
  rows: ItemRows | undefined,
  shards: ShardIndexes,
): Promise<NoiseSource | undefined> {
  if (table !== undefined && rows !== undefined) {
    return noisesOfTable(table, new TableDescriber(table, rows, shards, []));
  }
  const files = augment?.noise?.files;
  if (files === undefined) return undefined;
  const { noisesOfFiles } = await import('./noise-files.js');
  return noisesOfFiles(files);
}

/** Warnings so far, each told once. */
class Warnings implements WarningList {
  readonly all: LoaderWarning[] = [];
  readonly #listener: LoaderOptions['onWarning'];

  constructor(listener: LoaderOptions['onWarning']) {
    this.#listener = listener;
  }

  add({ code, message, hint }: LoaderWarning): void {
    const warning = { code, message, hint };
    this.all.push(warning);
    this.#listener?.(warning);
  }
}
