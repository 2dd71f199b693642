import type { PlanSettings } from './types.js';

/** The part of a path after its last slash; backslashes do not separate. Empty for a path that ends in a slash. */
export function baseName(filePath: string): string {
  return filePath.slice(filePath.lastIndexOf('/') + 1);
}

/**
 * Where a row's audio is: `basename` takes the last part of its path in the audio folder, `relative` the whole path in it unless the
 * path is absolute, `as_is` the path alone. Nothing is normalised.
 */
export function resolveAudioPath(
  filePath: string,
  { audioPathResolution, audioDir = '' }: Pick<PlanSettings, 'audioPathResolution' | 'audioDir'>,
): string {
  switch (audioPathResolution) {
    case 'as_is':
      return filePath;
    case 'relative':
      return filePath.startsWith('/') ? filePath : joinPath(audioDir, filePath);
    case 'basename':
      return joinPath(audioDir, baseName(filePath));
  }
  throw new RangeError(`unknown audioPathResolution ${JSON.stringify(audioPathResolution)}`);
}

function joinPath(folder: string, filePath: string): string {
  return folder === '' || folder.endsWith('/') ? folder + filePath : `${folder}/${filePath}`;
}
