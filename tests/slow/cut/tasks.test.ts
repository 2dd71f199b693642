import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { expectOutputs, makeFolder, makeMixedCorpus, runUndisturbed } from '../../support/cut-runs.js';
import { DividedCut } from '../../support/cut-tasks.js';

describe('finishCutTasks()', () => {
  test('gives the bytes of one run, whatever the number of tasks', async (context) => {
    const corpus = await makeMixedCorpus(await makeFolder(context), 8);
    const expected = await runUndisturbed(corpus);
    for (const reason of ['missing_recording', 'corrupt_recording', 'truncated_recording']) {
      expect(expected.failures).toContain(reason);
    }
    for (const count of [1, 2, 7]) {
      const divided = await DividedCut.plan(corpus, { count });
      expect(divided.planned.extents).toHaveLength(count);
      await divided.runAll();
      expect((await divided.finish()).kind).toBe('finished');
      await expectOutputs(corpus.options.outputDir, expected, `of ${count} tasks`);
      expect((await divided.finish()).kind).toBe('already_done');
      expect(readdirSync(divided.folderOf(0)).toSorted()).toEqual(['outcomes.jsonl', 'snippets.jsonl', 'snippets.tar']);
      await rm(corpus.options.outputDir, { recursive: true });
    }
  });
});
