import { hostname } from 'node:os';
import path from 'node:path';
import { pid } from 'node:process';
import { countAnd, countWords } from '../count-words.js';
import { audioArchitecture } from '../audio/architecture.js';
import { CanceledError, CutroomError, OutputError, UsageError } from '../errors.js';
import { checkWritable, ensureFolder, sizeOf, writeFileAtomic } from '../run/atomic-file.js';
import { acquireLock, type Lock } from '../run/lock.js';
import type { PackFailure } from '../shard/plan.js';
import type { PlanFile } from '../shard/plan-file.js';
import { VERSION } from '../version.js';
import type { TarContext } from './context.js';
import { planDatasets, type DatasetPlan } from './dataset-plan.js';
import { addIndexes, endRun } from './end-run.js';
import { inheritOptions, readBaseDataset, type BaseDataset } from './grown.js';
import { inspectTarget, type TarIdentity } from './identity.js';
import { Inputs } from './inputs.js';
import { datasetFiles, outputsOf, removeEarlierFiles, removeIfEmpty, type TarOutputs } from './layout.js';
import { MemberPlans } from './member-plan.js';
import { createdDatetime, formatMetadata, readMetadata } from './metadata.js';
import { summaryOfMetrics, type TarMetrics } from './metrics.js';
import { describeTarOptions, resolveTarOptions, type ResolvedTarOptions, type TarOptions } from './options.js';
import { makeShards, placePlan, writeManifests, type ShardRun } from './make-shards.js';
import { clearWorkFolder, describeOptionsOf, versionOf } from './publish.js';
import { selectRows, type Selection } from './select.js';
import { countFailures, summarizeRun, type TarSummary } from './summary.js';
import { requireIndexable } from './write-tar-indexes.js';

/** How a run ended. */
export interface TarResult {
  /**
   * `preview`: nothing was written. `already_done`: an earlier run finished this very dataset, and nothing was touched. `indexed`: nothing but
   * indexes were added to it.
   */
  kind: 'packed' | 'manifests' | 'preview' | 'metadata' | 'already_done' | 'indexed';
  /** Absolute. */
  targetDir: string;
  /** Absolute paths of the list of failures and of the metrics; undefined where none are written. */
  failuresPath: string | undefined;
  metricsPath: string | undefined;
  /** Undefined where only metadata were written. */
  summary: TarSummary | undefined;
  /** False when more failed than is allowed. */
  isWithinLimit: boolean;
  /** Wall time. */
  seconds: number;
}

/**
 * Packs the rows of NeMo manifests into tar shards as NeMo's `convert_to_tarred_audio_dataset.py` does: `audio_N.tar`, `tarred_audio_manifest.json`,
 * `sharded_manifests/` and `metadata.yaml`. The same call goes on where an interrupted one stopped.
 *
 * @throws UsageError, InputError, OutputError, CanceledError; RangeError for an option out of its range
 */
export async function tarDataset(options: TarOptions, context: TarContext = {}): Promise<TarResult> {
  return await runTar(options, context);
}

/** A dataset that is planned, or one that is finished already. */
export type PlannedTar = { options: ResolvedTarOptions; base: BaseDataset | undefined } & (
  { finished: TarMetrics } | { run: ShardRun; selection: Selection; warnings: readonly string[]; plan: PlanFile }
);

/**
 * Plans a dataset and makes no shard: the plan lies in the work folder of the target folder, where the same run goes on with it.
 *
 * @param onPlanned is called while nobody else can work there
 * @throws as `tarDataset`
 */
export async function planTarDataset(
  options: TarOptions,
  context: TarContext,
  onPlanned: (planned: PlannedTar) => Promise<void>,
): Promise<void> {
  await runTar(options, { ...context, onPlanned });
}

interface RunContext extends TarContext {
  /** Makes the run one that plans alone. */
  onPlanned?: ((planned: PlannedTar) => Promise<void>) | undefined;
}

async function runTar(options: TarOptions, context: RunContext): Promise<TarResult> {
  const startMs = performance.now();
  const done = (ended: Omit<TarResult, 'seconds'>): TarResult => ({
    ...ended,
    seconds: (performance.now() - startMs) / 1000,
  });
  try {
    const isAdding = (options.concatManifestPaths ?? []).length > 0 && options.metadataPath !== undefined;
    const inherited = isAdding ? inheritOptions(options, await readMetadata(options.metadataPath ?? '')) : options;
    const resolved = resolveTarOptions(inherited);
    if (resolved.writeMetadata) return done(await writeDefaultMetadata(resolved, context));
    const { concat } = resolved;
    const base = concat === undefined ? undefined : await readBaseDataset(concat.baseManifest, concat.metadataPath);
    const inputs = new Inputs();
    try {
      for (const named of resolved.manifestPaths) await inputs.open(named);
      return done(await new TarRun(resolved, inputs, base, context).run());
    } finally {
      await inputs.close();
    }
  } catch (error) {
    if (context.signal?.aborted !== true || error instanceof CutroomError) throw error;
    throw new CanceledError('The run was stopped', {
      cause: error,
      hint: 'What is made is kept: run the same command again to go on.',
    });
  }
}

async function writeDefaultMetadata(
  options: ResolvedTarOptions,
  { environment = {} }: TarContext,
): Promise<Omit<TarResult, 'seconds'>> {
  const { targetDir } = options;
  const text = formatMetadata(
    {
      ...describeOptionsOf(options),
      version: 0,
      samplesPerShard: -1,
      isConcatenated: false,
      numShards: options.numShards ?? -1,
      bucketing: undefined,
      history: [],
    },
    createdDatetime(environment),
  );
  await ensureFolder(targetDir);
  await writeFileAtomic(path.join(targetDir, 'default_metadata.yaml'), (write) => write(text));
  const paths = { failuresPath: undefined, metricsPath: undefined };
  return { kind: 'metadata', targetDir, ...paths, summary: undefined, isWithinLimit: true };
}

class TarRun {
  readonly #options: ResolvedTarOptions;
  readonly #inputs: Inputs;
  readonly #base: BaseDataset | undefined;
  readonly #context: RunContext;
  readonly #outputs: TarOutputs;
  readonly #warnings: string[] = [];

  constructor(options: ResolvedTarOptions, inputs: Inputs, base: BaseDataset | undefined, context: RunContext) {
    this.#options = options;
    this.#inputs = inputs;
    this.#base = base;
    this.#context = context;
    this.#outputs = outputsOf(options.targetDir, versionOf(base));
  }

  async run(): Promise<Omit<TarResult, 'seconds'>> {
    const { targetDir, dryRun, onlyManifests } = this.#options;
    const packed = onlyManifests ? this.#inputs.all.find(({ shards }) => shards !== undefined) : undefined;
    if (packed !== undefined) {
      throw new UsageError(`--only-manifests tells where files lie, and those of "${packed.path}" lie in tars`);
    }
    const base = this.#base;
    if (base !== undefined && this.#options.index.length > 0) await requireIndexable(this.#outputs, base);
    const selection = await this.#select();
    this.#warnings.push(...selection.warnings);
    if (dryRun) {
      const datasets = planDatasets(selection, this.#options, this.#base, this.#warnings);
      this.#nameMembers(selection, datasets);
      const summary = summarizeRun({ selection, datasets, made: undefined, warnings: this.#warnings });
      return this.#end('preview', summary);
    }
    // A dataset that is finished needs neither its audio any more, nor a plan.
    const identity = this.#identify();
    const earlier = await inspectTarget(this.#outputs, identity, undefined);
    const isDone = earlier.kind === 'finished' && !this.#options.overwrite;
    const datasets = isDone ? [] : planDatasets(selection, this.#options, this.#base, this.#warnings);
    await ensureFolder(targetDir);
    await checkWritable(this.#outputs.metrics);
    await ensureFolder(this.#outputs.workFolder);
    const lock = await this.#lock();
    try {
      return await this.#runLocked({ selection, datasets, identity, lock });
    } finally {
      await lock.release();
      await removeIfEmpty(this.#outputs.workFolder);
    }
  }

  async #select(): Promise<Selection> {
    const { base, minDurationSeconds: minSeconds, maxDurationSeconds: max, bucketsNum } = this.#options;
    const { signal, onProgress, onFailure } = this.#context;
    // The last bucket takes rows of the longest duration, too.
    const maxSeconds = max === undefined || bucketsNum === 1 ? max : max + 1e-5;
    return await selectRows(
      this.#inputs.all,
      { base, current: path.resolve('.') },
      { minSeconds, maxSeconds },
      { signal, onFailure, onRows: (rows) => onProgress?.({ stage: 'plan', rows }) },
    );
  }

  #nameMembers({ table }: Selection, datasets: readonly DatasetPlan[]): MemberPlans {
    const rows = datasets.map(({ partition }) => partition.rows);
    const plans = new MemberPlans(table, this.#inputs.all, this.#options, rows, this.#base?.stems);
    const { collisionCount, firstCollision, subMarkCount, bareCount } = plans;
    if (collisionCount > 0) {
      this.#warnings.push(
        `${countWords(collisionCount, 'name')}, ${collisionCount === 1 ? '' : 'the first '}${JSON.stringify(firstCollision)}, ${collisionCount === 1 ? 'is that' : 'are those'} of several files once slashes and dots are "_": these files get a hash of their path`,
      );
    }
    if (subMarkCount > 0) {
      this.#warnings.push(
        `${countAnd(subMarkCount, 'name', 'has|have')} "-sub" before a number, which loaders cut off: it is written as "_sub"`,
      );
    }
    if (bareCount > 0) {
      this.#warnings.push(
        `${countAnd(bareCount, 'file', 'has|have')} no extension: WebDataset passes over such members`,
      );
    }
    return plans;
  }

  async #runLocked({ selection, datasets, identity, lock }: LockedRun): Promise<Omit<TarResult, 'seconds'>> {
    const { overwrite, onlyManifests } = this.#options;
    const outputs = this.#outputs;
    const earlier = await inspectTarget(outputs, identity, this.#listAdded(datasets));
    if (earlier.kind === 'foreign') throw earlier.error;
    if (earlier.kind === 'finished' && !overwrite) {
      await requireShards(outputs, earlier.metrics);
      const { onPlanned } = this.#context;
      if (onPlanned !== undefined) {
        await onPlanned({ finished: earlier.metrics, base: this.#base, options: this.#options });
        return this.#end('preview', summaryOfMetrics(earlier.metrics));
      }
      return await this.#addIndexes(earlier.metrics, this.#stopSignal(lock));
    }
    if (earlier.kind === 'other' && !overwrite) throw earlier.error;
    if (datasets.length === 0) throw datasetGone(outputs);
    const members = this.#nameMembers(selection, datasets);
    if (earlier.kind === 'other' || earlier.kind === 'finished') await this.#clear();
    await writeFileAtomic(outputs.identity, (write) => write(`${JSON.stringify(identity)}\n`));
    const signal = this.#stopSignal(lock);
    const shardRun: ShardRun = {
      outputs,
      options: this.#options,
      inputs: this.#inputs.all,
      datasets,
      table: selection.table,
      members,
      identity,
      failures: [...selection.failures, ...this.#listDropped(selection, datasets)],
      context: { ...this.#context, signal },
    };
    const { onPlanned } = this.#context;
    if (onPlanned !== undefined) {
      const warnings = this.#warnings;
      const plan = await placePlan(shardRun);
      await onPlanned({ run: shardRun, selection, options: this.#options, base: this.#base, warnings, plan });
      return this.#end('preview', summarizeRun({ selection, datasets, made: undefined, warnings }));
    }
    const made = onlyManifests ? await writeManifests(shardRun) : await makeShards(shardRun);
    const metrics = await endRun({
      outputs,
      options: this.#options,
      identity,
      base: this.#base,
      selection,
      datasets,
      durations: selection.table.durations,
      failures: shardRun.failures,
      warnings: this.#warnings,
      made,
      context: { ...this.#context, signal },
      confirm: () => lock.confirm(),
    });
    return this.#end(onlyManifests ? 'manifests' : 'packed', summaryOfMetrics(metrics));
  }

  /** Writes the indexes that a finished dataset lacks. */
  async #addIndexes(finished: TarMetrics, signal: AbortSignal): Promise<Omit<TarResult, 'seconds'>> {
    const run = { outputs: this.#outputs, metrics: finished, base: this.#base, context: { ...this.#context, signal } };
    const { metrics, isChanged } = await addIndexes(this.#options.index, run);
    return this.#end(isChanged ? 'indexed' : 'already_done', summaryOfMetrics(metrics));
  }

  #stopSignal(lock: Lock): AbortSignal {
    const { signal } = this.#context;
    return AbortSignal.any([lock.lost, ...(signal === undefined ? [] : [signal])]);
  }

  async #clear(): Promise<void> {
    await clearWorkFolder(this.#outputs);
    await ensureFolder(this.#outputs.workFolder);
    if (this.#base === undefined) await removeEarlierFiles(this.#outputs);
  }

  #listAdded(datasets: readonly DatasetPlan[]): string[] | undefined {
    if (this.#base === undefined) return undefined;
    const files = datasets.flatMap((dataset) => Object.values(datasetFiles(dataset, versionOf(this.#base))));
    return files.map((file) => path.join(this.#outputs.folder, file));
  }

  #identify(): TarIdentity {
    const inputs = this.#inputs.all.map(({ path: named, hash }) => ({
      path: named,
      sha256: hash.copy().digest('hex'),
    }));
    const own = describeTarOptions(this.#options);
    const base = this.#base;
    return {
      command: 'tar',
      cutroom_version: VERSION,
      audio_architecture: audioArchitecture(),
      inputs: base === undefined ? inputs : [{ path: base.manifestPath, sha256: base.sha256 }, ...inputs],
      // Where rows hold absolute paths, another folder means other rows.
      options: this.#options.onlyManifests ? { ...own, folders: this.#inputs.all.map(({ folder }) => folder) } : own,
    };
  }

  async #lock(): Promise<Lock> {
    const { signal, isProcessAlive } = this.#context;
    return await acquireLock(path.join(this.#outputs.workFolder, 'lock'), {
      identity: { host: hostname(), pid },
      ...(signal === undefined ? {} : { signal }),
      ...(isProcessAlive === undefined ? {} : { isProcessAlive }),
    });
  }

  *#listDropped({ table }: Selection, datasets: readonly DatasetPlan[]): Generator<PackFailure> {
    for (const { partition, bucket } of datasets) {
      const where = bucket === undefined ? '' : ` of bucket${bucket.number}`;
      for (const row of partition.dropped) {
        const duration = table.durations[row] ?? Number.NaN;
        yield {
          kind: 'dropped',
          reason: 'remainder',
          message: `it is left out so that all shards${where} have as many rows`,
          file: table.manifestOf(row),
          line: table.lineOf(row),
          id: table.files.givenPath(table.fileNumbers[row] ?? 0),
          ...(!Number.isNaN(duration) && { duration }),
        };
      }
    }
  }

  #end(kind: TarResult['kind'], summary: TarSummary): Omit<TarResult, 'seconds'> {
    const { failures, metrics } = this.#outputs;
    const paths = kind === 'preview' ? undefined : { failures, metrics };
    return {
      kind,
      targetDir: this.#options.targetDir,
      failuresPath: paths?.failures,
      metricsPath: paths?.metrics,
      summary,
      isWithinLimit: isWithin(summary, this.#options),
    };
  }
}

/** Whether no more failed than is allowed. */
export function isWithin(
  summary: TarSummary,
  { onError, maxFailures }: Pick<ResolvedTarOptions, 'onError' | 'maxFailures'>,
): boolean {
  if (onError === 'skip') return true;
  const failures = countFailures(summary);
  if ('count' in maxFailures) return failures <= maxFailures.count;
  return failures <= (maxFailures.percent / 100) * summary.read.rows;
}

/** @throws OutputError where a shard of a finished dataset is gone or changed */
export async function requireShards({ folder }: TarOutputs, { shards }: TarMetrics): Promise<void> {
  for (const { tar, tar_bytes: bytes } of shards) {
    const file = path.join(folder, tar);
    const found = await sizeOf(file);
    if (found === bytes) continue;
    const state = found === undefined ? 'it is gone' : `it has ${found} bytes, and had ${bytes}`;
    throw new OutputError(`The finished dataset does not hold "${file}" any more: ${state}`, {
      path: file,
      hint: 'Give --overwrite to make the shards again.',
    });
  }
}

/** It was there when the run began. */
function datasetGone({ folder, metrics }: TarOutputs): OutputError {
  return new OutputError(`The finished dataset in "${folder}" was removed meanwhile`, {
    path: metrics,
    hint: 'Run the same command again, and see that only cutroom works in the folder.',
  });
}

interface LockedRun {
  selection: Selection;
  datasets: readonly DatasetPlan[];
  identity: TarIdentity;
  lock: Lock;
}
