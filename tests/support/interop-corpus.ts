// A small corpus for the programs of trainers: names with folders, in other scripts and of over 100 bytes; spans of one file; a text that is empty.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sha256 } from './python-readers.js';
import { makeNoise } from './signals.js';
import { buildWav } from './wav-files.js';

/** Hz of all sources. */
export const CORPUS_RATE = 16_000;

/** A span of a source, its text and its other columns. */
export interface Utterance {
  id: string;
  file: string;
  text: string;
  /** Frames of the source. */
  from: number;
  to: number;
  rest: Record<string, unknown>;
}

/** Frames of each source. */
const SOURCES: Record<string, number> = {
  'a.wav': 16_000,
  'in folder/größe.wav': 24_001,
  'c.wav': 4801,
  'tiny.wav': 160,
  'talk.wav': 48_000,
};

/** Whole files. */
export const WHOLE_FILES: readonly Utterance[] = [
  { id: 'utt_1', file: 'a.wav', text: 'hello world', from: 0, to: 16_000, rest: { lang: 'en' } },
  { id: 'größe_2', file: 'in folder/größe.wav', text: 'schöne Grüße', from: 0, to: 24_001, rest: { n: 1.5 } },
  { id: 'folder/utt_3', file: 'c.wav', text: '你好', from: 0, to: 4801, rest: { meta: { a: [1, null, 'x"y'] } } },
  { id: `${'语'.repeat(40)}_4`, file: 'tiny.wav', text: 'a', from: 0, to: 160, rest: { lang: 'zh' } },
];

/** Spans of one file; the second goes to its end. */
export const SPANS: readonly Utterance[] = [
  { id: 'talk-1', file: 'talk.wav', text: 'from half a second', from: 8000, to: 24_001, rest: { speaker: 's 1' } },
  { id: 'talk-2', file: 'talk.wav', text: '', from: 40_000, to: 48_000, rest: {} },
];

/** All of it. */
export const UTTERANCES: readonly Utterance[] = [...WHOLE_FILES, ...SPANS];

/** Bytes before the samples of a plain WAV. */
const WAV_HEADER_BYTES = 44;

/** Writes the sources into a folder; gives the samples of each as 16-bit integers. */
export function writeSources(folder: string): Map<string, Buffer> {
  mkdirSync(path.join(folder, 'in folder'), { recursive: true });
  const samples = new Map<string, Buffer>();
  for (const [name, frames] of Object.entries(SOURCES)) {
    const wav = buildWav(makeNoise(frames, 1, samples.size + 1), { sampleRate: CORPUS_RATE });
    writeFileSync(path.join(folder, name), wav);
    samples.set(name, wav.subarray(WAV_HEADER_BYTES));
  }
  return samples;
}

/** SHA-256 of the samples of an utterance. */
export function digestOf({ file, from, to }: Utterance, samples: ReadonlyMap<string, Buffer>): string {
  return sha256(samples.get(file)!.subarray(from * 2, to * 2));
}

/** Line of a TSV of six fields; to the end of a file is a duration below 0. */
export function tsvLine({ id, file, text, from, to, rest }: Utterance): string {
  const duration = to === SOURCES[file] ? -1 : (to - from) / CORPUS_RATE;
  return `${[id, file, text, from / CORPUS_RATE, duration, JSON.stringify(rest)].join('\t')}\n`;
}

/** Row of a NeMo manifest; whole files have no offset. */
export function nemoRow({ file, text, from, to, rest }: Utterance): Record<string, unknown> {
  const duration = (to - from) / CORPUS_RATE;
  return { audio_filepath: file, text, duration, ...(from > 0 && { offset: from / CORPUS_RATE }), ...rest };
}
