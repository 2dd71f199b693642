import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { checkShardList } from '#cutroom/check/dataset-list.js';
import { jsonLines, rowOf, ShardFolder, tarBytes } from '../support/shard-files.js';
import { kindsOf, makeContext, makeFolder } from './dataset-context.js';

const KEYS = ['t.000', 't.001', 't.002'];
const HOURS = (3 * 1.5) / 3600;

let shards: ShardFolder;

function namesOf(key: string): string[] {
  return ['a', 'b', 'c'].map((letter) => `${key.replace('.', '_')}_${letter}.flac`);
}

function lineOf(key: string, columns = `${HOURS.toFixed(6)} 3`): string {
  return `${shards.tar(key)} ${shards.manifest(key)} ${columns}`;
}

function writeList(...lines: string[]): void {
  writeFileSync(shards.list, lines.map((line) => `${line}\n`).join(''));
}

beforeEach((context) => {
  shards = new ShardFolder(makeFolder(context));
  for (const key of KEYS) shards.add(key, namesOf(key));
  writeList(...KEYS.map((key) => lineOf(key)));
});

async function kindsFound(): Promise<string[]> {
  const context = makeContext();
  await checkShardList(shards.list, context);
  return kindsOf(context);
}

describe('checkShardList()', () => {
  it('finds nothing wrong with what gen-lst writes', async () => {
    const context = makeContext();
    const facts = await checkShardList(shards.list, context);
    expect(context.findings).toEqual([]);
    expect(facts).toMatchObject({ kind: 'atdataset_list', rows: 9, members: 9, notes: [] });
    expect(facts.shards).toEqual(KEYS.map((key) => ({ path: shards.tar(key), rows: 3, hours: 0.00125 })));
  });

  const [first = '', second = '', third = ''] = KEYS;
  const defects: [string, string, () => void][] = [
    ['a tar that is not there', 'missing_tar', () => rmSync(shards.tar(second))],
    ['a manifest that is not there', 'missing_manifest', () => rmSync(shards.manifest(second))],
    ['a tar twice', 'duplicate_shard', () => writeFileSync(shards.list, `${lineOf(first)}\n${lineOf(first)}\n`)],
    ['hours of other rows', 'wrong_hours', () => writeList(lineOf(first, '0.002000 3'), lineOf(second))],
    ['hours to three decimals that are wrong', 'wrong_hours', () => writeList(lineOf(first, '0.002 3'))],
    ['samples of other rows', 'wrong_count', () => writeList(lineOf(first, `${HOURS.toFixed(6)} 4`), lineOf(second))],
    ['hours that are no number', 'bad_list_line', () => writeList(lineOf(first, 'x 3'), lineOf(second))],
    ['one column', 'bad_list_line', () => writeList(shards.tar(first), lineOf(second))],
    ['nothing', 'empty_list', () => writeList('')],
    ['a byte order mark', 'byte_order_mark', () => writeFileSync(shards.list, `\ufeff${lineOf(first)}\n`)],
    [
      'a path with a blank',
      'space_in_path',
      () => writeList(`/data/my tars/a.tar /data/my tars/a.jsonl 1 2`, lineOf(first)),
    ],
    [
      'a manifest with a blank',
      'space_in_path',
      () => writeList(`/data/a.tar /data/my rows/a.jsonl 1 2`, lineOf(first)),
    ],
    ['a relative path', 'relative_path', () => writeList(lineOf(first).replaceAll(`${shards.folder}/`, ''))],
    [
      'the manifest of another',
      'shared_manifest',
      () => {
        symlinkSync(shards.tar(first), shards.tar('copy'));
        writeList(lineOf(first), `${shards.tar('copy')} ${shards.manifest(first)} ${HOURS.toFixed(6)} 3`);
      },
    ],
    [
      'a member without a row',
      'member_without_row',
      () => {
        writeFileSync(shards.tar(second), tarBytes([...namesOf(second), 'more.flac']));
      },
    ],
    [
      'a row without a member',
      'row_without_member',
      () => writeFileSync(shards.tar(second), tarBytes(namesOf(second).slice(1))),
    ],
    [
      'a format that ATdataset does not know',
      'unread_format',
      () => {
        shards.add(
          second,
          namesOf(second).map((name) => name.replace('.flac', '.ogg')),
        );
      },
    ],
    [
      'a row that is no JSON',
      'bad_row',
      () => {
        writeFileSync(shards.manifest(second), `${readFileSync(shards.manifest(second), 'utf8')}{"audio_filepath":\n`);
      },
    ],
    ['an id of another shard', 'duplicate_across_shards', () => shards.add(third, namesOf(first))],
    ['ids with dots', 'dotted_name', () => shards.add(second, ['s.1.flac', 's.2.flac', 's.3.flac'])],
    [
      'a row twice',
      'duplicate_row',
      () => {
        const rows = namesOf(second).map((name) => rowOf(name));
        writeFileSync(shards.manifest(second), jsonLines([...rows.slice(0, 2), ...rows]));
        writeList(lineOf(first), lineOf(second, '0.002083 5'), lineOf(third));
      },
    ],
    [
      'a torn tar',
      'unreadable_tar',
      () => writeFileSync(shards.tar(second), readFileSync(shards.tar(second)).subarray(0, 1300)),
    ],
    [
      'a tar without samples',
      'empty_shard',
      () => {
        shards.add(second, []);
        writeList(lineOf(first), lineOf(second, '0.000000 0'), lineOf(third));
      },
    ],
    [
      'no hours at all',
      'zero_hours',
      () => {
        for (const key of KEYS)
          shards.add(
            key,
            namesOf(key),
            namesOf(key).map((name) => rowOf(name, 0)),
          );
        writeList(...KEYS.map((key) => lineOf(key, '0.000 3')));
      },
    ],
  ];

  test.each(defects)('tells of %s: %s, and of nothing else', async (_what, kind, inject) => {
    inject();
    const kinds = await kindsFound();
    // The missing file behind the mark, and a shard read twice, cannot be told apart from what they come of.
    const implied: Record<string, string[]> = {
      byte_order_mark: [],
      duplicate_shard: ['duplicate_across_shards'],
      shared_manifest: ['duplicate_across_shards'],
      zero_hours: ['short_duration'],
    };
    expect(new Set(kinds)).toEqual(new Set([kind, ...(implied[kind] ?? [])]));
  });

  it('says on which line of the list, and for which sample', async () => {
    writeFileSync(shards.tar(second), tarBytes(namesOf(second).slice(1)));
    const context = makeContext();
    await checkShardList(shards.list, context);
    expect(context.findings).toMatchObject([
      { kind: 'row_without_member', file: shards.manifest(second), line: 1, id: 't_001_a', severity: 'error' },
    ]);
    writeFileSync(shards.tar(second), tarBytes(namesOf(second)));
    writeList(lineOf(first), lineOf(second, '1 3'));
    const again = makeContext();
    await checkShardList(shards.list, again);
    expect(again.findings).toMatchObject([{ kind: 'wrong_hours', file: shards.list, line: 2, severity: 'warning' }]);
  });

  it('notes an unsorted list, which loaders sort', async () => {
    writeList(lineOf(second), lineOf(first), lineOf(third));
    const context = makeContext();
    const facts = await checkShardList(shards.list, context);
    expect(context.findings).toEqual([]);
    expect(facts.notes?.join(' ')).toContain('not sorted');
    expect(path.basename(facts.shards?.[0]?.path ?? '')).toBe('t.000.tar');
  });

  it('finds nothing in shards of any ids without dots', async () => {
    const id = fc.stringMatching(/^[a-zA-Z0-9_\-äöü世]{1,20}$/u);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(id, { minLength: 2, maxLength: 12 }), fc.nat(), async (ids, cut) => {
        const border = 1 + (cut % (ids.length - 1));
        const names = ids.map((name) => `${name}.flac`);
        shards.add(first, names.slice(0, border)).add(second, names.slice(border));
        const columns = (count: number): string => `${((count * 1.5) / 3600).toFixed(6)} ${count}`;
        writeList(lineOf(first, columns(border)), lineOf(second, columns(ids.length - border)));
        expect(await kindsFound()).toEqual([]);
      }),
      { numRuns: 10 },
    );
  });
});
