/**
 * The id that ATdataset finds a sample by: a path without its last extension. The same for the name of a member and for `audio_filepath` of a
 * row; folders belong to it.
 */
export function sampleKey(path: string): string {
  const dot = path.lastIndexOf('.');
  return dot < path.lastIndexOf('/') + 1 ? path : path.slice(0, dot);
}

/** A name without the "-subN" that NeMo puts before the extension of a file that it names again. */
export function withoutSubNumber(name: string): string {
  return name.replace(/-sub\d+(?=(?:\.[^./]*)?$)/u, '');
}

/** Whether a name is that of audio, by its extension. */
export function isAudioName(name: string): boolean {
  return AUDIO_EXTENSIONS.has(name.slice(name.lastIndexOf('.')).toLowerCase());
}

const AUDIO_EXTENSIONS: ReadonlySet<string> = new Set([
  ...['.flac', '.wav', '.mp3', '.ogg', '.oga', '.opus', '.m4a', '.aac', '.aif', '.aiff', '.sph', '.webm', '.wma'],
]);
