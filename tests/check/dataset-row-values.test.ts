// What is told of the rows of datasets, as of a manifest alone.
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkShardList } from '#cutroom/check/dataset-list.js';
import { checkNemoFolder } from '#cutroom/check/dataset-nemo.js';
import { writeFileSync } from 'node:fs';
import { ShardFolder } from '../support/shard-files.js';
import { makeContext, makeFolder, NemoFolder } from './dataset-context.js';

/** What a row holds, and what is said of it in each kind of dataset. */
const CASES: { row: { text?: string; duration?: number }; atdataset: string[]; nemo: string[] }[] = [
  { row: { text: 'a text that can be said' }, atdataset: [], nemo: [] },
  { row: { text: ' ' }, atdataset: ['empty_text'], nemo: ['empty_text'] },
  { row: { text: 'b\tc' }, atdataset: ['control_character'], nemo: ['control_character'] },
  { row: { text: 'zero\u200bwidth' }, atdataset: ['invisible_character'], nemo: ['invisible_character'] },
  { row: { text: 'lost \ufffd' }, atdataset: ['replacement_character'], nemo: ['replacement_character'] },
  { row: { text: 'said in no time', duration: 0.4 }, atdataset: ['fast_text'], nemo: ['fast_text'] },
  { row: { duration: 0.05 }, atdataset: ['short_duration'], nemo: ['short_duration'] },
  { row: { duration: 60 }, atdataset: [], nemo: [] },
  { row: { duration: 61 }, atdataset: ['long_duration'], nemo: [] },
  { row: { duration: 121 }, atdataset: ['long_duration'], nemo: ['long_duration'] },
];

describe('check() of a dataset', () => {
  let folder: string;
  beforeEach((context) => {
    folder = makeFolder(context);
  });

  it.each(CASES)('tells of a row of an ATdataset shard: $row', async ({ row, atdataset }) => {
    const shards = new ShardFolder(folder);
    const [first, second] = ['one.flac', 'two.flac'] as const;
    const rows = [
      { audio_filepath: first, text: 'one', duration: 1 },
      { audio_filepath: second, text: 'two', duration: 1, ...row },
    ];
    shards.add('train.000000', [first, second], rows);
    const hours = ((1 + rows[1]!.duration) / 3600).toFixed(6);
    const list = path.join(folder, 'data.lst');
    writeFileSync(list, `${shards.tar('train.000000')} ${shards.manifest('train.000000')} ${hours} 2\n`);
    const context = makeContext();
    await checkShardList(list, context);
    expect(context.findings.map(({ kind }) => kind)).toEqual(atdataset);
    for (const finding of context.findings) {
      expect(finding).toMatchObject({ file: shards.manifest('train.000000'), line: 2, id: 'two', severity: 'warning' });
      expect(finding.hint).toBeTruthy();
    }
  });

  it.each(CASES)('tells of a row of a NeMo folder: $row', async ({ row, nemo: expected }) => {
    const nemo = new NemoFolder(folder);
    nemo.rows = nemo.rows.map((one, index) => (index === 2 ? { ...one, ...row } : one));
    nemo.write();
    const context = makeContext();
    await checkNemoFolder(folder, context);
    expect(context.findings.map(({ kind, line }) => [kind, line])).toEqual(expected.map((kind) => [kind, 3]));
  });
});
