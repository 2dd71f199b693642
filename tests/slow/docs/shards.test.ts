import { describe, expect, it } from 'vitest';
import { FIELD_NAMES } from '#cutroom/shard/utterance-row.js';
import { describePlanOptions, resolvePlanOptions } from '#cutroom/build/options.js';
import { PLAN_FORMAT } from '#cutroom/shard/plan.js';
import { INDEX_KINDS } from '#cutroom/shard/write-indexes.js';
import { formatMetadata } from '#cutroom/tarred/metadata.js';
import { flattenPath, spanSuffix } from '#cutroom/tarred/member-names.js';
import { flattenId, idOfPath } from '#cutroom/shard/member-id.js';
import { parse } from 'yaml';
import { readDocument } from '../../docs/markdown.js';
import { listSessions, testSession } from '../../docs/sessions.js';
import { listFields, listFolder, listLiterals, listLiteralsOf, listSnakeCase } from '../../docs/source-fields.js';

const shards = readDocument('docs/shards.md');

/** Those of the names that stand nowhere in the document as code. */
function findMissing(names: Iterable<string>): string[] {
  return [...new Set(names)].filter((name) => !shards.includes(`\`${name}\``));
}

describe('docs/shards.md has every name', () => {
  it.each<[string, string[], string]>([
    ['of the input', Object.values(FIELD_NAMES).flat(), 'audio_filepath'],
    ['of a plan', ['format', ...listFields('shard/plan.ts', 'PlanHeader')], 'facts'],
    ['of an item', listFields('shard/plan.ts', 'PlannedItem'), 'inside'],
    ['of a shard in a plan', listFields('shard/plan.ts', 'PlannedShard'), 'micros'],
    ['of the ways to make a member', listLiteralsOf('shard/plan.ts', 'how'), 'share'],
    ['of failures', listFields('shard/plan.ts', 'PackFailure'), 'shard'],
    ['of kinds of failures', listLiteralsOf('shard/plan.ts', 'kind'), 'dropped'],
    ['of outcomes', listFields('shard/outcome.ts', 'ShardOutcome'), 'durationMicros'],
    ['of the metrics of build', listSnakeCase('build/finish.ts'), 'flattened_ids'],
    ['of the metrics of tar', listSnakeCase('tarred/metrics.ts'), 'first_shard'],
    ['of the journal of a shard', listLiteralsOf('shard/shard-journal.ts', 'kind'), 'checkpoint'],
    ['of checkpoints', [...listFields('shard/shard-journal.ts', 'ShardCheckpoint'), 'found'], 'items'],
    ['of the summary of build', listSnakeCase('cli/build-summary.ts'), 'within_max_failures'],
    ['of the summary of tar', listSnakeCase('cli/tar-summary.ts'), 'within_max_failures'],
    ['of the summary of gen-lst', listSnakeCase('cli/gen-lst-summary.ts'), 'shards_left_out'],
    ['of the ends of build', listLiteralsOf('build/build.ts', 'kind'), 'already_done'],
    ['of the ends of tar', listLiteralsOf('tarred/tar-dataset.ts', 'kind'), 'manifests'],
    ['of the indexes', [...INDEX_KINDS], 'lhotse'],
  ])('%s', (_, names, oneOfThem) => {
    expect(names).toContain(oneOfThem);
    expect(findMissing(names)).toEqual([]);
  });

  it('of the metadata', () => {
    const text = formatMetadata(
      {
        ...{ version: 0, samplesPerShard: 1, isConcatenated: false, numShards: 1, shuffle: false, history: [] },
        ...{
          maxDurationSeconds: 1,
          minDurationSeconds: 1,
          shuffleSeed: 1,
          sortInShards: false,
          sliceWithOffset: false,
        },
        ...{ shardManifests: true, keepFilesTogether: false, forceCodec: 'flac', forceSamplingRate: 16_000 },
        bucketing: { numBuckets: 1, binsSeconds: [] },
      },
      '',
    );
    const metadata = parse(text) as Record<string, object>;
    const names = [...Object.keys(metadata), ...Object.keys(metadata['dataset_config'] ?? {})];
    expect(names).toContain('bucket_duration_bins');
    expect(findMissing(names)).toEqual([]);
  });
});

const UTTERANCES = ['csv-records.ts', 'field-rows.ts', 'object-rows.ts', 'span-fields.ts'];

describe('docs/shards.md has every reason', () => {
  it.each<[string, string[], string]>([
    ['of rows of build', listFolder('build').flatMap((file) => listLiteralsOf(file, 'reason')), 'empty_id'],
    ['of utterances', UTTERANCES.flatMap((file) => listLiteralsOf(`shard/${file}`, 'reason')), 'bad_extras'],
    ['of rows of tar', listLiterals('tarred/row-facts.ts', 'RowRefusal'), 'several_files'],
    ['of files of tar', listFolder('tarred').flatMap((file) => listLiteralsOf(file, 'reason')), 'unreadable_recording'],
    ['of lines', listLiteralsOf('manifest/row-line.ts', 'reason'), 'invalid_json'],
    ['of packed input', listLiterals('shard/packed-problem.ts', 'PackedProblem'), 'bad_shard_id'],
    ['of members', listLiterals('shard/item-fault.ts', 'ItemFaultReason'), 'changed_tar'],
    ['of audio', listLiterals('audio/audio-error.ts', 'AudioFailure'), 'bad_channel'],
    ['of encoders', listLiterals('audio/audio-error.ts', 'EncodeFailure'), 'unsupported_rate'],
    ['of problems with shards', listLiterals('shard/shard-problem.ts', 'ShardProblemKind'), 'split_sample'],
  ])('%s', (_, reasons, oneOfThem) => {
    expect(reasons).toContain(oneOfThem);
    expect(findMissing(reasons)).toEqual([]);
  });
});

describe('the examples of docs/shards.md', () => {
  it('of ids are what comes of them', () => {
    for (const [given, flat] of [...shards.matchAll(/`([^`]+)` → `([^`]+)`/gu)].map((found) => found.slice(1)))
      expect(flattenId(given ?? '')).toBe(flat);
    expect(idOfPath({ path: 'de/a.b.wav', span: undefined })).toBe('de_a_b');
    expect(idOfPath({ path: 'de/a.b.wav', span: { start: 1_500_000, end: 3_000_000 } })).toBe('de_a_b-1500-3000');
    expect(findMissing(['de_a_b', 'de_a_b-1500-3000'])).toEqual([]);
  });

  it('of names of NeMo are what comes of them', () => {
    const { stem, extension } = flattenPath('/data/d.1/a.wav');
    const names = [stem + extension, `a${spanSuffix(12, 3.5)}.wav`, `a${spanSuffix(12, Number.NaN)}.wav`];
    names.push(`${flattenPath('x-sub1.wav').stem}.wav`);
    expect(findMissing(names)).toEqual([]);
  });

  it('of a plan say the format and the options of today', () => {
    expect(findMissing([PLAN_FORMAT])).toEqual([]);
    const options = describePlanOptions(resolvePlanOptions({ outputDir: 'out', numTars: 1 }));
    expect(Object.keys(options)).toContain('on-bad-id');
  });

  testSession(listSessions('docs/shards.md'));
});
