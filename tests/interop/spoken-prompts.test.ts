// Real speech, 8 kHz: the prompts of Debian's asterisk-core-sounds in three languages, with texts that have no file, files that have no text,
// silence, tones, and an id that stands twice. Both kinds of datasets are made of them at 16 kHz, checked, and read by the programs of
// trainers. scripts/spoken-prompts.js fetches them.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkPath, countKinds, runCutroom } from '../support/command-line.js';
import type { CheckFinding, CheckedPath, CommandEnd } from '../support/command-line.js';
import { readRows } from '../support/pack-runs.js';
import { HAS_PYTHON, readDatasets, type ReadDataset } from '../support/python-readers.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const prompts = path.join(root, '.corpus/spoken-prompts');
const isSkipped = !HAS_PYTHON || !existsSync(path.join(prompts, 'es.json'));
if (isSkipped)
  console.warn('Skipped: .corpus/spoken-prompts or .venv is missing; node scripts/spoken-prompts.js makes the first');

const RATE = 16_000;
const SOURCE_RATE = 8000;

/** What the packages hold (1.6.1). */
const LANGUAGES = {
  en: { prompts: 569, lost: [377], empty: 0, fast: [11, 17, 18, 85, 88, 126, 425], repeated: [], spokenSilence: 10 },
  fr: {
    ...{ prompts: 568, lost: [88, 241, 265, 305, 306, 307, 342], empty: 47 },
    ...{ fast: [11, 122, 454], repeated: [], spokenSilence: 0 },
  },
  es: {
    ...{ prompts: 532, lost: [72, 131, 132, 135], empty: 44 },
    ...{ fast: [8, 12, 105], repeated: [119], spokenSilence: 0 },
  },
} as const;

type Language = keyof typeof LANGUAGES;
const CODES = Object.keys(LANGUAGES) as Language[];

interface Prompt {
  /** In TSV and manifest. */
  line: number;
  id: string;
  file: string;
  text: string;
  /** Of the source; undefined where there is no file. */
  frames: number | undefined;
}

describe.skipIf(isSkipped)('spoken prompts', () => {
  let folder = '';
  let read: Record<Language, { built: ReadDataset; tarred: ReadDataset }>;
  /** By language and command. */
  const summaries = new Map<string, Record<string, unknown>>();

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cutroom-prompts-'));
    for (const code of CODES) {
      const flags = ['--num-tars', '4', '--format', 'FLAC', '--sample-rate', String(RATE), '--json'];
      const input = path.join(prompts, `${code}.tsv`);
      note(`${code} build`, runCutroom(['build', '--input', input, '--output-dir', builtOf(code), ...flags], 1));
      const manifest = path.join(prompts, `${code}.json`);
      const tar = ['tar', '--manifest-path', manifest, '--target-dir', tarredOf(code), '--num-shards', '4'];
      tar.push('--force-codec', 'flac', '--force-sampling-rate', String(RATE), '--shuffle', '--json');
      note(`${code} tar`, runCutroom(tar, 1));
    }
    const found = readDatasets(CODES.flatMap((code) => [path.join(builtOf(code), 'data.lst'), tarredOf(code)]));
    read = Object.fromEntries(
      CODES.map((code, index) => [code, { built: found[index * 2]!, tarred: found[index * 2 + 1]! }]),
    ) as typeof read;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const builtOf = (code: Language): string => path.join(folder, `${code}-built`);
  const tarredOf = (code: Language): string => path.join(folder, `${code}-tarred`);
  const lost = (code: Language): number => LANGUAGES[code].lost.length;
  const note = (name: string, { stdout }: CommandEnd): void => {
    summaries.set(name, JSON.parse(stdout) as Record<string, unknown>);
  };
  /** Prompts with a file, and each id once. */
  const builtPrompts = (code: Language): Prompt[] =>
    promptsOf(code).filter(({ line, frames }) => frames !== undefined && !isRepeated(code, line));

  it.each(CODES)('are as many as were counted: %s', (code) => {
    const all = promptsOf(code);
    expect(all).toHaveLength(LANGUAGES[code].prompts);
    expect(linesOf(all.filter(({ frames }) => frames === undefined))).toEqual(LANGUAGES[code].lost);
    expect(all.filter(({ text }) => text === '')).toHaveLength(LANGUAGES[code].empty);
  });

  describe('cutroom build', () => {
    it.each(CODES)('packs all that it can, and tells of each that it cannot: %s', (code) => {
      const failures = readRows(path.join(builtOf(code), 'failures.jsonl'));
      const places = failures.map(({ reason, line }) => `${String(reason)} ${String(line)}`);
      expect(places.toSorted()).toEqual(
        [
          ...LANGUAGES[code].lost.map((line) => `missing_recording ${line}`),
          ...LANGUAGES[code].repeated.map((line) => `duplicate_id ${line}`),
        ].toSorted(),
      );
      expect(summaries.get(`${code} build`)).toMatchObject({
        rows_read: LANGUAGES[code].prompts,
        samples: builtPrompts(code).length,
        shards: 4,
        empty_texts: LANGUAGES[code].empty,
      });
    });

    it.each(CODES)('makes samples that ATdataset, WebDataset and libsndfile read, each as its row says: %s', (code) => {
      const expected = builtPrompts(code).map(({ id, text, frames = 0 }) => ({ id, text, frames: frames * 2 }));
      const { atdataset, soundfile, webdataset } = read[code].built;
      const loaded = atdataset!.samples.map(({ id, text, frames }) => ({ id, text, frames }));
      const heard = expected.map(({ text, ...rest }) => ({ ...rest, text: text === '' ? '<|EMPTY|>' : text }));
      expect(loaded.toSorted(byId)).toEqual(heard.toSorted(byId));
      expect(atdataset?.count).toBe(expected.length);
      expect(webdataset.map(({ key }) => key).toSorted()).toEqual(expected.map(({ id }) => id).toSorted());
      const members = soundfile.map(({ name, rate, channels, frames }) => ({ name, rate, channels, frames }));
      const rows = listedRows(path.join(builtOf(code), 'data.lst')).map(({ audio_filepath: name, duration }) => ({
        ...{ name, rate: RATE, channels: 1, frames: Math.round(Number(duration) * RATE) },
      }));
      expect(members).toEqual(rows);
    });
  });

  describe('cutroom tar', () => {
    it.each(CODES)('packs all that it can, and tells of each that it cannot: %s', (code) => {
      const failures = readRows(path.join(tarredOf(code), 'failures.jsonl'));
      expect(failures.map(({ reason, line }) => [reason, line])).toEqual(
        LANGUAGES[code].lost.map((line) => ['missing_recording', line]),
      );
      expect(summaries.get(`${code} tar`)).toMatchObject({
        rows_read: LANGUAGES[code].prompts,
        samples: LANGUAGES[code].prompts - lost(code),
        within_max_failures: false,
      });
    });

    it.each(CODES)("makes rows that NeMo's iterator gives once each, with text and audio: %s", (code) => {
      const cuts = read[code].tarred.nemo!.map(({ text, lang, duration, rate, samples }) => ({
        ...{ text, lang, duration, rate, samples },
      }));
      const expected = promptsOf(code).flatMap(({ text, frames }) =>
        frames === undefined
          ? []
          : [{ text, lang: code, duration: frames / SOURCE_RATE, rate: RATE, samples: frames * 2 }],
      );
      expect(cuts.toSorted(byTextAndLength)).toEqual(expected.toSorted(byTextAndLength));
    });

    it.each(CODES)('makes members that WebDataset and libsndfile read, one a row: %s', (code) => {
      const rows = readRows(path.join(tarredOf(code), 'tarred_audio_manifest.json'));
      const { soundfile, webdataset } = read[code].tarred;
      expect(soundfile.map(({ name, frames, rate }) => [name, frames / rate])).toEqual(
        rows.map(({ audio_filepath: name, duration }) => [name, duration]),
      );
      expect(webdataset.map(({ key }) => `${key}.flac`)).toEqual(soundfile.map(({ name }) => name));
      expect(rows).toHaveLength(LANGUAGES[code].prompts - lost(code));
    });
  });

  describe('cutroom check', () => {
    it.each(CODES)('tells of a TSV what build refuses, and what a loader does with it: %s', (code) => {
      const checked = checkPath(path.join(prompts, `${code}.tsv`));
      expect(checked).toMatchObject({ kind: 'tsv', rows: LANGUAGES[code].prompts });
      expect(findingLines(checked, 'audio_missing')).toEqual(LANGUAGES[code].lost);
      expect(findingLines(checked, 'duplicate_id')).toEqual(LANGUAGES[code].repeated);
      expect(findingLines(checked, 'empty_text')).toEqual(emptyLines(code));
      expect(Object.keys(countKinds(checked)).toSorted()).toEqual(
        kindsOf({
          audio_missing: true,
          duplicate_id: LANGUAGES[code].repeated.length > 0,
          empty_text: LANGUAGES[code].empty > 0,
          three_fields: true,
        }),
      );
    });

    it.each(CODES)('tells of a NeMo manifest what tar refuses, and texts that are no speech: %s', (code) => {
      const checked = checkPath(path.join(prompts, `${code}.json`), ['--deep']);
      expect(checked).toMatchObject({ kind: 'nemo', rows: LANGUAGES[code].prompts });
      expect(findingLines(checked, 'missing_duration')).toEqual(LANGUAGES[code].lost);
      expect(findingLines(checked, 'audio_missing')).toEqual(LANGUAGES[code].lost);
      expect(findingLines(checked, 'fast_text')).toEqual(LANGUAGES[code].fast);
      expect(findingLines(checked, 'two_texts')).toEqual(LANGUAGES[code].repeated);
      expect(findingLines(checked, 'empty_text')).toEqual(emptyLines(code));
      expect(findingLines(checked, 'silent_audio')).toEqual(spokenSilences(code));
      expect(Object.keys(countKinds(checked)).toSorted()).toEqual(
        kindsOf({
          ...{ missing_duration: true, audio_missing: true, fast_text: true },
          two_texts: LANGUAGES[code].repeated.length > 0,
          empty_text: LANGUAGES[code].empty > 0,
          silent_audio: LANGUAGES[code].spokenSilence > 0,
        }),
      );
    });

    it.each(CODES)('tells of either dataset what it told of the manifest: %s', (code) => {
      const { empty, fast } = LANGUAGES[code];
      const texts = { ...(empty > 0 && { empty_text: empty }), fast_text: fast.length };
      const built = checkPath(path.join(builtOf(code), 'data.lst'));
      expect(built).toMatchObject({ kind: 'atdataset_list', shards: 4, rows: builtPrompts(code).length });
      // One prompt is longer than ATdataset's loader takes by default.
      expect(countKinds(built)).toEqual({ ...texts, long_duration: 1 });
      const tarred = checkPath(tarredOf(code));
      expect(tarred).toMatchObject({ kind: 'nemo_tarred', shards: 4, rows: LANGUAGES[code].prompts - lost(code) });
      expect(countKinds(tarred)).toEqual(texts);
    });

    it.each(CODES)('hears silence where a row has a text, in either dataset: %s', (code) => {
      const lines = new Set(spokenSilences(code));
      const silences = promptsOf(code).filter(({ line }) => lines.has(line));
      const built = checkPath(path.join(builtOf(code), 'data.lst'), ['--deep']);
      expect(countKinds(built)['silent_audio'] ?? 0).toBe(silences.length);
      const names = findingOf(built, 'silent_audio').first.map(({ id }) => id);
      expect(new Set(names)).toEqual(new Set(silences.map(({ id }) => `${id}.flac`)));
      const tarred = countKinds(checkPath(tarredOf(code), ['--deep']));
      expect({ long_duration: 1, ...tarred }).toEqual(countKinds(built));
    });
  });
});

/** The prompts of a language by its two inputs, which have the same lines. */
function promptsOf(code: Language): Prompt[] {
  const lines = readFileSync(path.join(prompts, `${code}.tsv`), 'utf8')
    .trimEnd()
    .split('\n');
  const rows = readRows(path.join(prompts, `${code}.json`));
  expect(rows).toHaveLength(lines.length);
  return lines.map((line, index) => {
    const [id = '', file = '', text = ''] = line.split('\t');
    expect(rows[index]).toMatchObject({ audio_filepath: file, text });
    const duration = rows[index]?.['duration'];
    const frames = typeof duration === 'number' ? Math.round(duration * SOURCE_RATE) : undefined;
    return { line: index + 1, id, file, text, frames };
  });
}

function isRepeated(code: Language, line: number): boolean {
  return (LANGUAGES[code].repeated as readonly number[]).includes(line);
}

/** Lines of silence that a text describes, as "(2 seconds of silence)". */
function spokenSilences(code: Language): number[] {
  const silences = promptsOf(code).filter(({ file, text }) => file.includes('/silence/') && text !== '');
  expect(silences).toHaveLength(LANGUAGES[code].spokenSilence);
  return linesOf(silences);
}

function emptyLines(code: Language): number[] {
  return linesOf(promptsOf(code).filter(({ text }) => text === ''));
}

function linesOf(all: readonly Prompt[]): number[] {
  return all.map(({ line }) => line);
}

function kindsOf(kinds: Record<string, boolean>): string[] {
  return Object.keys(kinds)
    .filter((kind) => kinds[kind])
    .toSorted();
}

function findingOf({ findings }: CheckedPath, kind: string): Pick<CheckFinding, 'first'> {
  return findings.find((finding) => finding.kind === kind) ?? { first: [] };
}

function findingLines(checked: CheckedPath, kind: string): (number | undefined)[] {
  return findingOf(checked, kind).first.map(({ line }) => line);
}

function listedRows(list: string): Record<string, unknown>[] {
  const lines = readFileSync(list, 'utf8').trimEnd().split('\n');
  return lines.flatMap((line) => readRows(line.split(' ')[1]!));
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}

function byTextAndLength(a: { text: string; samples: number }, b: { text: string; samples: number }): number {
  if (a.text !== b.text) return a.text < b.text ? -1 : 1;
  return a.samples - b.samples;
}
