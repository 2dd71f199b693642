import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateList } from '#cutroom/build/generate-list.js';
import type { GenerateListOptions } from '#cutroom/build/list-options.js';
import type { ShardProblem } from '#cutroom/shard/shard-problem.js';
import { CanceledError, InputError, OutputError, UsageError } from '#cutroom/errors.js';
import { jsonLines, rowOf, ShardFolder, tarBytes } from '../support/shard-files.js';

let folder: string;
let shards: ShardFolder;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-list-'));
  shards = new ShardFolder(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

function optionsFor(more: Partial<GenerateListOptions> = {}): GenerateListOptions {
  return { audioPattern: shards.pattern, txtDir: shards.manifests, output: shards.list, jobs: 1, ...more };
}

const readList = (): string => readFileSync(shards.list, 'utf8');

describe('generateList()', () => {
  it('writes a line for each shard, with hours and samples', async () => {
    shards.add('train.000001', ['c.flac'], [rowOf('c.flac', 7200)]).add('train.000000', ['a.flac', 'b.flac']);
    const result = await generateList(optionsFor({ jobs: 2 }));
    expect(readList()).toBe(
      `${shards.tar('train.000000')} ${shards.manifest('train.000000')} 0.000833 2\n` +
        `${shards.tar('train.000001')} ${shards.manifest('train.000001')} 2.000000 1\n`,
    );
    expect(result).toMatchObject({
      kind: 'written',
      output: shards.list,
      shardCount: 2,
      leftOutCount: 0,
      sampleCount: 3,
      durationMicros: 7_203_000_000n,
      problemCounts: {},
      problems: [],
    });
    expect(readdirSync(folder).toSorted()).toEqual(['audios', 'data.lst', 'manifests']);
  });

  it('adds durations without the rounding of doubles', async () => {
    const names = Array.from({ length: 3000 }, (_, index) => `utt${index}.wav`);
    shards.add(
      'a',
      names,
      names.map((name) => rowOf(name, 0.1)),
    );
    const { durationMicros } = await generateList(optionsFor());
    expect(durationMicros).toBe(300_000_000n);
  });

  it('gives the same bytes whatever the number of jobs', async () => {
    for (let index = 0; index < 12; index += 1) shards.add(`t${index}`, [`${index}.flac`, 'same.flac'], []);
    const one = await generateList(optionsFor());
    const first = readList();
    const three = await generateList(optionsFor({ jobs: 3 }));
    expect(readList()).toBe(first);
    expect(three.problems).toEqual(one.problems);
    expect(one.problemCounts).toEqual({ member_without_row: 24, duplicate_across_shards: 11 });
  });

  it('keeps the order of the pattern when it is not to sort', async () => {
    for (const key of ['a', 'b', 'c']) shards.add(key, [`${key}.flac`]);
    const audioPattern = `${shards.audios}/{c,a,b}.tar`;
    await generateList(optionsFor({ audioPattern, sort: false }));
    const order = (): string[] =>
      readList()
        .split('\n')
        .filter(Boolean)
        .map((line) => path.basename(line.split(' ')[0] ?? ''));
    expect(order()).toEqual(['c.tar', 'a.tar', 'b.tar']);
    await generateList(optionsFor({ audioPattern }));
    expect(order()).toEqual(['a.tar', 'b.tar', 'c.tar']);
  });

  it('prefers <key>.json to <key>.jsonl, and says so', async () => {
    shards.add('a', ['a.flac']);
    writeFileSync(path.join(shards.manifests, 'a.json'), jsonLines([rowOf('a.flac', 3600)]));
    const { problems } = await generateList(optionsFor());
    expect(readList()).toBe(`${shards.tar('a')} ${shards.manifests}/a.json 1.000000 1\n`);
    expect(problems).toMatchObject([{ kind: 'second_manifest', file: shards.manifest('a') }]);
  });

  it('replaces the prefix of the tars by that of the manifests', async () => {
    writeFileSync(shards.tar('audio.000'), tarBytes(['a.flac']));
    writeFileSync(shards.manifest('text.000'), jsonLines([rowOf('a.flac')]));
    writeFileSync(shards.manifest('text.001'), jsonLines([rowOf('b.flac')]));
    writeFileSync(shards.tar('other'), tarBytes(['b.flac']));
    const prefixes = { audioPrefix: 'audio', txtPrefix: 'text' };
    const result = await generateList(optionsFor(prefixes));
    expect(readList()).toBe(`${shards.tar('audio.000')} ${shards.manifest('text.000')} 0.000417 1\n`);
    expect(result.leftOutCount).toBe(1);
    expect(result.problems).toMatchObject([
      {
        kind: 'missing_shard',
        file: shards.manifest('text.001'),
        message: 'it has no tar: "audio.001.tar" is not there',
      },
      { kind: 'prefix_mismatch', file: shards.tar('other') },
    ]);
  });

  it('does not ask manifests for tars that the pattern would not find', async () => {
    shards.add('train.0', ['a.flac']).add('dev.0', ['b.flac']);
    rmSync(shards.tar('train.0'));
    expect((await generateList(optionsFor({ audioPattern: `${shards.audios}/dev.*.tar` }))).problemCounts).toEqual({});
    expect((await generateList(optionsFor())).problemCounts).toEqual({ missing_shard: 1 });
  });

  it('takes names with characters of patterns', async () => {
    shards.add('set[1]{a,b}', ['a.flac']);
    await generateList(optionsFor({ audioPattern: shards.tar('set[1]{a,b}'), strict: true }));
    expect(readList()).toContain('/set[1]{a,b}.tar ');
  });

  it('replaces an earlier list, and nothing else', async () => {
    shards.add('a', ['a.flac']);
    writeFileSync(shards.list, '/x/a.tar /x/a.jsonl 1.0 1\n');
    await generateList(optionsFor());
    const list = readList();
    expect(list).toContain(shards.tar('a'));
    for (const output of [shards.tar('a'), shards.manifest('a')]) {
      const before = readFileSync(output);
      await expect(generateList(optionsFor({ output }))).rejects.toThrow(OutputError);
      expect(readFileSync(output).equals(before)).toBe(true);
    }
    await expect(generateList(optionsFor({ output: shards.audios }))).rejects.toThrow('it is a folder');
    expect(readList()).toBe(list);
  });

  it('makes the folder of the list', async () => {
    shards.add('a', ['a.flac']);
    const output = path.join(folder, 'new/lists/data.lst');
    await generateList(optionsFor({ output }));
    expect(existsSync(output)).toBe(true);
  });

  it('tells how far it is', async () => {
    for (const key of ['a', 'b']) shards.add(key, [`${key}.flac`]);
    const seen: unknown[] = [];
    await generateList(optionsFor(), { onProgress: (progress) => seen.push(progress) });
    expect(seen).toEqual([
      { shards: 1, totalShards: 2, samples: 1 },
      { shards: 2, totalShards: 2, samples: 2 },
    ]);
  });

  it('writes nothing when it is stopped', async () => {
    for (const key of ['a', 'b', 'c']) shards.add(key, [`${key}.flac`]);
    const stop = new AbortController();
    const work = generateList(optionsFor(), { signal: stop.signal, onProgress: () => stop.abort() });
    await expect(work).rejects.toThrow(CanceledError);
    expect(existsSync(shards.list)).toBe(false);
  });

  it('counts every problem, and keeps the first 1,000 of a kind', async () => {
    shards.add(
      'a',
      Array.from({ length: 1500 }, (_, index) => `u${index}.flac`),
      [],
    );
    const heard: ShardProblem[] = [];
    const { problems, problemCounts } = await generateList(optionsFor(), {
      onProblem: (problem) => heard.push(problem),
    });
    expect(problemCounts).toEqual({ member_without_row: 1500 });
    expect(problems).toHaveLength(1000);
    expect(heard).toHaveLength(1500);
  });
});

describe('generateList() refuses', () => {
  it.each<[string, Partial<GenerateListOptions>, new (...args: never[]) => Error, string]>([
    ['a pattern that is empty', { audioPattern: '' }, UsageError, 'audio pattern is empty'],
    [
      'a pattern that matches nothing',
      { audioPattern: '/nowhere/*.tar' },
      InputError,
      'No tar matches the pattern "/nowhere/*.tar"',
    ],
    [
      'a folder of manifests that is not there',
      { txtDir: '/nowhere' },
      InputError,
      '"/nowhere": there is no such folder',
    ],
    ['one prefix without the other', { audioPrefix: 'a' }, UsageError, 'go together'],
    ['no jobs', { jobs: 0 }, RangeError, 'jobs must be'],
  ])('%s', async (_, change, kind, message) => {
    shards.add('a', ['a.flac']);
    const work = generateList(optionsFor(change));
    await expect(work).rejects.toThrow(kind);
    await expect(work).rejects.toThrow(message);
    expect(existsSync(shards.list)).toBe(false);
  });

  it.each([
    ['a blank', 'my talks', 'U+0020'],
    ['an ideographic space', 'a\u3000b', 'U+3000'],
    ['a line break', 'a\nb', 'U+000A'],
  ])('a path with %s, for the format cannot hold it', async (_, name, code) => {
    const spaced = new ShardFolder(path.join(folder, name)).add('a', ['a.flac']).add('b', ['b.flac']);
    const options = { ...optionsFor(), audioPattern: spaced.pattern, txtDir: spaced.manifests };
    const error: unknown = await generateList(options).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(InputError);
    expect((error as InputError).message).toContain(`it holds white space (${code})`);
    expect((error as InputError).message).toContain('so it is with 3 more');
    expect(existsSync(shards.list)).toBe(false);
    symlinkSync(spaced.folder, path.join(folder, 'link'));
    const linked = { audioPattern: `${folder}/link/audios/*.tar`, txtDir: `${folder}/link/manifests` };
    expect((await generateList(optionsFor(linked))).kind).toBe('written');
  });

  it('to write a list without shards', async () => {
    writeFileSync(shards.tar('a'), tarBytes(['a.flac']));
    const result = await generateList(optionsFor());
    expect(result).toMatchObject({
      kind: 'refused',
      shardCount: 0,
      leftOutCount: 1,
      problemCounts: { missing_manifest: 1 },
    });
    expect(existsSync(shards.list)).toBe(false);
  });
});

interface Case {
  what: string;
  /** Besides the good shard `z`. */
  make: () => unknown;
  /** Of each problem, in order. */
  problems: Partial<ShardProblem>[];
  /** Whether the bad shard, `a`, is on the list. */
  isListed?: boolean;
}

const good = rowOf('a.flac');

const cases: Case[] = [
  { what: 'nothing wrong', make: () => shards.add('a', ['a.flac', 'b.wav']), problems: [] },
  {
    what: 'a member without a row',
    make: () => shards.add('a', ['a.flac', 'b.flac'], [good]),
    problems: [{ kind: 'member_without_row', id: 'b', offsetBytes: 1024, message: 'the member "b.flac" has no row' }],
  },
  {
    what: 'a row without a member',
    make: () => shards.add('a', ['a.flac'], [rowOf('x.flac'), good]),
    problems: [{ kind: 'row_without_member', id: 'x', line: 1 }],
  },
  {
    what: 'an id with another extension',
    make: () => shards.add('a', ['a.flac'], [rowOf('a.wav')]),
    problems: [],
  },
  {
    what: 'names with "./"',
    make: () => shards.add('a', ['./a.flac'], [good]),
    problems: [
      { kind: 'row_without_member', line: 1, hint: 'The names in the tar begin with "./": pack it without.' },
      { kind: 'member_without_row', id: './a' },
    ],
  },
  {
    what: 'a member twice',
    make: () => shards.add('a', ['a.flac', 'a.flac'], [good]),
    problems: [
      {
        kind: 'duplicate_member',
        id: 'a',
        offsetBytes: 1024,
        message: 'the member "a.flac" is there twice, first at byte 0',
      },
    ],
  },
  {
    what: 'two members of one id',
    make: () => shards.add('a', ['a.flac', 'a.wav'], [good]),
    problems: [{ kind: 'duplicate_member', message: 'the members "a.flac" and "a.wav" have one id' }],
  },
  {
    what: 'a file beside the audio',
    make: () => shards.add('a', ['a.json', 'a.flac', 'b.flac', 'b.txt'], [good, rowOf('b.flac')]),
    problems: [],
  },
  {
    what: 'files of a sample apart',
    make: () => shards.add('a', ['a.flac', 'b.flac', 'a.json', 'b.json'], [good, rowOf('b.flac')]),
    problems: [
      { kind: 'split_sample', id: 'a' },
      { kind: 'split_sample', id: 'b' },
    ],
  },
  {
    what: 'a row whose sample has no audio',
    make: () => shards.add('a', ['a.json'], [good]),
    problems: [
      {
        kind: 'row_without_member',
        message: 'the tar has no audio for the row "a.flac": there is "a.json", which is no audio',
      },
    ],
  },
  {
    what: 'an id that another shard has',
    make: () => shards.add('y', ['z.flac']),
    problems: [{ kind: 'duplicate_across_shards', id: 'z', offsetBytes: 0 }],
    isListed: false,
  },
  {
    what: 'names that loaders pass over',
    make: () => shards.add('a', ['._a.flac', 'README', '__info__', 'a.flac'], [good]),
    problems: [{ kind: 'unread_member' }, { kind: 'unread_member', offsetBytes: 1024 }],
  },
  {
    what: 'dots in ids',
    make: () => shards.add('a', ['l.1.flac', 'l.2.flac', 'm.X.flac']),
    problems: [
      { kind: 'dotted_name', id: 'l.2' },
      { kind: 'dotted_name', id: 'm.X' },
    ],
  },
  {
    what: 'a row twice',
    make: () => shards.add('a', ['a.flac'], [good, good]),
    problems: [{ kind: 'duplicate_row', line: 2, message: 'the id "a" is already that of line 1' }],
  },
  {
    what: 'lines that are no rows',
    make: () => shards.add('a', ['a.flac'], ['{"a":', '', '[1]', 'x', good]),
    problems: [
      { kind: 'bad_row', line: 1, column: 6 },
      { kind: 'bad_row', line: 3 },
      { kind: 'bad_row', line: 4 },
    ],
  },
  {
    what: 'a byte that is not UTF-8',
    make: () => {
      shards.add('a', ['a.flac']);
      writeFileSync(shards.manifest('a'), Buffer.from(jsonLines([good]).replace('text of', 'te\u00e9t'), 'latin1'));
    },
    problems: [
      { kind: 'bad_row', line: 1, message: 'the line holds a byte that is not UTF-8' },
      { kind: 'member_without_row' },
    ],
  },
  {
    what: 'rows that lack a field',
    make: () =>
      shards.add(
        'a',
        ['a.flac', 'b.flac'],
        [{ audio_filepath: 'a.flac' }, { text: '', duration: 1 }, { ...rowOf('b.flac'), text: null }],
      ),
    problems: [
      { kind: 'missing_duration', line: 1 },
      { kind: 'missing_text', line: 1, id: 'a' },
      { kind: 'missing_audio_filepath', line: 2 },
      { kind: 'missing_text', line: 3, id: 'b' },
    ],
  },
  {
    what: 'durations that are none',
    make: () =>
      shards.add(
        'a',
        ['a.flac'],
        [{ ...good, duration: '1.5' }, '{"audio_filepath":"b.flac","text":"","duration":NaN}', rowOf('c.flac', -1)],
      ),
    problems: [
      {
        kind: 'bad_duration',
        line: 1,
        message: 'the row\'s duration is "1.5", which is no number of seconds: it counts as 0',
      },
      { kind: 'bad_duration', line: 2 },
      { kind: 'row_without_member', line: 2 },
      { kind: 'bad_duration', line: 3 },
      { kind: 'row_without_member', line: 3 },
    ],
  },
  {
    what: 'line ends of Windows and a last line without one',
    make: () => {
      shards.add('a', ['a.flac', 'b.flac']);
      writeFileSync(
        shards.manifest('a'),
        jsonLines([good, rowOf('b.flac')])
          .replaceAll('\n', '\r\n')
          .slice(0, -2),
      );
    },
    problems: [],
  },
  {
    what: 'a byte order mark',
    make: () => {
      shards.add('a', ['a.flac']);
      writeFileSync(shards.manifest('a'), `\ufeff${jsonLines([good])}`);
    },
    problems: [{ kind: 'byte_order_mark', line: 1 }],
  },
  {
    what: 'a tar without a manifest',
    make: () => writeFileSync(shards.tar('a'), tarBytes(['a.flac'])),
    problems: [{ kind: 'missing_manifest' }],
    isListed: false,
  },
  {
    what: 'a manifest without a tar',
    make: () => writeFileSync(shards.manifest('a'), jsonLines([good])),
    problems: [{ kind: 'missing_shard' }],
    isListed: false,
  },
  {
    what: 'a manifest that is a folder',
    make: () => {
      writeFileSync(shards.tar('a'), tarBytes(['a.flac']));
      mkdirSync(shards.manifest('a'));
    },
    problems: [{ kind: 'unreadable_manifest' }],
    isListed: false,
  },
  {
    what: 'a tar that is none',
    make: () => {
      shards.add('a', ['a.flac']);
      writeFileSync(shards.tar('a'), Buffer.alloc(1024, 'x'));
    },
    problems: [{ kind: 'unreadable_tar', offsetBytes: 0 }],
    isListed: false,
  },
  {
    what: 'a tar that is a broken link',
    make: () => {
      shards.add('a', ['a.flac']);
      rmSync(shards.tar('a'));
      symlinkSync('nowhere', shards.tar('a'));
    },
    problems: [{ kind: 'unreadable_tar' }],
    isListed: false,
  },
  {
    what: 'a tar without its end',
    make: () => {
      shards.add('a', ['a.flac']);
      writeFileSync(shards.tar('a'), tarBytes(['a.flac']).subarray(0, 1024));
    },
    problems: [{ kind: 'unfinished_tar', offsetBytes: 1024 }],
  },
];

describe('generateList() meets', () => {
  it.each(cases)('$what', async ({ make, problems, isListed = true }) => {
    shards.add('z', ['z.flac']);
    make();
    const result = await generateList(optionsFor());
    expect(result.problems).toHaveLength(problems.length);
    expect(result.problems).toMatchObject(problems);
    for (const { file } of result.problems) expect(path.isAbsolute(file)).toBe(true);
    expect(result.kind).toBe('written');
    expect(readList().includes(shards.tar('a'))).toBe(isListed);
    expect(readList()).toContain(shards.tar('z'));
    rmSync(shards.list);
    const strict = await generateList(optionsFor({ strict: true }));
    expect(strict.kind).toBe(problems.length === 0 ? 'written' : 'refused');
    expect(existsSync(shards.list)).toBe(problems.length === 0);
    expect(strict.problems).toEqual(result.problems);
  });

  it('a tar that a range of names misses', async () => {
    shards.add('t.000', ['a.flac']).add('t.002', ['b.flac']);
    const { problems } = await generateList(optionsFor({ audioPattern: `${shards.audios}/t.{000..002}.tar` }));
    expect(problems).toMatchObject([{ kind: 'missing_tar', file: shards.tar('t.001') }]);
  });

  it('a compressed tar, which it lists and looks into all the same', async () => {
    shards.add('a', ['a.flac']);
    const file = `${shards.tar('a')}.gz`;
    const audioPattern = `${shards.audios}/a.tar.gz`;
    writeFileSync(file, gzipSync(tarBytes(['a.flac'])));
    const { problems } = await generateList(optionsFor({ audioPattern }));
    expect(problems).toMatchObject([{ kind: 'compressed_tar', file }]);
    expect(readList()).toContain(`/a.tar.gz ${shards.manifest('a')} `);
    writeFileSync(file, gzipSync(tarBytes(['a.flac', 'b.flac'])));
    const { problems: others } = await generateList(optionsFor({ audioPattern }));
    expect(others).toMatchObject([{ kind: 'compressed_tar' }, { kind: 'member_without_row', file, id: 'b' }]);
  });
});

describe('generateList() meets a tar that is cut off', () => {
  const names = ['a.flac', 'b.flac', 'c.flac'];
  const whole = tarBytes(names, 600);
  /** Header, payload and padding. */
  const MEMBER_BYTES = 1536;

  it('at any block: it says which member is the last whole one', async () => {
    const sizes = Array.from({ length: whole.length / 512 }, (_, index) => index * 512);
    for (const size of sizes) {
      const key = `s${String(size).padStart(5, '0')}`;
      shards.add(
        key,
        [],
        names.map((name) => rowOf(name)),
      );
      writeFileSync(shards.tar(key), whole.subarray(0, size));
    }
    const { problems } = await generateList(optionsFor());
    const list = existsSync(shards.list) ? readList() : '';
    for (const size of sizes) {
      const file = shards.tar(`s${String(size).padStart(5, '0')}`);
      const wholeCount = Math.min(3, Math.floor(size / MEMBER_BYTES));
      const isBetween = size % MEMBER_BYTES === 0 || size >= 3 * MEMBER_BYTES;
      const own = problems.filter((problem) => problem.file === file && problem.kind !== 'duplicate_across_shards');
      expect(own).toHaveLength(1);
      expect(own[0]?.kind).toBe(isBetween ? 'unfinished_tar' : 'unreadable_tar');
      expect(list.includes(file)).toBe(isBetween);
      if (isBetween) continue;
      if (wholeCount > 0) expect(own[0]?.message).toContain(`the last whole member is "${names[wholeCount - 1]}"`);
      else expect(own[0]?.message).not.toContain('last whole member');
    }
  });

  it('inside a header', async () => {
    shards.add('a', ['a.flac']).add('z', ['z.flac']);
    writeFileSync(shards.tar('a'), whole.subarray(0, MEMBER_BYTES + 100));
    const { problems } = await generateList(optionsFor());
    expect(problems).toMatchObject([{ kind: 'unreadable_tar', offsetBytes: MEMBER_BYTES }]);
  });
});
