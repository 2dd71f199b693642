import { describe, expect, it } from 'vitest';
import { resolvePlanOptions } from '#cutroom/build/options.js';
import { resolveCutOptions } from '#cutroom/cut/options.js';
import { resolveLoaderOptions } from '#cutroom/load/loader-options.js';
import { settlePlanOptions } from '#cutroom/load/plan-settings.js';
import { resolveTarOptions } from '#cutroom/tarred/options.js';
import { listExamples, readDocument } from './markdown.js';
import { listFields } from './source-fields.js';

const library = readDocument('docs/library.md');
const examples = listExamples(library).filter(({ language }) => language === 'js');

describe('the examples of docs/library.md', () => {
  it('show each function and each error', () => {
    const code = examples.map((example) => example.code).join('\n');
    for (const name of [
      ...['cut(', 'planCut(', 'build(', 'planBuild(', 'tarDataset(', 'check(', 'generateList('],
      ...['createWindowedDataset(', 'createBalancedDataset(', 'createAudioDataset('],
      ...['scan(', 'openScan(', 'openLufsCache(', 'planSample(', 'exportExcerpts('],
      ...['createLoader(', 'readLoaderConfig(', 'searchBatchSizes('],
      ...['makePlan(', 'runTask(', 'runLeft(', 'readStatus(', 'finishPlan('],
      ...['onProgress', 'CanceledError', 'CutroomError'],
    ])
      expect(code).toContain(name);
  });
});

/** The row of a table whose first cell names `name`. */
function findRow(name: string, section = library): string[] | undefined {
  const row = section.split('\n').find((line) => line.startsWith(`| \`${name}\``));
  return row
    ?.split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** Defaults that are no value, or hang on the machine. */
const WORDED_DEFAULTS =
  /^(?:needed|none|one a core|one tar|see |built-in words|the Hugging Face cache|`[a-z]+\.jsonl?` in|`\w+\.tar` in)/u;

describe('the tables of docs/library.md', () => {
  it('have every option with the default that it gets', () => {
    const fields = [...listFields('cut/options.ts', 'CutOptions'), ...listFields('cut/sharding.ts', 'ShardingOptions')];
    expect(fields).toContain('hoursPerShard');
    expect(fields.length).toBeGreaterThan(25);
    const needed = { inputManifest: 'in.jsonl', outputDir: '/out', maxDurationSeconds: 30 };
    const { settings, outputs, tokenizer, ...others } = resolveCutOptions(needed);
    const given: Record<string, unknown> = { ...settings, ...outputs, ...tokenizer, ...others };
    for (const field of fields) {
      const [, , shown] = findRow(field) ?? [];
      expect(shown, field).toBeDefined();
      const [, literal] = /^`([^`]*)`$/u.exec(shown ?? '') ?? [];
      if (literal === '{ count: 0 }') expect(given[field]).toEqual({ count: 0 });
      else if (literal !== undefined) expect(JSON.stringify(given[field])).toBe(literal.replaceAll("'", '"'));
      else if (/^[\d.]+$/u.test(shown ?? '')) expect(given[field]).toBe(Number(shown));
      else expect(shown).toMatch(WORDED_DEFAULTS);
    }
  });

  it('have the defaults that createLoader() gives its options', () => {
    const section = library.slice(library.indexOf('### `createLoader(')).split('\n### ', 1)[0] ?? '';
    const options = { source: 'data.lst', batchSize: 1 };
    const given: Record<string, unknown> = {
      ...settlePlanOptions({ ...options, worldSize: 1 }),
      ...resolveLoaderOptions(options),
    };
    let compared = 0;
    for (const [field, value] of Object.entries(given)) {
      const shown = findRow(field, section)?.[2]?.replaceAll(/[`']/gu, '').split(':')[0];
      if (shown === undefined || !['boolean', 'number', 'string'].includes(typeof value)) continue;
      if (['jobs', 'batchSize', 'rank', 'worker'].includes(field) || value === Number.POSITIVE_INFINITY) continue;
      if (field === 'tokenBuckets') continue;
      expect(`${field} ${shown}`).toBe(`${field} ${JSON.stringify(value).replaceAll('"', '')}`);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(12);
  });

  it.each<[string, object]>([
    ['build', resolvePlanOptions({ outputDir: 'out', numTars: 1, format: 'mp3' })],
    ['tarDataset', resolveTarOptions({ manifestPaths: ['in.json'], numShards: 1 })],
  ])('have the defaults that %s() gives its options', (name, given) => {
    const section = library.slice(library.indexOf(`## \`${name}(`)).split('\n## ', 1)[0] ?? '';
    let compared = 0;
    for (const [field, value] of Object.entries(given)) {
      const shown = findRow(field, section)?.[2]?.replaceAll(/[`']/gu, '');
      if (shown === undefined || !['boolean', 'number', 'string'].includes(typeof value)) continue;
      if (typeof value === 'string' && (value.startsWith('/') || field === 'tarPrefix' || field === 'format')) continue;
      if (['jobs', 'numShards'].includes(field)) continue;
      expect(`${field} ${shown}`).toBe(`${field} ${String(value)}`);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(6);
  });

  it.each([
    ['CutContext', 'cut/cut.ts'],
    ['ShardFigures', 'cut/shard-tally.ts'],
    ['BuildOptions', 'build/options.ts'],
    ['BuildOutputs', 'build/options.ts'],
    ['BuildContext', 'build/build.ts'],
    ['BuildResult', 'build/build.ts'],
    ['BuildSummary', 'build/build-summary.ts'],
    ['TarOptions', 'tarred/options.ts'],
    ['TarContext', 'tarred/context.ts'],
    ['TarResult', 'tarred/tar-dataset.ts'],
    ['TarSummary', 'tarred/summary.ts'],
    ['DatasetSummary', 'tarred/summary.ts'],
    ['IndexSummary', 'tarred/summary.ts'],
    ['CheckOptions', 'check/check.ts'],
    ['CheckListener', 'check/check.ts'],
    ['CheckResult', 'check/check.ts'],
    ['PathResult', 'check/check.ts'],
    ['Finding', 'check/finding.ts'],
    ['FindingGroup', 'check/finding.ts'],
    ['CheckProgress', 'check/finding.ts'],
    ['RankReport', 'check/finding.ts'],
    ['FixedCopy', 'check/fix-manifest.ts'],
    ['CutResult', 'cut/cut.ts'],
    ['CutSummary', 'cut/summary.ts'],
    ['CutOutputs', 'cut/options.ts'],
    ['PlannedSnippet', 'cut/types.ts'],
    ['GenerateListOptions', 'build/list-options.ts'],
    ['GenerateListContext', 'build/generate-list.ts'],
    ['GenerateListResult', 'build/generate-list.ts'],
    ['ListProgress', 'build/generate-list.ts'],
    ['FileOptions', 'sample/sampled-files.ts'],
    ['SlotOptions', 'sample/slots.ts'],
    ['WindowedPlanOptions', 'sample/windowed-plan.ts'],
    ['LoudnessOptions', 'sample/windowed-dataset.ts'],
    ['LoudnessReport', 'sample/windowed-dataset.ts'],
    ['WindowDescription', 'sample/windowed-dataset.ts'],
    ['PlannedWindow', 'sample/windowed-plan.ts'],
    ['PlanSeeds', 'sample/windowed-plan.ts'],
    ['OutputOptions', 'sample/excerpt-dataset.ts'],
    ['IterateOptions', 'sample/excerpt-iterator.ts'],
    ['Excerpt', 'sample/excerpt.ts'],
    ['ReadErrorOptions', 'sample/read-error.ts'],
    ['WindowConfig', 'sample/balanced-dataset.ts'],
    ['BalancedDatasetOptions', 'sample/balanced-dataset.ts'],
    ['BalancedDescription', 'sample/balanced-dataset.ts'],
    ['AudioDatasetOptions', 'sample/audio-dataset.ts'],
    ['AudioDescription', 'sample/audio-dataset.ts'],
    ['ScanOptions', 'sample/scan-options.ts'],
    ['ScanContext', 'sample/scan.ts'],
    ['ScanResult', 'sample/scan.ts'],
    ['ScanSummary', 'sample/scan-metrics.ts'],
    ['ScannedFile', 'sample/scan-types.ts'],
    ['FileFacts', 'sample/scan-types.ts'],
    ['FileLoudness', 'sample/scan-types.ts'],
    ['ScanFailure', 'sample/scan-types.ts'],
    ['SampleOptions', 'sample/sample-options.ts'],
    ['SampleContext', 'sample/sample-options.ts'],
    ['SampleFigures', 'sample/sample-figures.ts'],
    ['GroupFigures', 'sample/sample-figures.ts'],
    ['PlannedSample', 'sample/plan-sample.ts'],
    ['ExportOptions', 'sample/export-options.ts'],
    ['ExportOutputs', 'sample/export-options.ts'],
    ['ExportContext', 'sample/export-excerpts.ts'],
    ['ExportResult', 'sample/export-excerpts.ts'],
    ['ExportSummary', 'sample/export-finish.ts'],
    ['LoaderOptions', 'load/loader-options.ts'],
    ['LoaderWarning', 'load/loader-options.ts'],
    ['PlanOptions', 'load/batch-options.ts'],
    ['BatchLimits', 'load/batch-options.ts'],
    ['BucketOptions', 'load/batch-options.ts'],
    ['RowFilters', 'load/item-table.ts'],
    ['AugmentOptions', 'load/augment-options.ts'],
    ['VolumeOptions', 'load/augment-options.ts'],
    ['NoiseOptions', 'load/augment-options.ts'],
    ['Batch', 'load/batch.ts'],
    ['AppliedAugmentation', 'load/batch.ts'],
    ['ItemFailure', 'load/batch.ts'],
    ['LoaderFailures', 'load/failure-log.ts'],
    ['LoaderState', 'load/epoch-plan.ts'],
    ['PlanReport', 'load/epoch-plan.ts'],
    ['BucketReport', 'load/epoch-plan.ts'],
    ['SourceProgress', 'load/open-sources.ts'],
    ['LoaderConfig', 'load/parse-config.ts'],
    ['ConfigOptions', 'load/config-options.ts'],
    ['IgnoredKey', 'load/config-options.ts'],
    ['ParseConfigOptions', 'load/parse-config.ts'],
    ['BatchSizeSearchOptions', 'load/oom-search.ts'],
    ['FoundBatchSize', 'load/oom-search.ts'],
  ])('have every field of %s', (name, file) => {
    const fields = listFields(file, name);
    expect(fields).not.toEqual([]);
    expect(fields.filter((field) => !library.includes(`\`${field}\``))).toEqual([]);
  });

  it('have every stage of progress', () => {
    const source = readDocument('src/shard/progress.ts');
    const names = [...source.matchAll(/\bstage: ('\w+')|\b(\w+): number/gu)].map(([, stage, field]) => stage ?? field);
    expect(names).toContain('resumedItems');
    expect(names.filter((name) => !library.includes(`\`${name}\``))).toEqual([]);
  });
});
