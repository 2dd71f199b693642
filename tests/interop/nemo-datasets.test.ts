// Datasets that `cutroom tar` made of a small corpus, and shards of `cutroom cut`, as NeMo's tarred iterator, WebDataset, libsndfile and
// ATdataset read them.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkPath, countKinds, runCutroom } from '../support/command-line.js';
import { CORPUS_RATE, UTTERANCES, WHOLE_FILES, digestOf, nemoRow, writeSources } from '../support/interop-corpus.js';
import type { Utterance } from '../support/interop-corpus.js';
import { readRows } from '../support/pack-runs.js';
import { HAS_PYTHON, readDatasets, sha256, type ReadDataset } from '../support/python-readers.js';
import { jsonLines } from '../support/shard-files.js';
import { makeNoise } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';

if (!HAS_PYTHON) console.warn('Skipped: .venv is missing; sh scripts/make-venv.sh makes it');

/** A way to pack, and what comes of it. */
interface Packing {
  utterances: readonly Utterance[];
  flags: readonly string[];
  /** Folders of the tars. */
  folders?: readonly string[];
  extension: string;
  /** False where the codec loses something. */
  isExact: boolean;
  /** Members, where rows share some. */
  members?: number;
  /** What `cutroom check` says of the packing. */
  findings?: Record<string, number>;
}

const PACKINGS: Record<string, Packing> = {
  'whole files, copied': {
    utterances: WHOLE_FILES,
    flags: ['--num-shards', '2'],
    ...{ extension: 'wav', isExact: true },
  },
  'files and spans': { utterances: UTTERANCES, flags: ['--num-shards', '3'], extension: 'wav', isExact: true },
  'spans in order of a seed, as FLAC': {
    utterances: UTTERANCES,
    flags: ['--num-shards', '2', '--force-codec', 'flac', '--shuffle', '--shuffle-seed', '7'],
    ...{ extension: 'flac', isExact: true },
  },
  slices: {
    utterances: UTTERANCES,
    flags: ['--num-shards', '2', '--slice-with-offset'],
    ...{ extension: 'wav', isExact: true },
  },
  'rows that share a member': {
    utterances: UTTERANCES,
    flags: ['--num-shards', '1', '--sub-rows'],
    ...{ extension: 'wav', isExact: true, members: 5, findings: { sub_row: 1 } },
  },
  buckets: {
    utterances: UTTERANCES,
    flags: ['--num-shards', '1', '--buckets-num', '2', '--min-duration', '0.01', '--max-duration', '1.6'],
    ...{ extension: 'wav', isExact: true, folders: ['bucket1', 'bucket2'] },
  },
  mp3: {
    utterances: UTTERANCES,
    flags: ['--num-shards', '2', '--force-codec', 'mp3'],
    ...{ extension: 'mp3', isExact: false },
  },
  opus: {
    utterances: UTTERANCES,
    flags: ['--num-shards', '2', '--force-codec', 'opus'],
    ...{ extension: 'opus', isExact: false },
  },
};

/** Snippets of one recording: frames of each. */
const SNIPPETS = [
  [1600, 17_600],
  [24_000, 36_800],
  [48_000, 56_000],
  [64_000, 79_840],
] as const;

describe.skipIf(!HAS_PYTHON)('a dataset of tar', () => {
  let folder = '';
  let samples: Map<string, Buffer>;
  let found: Map<string, ReadDataset>;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cutroom-nemo-'));
    samples = writeSources(path.join(folder, 'sources'));
    for (const [name, { utterances, flags }] of Object.entries(PACKINGS)) {
      const manifest = path.join(folder, 'sources', `${name}.json`);
      writeFileSync(manifest, jsonLines(utterances.map(nemoRow)));
      runCutroom(['tar', '--manifest-path', manifest, '--target-dir', path.join(folder, name), ...flags]);
    }
    const folders = Object.keys(PACKINGS).flatMap(foldersOf);
    const read = readDatasets(folders);
    found = new Map(folders.map((name, index) => [name, read[index]!]));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const foldersOf = (name: string): string[] =>
    (PACKINGS[name]?.folders ?? ['']).map((inner) => path.join(folder, name, inner));
  const readOf = (name: string): ReadDataset[] => foldersOf(name).map((inner) => found.get(inner)!);

  it.each(Object.keys(PACKINGS))("gives NeMo's iterator each row once, with its text and its audio: %s", (name) => {
    const { utterances, isExact } = PACKINGS[name]!;
    const cuts = readOf(name).flatMap(({ nemo }) => nemo!);
    const heard = cuts.map(({ text, lang, duration, rate, samples: count, sha256: digest }) => ({
      ...{ text, lang, duration, rate, samples: count, ...(isExact && { sha256: digest }) },
    }));
    const expected = utterances.map((utterance) => ({
      text: utterance.text,
      lang: utterance.rest['lang'] ?? null,
      duration: (utterance.to - utterance.from) / CORPUS_RATE,
      rate: CORPUS_RATE,
      samples: utterance.to - utterance.from,
      ...(isExact && { sha256: digestOf(utterance, samples) }),
    }));
    expect(heard.toSorted(byText)).toEqual(expected.toSorted(byText));
  });

  it.each(Object.keys(PACKINGS))('gives WebDataset a sample a member, which libsndfile decodes: %s', (name) => {
    const { utterances, extension, members = utterances.length } = PACKINGS[name]!;
    for (const { webdataset, soundfile } of readOf(name)) {
      expect(webdataset.map(({ key, fields }) => `${key}.${fields.join()}`)).toEqual(soundfile.map((m) => m.name));
      for (const member of soundfile) {
        expect(member).toMatchObject({ rate: CORPUS_RATE, channels: 1 });
        expect(member.name.endsWith(`.${extension}`)).toBe(true);
      }
    }
    expect(readOf(name).flatMap(({ soundfile }) => soundfile)).toHaveLength(members);
  });

  it.each(Object.keys(PACKINGS))('has no fault but those of the corpus, and what was asked for: %s', (name) => {
    const { utterances, findings = {} } = PACKINGS[name]!;
    const kindCounts: Record<string, number> = {};
    for (const inner of foldersOf(name)) {
      const kinds = countKinds(checkPath(inner));
      expect(countKinds(checkPath(inner, ['--deep']))).toMatchObject(kinds);
      for (const [kind, count] of Object.entries(kinds)) kindCounts[kind] = (kindCounts[kind] ?? 0) + count;
    }
    const hasEmpty = utterances.some(({ text }) => text === '');
    expect(kindCounts).toEqual({ ...findings, short_duration: 1, ...(hasEmpty && { empty_text: 1 }) });
  });

  it('holds the very bytes of files that are copied', () => {
    const names = new Map(
      readOf('whole files, copied')
        .flatMap(({ soundfile }) => soundfile)
        .map((m) => [m.name, m]),
    );
    for (const utterance of WHOLE_FILES) {
      const name = `${utterance.file.slice(0, -4).replaceAll('/', '_')}.wav`;
      expect(names.get(name)?.sha256).toBe(digestOf(utterance, samples));
    }
  });
});

describe.skipIf(!HAS_PYTHON)('shards of cut', () => {
  let folder = '';
  let pcm: Buffer;
  let read: ReadDataset[];
  let paths: Record<'cut' | 'build' | 'copied' | 'tar', string>;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cutroom-cut-shards-'));
    const wav = buildWav(makeNoise(96_000), { sampleRate: CORPUS_RATE });
    pcm = wav.subarray(44);
    mkdirSync(path.join(folder, 'audio'));
    writeFileSync(path.join(folder, 'audio/talk.wav'), wav);
    const segments = SNIPPETS.map(([from, to], k) => ({
      ...{ start: from / CORPUS_RATE, end: to / CORPUS_RATE, text: `segment ${k}`, speaker: `s${k}` },
    }));
    const manifest = path.join(folder, 'talks.jsonl');
    // Rows of snippets have a text where the recording's row has one.
    const row = { id: 'talk', audio_filepath: 'talk.wav', text: 'all of it', segments, language: 'en' };
    writeFileSync(manifest, jsonLines([row]));
    const cut = path.join(folder, 'cut');
    runCutroom([
      ...['cut', '--input-manifest', manifest, '--audio-dir', path.join(folder, 'audio'), '--output-dir', cut],
      ...['--max-duration-sec', '1.2', '--max-segment-gap-in-snippet', '0', '--num-shards', '2'],
    ]);
    const from = ['--input', cut, '--num-tars', '2', '--output-dir'];
    runCutroom(['build', ...from, path.join(folder, 'built'), '--format', 'WAV']);
    runCutroom(['build', ...from, path.join(folder, 'copied'), '--copy']);
    const tarred = path.join(folder, 'tarred');
    runCutroom(['tar', '--manifest-path', cut, '--num-shards', '2', '--target-dir', tarred]);
    paths = {
      cut: path.join(cut, 'snippets.lst'),
      build: path.join(folder, 'built/data.lst'),
      copied: path.join(folder, 'copied/data.lst'),
      tar: tarred,
    };
    read = readDatasets([paths.cut, paths.build, paths.copied, paths.tar]);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const expectedTexts = SNIPPETS.map((_, k) => `segment ${k}`);
  const digests = (): string[] => SNIPPETS.map(([from, to]) => sha256(pcm.subarray(from * 2, to * 2))).toSorted();

  it.each([
    ['themselves', 0],
    ['built again as WAV', 1],
    ['built again by copying', 2],
  ] as const)("are read by ATdataset's loader with all their columns: %s", (_, index) => {
    const loaded = read[index]!.atdataset!;
    expect(loaded.count).toBe(SNIPPETS.length);
    expect(loaded.samples.map(({ text }) => text).toSorted()).toEqual(expectedTexts);
    const rows = readFileSync(paths.cut, 'utf8')
      .trimEnd()
      .split('\n')
      .flatMap((line) => readRows(line.split(' ')[1]!));
    for (const { id, text, frames, rest } of loaded.samples) {
      const { audio_filepath: name, duration, ...others } = rows.find((row) => row['text'] === text)!;
      expect(`${id}.flac`).toBe(name);
      expect(frames).toBe(Math.round(Number(duration) * CORPUS_RATE));
      expect({ text, ...rest }).toEqual(others);
    }
  });

  it("are read by NeMo's iterator, packed once more", () => {
    const cuts = read[3]!.nemo!;
    expect(cuts.map(({ text }) => text).toSorted()).toEqual(expectedTexts);
    expect(cuts.map((cut) => cut.sha256).toSorted()).toEqual(digests());
  });

  it('hold the samples of the recording, however often they are packed', () => {
    for (const { soundfile, webdataset } of read) {
      expect(soundfile.map((member) => member.sha256).toSorted()).toEqual(digests());
      expect(webdataset).toHaveLength(SNIPPETS.length);
    }
  });

  it('have no fault', () => {
    for (const name of Object.values(paths)) expect(countKinds(checkPath(name, ['--deep']))).toEqual({});
  });
});

function byText(a: { text: string }, b: { text: string }): number {
  return a.text < b.text ? -1 : 1;
}
