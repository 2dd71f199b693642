import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CanceledError, InputError } from '#cutroom/errors.js';
import { findPackedShards, packedRows, type PackedProblem, type PackedShard } from '#cutroom/shard/packed-rows.js';
import { jsonLines, rowOf, ShardFolder, tarBytes } from '../support/shard-files.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-packed-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

const at = (...names: string[]): string => path.join(folder, ...names);

function write(name: string, content: string | Uint8Array): string {
  const file = at(name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

/** Writes `<stem>.tar` and `<stem>.jsonl`. */
function writePair(stem: string, names: string[], rows: (object | string)[] = names.map((name) => rowOf(name))): void {
  write(`${stem}.tar`, tarBytes(names));
  write(`${stem}.jsonl`, jsonLines(rows));
}

interface Read {
  rows: { input: number; line: number; name: string; text: unknown; bytes: string }[];
  problems: PackedProblem[];
}

async function read(shards: readonly PackedShard[]): Promise<Read> {
  const found: Read = { rows: [], problems: [] };
  for await (const { input, line, row, audio } of packedRows(shards, { onProblem: (p) => found.problems.push(p) })) {
    const bytes = readFileSync(audio.tarPath).toString('latin1', audio.offset, audio.offset + audio.size);
    found.rows.push({ input, line, name: audio.name, text: row.value('text'), bytes });
  }
  return found;
}

async function readInput(input: string): Promise<Read> {
  const shards = await findPackedShards(input);
  if (shards === undefined) throw new Error('no packed dataset was found');
  return await read(shards);
}

const namesOf = ({ rows }: Read): string[] => rows.map(({ name }) => name);
const problemsOf = ({ problems }: Read): string[] =>
  problems.map(({ reason, file, line }) => `${reason} ${path.basename(file)}${line === undefined ? '' : `:${line}`}`);

describe('findPackedShards()', () => {
  it('takes a folder of cut outputs, its manifest and its tar for one thing', async () => {
    writePair('snippets', ['a.flac', 'b.flac']);
    write('metrics.json', '{}');
    write('failures.jsonl', '');
    const wanted = [{ tarPath: at('snippets.tar'), manifestPath: at('snippets.jsonl') }];
    for (const input of [folder, at('snippets.jsonl'), at('snippets.tar')]) {
      expect(await findPackedShards(input)).toEqual(wanted);
    }
  });

  it('finds the shards of a folder by its list, in the order of the list', async () => {
    const dataset = new ShardFolder(folder).add('b', ['b.wav']).add('a', ['a.wav']);
    const line = (key: string): string => `${dataset.tar(key)} ${dataset.manifest(key)} 0.1 1\n`;
    writeFileSync(dataset.list, `${line('b')}\n${line('a')}`);
    for (const input of [folder, dataset.list]) expect(namesOf(await readInput(input))).toEqual(['b.wav', 'a.wav']);
  });

  it('finds the shards of a folder without a list by their names', async () => {
    const dataset = new ShardFolder(at('built')).add('b', ['b.wav']).add('a', ['a.wav']);
    expect(namesOf(await readInput(dataset.folder))).toEqual(['a.wav', 'b.wav']);
    writePair('cut/x.000001', ['d.wav']);
    writePair('cut/x.000000', ['c.wav']);
    expect(namesOf(await readInput(at('cut')))).toEqual(['c.wav', 'd.wav']);
  });

  it('takes relative paths of a list from the folder of the list', async () => {
    writePair('x', ['a.wav']);
    expect(namesOf(await readInput(write('some.lst', 'x.tar x.jsonl\n')))).toEqual(['a.wav']);
    expect(namesOf(await readInput(folder))).toEqual(['a.wav']);
  });

  it('finds the shards of a list that was moved with them', async () => {
    const dataset = new ShardFolder(at('old')).add('a', ['a.wav']);
    writeFileSync(dataset.list, `${dataset.tar('a')} ${dataset.manifest('a')}\n`);
    writePair('old/b', ['b.wav']);
    write('old/snippets.lst', `${at('old', 'b.tar')} ${at('old', 'b.jsonl')}\n`);
    renameSync(at('old'), at('new'));
    expect(namesOf(await readInput(at('new')))).toEqual(['a.wav']);
    expect(namesOf(await readInput(at('new', 'snippets.lst')))).toEqual(['b.wav']);
  });

  it('finds NeMo shards by sharded manifests, in the order of their numbers', async () => {
    for (const shard of [0, 2, 10]) {
      write(`audio_${shard}.tar`, tarBytes([`${shard}.wav`]));
      write(`sharded_manifests/manifest_${shard}.json`, jsonLines([{ ...rowOf(`${shard}.wav`), shard_id: shard }]));
    }
    write('tarred_audio_manifest.json', '');
    expect(namesOf(await readInput(folder))).toEqual(['0.wav', '2.wav', '10.wav']);
    expect(namesOf(await readInput(at('sharded_manifests', 'manifest_2.json')))).toEqual(['2.wav']);
    expect(namesOf(await readInput(at('audio_10.tar')))).toEqual(['10.wav']);
  });

  it('finds the buckets of a NeMo dataset', async () => {
    for (const bucket of [10, 2]) {
      write(`bucket${bucket}/audio_0.tar`, tarBytes([`${bucket}.wav`]));
      write(`bucket${bucket}/sharded_manifests/manifest_0.json`, jsonLines([rowOf(`${bucket}.wav`)]));
    }
    expect(namesOf(await readInput(folder))).toEqual(['2.wav', '10.wav']);
  });

  it('takes a manifest whose rows name files for an ordinary one, whatever tar lies beside it', async () => {
    writePair('rows', ['a.wav', 'b.wav']);
    write('b.wav', 'audio');
    expect(await findPackedShards(at('rows.jsonl'))).toBeUndefined();
    expect(await findPackedShards(write('lone.jsonl', '{}\n'))).toBeUndefined();
    expect(await findPackedShards(at('nowhere.jsonl'))).toBeUndefined();
  });

  it('refuses folders, tars and lists that are no dataset', async () => {
    await expect(findPackedShards(folder)).rejects.toThrow(/holds no tar beside its manifest/);
    await expect(findPackedShards(write('a.tar', tarBytes(['a.wav'])))).rejects.toThrow(/it has no manifest/);
    await expect(findPackedShards(write('a.lst', 'a.tar a.jsonl x\n'))).rejects.toMatchObject({
      message: expect.stringContaining('third column') as string,
      line: 1,
    });
    write('b.lst', '');
    await expect(findPackedShards(at('b.lst'))).rejects.toThrow(/names no shard/);
    await expect(findPackedShards(folder)).rejects.toThrow(InputError);
    await expect(findPackedShards(folder)).rejects.toThrow(/it holds 2 lists/);
  });
});

describe('packedRows()', () => {
  it('gives each row with the bytes of its member', async () => {
    writePair('x', ['a.wav', 'b.wav'], [rowOf('b.wav'), '', rowOf('a.wav')]);
    const { rows, problems } = await readInput(at('x.tar'));
    const bytes = '\u0007'.repeat(100);
    expect(rows).toEqual([
      { input: 0, line: 1, name: 'b.wav', text: 'text of b.wav', bytes },
      { input: 0, line: 3, name: 'a.wav', text: 'text of a.wav', bytes },
    ]);
    expect(problems).toEqual([]);
  });

  it('finds members without -subN, and by the id', async () => {
    const rows = [rowOf('a.wav'), rowOf('a-sub1.wav'), rowOf('a-sub2.wav'), rowOf('b-sub1.wav'), rowOf('d/c.mp3')];
    writePair('x', ['a.wav', 'b-sub1.wav', 'd/c.flac'], rows);
    const found = await readInput(at('x.tar'));
    expect(namesOf(found)).toEqual(['a.wav', 'a.wav', 'a.wav', 'b-sub1.wav', 'd/c.flac']);
    expect(found.problems).toEqual([]);
  });

  it('does not guess between two members of one id', async () => {
    writePair('x', ['c.flac', 'c.wav'], [rowOf('c.mp3')]);
    const found = await readInput(at('x.tar'));
    expect(found.rows).toEqual([]);
    expect(problemsOf(found)).toEqual([
      'row_without_member x.jsonl:1',
      'member_without_row x.tar',
      'member_without_row x.tar',
    ]);
  });

  it('gives rows of one member that differ in their span, and tells of the same one twice', async () => {
    const row = rowOf('a.wav');
    const rows = [{ ...row, offset: 0 }, { ...row, offset: 1.5 }, { ...row, offset: 1.5 }, row, row];
    writePair('x', ['a.wav'], rows);
    const found = await readInput(at('x.tar'));
    expect(found.rows.map(({ line }) => line)).toEqual([1, 2, 4]);
    expect(found.problems.map(({ message }) => message)).toEqual([
      'the row names the same audio as line 2',
      'the row names the same audio as line 4',
    ]);
  });

  it('tells of rows without a member, members without a row and lines without a row', async () => {
    const rows = ['{', rowOf('gone.wav'), { text: 'x' }, rowOf('a.wav')];
    writePair('x', ['__info__', 'a.wav', 'a.txt', 'b.wav', 'b.wav', 'lone.txt'], rows);
    const found = await readInput(at('x.tar'));
    expect(namesOf(found)).toEqual(['a.wav']);
    expect(problemsOf(found)).toEqual([
      'duplicate_member x.tar',
      'invalid_json x.jsonl:1',
      'row_without_member x.jsonl:2',
      'missing_audio_filepath x.jsonl:3',
      'member_without_row x.tar',
      'member_without_row x.tar',
    ]);
  });

  it('uses what is whole of a torn tar, wherever it is torn', async () => {
    const names = ['a.wav', 'b.wav', 'c.wav'];
    writePair('x', names);
    const whole = readFileSync(at('x.tar'));
    for (let size = 0; size < whole.length; size += 256) {
      writeFileSync(at('x.tar'), whole.subarray(0, size));
      const found = await readInput(at('x.jsonl'));
      // A header and a payload, padded.
      const left = Math.min(names.length, Math.floor(size / 1024));
      expect(namesOf(found)).toEqual(names.slice(0, left));
      expect(found.problems[0]?.reason).toMatch(/unreadable_tar|unfinished_tar/);
      expect(found.problems.filter(({ reason }) => reason === 'row_without_member')).toHaveLength(3 - left);
    }
  });

  it('tells of a tar or a manifest that is not there, and goes on with the next shard', async () => {
    write('audio_0.tar', tarBytes(['a.wav']));
    write('audio_2.tar', tarBytes(['c.wav']));
    write('sharded_manifests/manifest_1.json', jsonLines([rowOf('b.wav')]));
    write('sharded_manifests/manifest_2.json', jsonLines([rowOf('c.wav')]));
    const found = await readInput(folder);
    expect(found.rows.map(({ input, name }) => [input, name])).toEqual([[2, 'c.wav']]);
    expect(problemsOf(found)).toEqual([
      'unreadable_manifest manifest_0.json',
      'member_without_row audio_0.tar',
      'unreadable_tar audio_1.tar',
      'row_without_member manifest_1.json:1',
    ]);
  });

  it('takes the rows of each shard out of one manifest, whatever their order', async () => {
    write('audio_0.tar', tarBytes(['a.wav', 'b.wav']));
    write('audio_1.tar', tarBytes(['a.wav']));
    const rows = [
      [1, 'a'],
      [0, 'b'],
      [7, 'x'],
      [0, 'a'],
    ].map(([shard, name]) => ({ ...rowOf(`${name}.wav`), shard_id: shard }));
    write('tarred_audio_manifest.json', jsonLines([...rows, '[]', rowOf('y.wav')]));
    for (const input of [folder, at('tarred_audio_manifest.json')]) {
      const found = await readInput(input);
      expect(found.rows.map(({ input: shard, line, name }) => [shard, line, name])).toEqual([
        [0, 2, 'b.wav'],
        [0, 4, 'a.wav'],
        [1, 1, 'a.wav'],
      ]);
      expect(problemsOf(found)).toEqual([
        'bad_shard_id tarred_audio_manifest.json:3',
        'not_an_object tarred_audio_manifest.json:5',
        'bad_shard_id tarred_audio_manifest.json:6',
      ]);
    }
  });

  it('reads the newest manifest of a dataset that shards were appended to', async () => {
    write('audio_0.tar', tarBytes(['a.wav']));
    write('audio_1.tar', tarBytes(['b.wav']));
    const rows = ['a.wav', 'b.wav'].map((name, shard) => ({ ...rowOf(name), shard_id: shard }));
    write('tarred_audio_manifest.json', jsonLines(rows.slice(0, 1)));
    write('tarred_audio_manifest_version_1.json', jsonLines(rows));
    expect(namesOf(await readInput(folder))).toEqual(['a.wav', 'b.wav']);
  });

  it('stops when it is asked to', async () => {
    writePair('x', ['a.wav', 'b.wav']);
    const controller = new AbortController();
    const rows = packedRows((await findPackedShards(folder)) ?? [], { signal: controller.signal });
    await rows.next();
    controller.abort();
    await expect(rows.next()).rejects.toThrow(CanceledError);
  });

  it('finds the member by another field', async () => {
    writePair('x', ['a.wav'], [{ path: 'a.wav' }]);
    const rows = packedRows((await findPackedShards(at('x.tar'))) ?? [], { audioFilepathKey: 'path' });
    expect((await rows.next()).value).toMatchObject({ line: 1, audio: { name: 'a.wav' } });
  });
});
