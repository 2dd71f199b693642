import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openInput } from '#cutroom/build/input-file.js';
import type { InputFormat } from '#cutroom/build/options.js';
import { readRows } from '#cutroom/build/read-rows.js';
import { InputError } from '#cutroom/errors.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-rows-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What each line is read as: a row without its undefined fields, or `line reason`. */
async function read(content: string | Buffer, name = 'in.tsv', format: InputFormat = 'auto'): Promise<unknown[]> {
  const input = path.join(folder, name);
  writeFileSync(input, content);
  const file = await openInput({ input, stdin: undefined, workFolder: path.join(folder, 'work'), signal: undefined });
  const lines: unknown[] = [];
  for await (const line of readRows(file, format)) {
    if ('refusal' in line) lines.push(`${line.line} ${line.refusal.reason}`);
    else lines.push(JSON.parse(JSON.stringify({ ...line.row, extras: line.row.extras?.stringify() })));
  }
  return lines;
}

const whole = { id: 'a', path: 'a.wav', text: 'hi' };

describe('readRows() of TSV', () => {
  it('takes 3, 5 and 6 fields', async () => {
    expect(
      await read('a\ta.wav\thi\na\ta.wav\thi\t1.5\t2.25\na\ta.wav\thi\t0\t-1\t{"lang": "de",  "n":1e400}\n'),
    ).toEqual([
      whole,
      { ...whole, span: { start: 1_500_000, end: 3_750_000 }, duration: '2.25' },
      { ...whole, extras: '{"lang":"de","n":1e400}' },
    ]);
  });

  it('takes a duration below 0 as the rest of the file', async () => {
    expect(await read('a\ta.wav\thi\t0\t-1\na\ta.wav\thi\t2\t-0.5\n')).toEqual([
      whole,
      { ...whole, span: { start: 2_000_000, end: null } },
    ]);
  });

  it('keeps white space and quotes of the text, and takes CRLF and a byte order mark', async () => {
    expect(await read('\uFEFFa\ta.wav\t  "hi"  you \r\n\r\nb\tb.wav\t')).toEqual([
      { id: 'a', path: 'a.wav', text: '  "hi"  you ' },
      { id: 'b', path: 'b.wav', text: '' },
    ]);
  });

  it('refuses lines one by one, with the reason', async () => {
    const lines = [
      'a\ta.wav',
      'a\ta.wav\thi\t1',
      'a\ta.wav\thi\t-1\t2',
      'a\ta.wav\thi\tnan\t2',
      'a\ta.wav\thi\t0x1\t2',
      'a\ta.wav\thi\t1\t0',
      'a\ta.wav\thi\t1\t1e99',
      'a\ta.wav\thi\t\t1',
      'a\ta.wav\thi\t0\t-1\t[1]',
      'a\ta.wav\thi\t0\t-1\t{"a":',
    ];
    expect(await read(lines.join('\n'))).toEqual([
      ...['1 field_count', '2 field_count', '3 bad_start', '4 bad_start', '5 bad_start', '6 bad_duration'],
      ...['7 bad_duration', '8 bad_start', '9 bad_extras', '10 bad_extras'],
    ]);
  });

  it('names the character that is not UTF-8', async () => {
    const input = path.join(folder, 'x.tsv');
    writeFileSync(input, Buffer.concat([Buffer.from('a\ta.wav\tgr'), Buffer.from([0xfc]), Buffer.from('n\n')]));
    const file = await openInput({ input, stdin: undefined, workFolder: folder, signal: undefined });
    const rows = readRows(file, 'auto');
    const { value } = await rows.next();
    await rows.return(undefined);
    expect(value).toMatchObject({ line: 1, refusal: { reason: 'invalid_utf8', column: 11 } });
  });

  it('takes a header, in any order, with further columns as text', async () => {
    const content =
      'text\tspeaker\taudio\tid\tduration\textras\nhi\t007\ta.wav\ta\t\t{"lang":"de"}\nhi\tx\ta.wav\ta\t2.50\t\n';
    expect(await read(content)).toEqual([
      { ...whole, extras: '{"lang":"de","speaker":"007"}' },
      { ...whole, duration: '2.50', extras: '{"speaker":"x"}' },
    ]);
  });

  it('counts fields by the header', async () => {
    expect(await read('id\tpath\ttext\na\ta.wav\na\ta.wav\thi\n')).toEqual(['2 field_count', whole]);
  });

  it('takes a first line that names no audio for a row', async () => {
    expect(await read('id\tx.wav\ttext\n')).toEqual([{ id: 'id', path: 'x.wav', text: 'text' }]);
  });
});

describe('readRows() of JSONL', () => {
  it('takes the names that others use, and carries other keys as they are written', async () => {
    const lines = [
      '{"utt":"a","wav":"a.wav","transcript":"hi","score":1.50,"big":12345678901234567890}',
      '{"audio_filepath":"a.wav","text":"hi","duration":3.10}',
      '{"id":17,"audio":"a.wav","sentence":null,"offset":1,"duration":2}',
    ];
    expect(await read(lines.join('\n'), 'in.jsonl')).toEqual([
      { ...whole, extras: '{"score":1.50,"big":12345678901234567890}' },
      { path: 'a.wav', text: 'hi', duration: '3.10', extras: '{}' },
      { id: '17', path: 'a.wav', text: '', span: { start: 1_000_000, end: 3_000_000 }, duration: '2', extras: '{}' },
    ]);
  });

  it('refuses what is no utterance', async () => {
    const lines = [
      '[1]',
      '{"id":"a"}',
      '{"id":true,"path":"a"}',
      '{"path":"a","text":[]}',
      '{"path":"a","offset":true}',
      '{',
    ];
    expect(await read(lines.join('\n'), 'in.jsonl')).toEqual([
      ...['1 not_an_object', '2 missing_path', '3 bad_type', '4 bad_type', '5 bad_start', '6 invalid_json'],
    ]);
  });
});

describe('readRows() of CSV', () => {
  it('takes quotes, commas, line breaks and CRLF', async () => {
    const content = 'id,audio_path,text,who\r\na,a.wav,"hi, ""you""",x\r\n\r\nb,b.wav,"two\nlines",\r\n"c",c.wav,,"z"';
    expect(await read(content, 'in.csv')).toEqual([
      { id: 'a', path: 'a.wav', text: 'hi, "you"', extras: '{"who":"x"}' },
      { id: 'b', path: 'b.wav', text: 'two\nlines', extras: '{"who":""}' },
      { id: 'c', path: 'c.wav', text: '', extras: '{"who":"z"}' },
    ]);
  });

  it('loses no line to a stray quote', async () => {
    const content = 'id,path,text\na,a.wav,5" disc\nb,b.wav,"open\nc,c.wav,ok\nd,d.wav,"x"y\ne,e.wav,ok\n';
    expect(await read(content, 'in.csv')).toEqual([
      '2 bad_quotes',
      '3 bad_quotes',
      { id: 'c', path: 'c.wav', text: 'ok' },
      '5 bad_quotes',
      { id: 'e', path: 'e.wav', text: 'ok' },
    ]);
  });

  it('refuses a file without a header', async () => {
    await expect(read('a,a.wav,hi\n', 'in.csv')).rejects.toThrow(InputError);
  });
});

describe('readRows()', () => {
  it('tells the kind by the first line where the name does not', async () => {
    expect(await read('\n{"id":"a","path":"a.wav","text":"hi"}', 'in')).toEqual([{ ...whole, extras: '{}' }]);
    expect(await read('id,path,text\na,a.wav,hi', 'in.txt')).toEqual([whole]);
    expect(await read('a\ta.wav\thi', 'in.txt')).toEqual([whole]);
    expect(await read('a\ta.wav\thi', 'in.csv', 'tsv')).toEqual([whole]);
  });

  it('takes gzip by its content, in several members, too', async () => {
    const content = Buffer.concat([gzipSync('a\ta.wav\thi\n'), gzipSync('a\ta.wav\thi\n')]);
    expect(await read(content, 'in.tsv')).toEqual([whole, whole]);
    expect(await read('a\ta.wav\thi', 'plain.tsv.gz')).toEqual([whole]);
  });

  it('refuses a gzip file that is cut off', async () => {
    const content = gzipSync('a\ta.wav\thi\n'.repeat(1000)).subarray(0, 60);
    await expect(read(content, 'in.tsv.gz')).rejects.toMatchObject({
      code: 'input',
      hint: expect.stringContaining('gzip'),
    });
  });
});
