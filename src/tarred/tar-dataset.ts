import { hostname } from 'node:os';
import path from 'node:path';
import { pid } from 'node:process';
import { audioArchitecture } from '../audio/architecture.js';
import { CanceledError, CutroomError, UsageError } from '../errors.js';
import { checkWritable, ensureFolder, writeFileAtomic } from '../run/atomic-file.js';
import { acquireLock, type Lock } from '../run/lock.js';
import type { PackFailure } from '../shard/plan.js';
import { VERSION } from '../version.js';
import type { TarContext } from './context.js';
import { planDatasets, type DatasetPlan } from './dataset-plan.js';
import { inheritOptions, readBaseDataset, type BaseDataset } from './grown.js';
import { inspectTarget, type TarIdentity } from './identity.js';
import { Inputs } from './inputs.js';
import { datasetFiles, outputsOf, removeEarlierFiles, removeIfEmpty, type TarOutputs } from './layout.js';
import { MemberPlans } from './member-plan.js';
import { createdDatetime, formatMetadata, readMetadata } from './metadata.js';
import { describeTarOptions, resolveTarOptions, type ResolvedTarOptions, type TarOptions } from './options.js';
import { makeShards, writeManifests, type MadeShards, type ShardRun } from './make-shards.js';
import { clearWorkFolder, describeOptionsOf, publishDatasets, versionOf } from './publish.js';
import { selectRows, type RowSum, type Selection } from './select.js';
import { countReasons, firstOfReasons, type TarSummary } from './summary.js';

/** How a run ended. */
export interface TarResult {
  /**
   * `preview`: nothing was written. `already_done`: an earlier run made these very outputs. `refused`: more rows than allowed cannot be used,
   * nothing was written. `failed`: more members than allowed could not be made; the shards are kept, the dataset is not finished.
   */
  kind: 'packed' | 'manifests' | 'preview' | 'metadata' | 'already_done' | 'refused' | 'failed';
  /** Absolute. */
  targetDir: string;
  /** Absolute path of the list of failures; undefined where none is written. */
  failuresPath: string | undefined;
  /** Undefined where only metadata were written. */
  summary: TarSummary | undefined;
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
  return { kind: 'metadata', targetDir, failuresPath: undefined, summary: undefined };
}

const NOTHING: MadeShards = {
  written: { rows: 0, micros: 0 },
  failures: [],
  planHash: null,
  members: 0,
  copied: 0,
  tarBytes: 0,
  clippedSamples: 0,
  invalidSamples: 0,
  warnings: [],
};

class TarRun {
  readonly #options: ResolvedTarOptions;
  readonly #inputs: Inputs;
  readonly #base: BaseDataset | undefined;
  readonly #context: TarContext;
  readonly #outputs: TarOutputs;
  readonly #warnings: string[] = [];
  #datasets: readonly DatasetPlan[] = [];
  #selection: Selection | undefined;

  constructor(options: ResolvedTarOptions, inputs: Inputs, base: BaseDataset | undefined, context: TarContext) {
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
    const selection = await this.#select();
    this.#selection = selection;
    this.#warnings.push(...selection.warnings);
    if (!this.#isWithin(selection.failures.length)) return this.#end('refused', NOTHING);
    this.#datasets = planDatasets(selection, this.#options, this.#base, this.#warnings);
    const members = this.#nameMembers(selection);
    if (dryRun) return this.#end('preview', NOTHING);
    await ensureFolder(targetDir);
    await checkWritable(this.#outputs.metrics);
    await ensureFolder(this.#outputs.workFolder);
    const lock = await this.#lock();
    try {
      return await this.#runLocked(selection, members, lock);
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

  #nameMembers({ table }: Selection): MemberPlans {
    const rows = this.#datasets.map(({ partition }) => partition.rows);
    const plans = new MemberPlans(table, this.#inputs.all, this.#options, rows, this.#base?.stems);
    const { collisionCount, firstCollision, subMarkCount, bareCount } = plans;
    if (collisionCount > 0) {
      this.#warnings.push(
        `${collisionCount} names, the first ${JSON.stringify(firstCollision)}, are those of several files once slashes and dots are "_": these files get a hash of their path`,
      );
    }
    if (subMarkCount > 0) {
      this.#warnings.push(
        `${subMarkCount} names hold "-sub" before a number, which loaders cut off: it is written as "_sub"`,
      );
    }
    if (bareCount > 0) {
      this.#warnings.push(`${bareCount} files have no extension: WebDataset passes over such members`);
    }
    return plans;
  }

  async #runLocked(selection: Selection, members: MemberPlans, lock: Lock): Promise<Omit<TarResult, 'seconds'>> {
    const { overwrite, onlyManifests } = this.#options;
    const outputs = this.#outputs;
    const identity = this.#identify();
    const earlier = await inspectTarget(outputs, identity, this.#listAdded());
    if (earlier.kind === 'foreign') throw earlier.error;
    if (earlier.kind === 'finished' && !overwrite) {
      await clearWorkFolder(outputs);
      return this.#end('already_done', this.#readBack(selection, earlier.metrics));
    }
    if (earlier.kind === 'other' && !overwrite) throw earlier.error;
    if (earlier.kind === 'other' || earlier.kind === 'finished') await this.#clear();
    await writeFileAtomic(outputs.identity, (write) => write(`${JSON.stringify(identity)}\n`));
    const signal = AbortSignal.any([lock.lost, ...(this.#context.signal === undefined ? [] : [this.#context.signal])]);
    const shardRun: ShardRun = {
      outputs,
      options: this.#options,
      inputs: this.#inputs.all,
      datasets: this.#datasets,
      table: selection.table,
      members,
      identity,
      failures: [...selection.failures, ...this.#listDropped(selection)],
      isWithin: (count) => this.#isWithin(count + selection.failures.length),
      context: { ...this.#context, signal },
    };
    const made = onlyManifests ? await writeManifests(shardRun) : await makeShards(shardRun);
    if (!this.#isWithin(selection.failures.length + made.failures.length)) return this.#end('failed', made);
    this.#context.onProgress?.({ stage: 'finish' });
    await lock.confirm();
    await publishDatasets({
      outputs,
      options: this.#options,
      datasets: this.#datasets,
      durations: selection.table.durations,
      base: this.#base,
      identity,
      planHash: made.planHash,
      failures: [...shardRun.failures, ...made.failures],
      summary: this.#summarize(selection, made),
      environment: this.#context.environment ?? {},
    });
    return this.#end(onlyManifests ? 'manifests' : 'packed', made);
  }

  async #clear(): Promise<void> {
    await clearWorkFolder(this.#outputs);
    await ensureFolder(this.#outputs.workFolder);
    if (this.#base === undefined) await removeEarlierFiles(this.#outputs);
  }

  #listAdded(): string[] | undefined {
    if (this.#base === undefined) return undefined;
    const files = this.#datasets.flatMap((dataset) => Object.values(datasetFiles(dataset, versionOf(this.#base))));
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

  *#listDropped({ table }: Selection): Generator<PackFailure> {
    for (const { partition, bucket } of this.#datasets) {
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

  #isWithin(failures: number): boolean {
    const { onError, maxFailures } = this.#options;
    if (onError === 'skip') return true;
    if ('count' in maxFailures) return failures <= maxFailures.count;
    return failures <= (maxFailures.percent / 100) * (this.#selection?.read.rows ?? 0);
  }

  /** What the metrics of a finished run say was made. */
  #readBack({ failures }: Selection, metrics: Readonly<Record<string, unknown>>): MadeShards {
    const numberOf = (key: string): number => Number(metrics[key] ?? 0);
    const reasons = (metrics['rows_failed'] ?? {}) as Record<string, number>;
    const failed = Object.entries(reasons).flatMap(([reason, count]) =>
      Array.from({ length: count }, (): PackFailure => ({ kind: 'member', reason, message: '', file: '', line: 0 })),
    );
    return {
      ...NOTHING,
      written: { rows: numberOf('rows_written'), micros: Math.round(numberOf('duration_written_sec') * 1e6) },
      failures: failures.length + failed.length > 0 ? failed : [],
      members: numberOf('members'),
      copied: numberOf('members_copied'),
      tarBytes: numberOf('tar_bytes'),
      clippedSamples: numberOf('clipped_samples'),
      invalidSamples: numberOf('invalid_samples'),
    };
  }

  #end(kind: TarResult['kind'], made: MadeShards): Omit<TarResult, 'seconds'> {
    const { targetDir } = this.#options;
    const summary = this.#selection === undefined ? undefined : this.#summarize(this.#selection, made);
    const isListed = kind === 'packed' || kind === 'manifests' || kind === 'already_done';
    return { kind, targetDir, failuresPath: isListed ? this.#outputs.failures : undefined, summary };
  }

  #summarize(selection: Selection, made: MadeShards): TarSummary {
    const { read, tooShort, tooLong, failures, shortestSeconds, longestSeconds } = selection;
    const total = (sums: readonly RowSum[]): RowSum => ({
      rows: sums.reduce((sum, { rows }) => sum + rows, 0),
      micros: sums.reduce((sum, { micros }) => sum + micros, 0),
    });
    const known = (seconds: number): number | null => (Number.isNaN(seconds) ? null : seconds);
    return {
      read,
      planned: total(this.#datasets.map(({ kept }) => kept)),
      written: made.written,
      tooShort,
      tooLong,
      dropped: total(this.#datasets.map(({ dropped }) => dropped)),
      refused: countReasons(failures),
      failed: countReasons(made.failures),
      shortestSeconds: known(shortestSeconds),
      longestSeconds: known(longestSeconds),
      datasets: this.#datasets.map(({ prefix, firstShard, partition, smallestShard, largestShard, kept, dropped }) => ({
        folder: prefix.replace(/\/$/u, ''),
        firstShard,
        shards: partition.ends.length,
        smallestShard,
        largestShard,
        planned: kept,
        dropped,
      })),
      members: made.members,
      copied: made.copied,
      tarBytes: made.tarBytes,
      clippedSamples: made.clippedSamples,
      invalidSamples: made.invalidSamples,
      warnings: [...this.#warnings, ...made.warnings],
      firstFailures: firstOfReasons([...failures, ...made.failures]),
    };
  }
}
