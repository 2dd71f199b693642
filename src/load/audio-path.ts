import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';

/**
 * The file that a row means, by the rule of NeMo's loaders: a relative path belongs to the folder of the manifest; where there is no such file, to
 * the working folder. `~` is the home folder.
 */
export async function resolveAudioPath(given: string, folder: string): Promise<string> {
  if (path.isAbsolute(given)) return given;
  if (given === '~' || given.startsWith('~/')) return path.join(homedir(), given.slice(1));
  const beside = path.join(folder, given);
  if (await isThere(beside)) return beside;
  const working = path.resolve(given);
  return (await isThere(working)) ? working : beside;
}

/** Whether there is something at a path. */
export async function isThere(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}
