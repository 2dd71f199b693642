import { open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, InputError, systemCode } from '../errors.js';
import { JsonObject } from '../manifest/json-object.js';
import { manifestLines } from '../manifest/lines.js';
import { parseRowLine } from '../manifest/row-line.js';
import { parseShardLine } from '../manifest/shard-list.js';
import { decodeUtf8 } from '../manifest/utf8.js';
import { compareCodePoints } from '../tar/order.js';

/** A tar and the manifest of its members, by absolute paths. One of them may be missing: reading them tells. */
export interface PackedShard {
  tarPath: string;
  manifestPath: string;
  /** Set where the manifest is that of all shards: the `shard_id` of this one's rows. */
  shardId?: number;
}

/**
 * Says what a path is, or undefined when it is no packed dataset: then it is an ordinary manifest, or nothing.
 *
 * Packed are a `.lst` file; a folder that `cutroom cut`, `cutroom build` or NeMo's converter (`tarred_audio_manifest.json`,
 * `sharded_manifests/`, in `bucketN/` too) made; the manifest of such a folder; a tar beside its manifest, and the manifest beside its tar
 * whose first rows name no files.
 *
 * @throws InputError for a folder or a tar that is no dataset, and for a list that cannot be read
 */
export async function findPackedShards(input: string): Promise<PackedShard[] | undefined> {
  const stats = await stat(input).catch(() => undefined);
  if (stats === undefined) return undefined;
  const place = path.resolve(input);
  if (stats.isDirectory()) return await shardsOfFolder(place);
  if (!stats.isFile()) return undefined;
  if (place.endsWith('.lst')) return await shardsOfList(place);
  if (place.endsWith('.tar')) return [{ tarPath: place, manifestPath: await manifestOf(place) }];
  if (isFullManifest(path.basename(place))) {
    const shards = await shardsByNumber(path.dirname(place), place);
    if (shards.length > 0) return shards;
  }
  const tarPath = await tarOf(place);
  if (tarPath === undefined || (await namesFiles(place))) return undefined;
  return [{ tarPath, manifestPath: place }];
}

/** What a list is called by the commands that write one. */
const LIST_NAMES = ['data.lst', 'snippets.lst'];

async function shardsOfFolder(folder: string): Promise<PackedShard[]> {
  const names = new Set(await listNames(folder));
  const listName = LIST_NAMES.find((name) => names.has(name));
  if (listName !== undefined) return await shardsOfList(path.join(folder, listName));
  const shards = await shardsOfLayout(folder, names);
  if (shards.length > 0) return shards;
  const lists = [...names].filter((name) => name.endsWith('.lst')).toSorted(compareCodePoints);
  const [only, ...others] = lists;
  if (only !== undefined && others.length === 0) return await shardsOfList(path.join(folder, only));
  throw new InputError(`Cannot read "${folder}": ${lists.length > 1 ? `it holds ${lists.length} lists` : NO_DATASET}`, {
    path: folder,
    hint:
      lists.length > 1
        ? 'Name the list that is meant.'
        : 'Name a manifest, a .lst file, or a folder that "cutroom cut", "cutroom build" or "cutroom tar" made.',
  });
}

const NO_DATASET = 'the folder holds no tar beside its manifest, and no list of shards';

async function shardsOfLayout(folder: string, names: ReadonlySet<string>): Promise<PackedShard[]> {
  if (names.has('audios') && names.has('manifests')) {
    const audios = path.join(folder, 'audios');
    return await shardsByName(audios, await listNames(audios), path.join(folder, 'manifests'));
  }
  const full = [...names].filter(isFullManifest).toSorted((a, b) => versionOf(a) - versionOf(b));
  if (names.has(SHARDED) || full.length > 0) {
    const manifest = names.has(SHARDED) ? undefined : path.join(folder, full.at(-1) ?? '');
    return await shardsByNumber(folder, manifest);
  }
  const buckets = [...names].filter((name) => /^bucket\d+$/u.test(name));
  const shards: PackedShard[] = [];
  for (const bucket of buckets.toSorted((a, b) => numberIn(a) - numberIn(b))) {
    const place = path.join(folder, bucket);
    shards.push(...(await shardsOfLayout(place, new Set(await listNames(place)))));
  }
  return shards.length > 0 ? shards : await shardsByName(folder, [...names], folder);
}

/** Tars whose manifests have their names, in the order of their names; none where no tar has one. */
async function shardsByName(audios: string, names: readonly string[], manifests: string): Promise<PackedShard[]> {
  const tars = names.filter((name) => /^[^.].*\.tar$/u.test(name)).toSorted(compareCodePoints);
  const there = new Set(manifests === audios ? names : await listNames(manifests));
  let pairs = 0;
  const shards = tars.map((name) => {
    const stem = name.slice(0, -'.tar'.length);
    const found = [`${stem}.jsonl`, `${stem}.json`].find((manifest) => there.has(manifest));
    if (found !== undefined) pairs += 1;
    return { tarPath: path.join(audios, name), manifestPath: path.join(manifests, found ?? `${stem}.jsonl`) };
  });
  return pairs > 0 ? shards : [];
}

const SHARDED = 'sharded_manifests';

/** `audio_N.tar` with `sharded_manifests/manifest_N.json`, or with the rows of a manifest of all shards. */
async function shardsByNumber(folder: string, fullManifest: string | undefined): Promise<PackedShard[]> {
  const tars = (await listNames(folder)).filter((name) => /^audio_\d+\.tar$/u.test(name));
  const numbers = new Set(tars.map(numberIn));
  const sharded = path.join(folder, SHARDED);
  if (fullManifest === undefined) {
    for (const name of await listNames(sharded)) if (/^manifest_\d+\.json$/u.test(name)) numbers.add(numberIn(name));
  }
  return [...numbers]
    .toSorted((a, b) => a - b)
    .map((shardId) => {
      const tarPath = path.join(folder, `audio_${shardId}.tar`);
      if (fullManifest !== undefined) return { tarPath, manifestPath: fullManifest, shardId };
      return { tarPath, manifestPath: path.join(sharded, `manifest_${shardId}.json`) };
    });
}

/** Whether a name is that of NeMo's manifest of all shards, of which there is one more for each time that shards were appended. */
function isFullManifest(name: string): boolean {
  return /^tarred_audio_manifest(?:_version_\d+)?\.json$/u.test(name);
}

function versionOf(name: string): number {
  return /\d/u.test(name) ? numberIn(name) : 0;
}

function numberIn(name: string): number {
  return Number(/\d+/u.exec(name)?.[0]);
}

async function shardsOfList(list: string): Promise<PackedShard[]> {
  const shards: PackedShard[] = [];
  const handle = await open(list).catch((error: unknown) => {
    throw unreadable(list, error);
  });
  try {
    for await (const line of manifestLines(handle, list)) {
      const text = line.bytes === undefined ? 'the line is too long' : decodeUtf8(line.bytes);
      const entry = typeof text === 'number' ? 'it holds a byte that is not UTF-8' : parseShardLine(text);
      if (typeof entry === 'string') {
        throw new InputError(`Cannot read line ${line.number} of "${list}": ${entry}`, {
          path: list,
          line: line.number,
        });
      }
      const tarPath = await placeOf(entry.tarPath, list);
      shards.push({ tarPath, manifestPath: await placeOf(entry.manifestPath, list) });
    }
  } finally {
    await handle.close();
  }
  if (shards.length === 0) throw new InputError(`Cannot read "${list}": it names no shard`, { path: list });
  return shards;
}

/**
 * Where a listed file lies. Loaders take a relative path from the working folder; of a list that was moved with its shards the paths are stale,
 * and the files are found beside it: `audios/a.tar`, or `a.tar`.
 */
async function placeOf(listed: string, list: string): Promise<string> {
  const folder = path.dirname(list);
  const name = path.basename(listed);
  const parent = path.basename(path.dirname(path.resolve(listed)));
  const places = [listed, path.resolve(folder, listed), path.join(folder, parent, name), path.join(folder, name)];
  for (const place of places) if (await isThere(place)) return path.resolve(place);
  return path.resolve(listed);
}

async function manifestOf(tarPath: string): Promise<string> {
  const { dir, name } = path.parse(tarPath);
  const places = [path.join(dir, `${name}.jsonl`), path.join(dir, `${name}.json`)];
  if (path.basename(dir) === 'audios') places.push(path.join(dir, '..', 'manifests', `${name}.jsonl`));
  if (/^audio_\d+$/u.test(name)) places.push(path.join(dir, SHARDED, `manifest_${numberIn(name)}.json`));
  for (const place of places) if (await isThere(place)) return place;
  throw new InputError(`Cannot read "${tarPath}": it has no manifest`, {
    path: tarPath,
    hint: `Put its rows into "${places[0]}".`,
  });
}

async function tarOf(manifestPath: string): Promise<string | undefined> {
  const { dir, name } = path.parse(manifestPath);
  const places = [path.join(dir, `${name}.tar`)];
  if (path.basename(dir) === 'manifests') places.push(path.join(dir, '..', 'audios', `${name}.tar`));
  if (path.basename(dir) === SHARDED && /^manifest_\d+$/u.test(name)) {
    places.push(path.join(dir, '..', `audio_${numberIn(name)}.tar`));
  }
  for (const place of places) if (await isThere(place)) return place;
  return undefined;
}

/** How many rows are asked whether they name files. */
const LOOK_ROWS = 20;

/** Whether one of the first rows names a file: then the manifest is an ordinary one, whatever lies beside it. */
async function namesFiles(manifestPath: string): Promise<boolean> {
  const handle = await open(manifestPath).catch((error: unknown) => {
    throw unreadable(manifestPath, error);
  });
  try {
    let names = 0;
    for await (const line of manifestLines(handle, manifestPath)) {
      const row = parseRowLine(line);
      const name = row instanceof JsonObject ? row.value('audio_filepath') : undefined;
      if (typeof name !== 'string') continue;
      if (await isThere(path.resolve(path.dirname(manifestPath), name))) return true;
      if (await isThere(name)) return true;
      names += 1;
      if (names === LOOK_ROWS) break;
    }
    return false;
  } finally {
    await handle.close();
  }
}

async function listNames(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    throw unreadable(folder, error);
  }
}

async function isThere(file: string): Promise<boolean> {
  const stats = await stat(file).catch(() => undefined);
  return stats?.isFile() ?? false;
}

function unreadable(place: string, error: unknown): InputError {
  const reason = systemCode(error) === 'ENOENT' ? 'it is not there' : errorMessage(error);
  return new InputError(`Cannot read "${place}": ${reason}`, { path: place, cause: error });
}
