import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, InputError } from '../errors.js';
import { writeFileAtomic } from '../run/atomic-file.js';
import type { DatasetPlan } from './dataset-plan.js';
import type { TarIdentity } from './identity.js';
import type { ResolvedTarOptions } from './options.js';
import type { SelectionFacts } from './summary.js';
import type { PlannedTar } from './tar-dataset.js';

/** What tasks, and the end of a dataset, have to know beside the plan of its shards: neither its manifests nor its audio is looked at again. */
export interface TarTaskFacts {
  format: typeof FORMAT;
  /** As `versionOf` says. */
  version: number | null;
  /** Folders are absolute, as the machine that planned spells them. */
  options: ResolvedTarOptions;
  identity: TarIdentity;
  /** Time in the metadata. */
  sourceDateEpoch: string | null;
  /** The dataset that gains rows. */
  base: { manifestPath: string; metadataPath: string; sha256: string } | null;
  /** Null for a dataset that was finished when it was planned. */
  planned: PlannedFacts | null;
}

interface PlannedFacts {
  /** Without failures, which the plan of the shards has; null where there is no duration. */
  selection: Omit<SelectionFacts, 'failures' | 'shortestSeconds' | 'longestSeconds'> & {
    shortestSeconds: number | null;
    longestSeconds: number | null;
  };
  warnings: readonly string[];
  datasets: readonly (Omit<DatasetPlan, 'partition' | 'bucket'> & {
    bucket: DatasetPlan['bucket'] | null;
    ends: readonly number[];
  })[];
}

const FORMAT = 'cutroom-tar-tasks-1';
const FACTS_FILE = 'tar.json';
/** Of each row, in the order of the shards: 64-bit floats, seconds or NaN. */
const DURATIONS_FILE = 'durations';
const ROWS_A_WRITE = 1 << 16;

/** Lays down what a plan holds beside its shards. */
export async function writeTarFacts(
  folder: string,
  planned: PlannedTar,
  { version, sourceDateEpoch }: Pick<TarTaskFacts, 'version' | 'sourceDateEpoch'>,
): Promise<void> {
  const { options, base } = planned;
  const { command, cutroom_version, audio_architecture, inputs, options: described } = identityOf(planned);
  const facts: TarTaskFacts = {
    format: FORMAT,
    version,
    options,
    identity: { command, cutroom_version, audio_architecture, inputs, options: described },
    sourceDateEpoch,
    base:
      base === undefined || options.concat === undefined
        ? null
        : {
            manifestPath: path.resolve(options.concat.baseManifest),
            metadataPath: path.resolve(options.concat.metadataPath),
            sha256: base.sha256,
          },
    planned: 'finished' in planned ? null : await writePlanned(folder, planned),
  };
  await writeFileAtomic(path.join(folder, FACTS_FILE), (write) => write(`${JSON.stringify(facts)}\n`));
}

function identityOf(planned: PlannedTar): TarIdentity {
  return 'finished' in planned ? planned.finished : planned.run.identity;
}

async function writePlanned(
  folder: string,
  { run, selection, warnings }: Extract<PlannedTar, { run: unknown }>,
): Promise<PlannedFacts> {
  await writeFileAtomic(path.join(folder, DURATIONS_FILE), async (write) => {
    for (const { partition } of run.datasets) {
      for (let at = 0; at < partition.rows.length; at += ROWS_A_WRITE) {
        const rows = partition.rows.subarray(at, at + ROWS_A_WRITE);
        const bytes = Buffer.alloc(rows.length * 8);
        for (const [index, row] of rows.entries())
          bytes.writeDoubleLE(run.table.durations[row] ?? Number.NaN, index * 8);
        await write(bytes);
      }
    }
  });
  const { read, tooShort, tooLong, shortestSeconds, longestSeconds } = selection;
  return {
    // What is not a number becomes null.
    selection: { read, tooShort, tooLong, shortestSeconds, longestSeconds },
    warnings,
    datasets: run.datasets.map(({ bucket = null, prefix, firstShard, shards, kept, dropped, partition: { ends } }) => ({
      bucket,
      prefix,
      firstShard,
      shards,
      kept,
      dropped,
      ends,
    })),
  };
}

/**
 * Reads what was laid down.
 *
 * @throws {InputError} when it is not there or damaged.
 */
export async function readTarFacts(folder: string): Promise<TarTaskFacts> {
  const file = path.join(folder, FACTS_FILE);
  let facts: Partial<TarTaskFacts> | null;
  try {
    facts = JSON.parse(await readFile(file, 'utf8')) as typeof facts;
  } catch (error) {
    throw new InputError(`Cannot read "${file}": ${errorMessage(error)}`, { path: file, cause: error });
  }
  if (facts?.format === FORMAT) return facts as TarTaskFacts;
  throw new InputError(`Cannot read "${file}": it is damaged`, { path: file, hint: 'Plan anew in another folder.' });
}

/**
 * The datasets of a plan and the seconds of its rows, which are counted in the order of the shards.
 *
 * @throws {InputError} when a file is not there or too short.
 */
export async function readPlannedDatasets(
  folder: string,
  { datasets }: PlannedFacts,
): Promise<{ datasets: DatasetPlan[]; durations: Float64Array }> {
  const file = path.join(folder, DURATIONS_FILE);
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw new InputError(`Cannot read "${file}": ${errorMessage(error)}`, { path: file, cause: error });
  }
  let firstRow = 0;
  const plans = datasets.map(({ bucket, ends, ...plan }): DatasetPlan => {
    const start = firstRow;
    firstRow += ends.at(-1) ?? 0;
    const rows = Uint32Array.from({ length: firstRow - start }, (_, index) => start + index);
    return { ...plan, bucket: bucket ?? undefined, partition: { rows, ends, dropped: new Uint32Array() } };
  });
  if (bytes.length !== firstRow * 8) {
    throw new InputError(`Cannot read "${file}": it has ${bytes.length} bytes, and ${firstRow * 8} were written`, {
      path: file,
      hint: 'Plan anew in another folder.',
    });
  }
  return {
    datasets: plans,
    durations: Float64Array.from({ length: firstRow }, (_, row) => bytes.readDoubleLE(row * 8)),
  };
}
