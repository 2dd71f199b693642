import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/** Where programs look for the audio of a row. */
export interface ResolvedPath {
  /** What the rules come to: a file to look at, or none because it lies elsewhere. */
  kind: 'file' | 'url' | 'member';
  /** The path that the loader opens. */
  loaderPath: string;
  /** The path that NeMo's converter opens, where it is another file that is there, too. */
  converterPath?: string;
  exists: boolean;
  /** It is there from the working folder, and not from the folder of the manifest. */
  isInWorkingFolderOnly?: boolean;
  /** Too long to be joined to the folder of the manifest. */
  isTooLong?: boolean;
}

/** NeMo's loader joins relative paths that are shorter. */
const MAX_RELATIVE_CHARACTERS = 255;

/**
 * Where NeMo's loader and its converter look for a path. The loader joins it to the folder of the manifest and takes it as it is where
 * there is no such file; the converter takes what is there from the working folder first.
 */
export function resolveNemoPath(audioPath: string, baseFolder: string, isTarredManifest: boolean): ResolvedPath {
  if (isUrl(audioPath)) return { kind: 'url', loaderPath: audioPath, exists: true };
  if (isTarredManifest && !audioPath.includes('/')) return { kind: 'member', loaderPath: audioPath, exists: true };
  if (audioPath.startsWith('~')) {
    const expanded = audioPath.replace(/^~(?=\/|$)/u, homedir());
    return { kind: 'file', loaderPath: expanded, exists: isFile(expanded) };
  }
  if (path.isAbsolute(audioPath)) return { kind: 'file', loaderPath: audioPath, exists: isFile(audioPath) };
  const joined = path.join(baseFolder, audioPath);
  if (audioPath.length >= MAX_RELATIVE_CHARACTERS) {
    const exists = isFile(audioPath);
    return { kind: 'file', loaderPath: audioPath, exists, isTooLong: !exists && isFile(joined) };
  }
  if (isFile(joined)) {
    const other = path.resolve(audioPath);
    const differs = other !== path.resolve(joined) && isFile(other) && !isSameFile(other, joined);
    return { kind: 'file', loaderPath: joined, exists: true, ...(differs ? { converterPath: other } : {}) };
  }
  return { kind: 'file', loaderPath: joined, exists: false, isInWorkingFolderOnly: isFile(audioPath) };
}

/** Where a program that takes paths from one folder looks. */
export function resolvePlainPath(audioPath: string, baseFolder: string): ResolvedPath {
  if (isUrl(audioPath)) return { kind: 'url', loaderPath: audioPath, exists: true };
  const loaderPath = path.resolve(baseFolder, audioPath);
  return { kind: 'file', loaderPath, exists: isFile(loaderPath) };
}

/**
 * Where `cutroom cut` may find a recording: the whole path from the folder, or its last part in the folder, which is the default of
 * `--audio-path-resolution`.
 */
export function resolveRecordingPath(audioPath: string, baseFolder: string): ResolvedPath {
  const whole = resolvePlainPath(audioPath, baseFolder);
  if (whole.exists) return whole;
  const inFolder = path.join(baseFolder, audioPath.slice(audioPath.lastIndexOf('/') + 1));
  return isFile(inFolder) ? { kind: 'file', loaderPath: inFolder, exists: true } : whole;
}

/** Whether NeMo's loader takes the rows of a manifest for those of tars: by its name alone. */
export function isTarredManifestName(manifestPath: string): boolean {
  const parts = path.resolve(manifestPath).split(path.sep);
  const name = parts.at(-1) ?? '';
  if (name === 'tarred_audio_manifest.json') return true;
  return parts.at(-2) === 'sharded_manifests' && /^manifest_\d+\.json$/u.test(name);
}

function isUrl(audioPath: string): boolean {
  return /^[a-z][a-z\d+.-]+:\/\//iu.test(audioPath);
}

function isFile(filePath: string): boolean {
  return statSync(filePath, { throwIfNoEntry: false })?.isFile() === true;
}

function isSameFile(a: string, b: string): boolean {
  const [first, second] = [statSync(a), statSync(b)];
  return first.ino === second.ino && first.dev === second.dev;
}
