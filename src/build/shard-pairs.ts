import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, InputError, systemCode } from '../errors.js';
import { shardPathFault } from '../manifest/shard-list.js';
import { compareCodePoints } from '../tar/order.js';
import type { ShardPair } from '../shard/compare-shard.js';
import type { ResolvedListOptions } from './list-options.js';
import type { ShardProblem } from '../shard/shard-problem.js';
import { matchPaths, type PatternMatch } from '../shard/path-pattern.js';

/** The shards that a pattern finds, in the order of the list. */
export interface ShardPairs {
  /** Tars with a manifest, or what speaks against a tar: it is left out. */
  found: (ShardPair | { tarPath: string; problem: ShardProblem })[];
  /** What is wrong besides, about files that belong to no tar that was found. */
  problems: ShardProblem[];
}

/** In the order in which they are looked for. */
const MANIFEST_EXTENSIONS = ['.json', '.jsonl'];

/**
 * Finds the tars and their manifests.
 *
 * @throws {InputError} when no tar matches, a folder cannot be read, or a path cannot stand in a list.
 */
export async function findShardPairs(options: ResolvedListOptions): Promise<ShardPairs> {
  const { audioPattern, txtDir, sort } = options;
  const match = await matchPaths(audioPattern);
  const tarPaths = [...new Set(match.paths.map((found) => path.resolve(found)))];
  if (sort) tarPaths.sort(compareCodePoints);
  const manifestNames = await listManifestNames(txtDir);
  if (tarPaths.length === 0) {
    throw new InputError(`No tar matches the pattern "${audioPattern}"`, {
      path: audioPattern,
      hint: 'See that the path is right, and quote the pattern, so that the shell leaves it alone.',
    });
  }
  const problems = match.missing.map((name): ShardProblem => {
    const file = path.resolve(name);
    return { kind: 'missing_tar', message: 'there is no such file, though the pattern names it', file };
  });
  const found: ShardPairs['found'] = [];
  const usedNames = new Set<string>();
  for (const tarPath of tarPaths) {
    const pair = await findManifest(tarPath, options, usedNames);
    if ('manifestPath' in pair && pair.second !== undefined) problems.push(pair.second);
    found.push(pair);
  }
  requireListable([...tarPaths, ...found.flatMap((pair) => ('manifestPath' in pair ? [pair.manifestPath] : []))]);
  const lone = manifestNames.filter((name) => !usedNames.has(name));
  for (const name of lone) problems.push(...describeLoneManifest(name, options, match));
  return { found, problems };
}

/** The name of a tar without what makes it one. */
export function shardKey(tarPath: string): string {
  const name = path.basename(tarPath);
  const extension = ['.tar.gz', '.tar'].find((end) => name.endsWith(end)) ?? path.extname(name);
  return name.slice(0, name.length - extension.length);
}

async function findManifest(
  tarPath: string,
  { txtDir, audioPrefix, txtPrefix }: ResolvedListOptions,
  usedNames: Set<string>,
): Promise<(ShardPair & { second?: ShardProblem }) | { tarPath: string; problem: ShardProblem }> {
  const key = shardKey(tarPath);
  if (!key.startsWith(audioPrefix)) {
    const message = `its name does not begin with the prefix ${JSON.stringify(audioPrefix)}`;
    return { tarPath, problem: { kind: 'prefix_mismatch', message, file: tarPath } };
  }
  const names = MANIFEST_EXTENSIONS.map((extension) => `${txtPrefix}${key.slice(audioPrefix.length)}${extension}`);
  const there: string[] = [];
  for (const name of names) if (await isThere(path.join(txtDir, name))) there.push(name);
  const [first, second] = there;
  for (const name of there) usedNames.add(name);
  if (first === undefined) {
    const message = `it has no manifest: neither ${names.map((name) => `"${name}"`).join(' nor ')} is in "${txtDir}"`;
    return { tarPath, problem: { kind: 'missing_manifest', message, file: tarPath } };
  }
  const pair = { tarPath, manifestPath: path.join(txtDir, first) };
  if (second === undefined) return pair;
  const file = path.join(txtDir, second);
  const message = `it is not read, since "${first}" is there`;
  return { ...pair, second: { kind: 'second_manifest', message, file, hint: 'Remove the one that is not wanted.' } };
}

/** A manifest that no tar took is a problem where the pattern would have found its tar. */
function describeLoneManifest(
  name: string,
  { txtDir, audioPrefix, txtPrefix }: ResolvedListOptions,
  match: PatternMatch,
): ShardProblem[] {
  if (!name.startsWith(txtPrefix)) return [];
  const key = `${audioPrefix}${name.slice(txtPrefix.length, name.lastIndexOf('.'))}`;
  const tarName = ['.tar', '.tar.gz'].map((end) => `${key}${end}`).find((wanted) => match.matchesName(wanted));
  if (tarName === undefined) return [];
  return [
    { kind: 'missing_shard', message: `it has no tar: "${tarName}" is not there`, file: path.join(txtDir, name) },
  ];
}

async function listManifestNames(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    const isManifest = (name: string): boolean =>
      !name.startsWith('.') && MANIFEST_EXTENSIONS.includes(path.extname(name));
    return names.filter(isManifest).sort(compareCodePoints);
  } catch (error) {
    const code = systemCode(error);
    const reasons: Readonly<Record<string, string>> = { ENOENT: 'there is no such folder', ENOTDIR: 'it is no folder' };
    const reason = reasons[code ?? ''] ?? errorMessage(error);
    throw new InputError(`Cannot read the folder of the manifests "${folder}": ${reason}`, {
      path: folder,
      cause: error,
    });
  }
}

async function isThere(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    // Others are there, and reading them says what is wrong.
    return !['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '');
  }
}

/** Refuses paths that a list cannot hold: a loader would take their parts for columns, and pass over the shard. */
function requireListable(paths: readonly string[]): void {
  const [first, ...others] = paths.filter((listed) => shardPathFault(listed) !== undefined);
  if (first === undefined) return;
  const more = others.length === 0 ? '' : `; so it is with ${others.length} more`;
  throw new InputError(`Cannot list ${JSON.stringify(first)}: ${shardPathFault(first)}${more}`, {
    path: first,
    hint: 'Rename the file or its folder, or reach it by a symbolic link whose path is without white space.',
  });
}
