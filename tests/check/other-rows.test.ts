import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckFolder, countsOf, findingsOf, type Row } from './check-folder.js';

let folder: CheckFolder;
beforeEach(() => {
  folder = new CheckFolder();
  folder.wav('a.wav', 10);
});
afterEach(() => folder.remove());

describe('check() of the manifest of an ATdataset shard', () => {
  const good: Row = { audio_filepath: 'utt_1.flac', text: 'hello there', duration: 2 };
  const found = async (...rows: Row[]): Promise<Record<string, number>> =>
    countsOf(await folder.check(folder.rows('train.000000.jsonl', rows), { as: 'atdataset_jsonl' }));

  it('knows it by bare names of members, and finds nothing in a good one', async () => {
    const result = await folder.check(folder.rows('train.000000.jsonl', [good]));
    expect(result).toMatchObject({ kind: 'atdataset_jsonl', rows: 1, findingCount: 0 });
  });

  it.each<[string, Row, Record<string, number>]>([
    ['no path', { text: 'hello', duration: 2 }, { missing_audio_path: 1 }],
    ['a path that is a number', { ...good, audio_filepath: 5 }, { bad_audio_path: 1 }],
    ['no text', { audio_filepath: 'a.flac', duration: 2 }, { missing_text: 1 }],
    ['a text that is null', { ...good, text: null }, { null_text: 1 }],
    ['a text that is a number', { ...good, text: 5 }, { bad_text: 1 }],
    ['a text of spaces', { ...good, text: '  ' }, { empty_text: 1 }],
    ['no duration', { audio_filepath: 'a.flac', text: 'hello' }, { missing_duration: 1 }],
    ['a duration that the loader leaves out', { ...good, duration: 60.5 }, { long_duration: 1 }],
    ['a duration that is too short for it', { ...good, text: 'hi', duration: 0.09 }, { short_duration: 1 }],
    ['a dot in the id', { ...good, audio_filepath: 'spk.0001.flac' }, { dotted_name: 1 }],
    ['a dot in a folder', { ...good, audio_filepath: 'v1.0/a.flac' }, {}],
    ['upper case behind a dot', { ...good, audio_filepath: 'a.B.flac' }, { dotted_name: 1, upper_case_after_dot: 1 }],
    ['upper case in the extension', { ...good, audio_filepath: 'a.FLAC' }, {}],
  ])('tells of %s', async (_name, row, expected) => {
    expect(await found(row)).toEqual(expected);
  });

  it('tells of ids that are there twice, whatever their extension', async () => {
    expect(await found(good, { ...good, audio_filepath: 'utt_1.wav' })).toEqual({ duplicate_id: 1 });
  });
});

describe('check() of a long-form manifest', () => {
  const segment = { speaker: 's0', start: 1, end: 2, text: 'hello' };
  const good: Row = { id: 'rec', audio_filepath: 'a.wav', duration: 10, segments: [segment] };
  const found = async (...rows: Row[]): Promise<Record<string, number>> =>
    countsOf(await folder.check(folder.rows('long.jsonl', rows), { as: 'long_form' }));
  const withSegments = (...segments: unknown[]): Row => ({ ...good, segments });

  it('knows it by its segments, and finds nothing in a good one', async () => {
    const result = await folder.check(folder.rows('long.jsonl', [good]));
    expect(result).toMatchObject({ kind: 'long_form', rows: 1, findingCount: 0 });
    expect(result.notes).toEqual(['1 segment, the longest 1 s: longer ones than --max-duration-sec are dropped whole']);
  });

  it.each<[string, Row, Record<string, number>]>([
    ['no id', { audio_filepath: 'a.wav', segments: [segment] }, { missing_id: 1 }],
    ['an id of spaces', { ...good, id: '  ' }, { missing_id: 1 }],
    ['an id that is a number', { ...good, id: 7 }, {}],
    ['no path', { id: 'rec', segments: [segment] }, { missing_audio_path: 1 }],
    ['a path that is a number', { ...good, audio_filepath: 3 }, { bad_audio_path: 1 }],
    ['a file that is not there', { ...good, audio_filepath: 'x/b.wav' }, { audio_missing: 1 }],
    ['a file in the folder by its last part', { ...good, audio_filepath: '/data/elsewhere/a.wav' }, {}],
    ['no segments', { id: 'rec', audio_filepath: 'a.wav', duration: 10 }, { missing_segments: 1 }],
    ['segments that are text', { ...good, segments: 'none' }, { missing_segments: 1 }],
    ['segments that are none', { ...good, segments: [] }, { no_segments: 1 }],
    ['a segment that is text', withSegments('hello'), { bad_segment: 1 }],
    ['a start that is missing', withSegments({ ...segment, start: undefined }), { bad_times: 1 }],
    ['an end that is text', withSegments({ ...segment, end: '2' }), { bad_times: 1 }],
    ['an end before the start', withSegments({ ...segment, end: 0.5 }), { bad_times: 1 }],
    ['an end of 0', withSegments({ ...segment, start: -1, end: 0 }), { bad_times: 1 }],
    ['a start below 0', withSegments({ ...segment, start: -0.5 }), { negative_start: 1 }],
    ['a text that is a number', withSegments({ ...segment, text: 5 }), { segment_text_type: 1, empty_segment: 1 }],
    ['a segment without text', withSegments({ ...segment, text: ' ' }), { empty_segment: 1 }],
    ['words without text', withSegments({ ...segment, text: '', words: [{ word: 'a' }] }), { wordy_segment: 1 }],
    ['no speaker', withSegments({ ...segment, speaker: undefined }), { missing_speaker: 1 }],
    ['words that are text', withSegments({ ...segment, words: 'hello' }), { bad_words: 1 }],
    ['a word that is text', withSegments({ ...segment, words: ['hello'] }), { bad_words: 1 }],
    ['a word whose time is text', withSegments({ ...segment, words: [{ start: '1' }] }), { bad_words: 1 }],
    ['a word without times', withSegments({ ...segment, words: [{ word: 'x', start: null }] }), {}],
    [
      'a word that ends before it starts',
      withSegments({ ...segment, words: [{ start: 2, end: 1 }] }),
      { bad_words: 1 },
    ],
    ['a word outside', withSegments({ ...segment, words: [{ start: 1, end: 9 }] }), { word_outside_segment: 1 }],
    ['overlap', withSegments(segment, { ...segment, start: 1.5, end: 4 }), { overlapping_segments: 1 }],
    [
      'a segment inside another',
      withSegments({ ...segment, end: 9 }, { ...segment, start: 3, end: 3.1 }),
      { overlapping_segments: 1 },
    ],
    ['overlap that is allowed', withSegments(segment, { ...segment, start: 1.6, end: 4 }), {}],
    ['segments that touch', withSegments(segment, { ...segment, start: 2, end: 3 }), {}],
    ['a duration of 0', { ...good, duration: 0 }, { non_positive_duration: 1 }],
    ['a duration that is text', { ...good, duration: '10' }, { bad_duration: 1 }],
    ['a duration that is not that of the file', { ...good, duration: 12 }, { duration_mismatch: 1 }],
    ['segments behind the duration and the file', withSegments({ ...segment, end: 11 }), { segment_beyond_audio: 2 }],
    ['an utterance', { audio_filepath: 'a.wav', text: 'hi', duration: 10 }, { mixed_rows: 1 }],
  ])('tells of %s', async (_name, row, expected) => {
    expect(await found(row)).toEqual(expected);
  });

  it('tells of ids that are one, or become one in names', async () => {
    folder.wav('b.wav', 10);
    const other = { ...good, audio_filepath: 'b.wav' };
    expect(await found({ ...good, id: 1 }, { ...other, id: '1' })).toEqual({ duplicate_id: 1 });
    expect(await found({ ...good, id: 's.1' }, { ...other, id: 's_1' })).toEqual({ unsafe_id_clash: 1 });
    expect(await found(good, { ...good, id: 'rec2' })).toEqual({ duplicate_basename: 1 });
  });

  it('counts a segment once, however many of its words are at fault', async () => {
    const bad = { ...segment, words: ['x', 'y', 'z'] };
    const row = withSegments(bad, { ...bad, start: 4, end: 5 });
    const result = await folder.check(folder.rows('long.jsonl', [row]));
    expect(findingsOf(result, 'bad_words')[0]?.message).toContain('segment 0: ');
    expect(findingsOf(result, 'bad_words')[0]?.message).toContain('(2 such segments in the row)');
    expect(findingsOf(result, 'bad_words')[0]).toMatchObject({ id: 'rec', line: 1 });
  });
});

describe('check() of a TSV', () => {
  const found = async (content: string): Promise<Record<string, number>> =>
    countsOf(await folder.check(folder.write('train.tsv', content)));
  const line = 'u1\ta.wav\thello there\t0\t-1';

  it('knows it by its tabs, and finds nothing in a good one', async () => {
    const result = await folder.check(
      folder.write('utterances', `${line}\nu2\ta.wav\thi there\t1\t2\t{"lang":"en"}\n`),
    );
    expect(result).toMatchObject({ kind: 'tsv', rows: 2, findingCount: 0 });
    expect(result.hours).toBe(0.000556);
  });

  it('tells no hours where no line has a duration', async () => {
    expect(await folder.check(folder.write('three.tsv', 'u1\ta.wav\thello\n'))).toMatchObject({
      rows: 1,
      hours: undefined,
    });
    expect(await folder.check(folder.write('whole.tsv', `${line}\n`))).toMatchObject({ rows: 1, hours: undefined });
  });

  it.each<[string, string, Record<string, number>]>([
    ['three fields', 'u1\ta.wav\thello\nu2\ta.wav\thello\n', { three_fields: 1 }],
    ['four fields', 'u1\ta.wav\thello\t1\n', { wrong_field_count: 1 }],
    ['seven fields', `${line}\t{}\tx\n`, { wrong_field_count: 1 }],
    ['a header', `id\taudio_path\ttext\tstart\tduration\n${line}\n`, {}],
    ['a header that build does not know', `ID\tAudio_Path\tText\tStart\tDuration\n${line}\n`, { header_line: 1 }],
    ['an id that is empty', '\ta.wav\thello\t0\t-1\n', { missing_id: 1 }],
    ['an id with a dot', `${line}\n${line.replace('u1', 'u.2')}\n`, { dotted_id: 1 }],
    ['an id with a slash', `${line}\n${line.replace('u1', 'd/u')}\n`, { slash_in_id: 1 }],
    ['an id twice', `${line}\n${line}\n`, { duplicate_id: 1 }],
    ['no path', 'u1\t\thello\t0\t-1\n', { missing_audio_path: 1 }],
    ['a file that is not there', 'u1\tb.wav\thello\t0\t-1\n', { audio_missing: 1 }],
    ['an empty text', 'u1\ta.wav\t\t0\t-1\n', { empty_text: 1 }],
    ['a start that is no number', 'u1\ta.wav\thello\tx\t-1\n', { bad_offset: 1 }],
    ['a start below 0', 'u1\ta.wav\thello\t-2\t-1\n', { negative_offset: 1 }],
    ['a duration that is no number', 'u1\ta.wav\thello\t0\tnan\n', { bad_duration: 1 }],
    ['a duration of 0', 'u1\ta.wav\thello\t0\t0\n', { non_positive_duration: 1 }],
    ['a span behind the file', 'u1\ta.wav\thello\t9\t2\n', { end_beyond_audio: 1 }],
    ['a start behind the file', 'u1\ta.wav\thello\t11\t2\n', { offset_beyond_audio: 1 }],
    ['extras that are no object', `${line}\t[1]\n`, { bad_extras: 1 }],
    ['a byte order mark', `\ufeff${line}\n`, { byte_order_mark: 1 }],
    ['CR LF', `${line}\r\n`, { crlf: 1 }],
  ])('tells of %s', async (_name, content, expected) => {
    expect(await found(content)).toEqual(expected);
  });
});
