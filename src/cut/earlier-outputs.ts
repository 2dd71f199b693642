import path from 'node:path';
import { OutputError, errorMessage, systemCode } from '../errors.js';
import { sizeOf } from '../run/atomic-file.js';
import { readMetrics } from '../shard/metrics-reader.js';
import { listDifferences } from './identity.js';
import type { RunIdentity } from './identity.js';
import type { CutOutputs } from './options.js';
import { hasAudio, listStrays, placesOf } from './shard-files.js';
import type { ShardFigures } from './shard-tally.js';

/** The parts of a metrics file that tell which run it is of, and what came of it. */
export interface EarlierMetrics extends RunIdentity {
  complete: boolean;
  dry_run: boolean;
  num_input_audios: number;
  num_output_snippets: number;
  input_total_segments: number;
  input_total_duration_sec: number;
  output_total_segments: number;
  output_total_duration_sec: number;
  dropped: Record<string, number>;
  skipped_rows: Record<string, number>;
  failed_snippets: Record<string, number>;
  clipped_samples: number;
  warnings: { id: string; message: string }[];
  /** Of a run with shards. */
  shards?: ShardFigures[];
  empty_shards?: string[];
}

/**
 * What stands at the places of the outputs: nothing that a run may not replace (`none`), the outputs of the very same
 * run (`same`), or what was salvaged from it before it was complete (`salvaged`), with what is said where that may not be replaced.
 *
 * @throws OutputError when something else is there, naming what differs
 */
export async function inspectEarlierOutputs(
  outputs: CutOutputs,
  identity: RunIdentity,
  isDryRun: boolean,
): Promise<{ kind: 'none' } | { kind: 'same'; metrics: EarlierMetrics } | { kind: 'salvaged'; refusal: OutputError }> {
  const hint = 'Choose another --output-dir, or give --overwrite to replace what is there.';
  const metrics = await readEarlierMetrics(outputs.metrics);
  if (metrics === undefined) {
    const { manifest, tar, list } = outputs;
    const strays = await listStrays(outputs, new Set());
    for (const file of [manifest, tar, ...(list === undefined ? [] : [list]), ...strays]) {
      if ((await sizeOf(file)) !== undefined) {
        throw new OutputError(`Cannot write "${file}": it exists and is not part of a finished run`, {
          path: file,
          hint,
        });
      }
    }
    return { kind: 'none' };
  }
  // A preview holds nothing that cannot be had again at once.
  if (metrics.dry_run && !(await hasAudio(outputs))) return { kind: 'none' };
  const refuse = (state: string): OutputError =>
    new OutputError(`Cannot write "${outputs.metrics}": ${state}`, { path: outputs.metrics, hint });
  if (isDryRun) throw refuse('the outputs of a run with audio are there');
  const differences = listDifferences(metrics, identity).filter((text) => !text.startsWith('cutroom_version'));
  if (differences.length > 0) throw refuse(`the outputs there are of another run: ${differences.join('; ')}`);
  if (!metrics.complete) {
    return {
      kind: 'salvaged',
      refusal: refuse('the outputs there were salvaged from this run before it was complete'),
    };
  }
  const own = ownShards(outputs, metrics);
  const shards = own.flatMap((shard) => Object.values(placesOf(outputs, shard)));
  for (const file of [...shards, outputs.failures, ...(outputs.list === undefined ? [] : [outputs.list])]) {
    if ((await sizeOf(file)) === undefined) throw refuse(`it is of a finished run, but "${file}" is gone`);
  }
  const [stray] = outputs.isSharded ? await listStrays(outputs, new Set(own)) : [];
  if (stray !== undefined) throw refuse(`it is of a finished run that did not make "${stray}"`);
  return { kind: 'same', metrics };
}

/** The numbers of the shards that a finished run made; that of a run without shards has one. */
function ownShards(outputs: CutOutputs, { shards = [], empty_shards: empty = [] }: EarlierMetrics): number[] {
  if (!outputs.isSharded) return [0];
  const made = new Set(shards.map(({ name }) => name));
  const numbers = Array.from({ length: shards.length + empty.length }, (_, shard) => shard);
  return numbers.filter((shard) => made.has(path.basename(placesOf(outputs, shard).tar)));
}

async function readEarlierMetrics(file: string): Promise<EarlierMetrics | undefined> {
  let metrics: unknown;
  let cause: unknown;
  try {
    metrics = await readMetrics(file);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    if (!(error instanceof SyntaxError)) {
      throw new OutputError(`Cannot read "${file}": ${errorMessage(error)}`, { path: file, cause: error });
    }
    cause = error;
  }
  if (isMetrics(metrics)) return metrics;
  throw new OutputError(`Cannot write "${file}": something else than the metrics of a run is there`, {
    path: file,
    cause,
    hint: 'Move it away, or give --overwrite to replace it.',
  });
}

function isMetrics(value: unknown): value is EarlierMetrics {
  return typeof value === 'object' && value !== null && 'plan_hash' in value && 'options' in value;
}
