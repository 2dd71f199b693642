export { isAudioName, sampleKey } from '../tar/sample-key.js';

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
