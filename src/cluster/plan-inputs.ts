import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CanceledError, errorMessage, InputError, systemCode } from '../errors.js';
import type { KindName } from './task-kind.js';

/** A file that a plan was made from: a manifest or a list, not the audio. */
export interface PlanInput {
  /** Absolute. */
  path: string;
  bytes: number;
  mtime_ms: number;
  /** In hex. */
  sha256: string;
}

/** Options that name files which planning reads, by command. */
const INPUT_OPTIONS: Readonly<Record<KindName, readonly string[]>> = {
  cut: ['inputManifest', 'tokenizerPath'],
  build: ['input'],
  tar: ['manifestPaths', 'concatManifestPaths', 'metadataPath'],
  scan: ['filepaths'],
};

/** Reads what tells whether the files that a plan is made from are the same later. Folders and what is not there are left to the command. */
export async function describeInputs(kind: KindName, request: unknown, signal: AbortSignal): Promise<PlanInput[]> {
  const inputs: PlanInput[] = [];
  for (const file of listInputs(kind, request)) {
    const facts = await statFile(file);
    if (facts !== undefined) inputs.push({ path: file, ...facts, sha256: await hashFile(file, signal) });
  }
  return inputs;
}

/** Says of each file that the same options do not name any more: relative paths that are given in another folder mean other files. */
export function listMovedInputs(kind: KindName, request: unknown, inputs: readonly PlanInput[]): string[] {
  const named = new Set(listInputs(kind, request));
  return inputs
    .filter((input) => !named.has(input.path))
    .map((input) => `it was "${input.path}", and a relative path now names another file`);
}

/** Says of each file that is another one by now what has changed. A file of the same size and time is the same. */
export async function listChangedInputs(inputs: readonly PlanInput[], signal: AbortSignal): Promise<string[]> {
  const changes: string[] = [];
  for (const { path: file, bytes, mtime_ms: mtimeMs, sha256 } of inputs) {
    const facts = await statFile(file);
    if (facts === undefined) changes.push(`"${file}" is gone`);
    else if (facts.bytes !== bytes) changes.push(`"${file}" had ${bytes} bytes, now ${facts.bytes}`);
    else if (facts.mtime_ms !== mtimeMs && (await hashFile(file, signal)) !== sha256)
      changes.push(`"${file}" has another content`);
  }
  return changes;
}

function listInputs(kind: KindName, request: unknown): string[] {
  const options = (request ?? {}) as Readonly<Record<string, unknown>>;
  const named = INPUT_OPTIONS[kind].flatMap((name) => options[name]).filter((value) => typeof value === 'string');
  // Several paths may be in one, with commas, and a tokenizer in a folder: what is not there is passed over.
  const files = named.flatMap((value) => [value, ...value.split(',')]);
  const { tokenizerPath } = options;
  if (kind === 'cut' && typeof tokenizerPath === 'string') files.push(path.join(tokenizerPath, 'tokenizer.json'));
  return [...new Set(files.map((file) => path.resolve(file)))];
}

async function statFile(file: string): Promise<Pick<PlanInput, 'bytes' | 'mtime_ms'> | undefined> {
  try {
    const facts = await stat(file);
    return facts.isFile() ? { bytes: facts.size, mtime_ms: facts.mtimeMs } : undefined;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(systemCode(error) ?? '')) return undefined;
    throw new InputError(`Cannot read "${file}": ${errorMessage(error)}`, { path: file, cause: error });
  }
}

async function hashFile(file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash, { signal });
  } catch (error) {
    if (signal.aborted) throw new CanceledError('Planning was canceled', { cause: error });
    throw new InputError(`Cannot read "${file}": ${errorMessage(error)}`, { path: file, cause: error });
  }
  return hash.digest('hex');
}
