import { createHash } from 'node:crypto';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CutPlan } from '#cutroom/cut/cut-plan.js';
import { planCut } from '#cutroom/cut/plan.js';
import { CanceledError, InputError } from '#cutroom/errors.js';
import { compareCodePoints } from '#cutroom/tar/order.js';
import { listMembers, makeRow, makeSettings, say, withPlan } from './plan-manifest.js';

function listNames(plan: CutPlan): Promise<string[]> {
  return listMembers(plan).then((members) => members.map(({ snippet }) => snippet.snippetId));
}

describe('planCut()', () => {
  it('plans a row as the stages say', async () => {
    const segments = [
      say(20, 23, 'd'),
      say(0, 3, 'a'),
      say(5, 6, ' \u001f'),
      say(10, 15, 'b'),
      say(13, 18, 'c'),
      say(40, 40.2, 'short'),
      say(50, 90, 'long'),
      say(100, 103, '', { words: [{ word: 'x' }] }),
    ];
    await withPlan(
      [makeRow('A', segments)],
      async ({ plan, failures }) => {
        expect(failures).toEqual([]);
        expect(plan.summary(0)).toMatchObject({
          id: 'A',
          line: 1,
          audioPath: '/data/A.wav',
          inSegments: 8,
          inDurationSeconds: 103,
          dropped: { empty: 1, overlap: 2, too_long: 1, too_short: 1, no_text: 1, repetition: 0, bad_times: 0 },
          snippetCount: 2,
          segmentCount: 2,
          plannedSeconds: 6,
          firstMember: 'A-0_000-3_000.flac',
        });
        expect(plan).toMatchObject({
          recordingCount: 1,
          snippetCount: 2,
          plannedSeconds: 6,
          rowCount: 1,
          skippedRows: {},
        });
        const recording = await plan.recording(0);
        expect(recording.snippets).toEqual([
          {
            ordinal: 0,
            snippetId: 'A-0_000-3_000',
            member: 'A-0_000-3_000.flac',
            startMicros: 0,
            endMicros: 3e6,
            segmentCount: 1,
          },
          {
            ordinal: 1,
            snippetId: 'A-20_000-23_000',
            member: 'A-20_000-23_000.flac',
            startMicros: 20e6,
            endMicros: 23e6,
            segmentCount: 1,
          },
        ]);
        expect(recording.segmentsOf(recording.snippets[1]!).map(({ text, position }) => [text, position])).toEqual([
          ['d', 0],
        ]);
      },
      { maxSegmentGapSeconds: 5 },
    );
  });

  it.each([[null], [[]], [{}]])('takes segments %j for none', async (segments) => {
    await withPlan([makeRow('A', segments)], ({ plan }) => {
      expect(plan.summary(0)).toMatchObject({
        inSegments: 0,
        inDurationSeconds: 0,
        snippetCount: 0,
        firstMember: undefined,
      });
      expect([...plan.recordingsInOrder()]).toEqual([]);
    });
  });

  it('drops loops and keeps their texts', async () => {
    const loop = 'one two three four '.repeat(10);
    const rows = [
      makeRow('A', [say(0, 5, 'all words here differ'), say(50, 55, loop), say(100, 105, 'and these as well')]),
    ];
    const check = async ({ plan }: { plan: CutPlan }): Promise<void> => {
      expect(plan.summary(0)).toMatchObject({
        snippetCount: 2,
        dropped: { repetition: 1 },
        droppedSegments: { repetition: 1 },
      });
      expect(plan.repetitionExamples).toEqual([loop.trim()]);
      expect((await plan.recording(0)).snippets.map(({ ordinal }) => ordinal)).toEqual([0, 2]);
    };
    await withPlan(rows, check);
    await withPlan(
      rows,
      ({ plan }) => expect(plan.snippetCount).toBe(3),
      { repetitionFilter: false },
      { tokenizer: undefined },
    );
    await withPlan(rows, ({ plan }) => expect(plan.snippetCount).toBe(3), { ngramN: 41 });
  });

  it('keeps at most 1,000 texts of loops, the first ones', async () => {
    const rows = Array.from({ length: 1002 }, (_, k) => makeRow(`r${k}`, [say(0, 5, `n${k} `.repeat(13))]));
    await withPlan(rows, ({ plan }) => {
      expect(plan.counts.dropped.repetition).toBe(1002);
      expect(plan.repetitionExamples).toHaveLength(1000);
      expect(plan.repetitionExamples.at(-1)).toContain('n999');
    });
  });

  it('refuses to filter without a tokenizer', async () => {
    const context = { tokenizer: undefined, onFailure: () => undefined };
    await expect(planCut(makeSettings(), context)).rejects.toThrow(TypeError);
  });

  it('says which manifest cannot be read', async () => {
    const context = { tokenizer: undefined, onFailure: () => undefined };
    const plan = (inputManifest: string): Promise<CutPlan> =>
      planCut(makeSettings({ inputManifest, repetitionFilter: false }), context);
    await expect(plan('/nowhere/m.jsonl')).rejects.toThrow(
      'Cannot read the manifest "/nowhere/m.jsonl": there is no such file',
    );
    await expect(plan(tmpdir())).rejects.toThrow('it is not a regular file');
    await expect(plan('/nowhere/m.jsonl')).rejects.toBeInstanceOf(InputError);
  });

  it('stops when it is canceled', async () => {
    const controller = new AbortController();
    controller.abort();
    const planned = withPlan([makeRow('A', [])], () => undefined, {}, { signal: controller.signal });
    await expect(planned).rejects.toBeInstanceOf(CanceledError);
  });

  it('reports the rows it has read', async () => {
    const rows = Array.from({ length: 300 }, (_, k) => makeRow(`r${k}`, []));
    const reports: number[] = [];
    await withPlan(rows, () => undefined, {}, { onProgress: (count) => reports.push(count) });
    expect(reports).toEqual([256, 300]);
  });

  it('hashes what decides the plan and nothing else', async () => {
    const rows = [makeRow('A', [say(0, 3)])];
    const hashOf = (changes: object = {}, manifest: readonly unknown[] = rows): Promise<string> =>
      withPlan(manifest, ({ plan }) => plan.hash, changes);
    const hash = await hashOf();
    // Another folder each time: the manifest's path does not count.
    expect(await hashOf()).toBe(hash);
    expect(await hashOf({ maxDurationSeconds: 31 })).not.toBe(hash);
    expect(await hashOf({ outputFormat: 'wav' })).not.toBe(hash);
    expect(await hashOf({}, [...rows, ...rows])).not.toBe(hash);
    const withoutFilter = await hashOf({ repetitionFilter: false });
    expect(withoutFilter).not.toBe(hash);
    expect(await hashOf({ repetitionFilter: false, ngramN: 3 })).toBe(withoutFilter);
    await withPlan(rows, ({ plan }) => {
      const content = rows.map((row) => JSON.stringify(row)).join('\n');
      expect(plan.inputSha256).toBe(createHash('sha256').update(content).digest('hex'));
    });
  });

  it('reads a byte order mark and Windows line ends', async () => {
    const text = `\ufeff${JSON.stringify(makeRow('A', [say(0, 3)]))}\r\n\r\n${JSON.stringify(makeRow('B', [say(0, 3)]))}\r\n`;
    await withPlan(text, async ({ plan, failures }) => {
      expect(failures).toEqual([]);
      expect([plan.summary(0).line, plan.summary(1).line]).toEqual([1, 3]);
      expect(await listNames(plan)).toEqual(['A-0_000-3_000', 'B-0_000-3_000']);
    });
  });

  it('names by the times as they are written, not by microseconds', async () => {
    const json =
      '{"id":"A","audio_filepath":"a.wav","segments":[{"start":0.0005,"end":59.9995,"text":"x"},{"start":-0.0,"end":0.0004,"text":"y"}]}';
    const changes = { maxDurationSeconds: 100, minDurationSeconds: 0, maxSegmentGapSeconds: 0 };
    await withPlan(
      json,
      async ({ plan }) => expect(await listNames(plan)).toEqual(['A--0_000-0_000', 'A-0_001-59_999']),
      changes,
    );
  });

  it('says so when a row has changed', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'cutroom-changed-'));
    const inputManifest = path.join(folder, 'm.jsonl');
    const write = (id: string, end: number): Promise<void> =>
      writeFile(inputManifest, JSON.stringify(makeRow(id, [say(1, end)])));
    await write('A', 5);
    const plan = await planCut(makeSettings({ inputManifest, repetitionFilter: false }), {
      tokenizer: undefined,
      onFailure: () => undefined,
    });
    try {
      await appendFile(inputManifest, '\nmore');
      expect((await plan.recording(0)).snippets).toHaveLength(1);
      for (const [id, end] of [
        ['B', 5],
        ['A', 6],
      ] as const) {
        await write(id, end);
        await expect(plan.recording(0)).rejects.toThrow('Cannot read line 1 of');
      }
      await writeFile(inputManifest, '{');
      await expect(plan.recording(0)).rejects.toThrow('it is shorter than it was');
      await expect(plan.recording(1)).rejects.toThrow(RangeError);
    } finally {
      await plan.close();
      await rm(folder, { recursive: true });
    }
  });
});

describe('CutPlan.membersInOrder()', () => {
  it('merges recordings whose names interleave', async () => {
    const rows = [
      makeRow('a', [say(0, 3), say(10, 12), say(100, 103)]),
      makeRow('a-1', [say(0, 3), say(9, 12)]),
      makeRow('\u{1f600}', [say(0, 3)]),
      makeRow('\uff5e', [say(0, 3)]),
    ];
    await withPlan(
      rows,
      async ({ plan }) => {
        expect(await listNames(plan)).toEqual([
          'a-0_000-3_000',
          'a-1-0_000-3_000',
          'a-1-9_000-12_000',
          'a-100_000-103_000',
          'a-10_000-12_000',
          '\uff5e-0_000-3_000',
          '\u{1f600}-0_000-3_000',
        ]);
        expect([...plan.recordingsInOrder()]).toEqual([0, 1, 3, 2]);
      },
      { maxSegmentGapSeconds: 0 },
    );
  });

  it('names all members of any manifest once, in order', async () => {
    const id = fc.string({ unit: fc.constantFrom('a', '-', '1', '.', '_', '😀', '～'), minLength: 1, maxLength: 4 });
    const time = fc.integer({ min: -20, max: 200 }).map((tenths) => tenths / 10 + 0.0004);
    const segment = fc
      .tuple(time, fc.integer({ min: 0, max: 40 }))
      .map(([start, tenths]) => say(start, start + tenths / 10));
    const row = fc.tuple(id, fc.array(segment, { maxLength: 6 }));
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 12 }), async (list) => {
        const rows = list.map(([name, segments]) => ({ id: name, audio_filepath: 'a.wav', segments }));
        const changes = {
          maxSegmentGapSeconds: 0,
          minDurationSeconds: 0,
          onClash: 'suffix',
          audioPathResolution: 'relative',
        } as const;
        await withPlan(
          rows,
          async ({ plan }) => {
            const names = (await listMembers(plan)).map(({ snippet }) => snippet.member);
            expect(names).toHaveLength(plan.snippetCount);
            expect(new Set(names).size).toBe(names.length);
            expect(names).toEqual(names.toSorted(compareCodePoints));
            for (let index = 0; index < plan.recordingCount; index += 1) {
              const ofRecording = (await plan.recording(index)).snippets.map(({ member }) => member);
              expect(plan.summary(index).firstMember).toBe(ofRecording.toSorted(compareCodePoints)[0]);
            }
          },
          changes,
        );
      }),
      { numRuns: 150 },
    );
  });
});
