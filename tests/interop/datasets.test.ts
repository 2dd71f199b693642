// Datasets that `cutroom build` made of a small corpus, as the programs of trainers read them: ATdataset's loader, WebDataset and libsndfile.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkPath, countKinds, runCutroom } from '../support/command-line.js';
import { writeEncoded } from '../support/encode.js';
import { CORPUS_RATE, UTTERANCES, WHOLE_FILES, digestOf, tsvLine, writeSources } from '../support/interop-corpus.js';
import type { Utterance } from '../support/interop-corpus.js';
import { readRows } from '../support/pack-runs.js';
import { HAS_PYTHON, readDatasets, sha256, type ReadDataset } from '../support/python-readers.js';
import { makeNoise } from '../support/signals.js';

if (!HAS_PYTHON) console.warn('Skipped: .venv is missing; sh scripts/make-venv.sh makes it');

const FORMATS = ['FLAC', 'WAV', 'MP3', 'OGG', 'OPUS'];
/** What ATdataset reads. */
const LOADED_FORMATS = new Set(['FLAC', 'WAV', 'MP3']);

/** Dots that cut an id short for WebDataset, and one in a folder, which does not. */
const DOTTED: Utterance[] = [
  { id: 'spk.1', file: 'a.wav', text: 'one', from: 0, to: 16_000, rest: {} },
  { id: 'spk.2', file: 'c.wav', text: 'two', from: 0, to: 4801, rest: {} },
  { id: 'v1.0/spk', file: 'tiny.wav', text: 'three', from: 0, to: 160, rest: {} },
];

describe.skipIf(!HAS_PYTHON)('a dataset of build', () => {
  let folder = '';
  let samples: Map<string, Buffer>;
  let found: Map<string, ReadDataset>;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cutroom-datasets-'));
    samples = writeSources(path.join(folder, 'sources'));
    for (const format of FORMATS) build(format, UTTERANCES.map(tsvLine), ['--num-tars', '2', '--format', format]);
    build('flattened', DOTTED.map(tsvLine), ['--num-tars', '1', '--format', 'WAV', '--on-bad-id', 'flatten']);
    build('copied', copiedLines(), ['--samples-per-tar', '2', '--sample-rate', '16000', '--copy']);
    const names = [...FORMATS, 'flattened', 'copied'];
    const read = readDatasets(names.map(listOf));
    found = new Map(names.map((name, index) => [name, read[index]!]));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const listOf = (name: string): string => path.join(folder, name, 'data.lst');
  const rowsOf = (name: string): Record<string, unknown>[] =>
    listedShards(listOf(name)).flatMap(({ manifest }) => readRows(manifest));

  function build(name: string, lines: readonly string[], flags: readonly string[]): void {
    const input = path.join(folder, `${name}.tsv`);
    writeFileSync(input, lines.join(''));
    const base = path.join(folder, 'sources');
    runCutroom(['build', '--input', input, '--output-dir', path.join(folder, name), '--base', base, ...flags]);
  }

  /** FLAC that fits, and what does not: a WAV, another rate, and stereo. */
  function copiedLines(): string[] {
    mkdirSync(path.join(folder, 'sources/copied'));
    const kinds = { fits: [16_000, 1], slow: [8000, 1], stereo: [16_000, 2] } as const;
    for (const [name, [sampleRate, channels]] of Object.entries(kinds)) {
      const signal = { samples: makeNoise(sampleRate, channels), sampleRate, channels };
      writeEncoded(path.join(folder, `sources/copied/${name}.flac`), signal, 'flac');
    }
    return [...Object.keys(kinds).map((name) => `${name}\tcopied/${name}.flac\ttext of ${name}\n`), 'wav\ta.wav\tb\n'];
  }

  it.each(FORMATS)('has each utterance once, with all its columns: %s', (format) => {
    const expected = UTTERANCES.map(({ id, text, from, to, rest }) => ({
      audio_filepath: `${id}.${format.toLowerCase()}`,
      text,
      duration: (to - from) / CORPUS_RATE,
      ...rest,
    }));
    expect(byPath(rowsOf(format))).toEqual(byPath(expected));
  });

  // FFmpeg's encoders and libsndfile's decoders: lossy formats, too, come back with the samples that went in, none before or behind.
  it.each(FORMATS)('is as long for libsndfile as its rows say, to the sample: %s', (format) => {
    const heard = found.get(format)!.soundfile.map(({ name, rate, frames, channels }) => ({
      ...{ name, rate, frames, channels },
    }));
    expect(heard).toEqual(
      rowsOf(format).map((row) => ({
        name: row['audio_filepath'],
        rate: CORPUS_RATE,
        frames: Math.round(Number(row['duration']) * CORPUS_RATE),
        channels: 1,
      })),
    );
  });

  it.each(['FLAC', 'WAV'])('holds the samples of the sources, bit by bit: %s', (format) => {
    const digests = UTTERANCES.map((utterance) => [
      `${utterance.id}.${format.toLowerCase()}`,
      digestOf(utterance, samples),
    ]);
    const heard = found.get(format)!.soundfile.map(({ name, sha256: digest }) => [name, digest]);
    expect(Object.fromEntries(heard)).toEqual(Object.fromEntries(digests));
  });

  it.each(FORMATS)('gives WebDataset a sample a row, by its id: %s', (format) => {
    const extension = format.toLowerCase();
    const expected = rowsOf(format).map((row) => ({
      key: String(row['audio_filepath']).slice(0, -extension.length - 1),
      fields: [extension],
    }));
    expect(found.get(format)!.webdataset).toEqual(expected);
  });

  it.each([...LOADED_FORMATS])("gives ATdataset's loader every text, column and sample: %s", (format) => {
    const { hours, count, samples: loaded } = found.get(format)!.atdataset!;
    const expected = UTTERANCES.map(({ id, text, from, to, rest }) => ({
      id,
      text: text === '' ? '<|EMPTY|>' : text,
      frames: to - from,
      rest,
    }));
    expect(loaded.toSorted(byId)).toEqual(expected.toSorted(byId));
    expect(count).toBe(UTTERANCES.length);
    const seconds = UTTERANCES.reduce((sum, { from, to }) => sum + (to - from) / CORPUS_RATE, 0);
    expect(hours * 3600).toBeCloseTo(seconds, 2);
  });

  it.each(FORMATS)('has no fault but those of the corpus, and a format that a loader does not read: %s', (format) => {
    const expected = {
      ...{ empty_text: 1, long_name: 1, short_duration: 1 },
      ...(LOADED_FORMATS.has(format) ? {} : { unread_format: UTTERANCES.length }),
    };
    expect(countKinds(checkPath(listOf(format)))).toEqual(expected);
    expect(countKinds(checkPath(listOf(format), ['--deep']))).toEqual(expected);
  });

  it('has ids without the dots that loaders stumble over, where that was asked for', () => {
    const loaded = found.get('flattened')!.atdataset!.samples.map(({ id, text }) => [id, text]);
    expect(Object.fromEntries(loaded)).toEqual({ spk_1: 'one', spk_2: 'two', 'v1.0/spk': 'three' });
    const keys = found.get('flattened')!.webdataset.map(({ key }) => key);
    expect(keys.toSorted()).toEqual(['spk_1', 'spk_2', 'v1.0/spk']);
    expect(countKinds(checkPath(listOf('flattened')))).toEqual({ short_duration: 1 });
  });

  it('takes files as they are where they fit, and encodes the others', () => {
    const { soundfile, atdataset } = found.get('copied')!;
    expect(soundfile.map(({ rate, frames, channels }) => ({ rate, frames, channels }))).toEqual(
      soundfile.map(() => ({ rate: CORPUS_RATE, frames: CORPUS_RATE, channels: 1 })),
    );
    expect(soundfile.map(({ name }) => name).toSorted()).toEqual(['fits.flac', 'slow.flac', 'stereo.flac', 'wav.flac']);
    expect(atdataset?.samples).toHaveLength(4);
    const copies = memberBytes(listOf('copied'), 'fits.flac');
    expect(copies.map(sha256)).toEqual([sha256(readFileSync(path.join(folder, 'sources/copied/fits.flac')))]);
    const wav = soundfile.find(({ name }) => name === 'wav.flac');
    expect(wav?.sha256).toBe(digestOf(WHOLE_FILES[0]!, samples));
    expect(countKinds(checkPath(listOf('copied'), ['--deep']))).toEqual({});
  });
});

function listedShards(list: string): { tar: string; manifest: string }[] {
  const lines = readFileSync(list, 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const [tar = '', manifest = ''] = line.split(' ');
    return { tar, manifest };
  });
}

/** The bytes of a member, from each tar that has it, by the system's tar. */
function memberBytes(list: string, name: string): Buffer[] {
  return listedShards(list).flatMap(({ tar }) => {
    const names = execFileSync('tar', ['-tf', tar], { encoding: 'utf8' }).split('\n');
    return names.includes(name) ? [execFileSync('tar', ['-xOf', tar, name])] : [];
  });
}

function byPath(rows: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  return rows.toSorted((a, b) => (String(a['audio_filepath']) < String(b['audio_filepath']) ? -1 : 1));
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}
