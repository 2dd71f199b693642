import { availableParallelism } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { countWords } from '../count-words.js';
import { CanceledError, CutroomError, InputError } from '../errors.js';
import { compareCodePoints } from '../tar/order.js';
import { findFileChange } from './excerpt-job.js';
import { AUDIO_EXTENSIONS, findAudioFiles } from './find-audio.js';
import { dropRepeats, readPathList } from './path-list.js';
import { openScan, readFailures } from './read-scan.js';
import { RecordingTable, type RecordingFacts } from './recordings.js';
import type { SampleContext, SampleOptions } from './sample-options.js';
import { readFiles } from './scan-reading.js';
import { ScanTable } from './scan-table.js';
import type { ScanFailure } from './scan-types.js';

/** The files of each group. */
export interface SampleFiles {
  /** In the order of the groups; one where there are none. */
  recordings: readonly RecordingTable[];
  /** Files that are left out, as they cannot be read. */
  leftOut: readonly ScanFailure[];
  /** What is known of each file. */
  table: ScanTable;
}

const SILENCE_MS = 300_000;
/** Files looked at between two turns of the event loop. */
const FILES_A_TURN = 1024;
const MAX_NAMED = 5;

/**
 * Finds the files of each group and their lengths: by the scan, or by reading them in processes of their own.
 *
 * @throws {InputError} when sources lead to no file, files cannot be read and are not to be left out, or have changed
 * since the scan.
 */
export async function findSampleFiles(options: SampleOptions, context: SampleContext): Promise<SampleFiles> {
  const { signal } = context;
  try {
    const lists = await listFiles(options, context);
    const table = new ScanTable(lists.flat());
    if (options.scan === undefined) await measure(table, options, context);
    else await takeScan(table, options.scan);
    const leftOut = [...table.failures].toSorted(([a], [b]) => a - b).map(([, failure]) => failure);
    if (options.scan === undefined && options.onError !== 'skip') refuseUnreadable(leftOut, table.count);
    for (const failure of leftOut) context.onFailure?.(failure);
    return { recordings: lists.map((list) => recordingsOf(list, table)), leftOut, table };
  } catch (error) {
    if (signal?.aborted !== true || error instanceof CutroomError) throw error;
    throw new CanceledError('The run was stopped while it looked at the files', { cause: error });
  }
}

/** The files of each group: sorted and none twice, or as a list has them. */
async function listFiles(options: SampleOptions, { signal, onProgress, onNotice }: SampleContext): Promise<string[][]> {
  const { sources = [], filepaths, groups, scan } = options;
  if (filepaths !== undefined) {
    const listed = await readPathList(filepaths, path.dirname(path.resolve(filepaths)));
    return [dropRepeats(listed, onNotice)];
  }
  const extensions = options.extensions ?? AUDIO_EXTENSIONS;
  const lists: string[][] = [];
  const wanted = groups === undefined ? [sources] : Object.values(groups);
  for (const ofGroup of wanted) {
    if (ofGroup.length === 0 && scan !== undefined) {
      lists.push(await scannedPaths(scan));
      continue;
    }
    const onFiles = (files: number): void => onProgress?.({ stage: 'find', files });
    const found = await findAudioFiles({ sources: ofGroup, extensions, signal, onFiles });
    lists.push([...new Set(found)].toSorted(compareCodePoints));
  }
  return lists;
}

async function scannedPaths(folder: string): Promise<string[]> {
  const paths: string[] = [];
  const scan = await openScan(folder);
  for await (const { filepath } of scan.files()) paths.push(filepath);
  if (paths.length === 0) throw new InputError(`The scan "${folder}" has no file`, { path: folder });
  // They are told of, and left out.
  for (const failure of await readFailures(folder)) paths.push(path.resolve(scan.base ?? '/', failure.path));
  return paths;
}

async function measure(table: ScanTable, options: SampleOptions, context: SampleContext): Promise<void> {
  let files = 0;
  await readFiles({
    table,
    base: path.resolve('/'),
    loudness: undefined,
    indexFolder: undefined,
    jobs: options.jobs ?? availableParallelism(),
    silenceMs: SILENCE_MS,
    signal: context.signal,
    onOutcome: (index, outcome) => {
      if (outcome.kind === 'read') table.set(index, outcome.facts, undefined, undefined);
      if (outcome.kind === 'failed') {
        const { reason, message, hint } = outcome;
        table.fail(index, { path: table.pathOf(index), reason, message, hint });
      }
      files += 1;
      context.onProgress?.({ stage: 'read', files, totalFiles: table.count });
      return Promise.resolve();
    },
  });
}

/** Takes what a scan knows of the files; those that it could not read are left out. */
async function takeScan(table: ScanTable, folder: string): Promise<void> {
  const scan = await openScan(folder);
  for await (const { filepath, ...facts } of scan.files()) {
    const index = table.find(filepath);
    if (index !== undefined) table.set(index, facts, undefined, undefined);
  }
  for (const failure of await readFailures(folder)) {
    const index = table.find(path.resolve(scan.base ?? '/', failure.path));
    if (index !== undefined && table.factsOf(index) === undefined) table.fail(index, failure);
  }
  const stale: string[] = [];
  let count = 0;
  for (let index = 0; index < table.count; index += 1) {
    if (index % FILES_A_TURN === FILES_A_TURN - 1) await setImmediate();
    const facts = table.factsOf(index);
    if (facts === undefined && table.failures.has(index)) continue;
    const change = facts === undefined ? 'the scan does not know it' : findFileChange(table.pathOf(index), facts);
    if (change === undefined) continue;
    count += 1;
    if (stale.length < MAX_NAMED) stale.push(`"${table.pathOf(index)}" (${change})`);
  }
  if (count === 0) return;
  const more = count > stale.length ? ` and ${count - stale.length} more` : '';
  throw new InputError(`The scan "${folder}" is older than its files: ${stale.join(', ')}${more}`, {
    path: folder,
    hint: 'Scan again with the same command: only what changed is read anew.',
  });
}

function refuseUnreadable(failures: readonly ScanFailure[], files: number): void {
  if (failures.length === 0) return;
  const shown = failures.slice(0, MAX_NAMED).map(({ message }) => `\n  ${message}`);
  const more = failures.length > shown.length ? `\n  and ${failures.length - shown.length} more` : '';
  throw new InputError(`${failures.length} of ${countWords(files, 'file')} cannot be read:${shown.join('')}${more}`, {
    path: failures[0]?.path,
    hint: '--on-error skip leaves them out.',
  });
}

function recordingsOf(list: readonly string[], table: ScanTable): RecordingTable {
  const facts = function* (): Generator<RecordingFacts> {
    for (const file of list) {
      const known = table.factsOf(table.find(file) ?? -1);
      if (known === undefined) continue;
      const { frames, sampleRate, channels } = known;
      yield { path: file, group: 0, frames, sampleRate, channels };
    }
  };
  return RecordingTable.from([''], facts());
}
