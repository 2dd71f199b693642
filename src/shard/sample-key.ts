/**
 * The id that ATdataset finds a sample by: a path without its last extension. The same for the name of a member and for `audio_filepath` of a
 * row; folders belong to it.
 */
export function sampleKey(path: string): string {
  const dot = path.lastIndexOf('.');
  return dot < path.lastIndexOf('/') + 1 ? path : path.slice(0, dot);
}

/**
 * What WebDataset groups the members of a tar by: all before the first dot of the last part. Neighbours with one group become one sample.
 *
 * @returns undefined for names that it passes over: without a dot, or hidden ones at the root, such as `._a.flac` of macOS
 */
export function loaderGroup(name: string): string | undefined {
  const start = name.lastIndexOf('/') + 1;
  const dot = name.indexOf('.', start);
  if (dot <= 0) return undefined;
  return name.slice(0, dot);
}

/** Whether WebDataset takes a member for a note about the tar, such as `__info__`, and hands it to nobody. */
export function isLoaderMeta(name: string): boolean {
  return /^__[^/]*__(?:$|\/)/u.test(name);
}

/** Whether a name is that of audio, by its extension. */
export function isAudioName(name: string): boolean {
  return AUDIO_EXTENSIONS.has(name.slice(name.lastIndexOf('.')).toLowerCase());
}

const AUDIO_EXTENSIONS: ReadonlySet<string> = new Set([
  ...['.flac', '.wav', '.mp3', '.ogg', '.oga', '.opus', '.m4a', '.aac', '.aif', '.aiff', '.sph', '.webm', '.wma'],
]);
