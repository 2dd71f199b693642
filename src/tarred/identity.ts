import { readFile } from 'node:fs/promises';
import { OutputError, systemCode } from '../errors.js';
import { sizeOf } from '../run/atomic-file.js';
import { foreignOutputs, readMetricsOwner } from '../shard/metrics-owner.js';
import type { OptionValue } from '../shard/plan.js';
import { writeFailure } from '../tar/write-failure.js';
import type { TarMetrics } from './metrics.js';
import { listEarlierFiles, type TarOutputs } from './layout.js';

/** What decides the outputs of a run. Two runs with the same identity give the same. */
export interface TarIdentity {
  command: 'tar';
  cutroom_version: string;
  /** The CPU architecture: codecs may round differently on another one. */
  audio_architecture: string;
  inputs: readonly { path: string; sha256: string }[];
  options: Readonly<Record<string, OptionValue>>;
}

/** What a target folder holds. */
export type EarlierRun =
  /** Nothing that a run may not replace. */
  | { kind: 'none' }
  /** This very run, unfinished. */
  | { kind: 'unfinished' }
  /** The outputs of this very run. */
  | { kind: 'finished'; metrics: TarMetrics }
  /** Another dataset, or a part of one. */
  | { kind: 'other'; error: OutputError }
  /** What another command made: that is not replaced, whatever is asked for. */
  | { kind: 'foreign'; error: OutputError };

/**
 * Finds out what a target folder holds, from the point of view of a run.
 *
 * @param added files that rows added to the dataset in this folder would make; undefined for a new dataset
 */
export async function inspectTarget(
  outputs: TarOutputs,
  identity: TarIdentity,
  added: readonly string[] | undefined,
): Promise<EarlierRun> {
  const { folder } = outputs;
  const hint = 'Choose another --target-dir, or give --overwrite to replace what is there.';
  const other = (state: string, file = folder): EarlierRun => ({
    kind: 'other',
    error: new OutputError(`Cannot write to "${folder}": ${state}`, { path: file, hint }),
  });
  const owner = await readMetricsOwner(outputs.metrics);
  if (owner !== undefined && owner !== 'tar') {
    return { kind: 'foreign', error: foreignOutputs(outputs.metrics, owner, 'target-dir') };
  }
  const metrics = await readJson(outputs.metrics);
  if (metrics !== undefined) {
    if (metrics['command'] !== 'tar') {
      const message = `Cannot write to "${folder}": "${outputs.metrics}" is not of this command`;
      return {
        kind: 'foreign',
        error: new OutputError(message, { path: outputs.metrics, hint: 'Choose another --target-dir.' }),
      };
    }
    const differences = listDifferences(metrics, identity);
    if (differences.length === 0) return { kind: 'finished', metrics: metrics as unknown as TarMetrics };
    return other(`the dataset there is of another run: ${differences.join('; ')}`);
  }
  const unfinished = await readJson(outputs.identity);
  if (unfinished !== undefined) {
    const differences = listDifferences(unfinished, identity);
    // A finished dataset stays what it is; one that is gone on with would be of two versions.
    const { cutroom_version: version } = unfinished;
    if (version !== identity.cutroom_version) {
      differences.push(
        `cutroom_version was ${JSON.stringify(version)}, now ${JSON.stringify(identity.cutroom_version)}`,
      );
    }
    if (differences.length === 0) return { kind: 'unfinished' };
    return other(`an unfinished run of another kind is there: ${differences.join('; ')}`);
  }
  const [first] = added === undefined ? await listEarlierFiles(folder) : await listThere(added);
  return first === undefined ? { kind: 'none' } : other(`"${first}" is not part of a finished run`, first);
}

async function listThere(files: readonly string[]): Promise<string[]> {
  const sizes = await Promise.all(files.map(sizeOf));
  return files.filter((_, index) => sizes[index] !== undefined);
}

function listDifferences(before: Readonly<Record<string, unknown>>, now: TarIdentity): string[] {
  const differences: string[] = [];
  const compare = (name: string, a: unknown, b: unknown): void => {
    const [was, is] = [a, b].map((value) => (value === undefined ? 'unset' : JSON.stringify(value)));
    if (was !== is) differences.push(`${name} was ${was}, now ${is}`);
  };
  const options = (before['options'] ?? {}) as TarIdentity['options'];
  for (const name of new Set([...Object.keys(now.options), ...Object.keys(options)])) {
    compare(name, options[name], now.options[name]);
  }
  const sums = (inputs: unknown): unknown =>
    Array.isArray(inputs) ? (inputs as TarIdentity['inputs']).map(({ sha256 }) => sha256) : inputs;
  if (JSON.stringify(sums(before['inputs'])) !== JSON.stringify(sums(now.inputs))) {
    differences.push('the manifests have another content');
  }
  compare('audio_architecture', before['audio_architecture'], now.audio_architecture);
  return differences;
}

async function readJson(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw writeFailure(error, { action: 'Cannot read', path });
  }
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // Something else has that name: it differs from all that is compared with it.
    return {};
  }
}
