import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { PlanSettings } from '#cutroom/cut/types.js';
import { loadTokenizer, type Tokenizer } from '#cutroom/text/tokenizer.js';
import { dryRun, makeSettings, SHARED, withPlanOf, type DryRunOutput } from './plan-manifest.js';

const GOLDEN = path.join(SHARED, 'data/curator-golden');
const SAMPLE = path.join(SHARED, 'data/long_form_manifest_sample.jsonl');
const isAbsent = !existsSync(GOLDEN);
const ABSENT = isAbsent ? ' (skipped: ../shared is absent)' : '';

type Json = Record<string, unknown>;
type Limits = [max: number, min: number, gap: number];

function limit([maxDurationSeconds, minDurationSeconds, maxSegmentGapSeconds]: Limits): Partial<PlanSettings> {
  return { maxDurationSeconds, minDurationSeconds, maxSegmentGapSeconds, minOverlapSeconds: 0.5 };
}

const CONFIGURATIONS: Record<string, Partial<PlanSettings>> = {
  '30': { ...limit([30, 0.5, 30]), ngramN: 10, ngramMaxCount: 3 },
  '15-2-.5': { ...limit([15, 0.5, 2]), ngramN: 10, ngramMaxCount: 3 },
  '30-5': { ...limit([30, 2, 5]), ngramN: 3, ngramMaxCount: 2 },
  '900': { ...limit([900, 0.5, 30]), ngramN: 10, ngramMaxCount: 3 },
};

/**
 * Where we differ on purpose: numbers by float noise. The reference subtracts doubles (20.317500000000003), we whole microseconds
 * (20.3175), so a time may differ by the half microsecond it is rounded by, twice, and noise beside it.
 */
const NOISE_SECONDS = 1.001e-6;

/** How many numbers of each configuration differ so. Those of the generated manifest are exact in both. */
const NOISY_NUMBERS: Record<string, number> = {
  'manifest/30': 0,
  'manifest/15-2-.5': 0,
  'manifest/30-5': 0,
  'manifest/900': 0,
  'long_form_manifest_sample/30': 11_526,
  'long_form_manifest_sample/15-2-.5': 9851,
  'long_form_manifest_sample/30-5': 6305,
  'long_form_manifest_sample/900': 13_598,
};

describe.skipIf(isAbsent)(`dry runs against those of NeMo Curator${ABSENT}`, () => {
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    tokenizer = await loadTokenizer({ path: path.join(GOLDEN, 'tokenizer'), environment: {}, homeDir: '/nowhere' });
  });

  it.each(Object.keys(NOISY_NUMBERS))('%s: every row and every metric', async (name) => {
    const [manifest = '', configuration = ''] = name.split('/');
    const inputManifest = manifest === 'manifest' ? path.join(GOLDEN, 'manifest.jsonl') : SAMPLE;
    const settings = makeSettings({ inputManifest, ...CONFIGURATIONS[configuration] });
    const { rows, metrics } = await withPlanOf(
      settings,
      async ({ plan, failures }): Promise<DryRunOutput> => {
        expect(failures).toEqual([]);
        return dryRun(plan);
      },
      { tokenizer },
    );
    const folder = path.join(GOLDEN, 'expected', name);
    const expectedRows = gunzipSync(readFileSync(path.join(folder, 'snippets.jsonl.gz')))
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Json);
    const expectedMetrics = JSON.parse(readFileSync(path.join(folder, 'metrics.json'), 'utf8')) as Json;
    const comparison = new Comparison();
    const byName = indexBy(rows, 'snippet_id');
    expect(rows).toHaveLength(expectedRows.length);
    for (const row of expectedRows) {
      const ours = byName.get(row['snippet_id']);
      comparison.compare(row, ours, String(row['snippet_id']));
      // Keys in the same order, too.
      expect(Object.keys(ours ?? {})).toEqual(Object.keys(row));
    }
    for (const [key, value] of Object.entries(expectedMetrics)) {
      if (key === 'per_original' || key === 'dropped_repetition_examples') continue;
      expect([key, metrics[key]]).toEqual([key, value]);
    }
    const examples = (of: Json): string[] => (of['dropped_repetition_examples'] as string[]).toSorted();
    expect(examples(metrics)).toEqual(examples(expectedMetrics));
    const entries = expectedMetrics['per_original'] as Json[];
    const ourEntries = indexBy(metrics['per_original'] as Json[], 'id');
    expect(ourEntries.size).toBe(entries.length);
    for (const entry of entries) comparison.compare(entry, ourEntries.get(entry['id']), String(entry['id']));
    expect(comparison.differences).toEqual([]);
    expect(comparison.noisy).toBe(NOISY_NUMBERS[name]);
  });
});

function indexBy(list: readonly Json[], key: string): Map<unknown, Json> {
  return new Map(list.map((entry) => [entry[key], entry]));
}

/** Compares values of JSON, telling float noise from differences. */
class Comparison {
  noisy = 0;
  readonly differences: string[] = [];

  compare(theirs: unknown, ours: unknown, place: string): void {
    if (typeof theirs === 'object' && theirs !== null && typeof ours === 'object' && ours !== null) {
      const [a, b] = [theirs as Json, ours as Json];
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
        this.compare(a[key], b[key], `${place}.${key}`);
    } else if (typeof theirs === 'number' && typeof ours === 'number' && theirs !== ours) {
      if (Math.abs(theirs - ours) <= NOISE_SECONDS) this.noisy += 1;
      else this.differences.push(`${place}: ${theirs} there, ${ours} here`);
    } else if (theirs !== ours) {
      this.differences.push(`${place}: ${JSON.stringify(theirs)} there, ${JSON.stringify(ours)} here`);
    }
  }
}

describe.skipIf(isAbsent)(`the public sample without the repetition filter${ABSENT}`, () => {
  it.each<[Limits, snippets: number, segments: number, seconds: number, tooLong: number, tooShort: number]>([
    [[30, 0.5, 30], 104, 353, 2356.054, 11, 0],
    [[30, 2, 5], 108, 350, 2210.541, 11, 3],
    [[15, 0.5, 2], 184, 334, 1699.431, 30, 0],
    [[600, 0.5, 30], 11, 364, 3081.645, 0, 0],
    [[900, 0.5, 30], 11, 364, 3081.932, 0, 0],
  ])(
    "with limits %j s gives the figures that its authors' functions give",
    async (limits, snippets, segments, seconds, tooLong, tooShort) => {
      const settings = makeSettings({ inputManifest: SAMPLE, repetitionFilter: false, ...limit(limits) });
      await withPlanOf(settings, async ({ plan, failures }) => {
        const { metrics } = await dryRun(plan);
        expect(failures).toEqual([]);
        expect(metrics).toMatchObject({
          num_input_audios: 10,
          num_output_snippets: snippets,
          input_total_segments: 373,
          input_total_duration_sec: 3085.087,
          output_total_segments: segments,
          output_total_duration_sec: seconds,
          dropped: { empty: 9, overlap: 0, too_long: tooLong, too_short: tooShort, no_text: 0, repetition: 0 },
        });
        if (limits[0] !== 30 || limits[1] !== 0.5) return;
        const perSource = Array.from({ length: 10 }, (_, index) => plan.summary(index).snippetCount);
        expect(perSource).toEqual([21, 7, 7, 7, 2, 4, 16, 8, 13, 19]);
        const names = (await plan.recording(0)).snippets.slice(0, 3).map(({ snippetId }) => snippetId);
        expect(names).toEqual(['rec-00-11_708-32_026', 'rec-00-32_650-47_281', 'rec-00-85_908-109_583']);
      });
    },
  );
});
