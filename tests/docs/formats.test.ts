import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';
import { formatNameTime } from '#cutroom/cut/snippet-name.js';
import { ROOT, readDocument } from './markdown.js';
import { listSessions, testSession } from './sessions.js';
import { listFields, listLiterals, listLiteralsOf, listSnakeCase } from './source-fields.js';

type Json = Record<string, unknown>;

const formats = readDocument('docs/formats.md');

/** Those of the names that stand nowhere in the document as code. */
function findMissing(names: Iterable<string>): string[] {
  return [...new Set(names)].filter((name) => !formats.includes(`\`${name}\``));
}

let folder: string;
let source: Json;
let rows: Json[];
let metrics: Json;
let failures: Json[];

/** Cuts the sample beside rows and segments of which each is bad in another way. */
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-formats-'));
  cpSync(path.join(ROOT, 'samples/conversation.opus'), path.join(folder, 'conversation.opus'));
  const sample = readFileSync(path.join(ROOT, 'samples/conversation.jsonl'), 'utf8');
  source = JSON.parse(sample) as Json;
  const badSegments = [{ start: 1, end: 0, text: 'a' }, 5, { start: 2, end: 4, text: 5, words: ['b'] }];
  const lost = { id: 'lost', audio_filepath: 'lost.wav', segments: [...badSegments, { start: 5, end: 8, text: 'c' }] };
  const inputManifest = path.join(folder, 'in.jsonl');
  writeFileSync(inputManifest, `${sample}${JSON.stringify(lost)}\n{"id":\n`);
  const outputDir = path.join(folder, 'out');
  const result = await cut({ inputManifest, audioDir: folder, outputDir, maxDurationSeconds: 30, jobs: 1 });
  expect(result.kind).toBe('cut');
  const read = (name: string): Json[] =>
    readFileSync(path.join(outputDir, name), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Json);
  rows = read('snippets.jsonl');
  failures = read('failures.jsonl');
  metrics = JSON.parse(readFileSync(path.join(outputDir, 'metrics.json'), 'utf8')) as Json;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('docs/formats.md has every name that a run writes', () => {
  it('in the metrics', () => {
    const parts = [
      metrics,
      metrics['options'],
      metrics['dropped'],
      metrics['skipped_rows'],
      metrics['failed_snippets'],
    ];
    const names = [...parts, ...(metrics['per_original'] as Json[])].flatMap((part) => Object.keys(part as Json));
    expect(names).toContain('failed_snippets');
    expect(names).toContain('bad_times');
    expect(findMissing(names)).toEqual([]);
    // Some are written only by runs that were salvaged.
    const written = listSnakeCase('cut/metrics-writer.ts');
    expect(written).toContain('unfinished_snippets');
    expect(findMissing(written)).toEqual([]);
    const figures = listFields('cut/shard-tally.ts', 'ShardFigures');
    expect(figures).toContain('snippets');
    expect(findMissing(figures)).toEqual([]);
  });

  it('in the summary', () => {
    const names = listSnakeCase('cli/cut-summary.ts');
    expect(names).toContain('empty_shards');
    expect(findMissing(names)).toEqual([]);
  });

  it('in the rows: each field that is not passed through', () => {
    const changed = rows.flatMap((row) =>
      [...new Set([...Object.keys(row), ...Object.keys(source)])].filter(
        (key) => JSON.stringify(row[key]) !== JSON.stringify(source[key]),
      ),
    );
    expect(changed).toContain('snippet_id');
    expect(changed).toContain('audio_size');
    expect(findMissing(changed)).toEqual([]);
  });

  it('in the failures', () => {
    expect(new Set(failures.map(({ kind }) => kind))).toEqual(new Set(['row', 'segment', 'snippet']));
    expect(findMissing(failures.flatMap((failure) => Object.keys(failure)))).toEqual([]);
    expect(findMissing(listFields('cut/types.ts', 'FailureRecord'))).toEqual([]);
  });

  it('in the work folder', () => {
    const names = [
      ...listFields('cut/part.ts', 'SnippetEntry'),
      ...listFields('cut/part.ts', 'AttemptEnd'),
      ...listFields('cut/run-journal.ts', 'RecordingOutcome'),
      ...listFields('cut/run-journal.ts', 'Checkpoint'),
      ...listFields('cut/run-journal.ts', 'ShardSizes'),
      ...listFields('run/lock-holder.ts', 'LockHolder'),
      ...listFields('cut/identity.ts', 'RunIdentity'),
    ];
    expect(findMissing(names)).toEqual([]);
    for (const [file, one] of [
      ['cut/run-journal.ts', 'checkpoint'],
      ['cut/part.ts', 'snippet'],
    ] as const) {
      const kinds = listLiteralsOf(file, 'kind');
      expect(kinds).toContain(one);
      expect(findMissing(kinds)).toEqual([]);
    }
    expect(existsSync(path.join(folder, 'out/.cutroom-cut'))).toBe(false);
  });
});

describe('docs/formats.md has every reason', () => {
  it.each([
    ['of skipped rows', listLiterals('cut/types.ts', 'SkipReason'), 'missing_id'],
    ['of dropped segments', listLiterals('cut/types.ts', 'DropReason'), 'past_end'],
    ['of recordings that cannot be read', listLiterals('audio/audio-error.ts', 'AudioFailure'), 'not_audio'],
    ['of decoder processes', listLiteralsOf('cut/recording-extractor.ts', 'reason'), 'decoder_hung'],
    ['of recordings that cannot be cut', listLiteralsOf('cut/extract.ts', 'reason'), 'decoder_failed'],
    ['of bad segments', listLiteralsOf('cut/segments.ts', 'reason'), 'bad_text'],
  ])('%s', (_, reasons, oneOfThem) => {
    expect(reasons).toContain(oneOfThem);
    expect(findMissing(reasons)).toEqual([]);
  });
});

describe('the sums that docs/formats.md names', () => {
  const sum = (counts: unknown): number => Object.values(counts as Record<string, number>).reduce((a, b) => a + b, 0);

  it('balance', () => {
    const { num_input_audios, num_output_snippets, input_total_segments, output_total_segments } = metrics;
    expect(3).toBe((num_input_audios as number) + sum(metrics['skipped_rows']));
    expect(input_total_segments).toBe(
      (output_total_segments as number) + sum(metrics['dropped_segments']) + (metrics['failed_segments'] as number),
    );
    expect([rows.length, sum(metrics['snippet_duration_histogram_30s'])]).toEqual([
      num_output_snippets,
      num_output_snippets,
    ]);
    const badSegments = failures.filter(({ kind }) => kind === 'segment').length;
    expect(failures.length).toBe(sum(metrics['skipped_rows']) + sum(metrics['failed_snippets']) + badSegments);
    for (const [reason, count] of Object.entries(metrics['dropped'] as Json)) {
      const entries = metrics['per_original'] as { dropped: Record<string, number> }[];
      expect(entries.reduce((total, { dropped }) => total + (dropped[reason] ?? 0), 0)).toBe(count);
    }
  });
});

describe('the session of docs/formats.md', () => {
  testSession(listSessions('docs/formats.md'));
});

describe('the table of names in docs/formats.md', () => {
  const lines = [...formats.matchAll(/^\| (-?[\d.]+) +\| `(-?\d+_\d{3})` +\|/gmu)];

  it('is there', () => expect(lines.length).toBeGreaterThan(10));

  it.each(lines.map(([, time, name]) => [time, name]))('%s is %s', (time, name) => {
    expect(formatNameTime(Number(time))).toBe(name);
  });
});
