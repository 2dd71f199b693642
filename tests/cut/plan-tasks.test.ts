import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planCut } from '#cutroom/cut/cut.js';
import type { CutPlan } from '#cutroom/cut/cut-plan.js';
import type { CutOptions } from '#cutroom/cut/options.js';
import { planCutTasks } from '#cutroom/cut/plan-tasks.js';
import { openTaskPlan, openWholePlan, readPlannedFailures, readTaskPlan } from '#cutroom/cut/task-plan.js';
import { InputError, UsageError } from '#cutroom/errors.js';
import type { TaskDivision } from '#cutroom/run/task.js';
import { makeFolder } from '../support/cut-runs.js';

let plans = 0;

/** Divides rows into tasks, in a folder that is removed with the test. */
async function divide(
  folder: string,
  rows: readonly unknown[],
  division: TaskDivision,
  changes: Partial<CutOptions> = {},
) {
  const inputManifest = path.join(folder, `manifest-${(plans += 1)}.jsonl`);
  writeFileSync(inputManifest, rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join(''));
  const options: CutOptions = {
    inputManifest,
    audioDir: '/data',
    outputDir: path.join(folder, 'out'),
    maxDurationSeconds: 30,
    onClash: 'suffix',
    ...changes,
  };
  const place = path.join(folder, `plan-${plans}`);
  mkdirSync(place);
  const planned = await planCutTasks(options, place, { division });
  return { options, place, planned, facts: await readTaskPlan(place, planned.hash) };
}

/** All that a run takes from a plan. */
async function describePlan(plan: CutPlan) {
  const members = [];
  for await (const { recording, snippet } of plan.membersInOrder()) {
    const { index, id, safeId, line, audioPath, row } = recording;
    members.push({
      index,
      id,
      safeId,
      line,
      audioPath,
      row: row.stringify(),
      snippet,
      segments: recording.segmentsOf(snippet),
    });
  }
  return {
    members,
    order: [...plan.recordingsInOrder()],
    summaries: Array.from({ length: plan.recordingCount }, (_, index) => plan.summary(index)),
    hash: plan.hash,
    inputSha256: plan.inputSha256,
    rowCount: plan.rowCount,
    skippedRows: plan.skippedRows,
    snippetCount: plan.snippetCount,
    plannedSeconds: plan.plannedSeconds,
    counts: plan.counts,
    repetitionExamples: plan.repetitionExamples,
    settings: plan.settings,
  };
}

const LOOP = 'one two three four five six seven eight nine ten '.repeat(8);
const anyText = constantFrom('', 'hello there', 'é 𝄞 \u2028', LOOP);
const anyRow = record({
  id: constantFrom('a', 'a.b', 'a/b', 'a-1', 'a-', 'é', 'x\ud800', 'b', 'c', 'z-10', 'z-9'),
  segments: array(
    record({
      start: constantFrom(-1.5, 0, 1.5, 10, 40.0625),
      end: constantFrom(5, 9.999, 20, 50.1),
      text: anyText,
    }),
    { maxLength: 4 },
  ),
});

describe('planCutTasks()', () => {
  test('lays down all that a plan is made of', async (context) => {
    const folder = await makeFolder(context);
    await assert(
      asyncProperty(array(anyRow, { maxLength: 9 }), integer({ min: 1, max: 9 }), async (drawn, count) => {
        const rows = drawn.map((row, k) => ({ ...row, audio_filepath: `${k}.wav` }));
        const { options, place, planned, facts } = await divide(folder, rows, { count });
        const local = await planCut(options);
        const whole = await openWholePlan(place, facts);
        try {
          const expected = await describePlan(local);
          expect(await describePlan(whole)).toEqual(expected);
          expect(planned.units).toEqual({ count: expected.order.length, name: 'recordings' });
          const members: string[] = [];
          for (const { task, first, end } of planned.extents) {
            const part = await openTaskPlan(place, facts, task);
            const ofTask = await describePlan(part);
            await part.close();
            const own = new Set(expected.order.slice(first, end));
            expect(
              ofTask.members.map(({ index, ...rest }) => ({ ...rest, index: expected.order[first + index] })),
            ).toEqual(expected.members.filter(({ index }) => own.has(index)));
            members.push(...ofTask.members.map(({ snippet }) => snippet.member));
          }
          expect(members.toSorted()).toEqual(expected.members.map(({ snippet }) => snippet.member).toSorted());
        } finally {
          await local.close();
          await whole.close();
        }
      }),
      { numRuns: 40 },
    );
  });

  test('keeps what planning found, in four files', async (context) => {
    const rows = [
      '{"id": ',
      { id: 'a', audio_filepath: 'a.wav', segments: [{ start: 0, end: 'x', text: 'hello' }] },
      { id: 'b', audio_filepath: 'b.wav', segments: [{ start: 0, end: 5, text: 'hello' }] },
    ];
    const { place, planned } = await divide(await makeFolder(context), rows, { count: 3 });
    expect(planned).toMatchObject({ failedRows: 1, units: { count: 1 } });
    expect(planned.extents).toEqual([{ task: 0, first: 0, end: 1, micros: 5e6, bytes: undefined }]);
    const failures = await readPlannedFailures(place);
    expect(failures.map(({ kind, reason, line }) => [kind, reason, line])).toEqual([
      ['row', 'invalid_json', 1],
      ['segment', 'bad_times', 2],
    ]);
    expect(readdirSync(place).toSorted()).toEqual(['cut.json', 'failures.jsonl', 'recordings.jsonl', 'rows.jsonl']);
    expect(readFileSync(path.join(place, 'rows.jsonl'), 'utf8')).toBe(`${JSON.stringify(rows[2])}\n`);
  });

  test('divides by the audio that is decoded: up to the end of the last snippet', async (context) => {
    const folder = await makeFolder(context);
    const rows = ['a', 'b', 'c', 'd'].map((id, k) => ({
      id,
      audio_filepath: `${id}.wav`,
      // Ten seconds of each, at the end of the first and at the start of the others.
      segments: [{ start: k === 0 ? 3590 : 0, end: k === 0 ? 3600 : 10, text: 'hello' }],
    }));
    const extentsOf = async (division: TaskDivision) =>
      (await divide(folder, rows, division)).planned.extents.map(({ first, end, micros }) => [first, end, micros]);
    expect(await extentsOf({ count: 2 })).toEqual([
      [0, 1, 3600e6],
      [1, 4, 30e6],
    ]);
    expect(await extentsOf({ hours: 0.5 })).toHaveLength(3);
    expect(await extentsOf({ hours: 5 })).toHaveLength(1);
    expect(await extentsOf({ hours: 1e-300 })).toHaveLength(4);
    await expect(extentsOf({ hours: 0 })).rejects.toThrow('Cannot divide into tasks of 0 hours');
  });

  test('plans nothing of nothing', async (context) => {
    const { planned } = await divide(await makeFolder(context), [], { count: 4 });
    expect(planned).toMatchObject({ extents: [], units: { count: 0 } });
  });

  test('gives one hash to one plan, however it is divided', async (context) => {
    const folder = await makeFolder(context);
    const rows = [{ id: 'a', audio_filepath: 'a.wav', segments: [{ start: 0, end: 5, text: 'hello' }] }];
    const hashOf = async (count: number, changes?: Partial<CutOptions>) =>
      (await divide(folder, rows, { count }, changes)).planned.hash;
    const hash = await hashOf(1);
    expect(await hashOf(2)).toBe(hash);
    expect(await hashOf(1, { channel: 0 })).not.toBe(hash);
  });

  test('refuses a preview', async (context) => {
    const refusal = divide(await makeFolder(context), [], { count: 1 }, { dryRun: true });
    await expect(refusal).rejects.toThrow(UsageError);
  });
});

describe('a plan of tasks that was damaged', () => {
  const rows = ['a', 'b'].map((id) => ({
    id,
    audio_filepath: `${id}.wav`,
    segments: [{ start: 0, end: 5, text: 'hello' }],
  }));

  test('is refused where another plan is asked for', async (context) => {
    const { place } = await divide(await makeFolder(context), rows, { count: 1 });
    await expect(readTaskPlan(place, 'other')).rejects.toThrow('it is another one than the folder');
  });

  test.for(['recordings.jsonl', 'rows.jsonl'])('tells of a changed byte in %s', async (name, context) => {
    const { place, facts } = await divide(await makeFolder(context), rows, { count: 1 });
    const file = path.join(place, name);
    const bytes = readFileSync(file);
    const at = bytes.indexOf('wav');
    bytes[at] = 0x57;
    writeFileSync(file, bytes);
    const read = async () => {
      const plan = await openWholePlan(place, facts);
      try {
        await describePlan(plan);
      } finally {
        await plan.close();
      }
    };
    await expect(read()).rejects.toSatisfy((error) => error instanceof InputError && error.path === file);
  });

  test('tells of lost lines', async (context) => {
    const { place, facts } = await divide(await makeFolder(context), rows, { count: 1 });
    const file = path.join(place, 'recordings.jsonl');
    const [first = ''] = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, `${first}\n`);
    await expect(openTaskPlan(place, facts, 0)).rejects.toThrow(/it ends at byte \d+, inside of what it is to hold/u);
  });
});
