import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { PlanFile } from '#cutroom/shard/plan-file.js';
import { makeFolder } from '../support/cut-runs.js';
import { itemOf, makePlan } from '../support/pack-runs.js';

describe('PlanFile.verify()', () => {
  test.for([
    ['a file name in the header', '"input.tsv"', '"inpux.tsv"'],
    ['the words of an item', 'words of b', 'words of B'],
    ['the name of a tar', 'audios/2.tar', 'audios/3.tar'],
    ['the place of a shard', /"offsetBytes":\d(?=\d*,"sizeBytes":0\})/u, '"offsetBytes":9'],
    ['how many items a shard has', '"itemCount":2', '"itemCount":3'],
    ['how many failures there are', '"count":0', '"count":1'],
    ['the hash', /"sha256":"[0-9a-f]{4}/u, '"sha256":"0000'],
  ] as const)('finds a change of %s', async ([, from, to], context) => {
    const shards = [[itemOf('a', 'a.wav'), itemOf('b', 'b.wav')], [], [itemOf('c', 'c.wav')]];
    const { plan } = await makePlan(await makeFolder(context), shards);
    await plan.verify();
    const text = readFileSync(plan.path, 'latin1');
    const changed = text.replace(from, to);
    expect(changed).not.toBe(text);
    expect(changed).toHaveLength(text.length);
    writeFileSync(plan.path, changed, 'latin1');
    const opened = PlanFile.open(plan.path);
    await expect(opened?.verify()).rejects.toThrow(`Cannot read the plan "${plan.path}": it is damaged`);
  });
});
