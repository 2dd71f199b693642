import { existsSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { check } from '#cutroom/check/check.js';
import { FIXABLE_KINDS } from '#cutroom/check/manifest-kinds.js';
import { CheckFolder } from './check-folder.js';

let folder: CheckFolder;
beforeEach(() => {
  folder = new CheckFolder();
  folder.wav('a.wav');
});
afterEach(() => folder.remove());

type Fixed = NonNullable<Awaited<ReturnType<CheckFolder['check']>>['fix']>;

/** Writes a manifest, has it corrected, and returns the copy's text and what is told of it. */
async function fix(name: string, content: string): Promise<{ copy: string; fixed: Fixed }> {
  const out = folder.path(`fixed-${name}`);
  const { fix: fixed } = await folder.check(folder.write(name, content), { fixOut: out, overwrite: true });
  return { copy: readFileSync(out, 'utf8'), fixed: fixed! };
}

const changesOf = (fixed: Fixed): Record<string, number> =>
  Object.fromEntries(fixed.changes.map(({ kind, count }) => [kind, count]));

const row = '{"audio_filepath": "a.wav",  "duration": 1.0, "text": "h\\u0065llo", "x": [1.50, {"y" :null}]}';

describe('check() with fixOut', () => {
  it('leaves a good manifest as it is, byte for byte', async () => {
    const { copy, fixed } = await fix('good.json', `${row}\n${row.replace('1.0', '1e0')}\n`);
    expect(copy).toBe(`${row}\n${row.replace('1.0', '1e0')}\n`);
    expect(fixed.changeCount).toBe(0);
  });

  it.each<[string, string, string, Record<string, number>]>([
    ['a byte order mark', `\ufeff${row}\n`, `${row}\n`, { byte_order_mark: 1 }],
    ['CR LF', `${row}\r\n${row}\r\n`, `${row}\n${row}\n`, { crlf: 1 }],
    ['blank lines', `${row}\n\n${row}\n`, `${row}\n${row}\n`, { blank_line: 1 }],
    ['two objects on a line', `${row} ${row}\n`, `${row}\n${row}\n`, { several_objects: 1 }],
    ['an array', `[${row},\n${row}]`, `${row}\n${row}\n`, { json_array: 1 }],
    [
      'NaN',
      row.replace('1.50', 'NaN, "NaN", -Infinity'),
      `${row.replace('1.50', 'null, "NaN", null')}\n`,
      { nonfinite_number: 2 },
    ],
    ['another key', row.replace('audio_filepath', 'audio_file'), `${row}\n`, { audio_path_alias: 1 }],
    ['a number in quotes', row.replace('1.0', '"1.0"'), `${row}\n`, { number_as_text: 1 }],
    [
      'a key twice',
      row.replace('}]}', '}], "duration" : 1.0, "x":2}').replace('1.0', '7'),
      `${row.replace('[1.50, {"y" :null}]', '2')}\n`,
      { duplicate_key: 2 },
    ],
  ])('puts right %s, and nothing else', async (_name, content, expected, changes) => {
    const { copy, fixed } = await fix('train.json', content);
    expect(copy).toBe(expected);
    expect(changesOf(fixed)).toEqual(changes);
  });

  it('writes pretty-printed objects on one line each, with the values as they were', async () => {
    const { copy, fixed } = await fix(
      'train.json',
      '{\n  "audio_filepath": "a.wav",\n  "duration": 1.0,\n  "text": "a : b"\n}\n',
    );
    expect(copy).toBe('{"audio_filepath":"a.wav","duration":1.0,"text":"a : b"}\n');
    expect(changesOf(fixed)).toEqual({ pretty_printed: 1 });
    expect(fixed.remainingCount).toBe(0);
  });

  it('writes the values of prompts as the documentation does', async () => {
    const head = '{"audio_filepath": "a.wav", "duration": 1, "text": "hi", ';
    const v1 = `${head}"source_lang": "EN", "target_lang": "<|en|>", "task": "transcribe", "pnc": "Yes"}`;
    expect((await fix('v1.json', v1)).copy).toBe(
      `${head}"source_lang": "en", "target_lang": "<|en|>", "task": "asr", "pnc": "yes"}\n`,
    );
    const flash = `${head}"source_lang": "en", "target_lang": "de", "pnc": true, "itn": 0, "timestamp": "<|notimestamp|>", "diarize": "No", "emotion": "sad"}`;
    const { copy, fixed } = await fix('flash.json', flash);
    expect(copy).toBe(
      `${head}"source_lang": "en", "target_lang": "de", "pnc": "yes", "itn": "no", "timestamp": "no", "diarize": "no", "emotion": "<|emo:sad|>"}\n`,
    );
    expect(changesOf(fixed)).toEqual({ boolean_value: 1, value_not_allowed: 1, synonym: 2, bare_emotion: 1 });
    expect(fixed.changes[0]?.kept).toEqual([{ kind: 'boolean_value', line: 1, from: 'pnc true', to: '"yes"' }]);
    expect(fixed.remainingCount).toBe(0);
  });

  it('keeps what it cannot put right, and tells of it', async () => {
    const bad = '{"audio_filepath": "none.wav", "duration": 1, "text": "hi"}\noops {\n[1]\n';
    const { copy, fixed } = await fix('train.json', bad);
    expect(copy).toBe(bad);
    expect(fixed.remaining.map(({ kind, count }) => [kind, count])).toEqual([
      ['audio_missing', 1],
      ['invalid_json', 1],
      ['not_an_object', 1],
    ]);
  });

  it('takes dots out of the ids of a TSV where no other id is in the way', async () => {
    const lines = ['a.1\ta.wav\thi. there\t0\t-1', 'b.1\ta.wav\thi\t0\t-1', 'b_1\ta.wav\thi\t0\t-1'];
    const { copy, fixed } = await fix('train.tsv', `\ufeff${lines.join('\r\n')}\r\n`);
    expect(copy).toBe(`${lines.join('\n').replace('a.1', 'a_1')}\n`);
    expect(changesOf(fixed)).toEqual({ byte_order_mark: 1, crlf: 1, dotted_id: 1 });
    expect(fixed.remaining.map(({ kind, count }) => [kind, count])).toEqual([['dotted_id', 1]]);
  });

  it('has nothing left that it could put right, and finds nothing the second time', async () => {
    const values = fc.constantFrom(
      '"yes"',
      '"Yes"',
      'true',
      'false',
      '1',
      '"TRUE"',
      'null',
      '"sad"',
      '"<|emo:sad|>"',
      '"x"',
    );
    const numbers = fc.constantFrom('1', '"1.5"', 'NaN', '-Infinity', 'null', '"x"', '1e999');
    const entry = fc.oneof(
      fc.tuple(
        fc.constantFrom('audio_filepath', 'audio_file', 'audio_filename', 'text'),
        fc.constantFrom('"a.wav"', '"hi"', 'null', '[]'),
      ),
      fc.tuple(fc.constantFrom('duration', 'offset'), numbers),
      fc.tuple(fc.constantFrom('pnc', 'itn', 'emotion', 'task', 'source_lang', 'target_lang'), values),
      fc.tuple(fc.constantFrom('x', '\\u0078'), fc.constantFrom('[NaN, "NaN"]', '{"a": {}}', '"\\"}{"')),
    );
    const object = fc
      .array(entry, { minLength: 1, maxLength: 8 })
      .map((entries) => `{${entries.map(([key, value]) => `"${key}": ${value}`).join(', ')}}`);
    const separators = fc.constantFrom('\n', '\r\n', '\n\n', ' ', ',\n');
    const manifests = fc.record({
      rows: fc.array(object, { minLength: 1, maxLength: 4 }),
      separator: separators,
      wrap: fc.constantFrom(['', ''], ['[', ']'], ['\ufeff', '\n'], ['[\n', '\n]\n']),
    });
    await fc.assert(
      fc.asyncProperty(
        manifests,
        fc.constantFrom('nemo' as const, 'canary_v1' as const, 'canary_flash' as const),
        async ({ rows, separator, wrap }, as) => {
          const source = folder.write('m.json', `${wrap[0]}${rows.join(separator)}${wrap[1]}`);
          const once = (await check({ paths: [source], as, fixOut: folder.path('once.json'), overwrite: true }))
            .paths[0]?.fix;
          const left = once?.remaining.filter(({ kind }) => FIXABLE_KINDS.has(kind));
          // A comma at the end of a line is no row of its own: what stands there stays.
          expect(left?.map(({ kind }) => kind)).toEqual([]);
          const again = await check({
            paths: [folder.path('once.json')],
            as,
            fixOut: folder.path('twice.json'),
            overwrite: true,
          });
          expect(again.paths[0]?.fix?.changeCount).toBe(0);
          expect(folder.read('twice.json')).toBe(folder.read('once.json'));
        },
      ),
      { numRuns: 25 },
    );
  });

  it('never takes the place of its input, or of what is there', async () => {
    const source = folder.write('train.json', `${row}\n`);
    await expect(check({ paths: [source], fixOut: source })).rejects.toMatchObject({ code: 'usage' });
    await expect(check({ paths: [source], fixOut: `${folder.folder}/./train.json` })).rejects.toMatchObject({
      code: 'usage',
    });
    await expect(check({ paths: [source], fixOut: folder.folder })).rejects.toMatchObject({ code: 'usage' });
    folder.write('earlier.json', 'mine');
    await expect(check({ paths: [source], fixOut: folder.path('earlier.json') })).rejects.toMatchObject({
      code: 'output',
    });
    expect(folder.read('earlier.json')).toBe('mine');
    expect(folder.read('train.json')).toBe(`${row}\n`);
  });

  it('writes copies of several into a folder, those of NeMo rows as .json', async () => {
    const sources = [folder.write('one/x.json', `\ufeff${row}\n`), folder.write('two/y.jsonl', `${row}\n`)];
    const result = await check({ paths: sources, as: 'nemo', fixOut: folder.path('out'), base: folder.folder });
    expect(result.paths.map(({ fix: fixed }) => fixed?.output)).toEqual([
      folder.path('out/x.json'),
      folder.path('out/y.json'),
    ]);
    expect(result).toMatchObject({ findingCount: 2, isClean: true });
    const same = [folder.write('one/x.json', row), folder.write('two/x.json', row)];
    await expect(check({ paths: same, fixOut: folder.path('out2') })).rejects.toMatchObject({ code: 'usage' });
  });

  it('checks the copy with paths as they are in the original, and tells where it belongs', async () => {
    const source = folder.write('train.json', `\ufeff${row}\n`);
    const result = await folder.check(source, { fixOut: folder.path('elsewhere/train.json') });
    expect(result.fix?.remainingCount).toBe(0);
    expect(result.fix?.notes.join()).toContain(`relative to "${folder.folder}"`);
  });

  it('unpacks gzip', async () => {
    const { gzipSync } = await import('node:zlib');
    const source = folder.write('train.json.gz', gzipSync(`\ufeff${row}\n`));
    await expect(check({ paths: [source], fixOut: folder.path('x.json.gz') })).rejects.toMatchObject({ code: 'usage' });
    await folder.check(source, { fixOut: folder.path('x.json') });
    expect(folder.read('x.json')).toBe(`${row}\n`);
  });

  it('writes nothing where the check is stopped', async () => {
    const source = folder.write('train.json', `${row}\n`.repeat(4000));
    const controller = new AbortController();
    const work = check(
      { paths: [source], fixOut: folder.path('x.json') },
      { signal: controller.signal, onProgress: () => controller.abort() },
    );
    await expect(work).rejects.toMatchObject({ code: 'canceled' });
    expect(existsSync(folder.path('x.json'))).toBe(false);
  });
});
