import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { checkNemoFolder } from '#cutroom/check/dataset-nemo.js';
import { jsonLines, tarBytes } from '../support/shard-files.js';
import { kindsOf, makeContext, makeFolder, NemoFolder, type NemoRow } from './dataset-context.js';

let folder: string;
let nemo: NemoFolder;

beforeEach((context) => {
  folder = makeFolder(context);
  nemo = new NemoFolder(folder).write();
});

async function kindsFound(): Promise<string[]> {
  const context = makeContext();
  await checkNemoFolder(folder, context);
  return kindsOf(context);
}

/** Changes rows in both manifests. */
function changeRows(change: (row: NemoRow, index: number) => NemoRow | undefined): void {
  nemo.rows = nemo.rows.map(change).filter((row) => row !== undefined);
  nemo.write();
}

describe('checkNemoFolder()', () => {
  it('finds nothing wrong with what the converter writes', async () => {
    const context = makeContext();
    const facts = await checkNemoFolder(folder, context);
    expect(context.findings).toEqual([]);
    expect(facts).toMatchObject({ kind: 'nemo_tarred', rows: 12, members: 12 });
    expect(facts.shards).toEqual([0, 1, 2].map((shard) => ({ path: nemo.tar(shard), rows: 4, hours: 0.001389 })));
  });

  it('needs no sharded manifests, and takes rows in any order', async () => {
    rmSync(path.join(folder, 'sharded_manifests'), { recursive: true });
    const mixed = nemo.rows.toSorted((a, b) => (a.text.slice(-1) < b.text.slice(-1) ? -1 : 1));
    writeFileSync(nemo.manifest, `${jsonLines(mixed.slice(0, 5))}\n\r\n${jsonLines(mixed.slice(5))}`);
    const context = makeContext();
    expect(await checkNemoFolder(folder, context)).toMatchObject({ rows: 12 });
    expect(context.findings).toEqual([]);
  });

  it('takes rows that are spelt otherwise in the sharded manifests', async () => {
    const spaced = nemo.rows.slice(0, 4).map((row) => JSON.stringify(row).replaceAll(':', ': ').replaceAll(',', ', '));
    writeFileSync(nemo.sharded(0), spaced.join('\r\n'));
    expect(await kindsFound()).toEqual([]);
  });

  const defects: [string, string, () => void][] = [
    ['no full manifest', 'missing_full_manifest', () => rmSync(nemo.manifest)],
    ['a tar that is not there', 'missing_shard', () => rmSync(nemo.tar(1))],
    ['a sharded manifest that is not there', 'missing_sharded_manifest', () => rmSync(nemo.sharded(1))],
    [
      'a shard that no row is of',
      'shard_without_rows',
      () => {
        changeRows((row) => (row.shard_id === 2 ? undefined : row));
        rmSync(nemo.sharded(2));
        rmSync(nemo.metadata);
      },
    ],
    [
      'numbers with a gap',
      'shard_gap',
      () => {
        changeRows((row) => ({ ...row, shard_id: row.shard_id === 2 ? 3 : row.shard_id }));
        renameSync(nemo.tar(2), nemo.tar(3));
        rmSync(nemo.sharded(2));
        rmSync(nemo.metadata);
        nemo.writeSharded(3);
      },
    ],
    ['two tars of a number', 'duplicate_shard', () => writeFileSync(path.join(folder, 'audio_01.tar'), tarBytes([]))],
    [
      'rows without shard_id',
      'missing_shard_id',
      () => {
        const rows = [...nemo.rows.map((row) => JSON.stringify(row)), '{"audio_filepath": "x.wav", "duration": 1}'];
        writeFileSync(nemo.manifest, jsonLines(rows));
      },
    ],
    [
      'a shard_id of another shard in a sharded manifest',
      'wrong_shard_id',
      () => {
        rmSync(nemo.manifest);
        nemo.rows = nemo.rows.map((row, index) => (index === 5 ? { ...row, shard_id: 7 } : row));
        writeFileSync(nemo.sharded(1), jsonLines(nemo.rows.slice(4, 8)));
      },
    ],
    [
      'a sharded manifest with another row',
      'manifests_differ',
      () => {
        writeFileSync(nemo.sharded(1), readFileSync(nemo.sharded(1), 'utf8').replace('text 1 2', 'text'));
      },
    ],
    [
      'a sharded manifest in another order',
      'manifests_differ',
      () => {
        writeFileSync(nemo.sharded(1), jsonLines(nemo.rows.slice(4, 8).toReversed()));
      },
    ],
    [
      'a sharded manifest with a row less',
      'manifests_differ',
      () => {
        writeFileSync(nemo.sharded(1), jsonLines(nemo.rows.slice(4, 7)));
      },
    ],
    [
      'a name with another extension than the member',
      'extension_mismatch',
      () => {
        changeRows((row, index) => ({
          ...row,
          audio_filepath: row.audio_filepath.replace('.wav', index === 3 ? '.flac' : '.wav'),
        }));
      },
    ],
    [
      'a name with a slash',
      'slash_in_name',
      () => {
        nemo.names[1]![0] = 'd/utt.wav';
        changeRows((row, index) => ({ ...row, audio_filepath: index === 4 ? 'd/utt.wav' : row.audio_filepath }));
      },
    ],
    [
      'a row that shares a member',
      'sub_row',
      () => {
        nemo.names[1]!.splice(1, 1);
        changeRows((row, index) => ({ ...row, audio_filepath: index === 5 ? 'utt_1_0-sub1.wav' : row.audio_filepath }));
      },
    ],
    [
      'a member of such a name',
      'sub_in_name',
      () => {
        nemo.names[1]![1] = 'utt_1_0-sub1.wav';
        changeRows((row, index) => ({ ...row, audio_filepath: index === 5 ? 'utt_1_0-sub1.wav' : row.audio_filepath }));
      },
    ],
    [
      'a row without a member',
      'row_without_member',
      () => {
        writeFileSync(nemo.tar(1), tarBytes(nemo.names[1]!.slice(1)));
      },
    ],
    [
      'a member without a row',
      'member_without_row',
      () => {
        changeRows((row, index) => (index === 5 ? undefined : row));
      },
    ],
    [
      'a row twice',
      'duplicate_row',
      () => {
        nemo.rows.splice(5, 0, nemo.rows[5]!);
        nemo.write();
      },
    ],
    [
      'shards of other sizes',
      'uneven_shards',
      () => {
        nemo.names[2] = nemo.names[2]!.slice(0, 2);
        nemo.rows = nemo.rows.slice(0, 10);
        nemo.write();
      },
    ],
    [
      'metadata of another number of shards',
      'wrong_metadata',
      () => {
        writeFileSync(nemo.metadata, readFileSync(nemo.metadata, 'utf8').replace('num_shards: 3', 'num_shards: 4'));
      },
    ],
    [
      'metadata of another size of shards',
      'wrong_metadata',
      () => {
        writeFileSync(nemo.metadata, readFileSync(nemo.metadata, 'utf8').replace('shard: 4', 'shard: 5'));
      },
    ],
    ['metadata that is no YAML', 'wrong_metadata', () => writeFileSync(nemo.metadata, 'a: [1')],
    [
      'a byte order mark in the full manifest',
      'byte_order_mark',
      () => {
        writeFileSync(nemo.manifest, `\ufeff${readFileSync(nemo.manifest, 'utf8')}`);
      },
    ],
    [
      'a byte order mark in a sharded manifest',
      'byte_order_mark',
      () => {
        writeFileSync(nemo.sharded(1), `\ufeff${readFileSync(nemo.sharded(1), 'utf8')}`);
      },
    ],
    [
      'a row that is no JSON',
      'bad_row',
      () => {
        writeFileSync(nemo.manifest, `${readFileSync(nemo.manifest, 'utf8')}{"shard_id": 1`);
      },
    ],
    [
      'a row without a duration',
      'missing_duration',
      () => {
        changeRows(({ duration, ...row }, index) => (index === 5 ? (row as NemoRow) : { ...row, duration }));
      },
    ],
    [
      'a duration that is text',
      'bad_duration',
      () => {
        changeRows((row, index) => (index === 5 ? { ...row, duration: '1.25' as unknown as number } : row));
      },
    ],
    [
      'a file in two shards',
      'duplicate_across_shards',
      () => {
        nemo.names[2]![0] = 'utt_1_0.wav';
        changeRows((row, index) => ({ ...row, audio_filepath: index === 8 ? 'utt_1_0.wav' : row.audio_filepath }));
      },
    ],
    [
      'a later version with other rows',
      'version_differs',
      () => {
        const text = readFileSync(nemo.manifest, 'utf8');
        renameSync(nemo.manifest, path.join(folder, 'tarred_audio_manifest_version_1.json'));
        writeFileSync(nemo.manifest, text.replace('text 0 2', 'TEXT 0 2'));
      },
    ],
  ];

  test.each(defects)('tells of %s: %s, and of nothing else', async (_what, kind, inject) => {
    inject();
    const implied = kind === 'wrong_shard_id' ? ['missing_full_manifest'] : [];
    expect(await kindsFound()).toEqual([...implied, kind]);
  });

  it('says where rows of two manifests differ', async () => {
    writeFileSync(nemo.sharded(1), readFileSync(nemo.sharded(1), 'utf8').replace('text 1 2', 'text'));
    const context = makeContext();
    await checkNemoFolder(folder, context);
    expect(context.findings).toMatchObject([
      { file: nemo.sharded(1), line: 3, message: 'its row differs from that of line 7 of the full manifest' },
    ]);
  });

  it('says on which line of the full manifest a row is, wherever its shard stands there', async () => {
    writeFileSync(nemo.manifest, jsonLines(nemo.rows.toReversed()));
    rmSync(path.join(folder, 'sharded_manifests'), { recursive: true });
    writeFileSync(nemo.tar(1), tarBytes(nemo.names[1]!.slice(1)));
    const context = makeContext();
    await checkNemoFolder(folder, context);
    expect(context.findings).toMatchObject([{ kind: 'row_without_member', file: nemo.manifest, line: 8 }]);
  });

  it('takes a version that gained shards, and compares its metadata', async () => {
    const grown = new NemoFolder(folder, 4);
    const base = readFileSync(nemo.manifest);
    const metadata = readFileSync(nemo.metadata);
    grown.write();
    renameSync(grown.manifest, path.join(folder, 'tarred_audio_manifest_version_1.json'));
    renameSync(grown.metadata, path.join(folder, 'metadata_version_1.yaml'));
    writeFileSync(nemo.manifest, base);
    writeFileSync(nemo.metadata, metadata);
    const context = makeContext();
    expect(await checkNemoFolder(folder, context)).toMatchObject({ rows: 16 });
    expect(context.findings).toEqual([]);
  });

  it('looks into each bucket', async () => {
    const top = path.join(folder, 'top');
    for (const bucket of ['bucket1', 'bucket2', 'bucket10']) {
      mkdirSync(path.join(top, bucket), { recursive: true });
      const one = new NemoFolder(path.join(top, bucket), 2, 2);
      one.names.forEach((names) => names.forEach((name, index) => (names[index] = `${bucket}_${name}`)));
      one.rows = one.rows.map((row) => ({ ...row, audio_filepath: `${bucket}_${row.audio_filepath}` }));
      one.write();
    }
    rmSync(path.join(top, 'bucket2', 'audio_1.tar'));
    const context = makeContext();
    const facts = await checkNemoFolder(top, context);
    expect(facts.rows).toBe(10);
    expect(facts.shards?.map(({ path: tar }) => path.basename(path.dirname(tar)))).toEqual([
      ...['bucket1', 'bucket1', 'bucket2', 'bucket10', 'bucket10'],
    ]);
    expect(context.findings).toMatchObject([
      { kind: 'missing_shard', file: path.join(top, 'bucket2', 'tarred_audio_manifest.json'), line: 3 },
    ]);
  });

  it('finds a member without a row however rows and members are shared out', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 5 }),
        fc.nat(),
        async (count, size, at) => {
          const one = new NemoFolder(path.join(folder, `p_${count}_${size}_${at}`), count, size);
          mkdirSync(one.folder, { recursive: true });
          one.write();
          const whole = makeContext();
          await checkNemoFolder(one.folder, whole);
          expect(whole.findings).toEqual([]);
          const shard = at % count;
          writeFileSync(one.tar(shard), tarBytes([...one.names[shard]!, 'x.wav']));
          const context = makeContext();
          await checkNemoFolder(one.folder, context);
          expect(context.findings).toMatchObject([{ kind: 'member_without_row', id: 'x', file: one.tar(shard) }]);
        },
      ),
      { numRuns: 6 },
    );
  });
});
