import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CutMetrics } from '#cutroom/cut/metrics.js';
import type { CutPlan } from '#cutroom/cut/cut-plan.js';
import { dryRun, FACTS, makeRow, say, withPlan } from './plan-manifest.js';

interface Written extends Record<string, unknown> {
  dropped: Record<string, number>;
  dropped_segments: Record<string, number>;
  per_original: { id: string; dropped: Record<string, number>; in_segments: number; out_segments: number }[];
}

async function write(metrics: CutMetrics, complete = true): Promise<Written> {
  let text = '';
  const facts = { ...FACTS, complete, dryRun: false, audioArchitecture: 'x64' };
  await metrics.write((chunk) => Promise.resolve(void (text += chunk)), facts);
  expect(text.endsWith('}\n')).toBe(true);
  const written = JSON.parse(text) as Written;
  expect(text).toBe(`${JSON.stringify(written, null, 2)}\n`);
  return written;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

const ROWS = [makeRow('10', [say(0, 3), say(40, 45), say(90, 91)]), makeRow('2', [say(0, 30)]), makeRow('x', [])];

describe('CutMetrics', () => {
  it('writes the keys in their order', async () => {
    await withPlan(ROWS, async ({ plan }) => {
      const written = await write(new CutMetrics(plan));
      expect(Object.keys(written)).toEqual([
        'num_input_audios',
        'num_output_snippets',
        'input_total_segments',
        'input_total_duration_sec',
        'output_total_segments',
        'output_total_duration_sec',
        'dropped',
        'snippet_duration_histogram_30s',
        'dropped_repetition_examples',
        'per_original',
        'dropped_segments',
        'skipped_rows',
        'failed_snippets',
        'failed_segments',
        'unfinished_snippets',
        'unfinished_segments',
        'clipped_samples',
        'warnings',
        'complete',
        'dry_run',
        'dataset_name',
        'cutroom_version',
        'audio_architecture',
        'options',
        'input_sha256',
        'plan_hash',
      ]);
      const six = { empty: 0, overlap: 0, too_long: 0, too_short: 0, no_text: 0, repetition: 0 };
      expect(written).toMatchObject({
        num_input_audios: 3,
        input_total_segments: 4,
        input_total_duration_sec: 121,
        unfinished_snippets: 4,
      });
      expect(written.dropped).toEqual(six);
      expect(written.per_original.map(({ id }) => id)).toEqual(['10', '2', 'x']);
      expect(Object.keys(written.per_original[0] ?? {})).toEqual([
        'id',
        'in_segments',
        'in_duration_sec',
        'dropped',
        'out_snippets',
        'out_segments',
        'out_duration_sec',
      ]);
      expect(written.per_original[0]?.dropped).toEqual(six);
      expect(written['snippet_duration_histogram_30s']).toEqual({});
    });
  });

  it('writes nothing of an empty manifest but its keys', async () => {
    await withPlan('', async ({ plan }) => {
      expect(await write(new CutMetrics(plan))).toMatchObject({
        num_input_audios: 0,
        per_original: [],
        snippet_duration_histogram_30s: {},
      });
    });
  });

  it.each([
    [[], {}],
    [[5, 12, 29.999], { '0-30': 3 }],
    [[5, 35, 65], { '0-30': 1, '30-60': 1, '60-90': 1 }],
    [[30], { '0-30': 0, '30-60': 1 }],
  ])('puts durations %j into bins of 30 s', async (durations, expected) => {
    await withPlan(ROWS, async ({ plan }) => {
      const metrics = new CutMetrics(plan);
      for (const durationSeconds of durations)
        metrics.addSnippet(0, { segmentCount: 1, durationSeconds, clippedSamples: 0 });
      expect((await write(metrics))['snippet_duration_histogram_30s']).toEqual(expected);
    });
  });

  it('counts what comes of snippets', async () => {
    await withPlan(ROWS, async ({ plan }) => {
      const metrics = new CutMetrics(plan);
      metrics.addSnippet(0, { segmentCount: 1, durationSeconds: 3.000_062_5, clippedSamples: 7 });
      metrics.addDropped(0, 'past_end', 1, true);
      metrics.addFailedSnippet(0, 'truncated', 1);
      metrics.addFailedSnippet(1, 'missing', 1);
      metrics.addWarning(1, 'b');
      metrics.addWarning(1, 'a');
      metrics.addWarning(0, 'c');
      const written = await write(metrics);
      expect(written).toMatchObject({
        num_output_snippets: 1,
        output_total_segments: 1,
        output_total_duration_sec: 3,
        dropped: { past_end: 1 },
        dropped_segments: { past_end: 1 },
        failed_snippets: { missing: 1, truncated: 1 },
        failed_segments: 2,
        clipped_samples: 7,
        warnings: [
          { id: '10', message: 'c' },
          { id: '2', message: 'a' },
          { id: '2', message: 'b' },
        ],
        complete: true,
        dry_run: false,
        dataset_name: 'test',
        cutroom_version: '1.2.3',
        audio_architecture: 'x64',
        options: { some: 'option' },
        per_original: [
          {
            dropped: { past_end: 1 },
            out_snippets: 1,
            out_duration_sec: 3.000_062_5,
            failed_snippets: { truncated: 1 },
          },
          { out_snippets: 0, failed_snippets: { missing: 1 } },
          { out_snippets: 0 },
        ],
      });
      expect(written).not.toHaveProperty('unfinished_snippets');
      expect(written.per_original[2]).not.toHaveProperty('failed_snippets');
      expect(plan.summary(0).dropped.past_end).toBe(0);
      expect(() => metrics.addSnippet(3, { segmentCount: 1, durationSeconds: 1, clippedSamples: 0 })).toThrow(
        RangeError,
      );
    });
  });

  it('counts a snippet that lives on without its last segment', async () => {
    await withPlan([makeRow('A', [say(0, 3), say(3, 6)])], async ({ plan }) => {
      const metrics = new CutMetrics(plan);
      metrics.addSnippet(0, { segmentCount: 1, durationSeconds: 3, clippedSamples: 0 });
      metrics.addDropped(0, 'past_end', 1, false);
      const written = await write(metrics);
      expect(written.dropped).not.toHaveProperty('past_end');
      expect(written.dropped_segments).toMatchObject({ past_end: 1 });
      expect(written).not.toHaveProperty('unfinished_snippets');
    });
  });

  it('says what is left of a run that was ended', async () => {
    await withPlan(ROWS, async ({ plan }) => {
      const metrics = new CutMetrics(plan);
      metrics.addSnippet(1, { segmentCount: 1, durationSeconds: 30, clippedSamples: 0 });
      expect(await write(metrics, false)).toMatchObject({
        complete: false,
        unfinished_snippets: 3,
        unfinished_segments: 3,
      });
    });
  });

  it('does not hang on the order in which snippets come', async () => {
    await withPlan(ROWS, async ({ plan }) => {
      const durations = fc.array(fc.double({ min: 0, max: 90, noNaN: true }), { minLength: 1, maxLength: 20 });
      const textOf = async (list: readonly number[]): Promise<Written> => {
        const metrics = new CutMetrics(plan);
        for (const [k, durationSeconds] of list.entries()) {
          metrics.addSnippet(Math.floor(durationSeconds) % 2, {
            segmentCount: 1,
            durationSeconds,
            clippedSamples: k % 1,
          });
        }
        return write(metrics);
      };
      await fc.assert(
        fc.asyncProperty(durations, async (list) => {
          expect(await textOf(list.toSorted((a, b) => a - b))).toEqual(await textOf(list));
        }),
        { numRuns: 50 },
      );
    });
  });
});

describe('the balance of segments', () => {
  const time = fc.oneof(
    fc.integer({ min: -4, max: 120 }).map((halves) => halves / 2),
    fc.constantFrom(null, 'x', undefined),
  );
  const text = fc.constantFrom('a', '', ' ', 'la '.repeat(20), null, 5);
  const segment = fc.oneof(
    {
      weight: 9,
      arbitrary: fc
        .tuple(time, time, text, fc.constantFrom([], ['w']))
        .map(([start, end, words, list]) => say(start, end, words, { words: list })),
    },
    { weight: 1, arbitrary: fc.constantFrom(null, 'x', []) },
  );
  const row = fc.tuple(
    fc.constantFrom('a', 'b', 'c', 'd.1', 'd_1', '', null),
    fc.oneof(fc.array(segment, { maxLength: 8 }), fc.constant(undefined)),
  );

  function checkBalance(written: Written, plan: CutPlan): void {
    const dropped = sum(written.dropped_segments);
    const output = written['output_total_segments'] as number;
    expect(written['input_total_segments']).toBe(output + dropped + (written['failed_segments'] as number));
    expect(plan.rowCount).toBe(plan.recordingCount + sum(written['skipped_rows'] as Record<string, number>));
    expect(sum(Object.fromEntries(written.per_original.map((entry, k) => [k, entry.in_segments])))).toBe(
      written['input_total_segments'],
    );
    expect(sum(Object.fromEntries(written.per_original.map((entry, k) => [k, entry.out_segments])))).toBe(output);
    expect(written).not.toHaveProperty('unfinished_snippets');
  }

  it('holds for the dry run of any manifest, and names lie in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 8 }),
        fc.constantFrom(0, 1, 30),
        async (list, maxSegmentGapSeconds) => {
          const rows = list.map(([id, segments], k) => ({
            id,
            audio_filepath: `${k % 5}.wav`,
            ...(segments === undefined ? {} : { segments }),
          }));
          await withPlan(
            rows,
            async ({ plan }) => {
              const { metrics, rows: output } = await dryRun(plan);
              checkBalance(metrics as Written, plan);
              expect(output).toHaveLength(plan.snippetCount);
              for (const { duration, segments } of output as {
                duration: number;
                segments: { start: number; end: number }[];
              }[]) {
                for (const { start, end } of segments) expect(0 <= start && start <= end && end <= duration).toBe(true);
              }
            },
            { maxSegmentGapSeconds, onClash: 'suffix' },
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  it('holds whatever comes of the snippets', async () => {
    const fates = fc.array(fc.nat(4), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 8 }), fates, async (list, fate) => {
        const rows = list.map(([id, segments], k) => ({ id, audio_filepath: `${k}.wav`, segments }));
        await withPlan(
          rows,
          async ({ plan }) => {
            const metrics = new CutMetrics(plan);
            let k = 0;
            for await (const { recording, snippet } of plan.membersInOrder()) {
              const { segmentCount } = snippet;
              const lost = fate[k % fate.length] ?? 0;
              k += 1;
              if (lost === 1) metrics.addFailedSnippet(recording.index, 'unreadable', segmentCount);
              else if (lost === 2) metrics.addDropped(recording.index, 'past_end', segmentCount, true);
              else {
                const past = lost === 3 ? segmentCount - 1 : 0;
                if (past > 0) metrics.addDropped(recording.index, 'past_end', past, false);
                metrics.addSnippet(recording.index, {
                  segmentCount: segmentCount - past,
                  durationSeconds: 1,
                  clippedSamples: 0,
                });
              }
            }
            checkBalance(await write(metrics), plan);
          },
          { onClash: 'suffix' },
        );
      }),
      { numRuns: 100 },
    );
  });
});
