import { describe, listOf, readWeight } from './config-fields.js';
import { configError, type ConfigNode } from './config-node.js';
import { resolvePath } from './config-path.js';
import { isPattern } from './tar-patterns.js';
import type { NemoSource, NemoTarredSource, SourceSpec } from './sources.js';

export interface NemoSourceOptions {
  /** Lists of lists are static buckets; otherwise they are sources that are put together. */
  isStatic: boolean;
  /** Of each static bucket. */
  weights: readonly number[] | undefined;
}

/**
 * What NeMo's two keys say together:
 *
 * ```
 * manifest_filepath      tarred_audio_filepaths
 * a.json                 –                           files
 * a.json or a,b          text or list                one dataset
 * [a, b]                 –                           one dataset
 * [a, b]                 [pattern, pattern]          datasets put together
 * [[a], [b]]             [[…], […]], or –            buckets, or datasets put together
 * [[a, 0.7], [b, 0.3]]   [[…], […]], […, …], or –    datasets with weights
 * ```
 *
 * @throws {UsageError} that names the line.
 */
export function nemoSource(
  manifests: ConfigNode,
  tars: ConfigNode | undefined,
  options: NemoSourceOptions,
): SourceSpec {
  const items = Array.isArray(manifests.value) ? listOf(manifests, '"manifest_filepath"') : undefined;
  const nested = items?.filter(({ value }) => Array.isArray(value)).length ?? 0;
  if (items === undefined || nested === 0) {
    if (tars !== undefined && Array.isArray(tars.value) && tars.value.some(({ value }) => Array.isArray(value))) {
      return mixedDepth(manifests);
    }
    return flatSource(manifests, items, tars);
  }
  if (nested < items.length) return mixedDepth(manifests);
  const tarItems = tars === undefined ? undefined : listOf(tars, '"tarred_audio_filepaths"');
  if (tarItems !== undefined && tarItems.length !== items.length) {
    throw configError(`there are ${items.length} lists of manifests and ${tarItems.length} of tars`, manifests);
  }
  const sources = items.map((item, at) => nestedSource(item, tarItems?.[at]));
  const weighted = sources.filter(({ weight }) => weight !== undefined).length;
  if (weighted > 0 && weighted < sources.length) {
    throw configError(`${weighted} of ${sources.length} manifests have a weight`, manifests, 'Give all one, or none.');
  }
  if (weighted > 0 || !options.isStatic) return { type: 'group', sources };
  const { weights } = options;
  if (weights !== undefined && weights.length !== sources.length) {
    throw configError(`there are ${sources.length} buckets and ${weights.length} of "bucketing_weights"`, manifests);
  }
  return { type: 'buckets', buckets: sources.map((source, at) => Object.assign(source, weightAt(weights, at))) };
}

function weightAt(weights: readonly number[] | undefined, at: number): { weight?: number } {
  const weight = weights?.[at];
  return weight === undefined ? {} : { weight };
}

function flatSource(
  manifests: ConfigNode,
  items: readonly ConfigNode[] | undefined,
  tars: ConfigNode | undefined,
): SourceSpec {
  const paths = items === undefined ? [pathOf(manifests)] : items.map(pathOf);
  if (tars === undefined) return { type: 'nemo', manifests: paths };
  const tarPaths = Array.isArray(tars.value) ? listOf(tars, '"tarred_audio_filepaths"').map(pathOf) : [pathOf(tars)];
  const arePairs = paths.length > 1 && paths.length === tarPaths.length && [...paths, ...tarPaths].some(isPattern);
  if (!arePairs) return { type: 'nemo_tarred', manifests: paths, tars: tarPaths };
  const sources = paths.map((manifest, at): NemoTarredSource => {
    return { type: 'nemo_tarred', manifests: [manifest], tars: [tarPaths[at]!] };
  });
  return { type: 'group', sources };
}

/** One list of a list of lists: paths, and a weight behind them. */
function nestedSource(item: ConfigNode, tars: ConfigNode | undefined): NemoSource | NemoTarredSource {
  const parts = listOf(item, 'a list of manifests');
  const last = parts.at(-1)!;
  const hasWeight = parts.length > 1 && typeof last.value === 'number';
  const manifests = (hasWeight ? parts.slice(0, -1) : parts).map(pathOf);
  const weight = hasWeight ? { weight: readWeight(last) } : {};
  if (tars === undefined) return { type: 'nemo', manifests, ...weight };
  const tarPaths = Array.isArray(tars.value) ? listOf(tars, 'a list of tars').map(pathOf) : [pathOf(tars)];
  return { type: 'nemo_tarred', manifests, tars: tarPaths, ...weight };
}

function pathOf(node: ConfigNode): string {
  if (typeof node.value === 'string') return resolvePath(node, node.value);
  throw configError(`a path is ${describe(node)}, and must be a text`, node);
}

function mixedDepth(node: ConfigNode): never {
  const hint = 'Write [[a.json], [b.json]], or [a.json, b.json].';
  throw configError('paths and lists of paths stand side by side', node, hint);
}
