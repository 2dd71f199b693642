import { probeRecording } from '../audio/probe-recording.js';
import { CutroomError } from '../errors.js';
import type { DescribedItem } from './described-item.js';
import type { NoiseSource } from './noise-source.js';

/** Files as noises; their headers are looked at when they are first wanted. */
export function noisesOfFiles(paths: readonly string[]): NoiseSource {
  const durations = new Float64Array(paths.length).fill(Number.NaN);
  return {
    count: paths.length,
    describe: (places) => Promise.resolve(places.map((place) => describeFile(paths[place] ?? '', place))),
    durationMicrosOf: (place) => {
      if (Number.isNaN(durations[place])) durations[place] = probeMicros(paths[place] ?? '');
      const micros = durations[place] ?? 0;
      return micros > 0 ? micros : undefined;
    },
  };
}

function describeFile(path: string, item: number): DescribedItem {
  const audio = { kind: 'encoded', place: { path, inside: undefined, span: undefined } } as const;
  return { item, id: path, text: '', row: {}, source: 'noise', path, manifestPath: '', lineNumber: 0, audio };
}

/** 0 where nothing is known: the decoder says why, in the process where it may crash. */
function probeMicros(path: string): number {
  try {
    return Math.round((probeRecording(path).seconds ?? 0) * 1e6);
  } catch (error) {
    if (error instanceof CutroomError) return 0;
    throw error;
  }
}
