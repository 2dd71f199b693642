import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { InputError, UsageError } from '../errors.js';
import { compareCodePoints } from '../tar/order.js';
import { framesOf } from '../random/decimal.js';
import type { OutputOptions } from './excerpt-dataset.js';
import { findFileChange } from './excerpt-job.js';
import type { FileState } from './excerpt-job.js';
import { AUDIO_EXTENSIONS, findAudioFiles } from './find-audio.js';
import type { LufsCache } from './lufs-cache.js';
import { measureFiles } from './measure-files.js';
import { checkNamed, checkPaths, dropRepeats } from './path-list.js';
import { openScan } from './read-scan.js';
import type { Scan } from './read-scan.js';
import { RecordingTable } from './recordings.js';
import type { RecordingFacts } from './recordings.js';

/** Which files a dataset is of: of `sources`, `filepaths` and `scan` exactly one is given. */
export interface FileOptions {
  /** Files, folders, which are searched with all below them, and patterns with `*`, `?`, `[…]`, `{…}` and `**`. Sorted by path, none twice. */
  sources?: string | readonly string[] | undefined;
  /** Files, in the order that counts. One that is there twice counts once, and `onNotice` is told. */
  filepaths?: readonly string[] | undefined;
  /** A finished scan, or its folder. */
  scan?: string | Scan | undefined;
  /** Seconds of each file by its path, so that none is opened before it is drawn from. A scan has its own. */
  durations?: Readonly<Record<string, number>> | ReadonlyMap<string, number> | undefined;
  /** Of the files that are taken from folders and patterns. Default: all that are known of audio. */
  extensions?: readonly string[] | undefined;
  /** Looks at the size and time of change of each file that was measured earlier. Default true. */
  checkFiles?: boolean | undefined;
}

/** Files with what sampling has to know of them. */
export interface SampledFiles {
  recordings: RecordingTable;
  /** What a file was when it was measured; NaN where that is not known. */
  stateOf: (file: number) => FileState;
}

/** Where lengths are told in seconds and the rate of the output is the files' own. */
const FALLBACK_RATE = 48_000;
/** Files looked at between two turns of the event loop. */
const FILES_A_TURN = 1024;

/** What is to be known before the files are found. */
export interface FileContext {
  /** Supplies lengths where nothing else does. */
  cache: LufsCache | undefined;
  /** Hz; null keeps the files'. */
  sampleRate: number | null;
  /** Files measured at once. */
  jobs: number;
}

/**
 * Finds the files and their lengths: by the scan, by `durations`, by the loudness cache, or by reading them.
 *
 * @throws UsageError where not exactly one of `sources`, `filepaths` and `scan` is given, or `durations` with a scan.
 * @throws TypeError where paths are no texts.
 * @throws InputError where there is no file, a source leads to none, or files have changed since they were measured.
 */
export async function findSampledFiles(options: ListOptions, context: FileContext): Promise<SampledFiles> {
  const given = [options.sources, options.filepaths, options.scan].filter((value) => value !== undefined);
  if (given.length !== 1) {
    throw new UsageError(
      given.length === 0 ? 'No files are given to sample from' : 'Files are given in more than one way',
      { hint: 'Give one of sources, filepaths and scan.' },
    );
  }
  if (options.scan !== undefined && options.durations !== undefined) {
    throw new UsageError('Both scan and durations are given', {
      hint: 'The lengths of a scan hold: leave durations out.',
    });
  }
  const files = await (options.scan === undefined ? filesByPath(options, context) : filesOfScan(options.scan));
  if (files.recordings.length === 0) throw new InputError('There is no file to sample from');
  if (options.checkFiles ?? true) await refuseChanges(files);
  return files;
}

async function filesOfScan(given: string | Scan): Promise<SampledFiles> {
  const scan = typeof given === 'string' ? await openScan(given) : given;
  const states = new States();
  const facts: RecordingFacts[] = [];
  for await (const { filepath, frames, sampleRate, channels, sizeBytes, mtimeMicros } of scan.files()) {
    facts.push({ path: filepath, group: 0, frames, sampleRate, channels });
    states.push(sizeBytes, mtimeMicros);
  }
  return { recordings: RecordingTable.from([''], facts), stateOf: states.at };
}

async function filesByPath(options: ListOptions, context: FileContext): Promise<SampledFiles> {
  const { groups, paths, groupOf } = await listPaths(options);
  const secondsOf = knownSeconds(options, context.cache);
  const rate = context.sampleRate ?? FALLBACK_RATE;
  const states = new States();
  const facts: RecordingFacts[] = [];
  const unknown: number[] = [];
  for (const [file, name] of paths.entries()) {
    const known = secondsOf(name);
    const frames = known === undefined ? 0 : wholeFrames(name, known.seconds, rate);
    if (known === undefined) unknown.push(file);
    facts.push({ path: name, group: groupOf(file), frames, sampleRate: rate, channels: 1 });
    states.push(known?.sizeBytes ?? Number.NaN, Number.NaN);
  }
  const measured = await measureFiles(
    unknown.map((file) => paths[file] ?? ''),
    context.jobs,
  );
  for (const [at, { frames, sampleRate, channels, sizeBytes, mtimeMicros }] of measured.entries()) {
    const file = unknown[at] ?? 0;
    facts[file] = { path: paths[file] ?? '', group: groupOf(file), frames, sampleRate, channels };
    states.set(file, sizeBytes, mtimeMicros);
  }
  return { recordings: RecordingTable.from(groups, facts), stateOf: states.at };
}

type ListOptions = FileOptions & Pick<OutputOptions, 'onNotice'>;

interface PathList {
  groups: readonly string[];
  paths: readonly string[];
  groupOf: (file: number) => number;
}

/** The files of `sources`, sorted by path and none twice, or those that are named, in their order. */
export async function listPaths({ sources, filepaths, extensions, onNotice }: ListOptions): Promise<PathList> {
  if (filepaths !== undefined) {
    checkPaths('filepaths', filepaths);
    return { groups: [''], paths: dropRepeats(filepaths, onNotice), groupOf: () => 0 };
  }
  const groups = typeof sources === 'string' ? [sources] : (sources ?? []);
  checkPaths('sources', groups);
  const wanted = extensions?.map((extension) => extension.replace(/^\./u, '').toLowerCase()) ?? AUDIO_EXTENSIONS;
  const sourceOf = new Map<string, number>();
  for (const [group, source] of groups.entries()) {
    for (const found of await findAudioFiles({ sources: [source], extensions: wanted })) {
      if (!sourceOf.has(found)) sourceOf.set(found, group);
    }
  }
  const paths = [...sourceOf.keys()].toSorted(compareCodePoints);
  return { groups, paths, groupOf: (file) => sourceOf.get(paths[file] ?? '') ?? 0 };
}

interface KnownLength {
  seconds: number;
  sizeBytes: number | undefined;
}

function knownSeconds(
  { durations }: FileOptions,
  cache: LufsCache | undefined,
): (name: string) => KnownLength | undefined {
  if (durations !== undefined) checkNamed('durations', durations);
  const given: ReadonlyMap<string, number> =
    durations instanceof Map ? durations : new Map<string, number>(Object.entries(durations ?? {}));
  let places: Map<string, number> | undefined;
  const ofPlace = (place: string): number | undefined => {
    places ??= new Map([...given].map(([name, seconds]) => [path.resolve(name), seconds]));
    return places.get(place);
  };
  return (name) => {
    const seconds = given.get(name) ?? ofPlace(path.resolve(name));
    if (seconds !== undefined) return { seconds, sizeBytes: undefined };
    const at = cache === undefined ? undefined : placeInCache(cache, name);
    const cached = at === undefined ? undefined : cache?.durations?.[at];
    if (at === undefined || cached === undefined) return undefined;
    return { seconds: cached, sizeBytes: cache?.fileSizes?.[at] ?? undefined };
  };
}

/** Where a file stands in a loudness cache, by its path as it is given or by the place that it leads to. */
export function placeInCache(cache: LufsCache, name: string): number | undefined {
  return cache.indexOf(name) ?? absolutePlaces(cache).get(path.resolve(name));
}

const absoluteByCache = new WeakMap<LufsCache, Map<string, number>>();

function absolutePlaces(cache: LufsCache): Map<string, number> {
  const known = absoluteByCache.get(cache);
  if (known !== undefined) return known;
  const places = new Map(cache.filepaths.map((name, index) => [path.resolve(name), index]));
  absoluteByCache.set(cache, places);
  return places;
}

/** Rounded down, so that no window passes the end, but not for the error of a double. */
function wholeFrames(name: string, seconds: number, rate: number): number {
  const nearest = seconds > 0 ? framesOf(seconds, rate) : 0;
  const frames = nearest / rate > seconds + 1e-9 ? nearest - 1 : nearest;
  if (frames >= 1) return frames;
  throw new InputError(`"${name}" is said to last ${seconds} s: there is nothing to sample`, { path: name });
}

async function refuseChanges({ recordings, stateOf }: SampledFiles): Promise<void> {
  const changed: string[] = [];
  let count = 0;
  for (let file = 0; file < recordings.length; file += 1) {
    if (file % FILES_A_TURN === FILES_A_TURN - 1) await setImmediate();
    const state = stateOf(file);
    if (Number.isNaN(state.sizeBytes) && Number.isNaN(state.mtimeMicros)) continue;
    const change = findFileChange(recordings.path(file), state);
    if (change === undefined) continue;
    count += 1;
    if (changed.length < NAMED_FILES) changed.push(`"${recordings.path(file)}" (${change})`);
  }
  if (count === 0) return;
  const others = count > changed.length ? ` and ${count - changed.length} more` : '';
  throw new InputError(`Files have changed since they were measured: ${changed.join(', ')}${others}`, {
    hint: 'Scan again: only what changed is read anew.',
  });
}

const NAMED_FILES = 5;

/** Size and time of change of each file. */
class States {
  #values = new Float64Array(2048);
  #count = 0;

  push(sizeBytes: number, mtimeMicros: number): void {
    if (2 * this.#count === this.#values.length) {
      const larger = new Float64Array(2 * this.#values.length);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#count += 1;
    this.set(this.#count - 1, sizeBytes, mtimeMicros);
  }

  set(file: number, sizeBytes: number, mtimeMicros: number): void {
    this.#values[2 * file] = sizeBytes;
    this.#values[2 * file + 1] = mtimeMicros;
  }

  /** To be handed on by itself: a function made where files are listed would keep their list alive with it. */
  readonly at = (file: number): FileState => {
    return { sizeBytes: this.#values[2 * file] ?? Number.NaN, mtimeMicros: this.#values[2 * file + 1] ?? Number.NaN };
  };
}
