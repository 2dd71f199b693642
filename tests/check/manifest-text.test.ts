import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckFolder, countsOf, findingsOf } from './check-folder.js';

let folder: CheckFolder;
beforeEach(() => {
  folder = new CheckFolder();
  folder.wav('a.wav');
  folder.wav('b.wav');
});
afterEach(() => folder.remove());

const first = '{"audio_filepath": "a.wav", "text": "hello", "duration": 1}';
const second = '{"audio_filepath": "b.wav", "text": "} , {", "duration": 1}';
const BOM = '\ufeff';

async function found(content: string | Buffer, name = 'train.json'): Promise<Record<string, number>> {
  return countsOf(await folder.check(folder.write(name, content)));
}

describe('check() of the text of a manifest', () => {
  it.each<[string, string, Record<string, number>]>([
    ['lines', `${first}\n${second}\n`, {}],
    ['a last line without an end', `${first}\n${second}`, {}],
    ['a byte order mark', `${BOM}${first}\n${second}\n`, { byte_order_mark: 1 }],
    ['CR LF', `${first}\r\n${second}\r\n`, { crlf: 1 }],
    ['CR LF on one line alone', `${first}\r\n`, { crlf: 1 }],
    ['CR LF on the last line alone', `${first}\n${second}\r\n`, { crlf: 1 }],
    ['blank lines between', `${first}\n\n \n${second}\n`, { blank_line: 1 }],
    ['blank lines at the end', `${first}\n${second}\n\n\n`, {}],
    ['an array', `[\n${first},\n${second}\n]\n`, { json_array: 1 }],
    ['an array on one line', `[${first}, ${second}]`, { json_array: 1 }],
    ['pretty-printed objects', `${JSON.stringify(JSON.parse(first), null, 2)}\n${second}\n`, { pretty_printed: 1 }],
    ['a pretty-printed array', JSON.stringify([JSON.parse(first), JSON.parse(second)], null, 4), { json_array: 1 }],
    ['two objects on a line', `${first}${second}\n`, { several_objects: 1 }],
    ['two objects with a comma between', `${first}, ${second}\n`, { several_objects: 1 }],
    ['a line that is cut off', `${first}\n{"audio_filepath": "b.wa\n`, { invalid_json: 1 }],
    ['a trailing comma', `${first}\n${second.slice(0, -1)},}\n`, { invalid_json: 1 }],
    ['Python in place of JSON', `${first}\n{'audio_filepath': 'b.wav'}\n`, { invalid_json: 1 }],
    ['a raw tab in a string', `${first}\n${second.replace('} , {', '\t')}\n`, { invalid_json: 1 }],
    ['a number', `${first}\n5\n`, { not_an_object: 1 }],
    ['an array on a line', `${first}\n[1]\n`, { not_an_object: 1 }],
    ['an array that is torn', `[\n${first},\n{"audio_filepath": "b.wav"`, { json_array: 1, invalid_json: 1 }],
  ])('tells of %s', async (_name, content, expected) => {
    expect(await found(content)).toEqual(expected);
  });

  it('reads the rows of all layouts, with the lines on which they begin', async () => {
    const faulty = '{"audio_filepath": "none.wav",\n "text": "x",\n "duration": 1}';
    const result = await folder.check(folder.write('train.json', `[\n${first},\n${faulty}\n]\n`));
    expect(result.rows).toBe(2);
    expect(findingsOf(result, 'audio_missing').map(({ line }) => line)).toEqual([3]);
    const joined = await folder.check(folder.write('joined.json', `${first}\n${second}${first}\n`));
    expect(joined.rows).toBe(3);
    expect(findingsOf(joined, 'several_objects').map(({ line }) => line)).toEqual([2]);
  });

  it('tells where a line breaks off', async () => {
    const result = await folder.check(folder.write('train.json', `${first}\n{"text": x}\n`));
    expect(findingsOf(result, 'invalid_json')[0]).toMatchObject({ line: 2, column: 10, severity: 'error' });
  });

  it('tells of bytes that are not UTF-8, and of UTF-16', async () => {
    const latin = Buffer.concat([Buffer.from(`${first}\n`), Buffer.from('{"text": "caf\xe9"}\n', 'latin1')]);
    const result = await folder.check(folder.write('train.json', latin));
    expect(findingsOf(result, 'invalid_utf8')[0]).toMatchObject({ line: 2, column: 14 });
    expect(await found(Buffer.from(`\ufeff${first}\n`, 'utf16le'))).toEqual({ invalid_utf8: 1 });
  });

  it('reads gzip, and tells where it is torn', async () => {
    const packed = gzipSync(`${first}\n${second}\n`);
    const target = folder.write('train.json.gz', packed);
    expect(await folder.check(target)).toMatchObject({ kind: 'nemo', rows: 2, findingCount: 0 });
    expect(await found(packed.subarray(0, -12), 'torn.json.gz')).toEqual({ damaged_file: 1 });
  });

  it('answers to paths that are nothing', async () => {
    const at = async (target: string): Promise<Record<string, number>> => countsOf(await folder.check(target));
    expect(await at(folder.path('none.json'))).toEqual({ no_such_path: 1 });
    expect(await at(folder.path('a.wav/none'))).toEqual({ no_such_path: 1 });
    expect(await found('')).toEqual({ empty_file: 1 });
    expect(await found(' \n\n')).toEqual({ empty_file: 1 });
    expect(await at(folder.path('a.wav'))).toEqual({ binary_file: 1 });
    expect(await found('Once upon a time\n')).toEqual({ unknown_kind: 1 });
    expect(await found('{"id": "c", "conversations": []}\n')).toEqual({ unknown_kind: 1 });
    expect(await found('{"id": "c", "supervisions": [], "recording": {}}\n')).toEqual({ unknown_kind: 1 });
    expect(await at('/dev/null')).toEqual({ unknown_kind: 1 });
  });

  it('goes on with the other paths where one is nothing', async () => {
    const { check } = await import('#cutroom/check/check.js');
    const paths = [folder.path('none.json'), folder.write('train.json', `${first}\n`)];
    const result = await check({ paths });
    expect(result.paths.map(({ kind }) => kind)).toEqual([undefined, 'nemo']);
    expect(result).toMatchObject({ findingCount: 1, isClean: false });
  });

  it('ends where the signal fires', async () => {
    const { check } = await import('#cutroom/check/check.js');
    const target = folder.write('train.json', `${first}\n`.repeat(5000));
    const controller = new AbortController();
    const work = check({ paths: [target] }, { signal: controller.signal, onProgress: () => controller.abort() });
    await expect(work).rejects.toMatchObject({ code: 'canceled' });
  });
});
