import { UsageError } from '../errors.js';
import { parseDecimal } from '../random/decimal.js';
import { checkSource } from './check-source.js';
import type { BucketedSource, ExcerptsSource, GroupSource, NemoSource, NemoTarredSource } from './sources.js';
import type { PathSource, SourceSpec } from './sources.js';

/** A source without sources of its own. */
export type LeafSpec = PathSource | NemoSource | NemoTarredSource | ExcerptsSource;

/** A source without sources of its own, and what the sources around it say of it. */
export interface LeafSource {
  name: string;
  spec: LeafSpec;
  /** Static bucket, from 0. */
  bucket: number | undefined;
  /** Those of the sources around it included; the innermost count. */
  tags: Readonly<Record<string, unknown>>;
}

/** How sources share what is drawn. */
export type ShareNode =
  | { kind: 'leaf'; leaf: number }
  | {
      kind: 'group' | 'buckets';
      name: string;
      children: ShareNode[];
      /** Of each child; undefined where it has none. */
      weights: (number | string)[] | undefined;
      temperature: number;
    };

/**
 * The leaves of a source, in order, and how they share draws.
 *
 * @throws {TypeError} for what is no source.
 * @throws {UsageError} for types that do not exist, groups without sources, weights that are none or that only some sources of a group have, static buckets in static
 * buckets, and names that two sources were given.
 */
export function flattenSources(spec: SourceSpec): { leaves: LeafSource[]; root: ShareNode } {
  checkSource(spec);
  const leaves: LeafSource[] = [];
  const root = addSource(spec, {}, undefined, leaves);
  nameLeaves(leaves);
  return { leaves, root };
}

function addSource(
  spec: SourceSpec,
  outerTags: Readonly<Record<string, unknown>>,
  bucket: number | undefined,
  leaves: LeafSource[],
): ShareNode {
  const tags = spec.tags === undefined ? outerTags : { ...outerTags, ...spec.tags };
  if (spec.type !== 'group' && spec.type !== 'buckets') {
    leaves.push({ name: spec.name ?? '', spec, bucket, tags });
    return { kind: 'leaf', leaf: leaves.length - 1 };
  }
  const name = describeSource(spec);
  if (spec.type === 'buckets' && bucket !== undefined) {
    throw new UsageError(`${startSentence(name)} is one of static buckets and cannot have buckets itself`, {
      hint: 'List all buckets in one list.',
    });
  }
  const sources = spec.type === 'group' ? spec.sources : spec.buckets;
  if (sources.length === 0) throw new UsageError(`${startSentence(name)} holds no source`);
  const weights = weightsOf(sources, name);
  const temperature = temperatureOf(spec, weights, name);
  const children = sources.map((source, index) => {
    return addSource(source, tags, spec.type === 'buckets' ? index : bucket, leaves);
  });
  return { kind: spec.type, name, children, weights, temperature };
}

function weightsOf(sources: readonly SourceSpec[], group: string): (number | string)[] | undefined {
  const weighted = sources.filter(({ weight }) => weight !== undefined);
  if (weighted.length === 0) return undefined;
  return sources.map((source) => {
    const { weight } = source;
    if (weight === undefined) {
      throw new UsageError(
        `${startSentence(describeSource(source))} has no weight, and other sources of ${group} have one`,
        {
          hint: 'Give each source of a group a weight, or none.',
        },
      );
    }
    if ((parseDecimal(weight)?.digits ?? 0n) > 0n) return weight;
    throw new UsageError(`The weight of ${describeSource(source)} is ${weight}: it must be a finite number above 0`, {
      hint: 'Leave a source out that is not to be drawn from.',
    });
  });
}

function temperatureOf(spec: GroupSource | BucketedSource, weights: unknown, group: string): number {
  const temperature = spec.type === 'group' ? (spec.temperature ?? 1) : 1;
  if (!(temperature >= 0 && temperature <= MAX_TEMPERATURE)) {
    throw new UsageError(`The temperature of ${group} is ${temperature}: it must be from 0 to ${MAX_TEMPERATURE}`, {
      hint: 'Each weight w becomes w^temperature: 1 keeps them, 0 makes all equal.',
    });
  }
  if (temperature !== 1 && weights === undefined) {
    throw new UsageError(`${startSentence(group)} has a temperature, and its sources have no weights`, {
      hint: 'Give each source a weight, such as its hours.',
    });
  }
  return temperature;
}

/** More makes every weight but the largest nothing. */
const MAX_TEMPERATURE = 100;

function startSentence(text: string): string {
  return text.replace(/^./u, (letter) => letter.toUpperCase());
}

/** Names a source in messages. */
function describeSource(spec: SourceSpec): string {
  if (spec.name !== undefined) return `the source "${spec.name}"`;
  if (spec.type === 'group') return 'the group';
  if (spec.type === 'buckets') return 'the list of buckets';
  return `the source "${defaultName(spec)}"`;
}

function defaultName(spec: LeafSpec): string {
  if (spec.type === 'path') return spec.path;
  if (spec.type === 'excerpts') return 'excerpts';
  return spec.manifests[0] ?? spec.type;
}

/** Gives each leaf a name of its own: those that were given stay, others are numbered where they are taken. */
function nameLeaves(leaves: readonly LeafSource[]): void {
  const taken = new Set<string>();
  for (const { spec, name } of leaves) {
    if (spec.name === undefined) continue;
    if (taken.has(name)) {
      throw new UsageError(`Two sources have the name "${name}"`, { hint: 'Give each source a name of its own.' });
    }
    taken.add(name);
  }
  for (const leaf of leaves) {
    if (leaf.spec.name !== undefined) continue;
    const wanted = defaultName(leaf.spec);
    leaf.name = wanted;
    for (let count = 2; taken.has(leaf.name); count += 1) leaf.name = `${wanted} (${count})`;
    taken.add(leaf.name);
  }
}
