import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckFolder, countsOf, findingsOf, type Row } from './check-folder.js';

let folder: CheckFolder;
beforeEach(() => {
  folder = new CheckFolder();
  folder.wav('a.wav');
});
afterEach(() => folder.remove());

const good: Row = { audio_filepath: 'a.wav', text: 'hello there', duration: 1 };

/** What is found of a manifest of one row, or of several. */
async function found(...rows: (Row | string)[]): Promise<Record<string, number>> {
  return countsOf(await folder.check(folder.rows('train.json', rows), { as: 'nemo' }));
}

describe('check() of NeMo rows', () => {
  it('finds nothing in a good manifest, and sums its hours', async () => {
    folder.wav('b.wav', 2);
    const manifest = folder.rows('train.json', [good, { ...good, audio_filepath: 'b.wav', duration: 2 }]);
    const result = await folder.check(manifest);
    expect(result).toMatchObject({ kind: 'nemo', rows: 2, findingCount: 0, notes: [] });
    expect(result.hours).toBe(0.000833);
  });

  it.each<[string, Row | string, Record<string, number>]>([
    ['no path', { text: 'x', duration: 1 }, { missing_audio_path: 1 }],
    ['a path that is empty', { ...good, audio_filepath: ' ' }, { bad_audio_path: 1 }],
    ['a path that is null', { ...good, audio_filepath: null }, { bad_audio_path: 1 }],
    ['a list that is empty', { ...good, audio_filepath: [] }, { bad_audio_path: 1 }],
    ['a list with a number', { ...good, audio_filepath: ['a.wav', 1] }, { bad_audio_path: 1 }],
    ['a list of channels', { ...good, audio_filepath: ['l.wav', 'r.wav'] }, {}],
    ['another key', { audio_filename: 'a.wav', text: 'hi', duration: 1 }, { audio_path_alias: 1 }],
    ['a file that is not there', { ...good, audio_filepath: 'b.wav' }, { audio_missing: 1 }],
    ['a space behind the path', { ...good, audio_filepath: 'a.wav ' }, { space_around_path: 1, audio_missing: 1 }],
    ['a path of Windows', { ...good, audio_filepath: '.\\a.wav' }, { backslash_path: 1, audio_missing: 1 }],
    ['an address', { ...good, audio_filepath: 's3://bucket/a.wav' }, {}],
    ['a name with -sub', { ...good, audio_filepath: 'a-sub1.wav' }, { sub_in_name: 1, audio_missing: 1 }],
    ['no duration', { audio_filepath: 'a.wav', text: 'hi' }, { missing_duration: 1 }],
    ['a duration of the context', { audio_filepath: 'a.wav', text: 'hi', context_duration: 1 }, {}],
    ['a duration that is null', { ...good, duration: null }, { null_duration: 1 }],
    ['a duration that is text', { ...good, duration: '1.0' }, { number_as_text: 1 }],
    ['a duration that is no number', { ...good, duration: 'long' }, { bad_duration: 1 }],
    ['a duration that is true', { ...good, duration: true }, { bad_duration: 1 }],
    [
      'a duration that is NaN',
      '{"audio_filepath": "a.wav", "text": "hi", "duration": NaN}',
      { bad_duration: 1, nonfinite_number: 1 },
    ],
    ['a duration beyond doubles', '{"audio_filepath": "a.wav", "text": "hi", "duration": 1e999}', { bad_duration: 1 }],
    ['a duration of 0', { ...good, duration: 0 }, { non_positive_duration: 1, duration_mismatch: 1 }],
    ['a duration below 0', { ...good, duration: -1 }, { non_positive_duration: 1, duration_mismatch: 1 }],
    ['a duration that is too long', { ...good, duration: 1.02 }, { duration_mismatch: 1 }],
    ['a duration that is nearly right', { ...good, duration: 1.009 }, {}],
    [
      'a duration that is too short',
      { ...good, text: 'hi', duration: 0.05 },
      { short_duration: 1, duration_mismatch: 1 },
    ],
    ['a part of the file', { ...good, offset: 0.2, duration: 0.5 }, {}],
    ['a part that ends behind the file', { ...good, offset: 0.7, duration: 0.5 }, { end_beyond_audio: 1 }],
    ['a part behind the file', { ...good, offset: 1.5, duration: 0.5 }, { offset_beyond_audio: 1 }],
    ['an offset of null', { ...good, offset: null }, {}],
    ['an offset below 0', { ...good, offset: -0.1 }, { negative_offset: 1 }],
    ['an offset that is text', { ...good, offset: '0.1', duration: 0.5 }, { number_as_text: 1, duration_mismatch: 1 }],
    ['an offset that is no number', { ...good, offset: [] }, { bad_offset: 1 }],
    [
      'an offset without a duration',
      { ...good, offset: 0.5, duration: null },
      { offset_without_duration: 1, null_duration: 1 },
    ],
    [
      'a sampling rate with an offset',
      { ...good, offset: 0.5, duration: 0.5, sampling_rate: 8000 },
      { sampling_rate_with_offset: 1 },
    ],
    ['no text', { audio_filepath: 'a.wav', duration: 1 }, { missing_text: 1 }],
    ['an answer in place of a text', { audio_filepath: 'a.wav', duration: 1, answer: 'hi' }, {}],
    ['a normalized text', { audio_filepath: 'a.wav', duration: 1, normalized_text: 'hi' }, {}],
    ['a text that is null', { ...good, text: null }, { null_text: 1 }],
    ['a text that is empty', { ...good, text: ' ' }, { empty_text: 1 }],
    ['a text that is a number', { ...good, text: 5 }, { bad_text: 1 }],
    ['a tab in the text', { ...good, text: 'a\tb' }, { control_character: 1 }],
    ['a zero-width space in the text', { ...good, text: 'a\u200bb' }, { invisible_character: 1 }],
    ['a joiner that scripts need', { ...good, text: 'می\u200cخواهم' }, {}],
    ['a lost character in the text', { ...good, text: 'caf\ufffd' }, { replacement_character: 1 }],
    ['more text than time', { ...good, text: 'word '.repeat(20) }, { fast_text: 1 }],
    [
      'a file of text that is not there',
      { audio_filepath: 'a.wav', duration: 1, text_filepath: 'no.txt' },
      { text_file_missing: 1 },
    ],
    ['half a character', '{"audio_filepath": "a.wav", "text": "\\ud83d", "duration": 1}', { lone_surrogate: 1 }],
    ['a pair of halves', '{"audio_filepath": "a.wav", "text": "\\ud83d\\ude00", "duration": 1}', {}],
    [
      'an integer beyond doubles',
      '{"audio_filepath": "a.wav", "text": "hi", "duration": 1, "id": 9007199254740993}',
      { big_integer: 1 },
    ],
    ['a key twice', '{"audio_filepath": "a.wav", "text": "hi", "duration": 1, "text": "ho"}', { duplicate_key: 1 }],
    [
      'NaN in another key',
      '{"audio_filepath": "a.wav", "text": "hi", "duration": 1, "snr": [NaN]}',
      { nonfinite_number: 1 },
    ],
    ['NaN inside a string', { ...good, note: 'NaN, Infinity' }, {}],
    ['_skipme that says no', { ...good, _skipme: 'false' }, { skipme_misread: 1 }],
    ['_skipme that is true', { ...good, _skipme: true }, {}],
    ['a shard that is text', { ...good, shard_id: '3' }, { bad_shard_id: 1 }],
    ['segments', { audio_filepath: 'a.wav', segments: [] }, { mixed_rows: 1 }],
    ['a conversation', { id: 'c', conversations: [] }, { mixed_rows: 1 }],
  ])('tells of %s', async (_name, row, expected) => {
    expect(await found(row)).toEqual(expected);
  });

  it('tells of rows that say the same of the same audio', async () => {
    const part = { ...good, offset: 0, duration: 0.5 };
    const manifest = folder.rows('train.json', [part, { ...part, offset: 0.5 }, { ...part, text: ' hello there' }]);
    const result = await folder.check(manifest);
    expect(countsOf(result)).toEqual({ duplicate_row: 1 });
    expect(findingsOf(result, 'duplicate_row')[0]).toMatchObject({ line: 3, file: manifest });
    expect(findingsOf(result, 'duplicate_row')[0]?.message).toContain('line 1 ');
    expect(result.notes.join()).toContain('2 rows after the first of a file');
  });

  it('tells of audio that has two texts, and of each of them that is there twice', async () => {
    const other = { ...good, text: 'other' };
    const result = await folder.check(
      folder.rows('train.json', [good, other, { ...good, offset: 0, duration: 0.5 }, other, good]),
    );
    expect(countsOf(result)).toEqual({ two_texts: 1, duplicate_row: 2 });
    expect(findingsOf(result, 'two_texts')).toMatchObject([{ line: 2, severity: 'warning' }]);
    expect(findingsOf(result, 'two_texts')[0]?.message).toContain('line 1 has');
    const lines = findingsOf(result, 'duplicate_row').map(({ line, message }) => [line, message]);
    expect(lines).toEqual([
      [4, expect.stringContaining('line 2 has')],
      [5, expect.stringContaining('line 1 has')],
    ]);
  });

  it('takes rows with other languages, tasks or switches of Canary for other rows', async () => {
    const asr = { ...good, source_lang: 'en', target_lang: 'en', task: 'asr', pnc: 'yes' };
    const ast = { ...asr, target_lang: 'de', task: 'ast', text: 'hallo' };
    const plain = { ...asr, pnc: 'no', text: 'hi there' };
    const spanish = { ...ast, target_lang: 'es' };
    const target = folder.rows('canary.json', [asr, ast, plain, spanish, { ...ast, text: 'servus' }, ast]);
    const result = await folder.check(target);
    expect(countsOf(result)).toEqual({ two_texts: 1, duplicate_row: 1 });
    expect(findingsOf(result, 'two_texts')).toMatchObject([{ line: 5 }]);
    expect(findingsOf(result, 'duplicate_row')).toMatchObject([{ line: 6 }]);
  });

  it('tells of names that NeMo makes one, and of the line of the first', async () => {
    for (const name of ['d/b_c.wav', 'd_b/c.wav', 'x.y.wav', 'x_y.wav']) folder.wav(name);
    const names = ['d/b_c.wav', 'd_b/c.wav', 'x.y.wav', 'x_y.wav', 'a.wav'];
    const manifest = folder.rows(
      'train.json',
      names.map((audio_filepath) => ({ ...good, audio_filepath })),
    );
    const clashes = findingsOf(await folder.check(manifest), 'member_name_clash');
    expect(clashes.map(({ line, message }) => [line, /line (\d+)/u.exec(message)?.[1]])).toEqual([
      [2, '1'],
      [4, '3'],
    ]);
  });

  it('tells of names over 100 bytes, counted in bytes', async () => {
    const fits = `${'é'.repeat(48)}.wav`;
    const long = `${'é'.repeat(49)}.wav`;
    folder.wav(fits);
    folder.wav(long);
    expect(await found({ ...good, audio_filepath: fits }, { ...good, audio_filepath: long })).toEqual({
      long_member_name: 1,
    });
  });

  it('tells of relative paths that are too long to be joined', async () => {
    const long = `${`${'d'.repeat(60)}/`.repeat(4)}${'e'.repeat(12)}.wav`;
    expect(long.length).toBeGreaterThan(255);
    folder.wav(long);
    expect(await found({ ...good, audio_filepath: long })).toEqual({ long_relative_path: 1, long_member_name: 1 });
    expect(await found({ ...good, audio_filepath: folder.path(long) })).toEqual({ long_member_name: 1 });
  });

  it('tells of paths that are there from the working folder alone', async () => {
    expect(await found({ ...good, audio_filepath: 'package.json' })).toEqual({ path_rules_differ: 1 });
  });

  it('tells of paths that the converter takes for another file', async () => {
    folder.wav('package.json');
    expect(await found({ ...good, audio_filepath: 'package.json' })).toEqual({ path_rules_differ: 1 });
  });

  it('takes relative paths from another folder where told so', async () => {
    folder.wav('audio/b.wav');
    const manifest = folder.rows('train.json', [{ ...good, audio_filepath: 'b.wav' }]);
    expect(countsOf(await folder.check(manifest, { base: folder.path('audio') }))).toEqual({});
  });

  it('leaves the names of tarred rows alone', async () => {
    const row = { ...good, audio_filepath: 'x-sub1.wav', shard_id: 0 };
    const target = folder.rows('sharded_manifests/manifest_0.json', [row]);
    expect(countsOf(await folder.check(target))).toEqual({});
    const flat = folder.rows('tarred_audio_manifest.json', [row, { ...row, shard_id: null }]);
    expect(countsOf(await folder.check(flat))).toEqual({ bad_shard_id: 1, duplicate_row: 1 });
  });

  it('tells of the name .jsonl, which Lhotse takes for cuts', async () => {
    const target = folder.rows('train.jsonl', [good]);
    expect(countsOf(await folder.check(target))).toEqual({ jsonl_name: 1 });
  });

  it('keeps some places of each kind and counts all', async () => {
    const rows = Array.from({ length: 1203 }, () => ({ ...good, text: '' }));
    const result = await folder.check(folder.rows('train.json', rows));
    expect(countsOf(result)).toEqual({ empty_text: 1203, duplicate_row: 1202 });
    expect(findingsOf(result, 'empty_text')).toHaveLength(1000);
    expect(result.findingCount).toBe(2405);
  });

  it('reads what another folder holds', async () => {
    folder.wav('other/c.wav');
    const row = { ...good, audio_filepath: path.join(folder.folder, 'other', 'c.wav') };
    expect(await found(row)).toEqual({});
  });
});
