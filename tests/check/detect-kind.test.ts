import { chmodSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { detectFile, detectFolder } from '#cutroom/check/detect-kind.js';
import { readHead } from '#cutroom/check/open-manifest.js';
import { tarBytes } from '../support/shard-files.js';
import { CheckFolder, countsOf } from './check-folder.js';

let folder: CheckFolder;
beforeEach(() => {
  folder = new CheckFolder();
});
afterEach(() => folder.remove());

async function kindOf(name: string, content: string | Buffer): Promise<string> {
  const target = folder.write(name, content);
  const found = await detectFile(target, await readHead(target));
  return 'kind' in found ? found.kind : found.reason;
}

describe('detectFile()', () => {
  it.each<[string, string, string]>([
    ['a.jsonl', '{"id": "r", "audio_filepath": "r.wav", "segments": []}\n', 'long_form'],
    ['a.json', '{"audio_filepath": "a.wav", "duration": 1}\n', 'nemo'],
    ['a.jsonl', '{"audio_filepath": "dir/a.wav", "duration": 1}\n', 'nemo'],
    ['a.jsonl', '{"audio_filepath": "a.wav", "duration": 1, "offset": 2}\n', 'nemo'],
    ['a.jsonl', '{"audio_filepath": "a.flac", "text": "x", "duration": 1}\n', 'atdataset_jsonl'],
    ['a.json', '{"audio_file": "a.wav"}\n', 'nemo'],
    ['a.json', '{"audio_filepath": "a.wav", "source_lang": "en", "taskname": "asr"}\n', 'canary_v1'],
    ['a.json', '{"audio_filepath": "a.wav", "source_lang": "en", "target_lang": "en"}\n', 'canary_flash'],
    ['a.json', '{"audio_filepath": "a.wav", "pnc": "yes"}\n', 'canary_flash'],
    ['a.jsonl', '{"snippet_id": "s", "audio_filepath": "s.flac", "segments": []}\n', 'cut_outputs'],
    ['a.json', '[\n  {\n    "audio_filepath": "a.wav"\n  }\n]\n', 'nemo'],
    ['a.json', 'oops\n{"audio_filepath": "a.wav"}\n', 'nemo'],
    ['a.lst', '/d/a.tar /d/a.jsonl 1.0 5\n', 'atdataset_list'],
    ['list', '/d/a.tar /d/a.jsonl\n', 'atdataset_list'],
    ['a.tsv', 'u1\ta.wav\thello\n', 'tsv'],
    ['utterances', 'u1\ta.wav\thello\n', 'tsv'],
    ['a.csv', 'u1,a.wav,hello\n', 'csv'],
    ['utterances', 'id,audio_path,"text"\nu1,a.wav,hello\n', 'csv'],
    ['a.jsonl', '{"id":"u1","audio_path":"a.wav","text":"hello"}\n', 'utterances_jsonl'],
    ['a.json', '{"audio":"a.wav","text":"hello","start":1,"duration":2}\n', 'utterances_jsonl'],
    ['a.json', '{"foo": 1}\n', 'its rows have neither audio_filepath nor segments'],
    ['a.json', '{"foo": \n', 'no row can be read'],
    ['a.txt', 'hello\n', 'it is neither JSON, nor a TSV or CSV of utterances, nor a list of shards, nor a tar'],
  ])('takes %s of %j for %s', async (name, content, kind) => {
    expect(await kindOf(name, content)).toBe(kind);
  });

  it('goes by the most of the rows', async () => {
    const row = '{"audio_filepath": "d/a.wav", "duration": 1}\n';
    expect(await kindOf('a.json', `{"foo": 1}\n${row}${row}`)).toBe('nemo');
  });

  it('reads a first row of any length', async () => {
    const words = JSON.stringify('w'.repeat(600_000));
    expect(await kindOf('a.jsonl', `{"id": "r", "words": ${words}, "segments": []}\n`)).toBe('long_form');
  });

  it('takes a manifest beside its tar for that of a shard', async () => {
    folder.write('t/audios/train.000000.tar', '');
    const row = '{"audio_filepath": "d/a.flac", "text": "x", "duration": 1}\n';
    expect(await kindOf('t/manifests/train.000000.jsonl', row)).toBe('atdataset_jsonl');
    expect(await kindOf('t/manifests/train.000001.jsonl', row)).toBe('nemo');
  });

  it('knows a tar by its bytes', async () => {
    expect(await kindOf('shard', tarBytes(['a.flac']))).toBe('tar');
  });
});

describe('detectFolder()', () => {
  const found = (...names: string[]): string => {
    const target = folder.path(`f${Math.random()}`);
    mkdirSync(target);
    for (const name of names) {
      if (name.endsWith('/')) mkdirSync(path.join(target, name), { recursive: true });
      else folder.write(path.relative(folder.folder, path.join(target, name)), '');
    }
    const kind = detectFolder(target);
    return 'kind' in kind ? `${kind.kind} ${path.relative(target, kind.path)}`.trim() : kind.reason;
  };

  it('tells by the names in it', () => {
    expect(found('audio_0.tar', 'sharded_manifests/')).toBe('nemo_tarred');
    expect(found('audio_0.tar', 'tarred_audio_manifest.json')).toBe('nemo_tarred');
    expect(found('bucket1/audio_0.tar')).toBe('nemo_tarred');
    expect(found('data.lst', 'audios/', 'manifests/')).toBe('atdataset_list data.lst');
    expect(found('plan.jsonl', 'data.lst', 'audios/')).toBe('cut_outputs');
    expect(found('snippets.jsonl', 'snippets.tar', 'metrics.json')).toBe('cut_outputs');
    expect(found('scan.jsonl', 'failures.jsonl', 'metrics.json')).toContain('the outputs of cutroom scan');
    expect(found('a.lst', 'b.lst')).toBe('it holds 2 lists');
    expect(found('audios/', 'manifests/')).toBe('it holds shards and no list of them');
    expect(found('a.tar', 'b.tar')).toBe('it holds 2 tars and no list or manifest of them');
    expect(found('train.json')).toBe('it is no dataset, and holds manifests');
    expect(found('x.txt')).toBe('nothing in the folder is known');
    expect(found()).toBe('the folder is empty');
  });

  it('tells what a folder that is nothing could be', async () => {
    const result = await folder.check(folder.folder);
    expect(countsOf(result)).toEqual({ unknown_kind: 1 });
    expect(result.findings[0]?.kept[0]?.hint).toContain('data.lst');
  });

  // Root reads it all the same.
  it.skipIf(userInfo().uid === 0)('tells of what may not be read', async () => {
    const target = folder.write('train.json', '{}\n');
    chmodSync(target, 0);
    expect(countsOf(await folder.check(target))).toEqual({ unreadable_file: 1 });
  });
});
