import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckFolder, countsOf, type Row } from './check-folder.js';

let folder: CheckFolder;
beforeEach(() => {
  folder = new CheckFolder();
  folder.wav('a.wav');
});
afterEach(() => folder.remove());

const plain: Row = { audio_filepath: 'a.wav', text: 'hello there', duration: 1 };
const v1: Row = { ...plain, source_lang: 'en', target_lang: 'en', task: 'asr', pnc: 'yes' };
const flash: Row = { ...plain, source_lang: 'en', target_lang: 'de' };

async function found(row: Row, as: 'canary_v1' | 'canary_flash'): Promise<Record<string, number>> {
  return countsOf(await folder.check(folder.rows('train.json', [row]), { as }));
}

const without = (row: Row, key: string): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => name !== key));

const on = ['yes', 'True', 'true', '1'];
const off = ['no', 'No', 'False', 'false', '0'];

describe('check() of Canary rows, first format', () => {
  it('knows it by its keys', async () => {
    expect(await folder.check(folder.rows('train.json', [v1]))).toMatchObject({ kind: 'canary_v1', findingCount: 0 });
  });

  it.each(['source_lang', 'target_lang', 'task', 'pnc'])('needs %s', async (key) => {
    expect(await found(without(v1, key), 'canary_v1')).toEqual({ missing_prompt_key: 1 });
  });

  it.each([...on, ...off, 'pnc', 'nopnc', '<|pnc|>', '<|nopnc|>'])('takes %j for pnc', async (pnc) => {
    expect(await found({ ...v1, pnc }, 'canary_v1')).toEqual({});
  });

  it.each<[unknown, string]>([
    ['Yes', 'yes_misread'],
    [true, 'boolean_value'],
    [false, 'boolean_value'],
    ['YES', 'value_not_allowed'],
    ['itn', 'value_not_allowed'],
    ['', 'value_not_allowed'],
    [1, 'value_not_allowed'],
    [null, 'value_not_allowed'],
  ])('tells of pnc %j', async (pnc, kind) => {
    expect(await found({ ...v1, pnc }, 'canary_v1')).toEqual({ [kind]: 1 });
  });

  it.each(['asr', 'transcribe', '<|transcribe|>'])('takes %j for transcription', async (task) => {
    expect(await found({ ...v1, task }, 'canary_v1')).toEqual({});
    expect(await found({ ...without(v1, 'task'), taskname: task }, 'canary_v1')).toEqual({});
    expect(await found({ ...v1, task, target_lang: 'de' }, 'canary_v1')).toEqual({ task_against_languages: 1 });
  });

  it.each(['ast', 'translate', 's2t_translation', '<|translate|>'])('takes %j for translation', async (task) => {
    expect(await found({ ...v1, task, target_lang: 'de' }, 'canary_v1')).toEqual({});
    expect(await found({ ...v1, task }, 'canary_v1')).toEqual({ task_against_languages: 1 });
  });

  it.each(['ASR', 'st', '', 5, null, ['asr']])('tells of the task %j', async (task) => {
    expect(await found({ ...v1, task }, 'canary_v1')).toEqual({ value_not_allowed: 1 });
  });

  it.each<[unknown, string | undefined]>([
    ['<|en|>', undefined],
    ['EN', 'bad_language'],
    ['English', 'bad_language'],
    ['en-US', 'bad_language'],
    ['', 'bad_language'],
    [null, 'bad_language'],
    [['en'], 'bad_language'],
    ['xx', 'unknown_language'],
  ])('tells of the language %j', async (source_lang, kind) => {
    const counts = await found({ ...v1, source_lang }, 'canary_v1');
    delete counts['task_against_languages'];
    expect(counts).toEqual(kind === undefined ? {} : { [kind]: 1 });
  });

  it('reads one channel alone', async () => {
    expect(await found({ ...v1, audio_filepath: ['l.wav', 'r.wav'] }, 'canary_v1')).toEqual({
      several_channel_files: 1,
    });
  });

  it('counts accepted synonyms in a note', async () => {
    const rows = [v1, { ...v1, task: 'transcribe', pnc: 'pnc', offset: 0.1, duration: 0.5 }];
    const { notes } = await folder.check(folder.rows('train.json', rows));
    expect(notes.some((note) => note.startsWith('2 accepted synonyms'))).toBe(true);
  });
});

describe('check() of Canary rows, format of flash and v2', () => {
  it('knows it by its keys, and needs the languages alone', async () => {
    const result = await folder.check(folder.rows('train.json', [flash]));
    expect(result).toMatchObject({ kind: 'canary_flash', findingCount: 0 });
    expect(await found(without(flash, 'target_lang'), 'canary_flash')).toEqual({ missing_prompt_key: 1 });
    expect(await found(without(flash, 'source_lang'), 'canary_flash')).toEqual({ missing_prompt_key: 1 });
  });

  it.each(['pnc', 'itn', 'timestamp', 'diarize'])('takes the values of %s', async (slot) => {
    for (const value of [...on, ...off, slot, `no${slot}`, `<|${slot}|>`, `<|no${slot}|>`]) {
      expect(await found({ ...flash, [slot]: value }, 'canary_flash'), value).toEqual({});
    }
    expect(await found({ ...flash, [slot]: 'Yes' }, 'canary_flash')).toEqual({ yes_misread: 1 });
    expect(await found({ ...flash, [slot]: false }, 'canary_flash')).toEqual({ boolean_value: 1 });
    expect(await found({ ...flash, [slot]: 'maybe' }, 'canary_flash')).toEqual({ value_not_allowed: 1 });
  });

  it.each(['neutral', 'angry', 'happy', 'sad', 'undefined'])('takes the emotion %s in brackets alone', async (word) => {
    expect(await found({ ...flash, emotion: `<|emo:${word}|>` }, 'canary_flash')).toEqual({});
    expect(await found({ ...flash, emotion: word }, 'canary_flash')).toEqual({ bare_emotion: 1 });
  });

  it('tells of other emotions and contexts', async () => {
    expect(await found({ ...flash, emotion: 'bored' }, 'canary_flash')).toEqual({ value_not_allowed: 1 });
    expect(await found({ ...flash, emotion: null }, 'canary_flash')).toEqual({ value_not_allowed: 1 });
    expect(await found({ ...flash, decodercontext: '' }, 'canary_flash')).toEqual({});
    expect(await found({ ...flash, decodercontext: null }, 'canary_flash')).toEqual({ value_not_allowed: 1 });
  });
});
