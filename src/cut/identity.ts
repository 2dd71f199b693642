import type { ResolvedCutOptions } from './options.js';

/** Everything that decides the bytes of a run's outputs. Two runs with the same identity give the same. */
export interface RunIdentity {
  cutroom_version: string;
  /** The CPU architecture: codecs may round differently on another one. */
  audio_architecture: string;
  input_sha256: string;
  plan_hash: string;
  options: Readonly<Record<string, string | number | boolean | null>>;
}

/** The options that decide the outputs, by the names of the metrics file; no secret, no path of an output. */
export function describeOptions(
  {
    settings,
    sharding,
    channel,
    datasetName,
  }: Pick<ResolvedCutOptions, 'settings' | 'sharding' | 'channel' | 'datasetName'>,
  tokenizerFingerprint: string | undefined,
): RunIdentity['options'] {
  const isFiltering = settings.repetitionFilter;
  return {
    audio_dir: settings.audioPathResolution === 'as_is' ? null : (settings.audioDir ?? null),
    audio_filepath_key: settings.audioFilepathKey,
    audio_path_resolution: settings.audioPathResolution,
    max_duration_sec: settings.maxDurationSeconds,
    min_duration_sec: settings.minDurationSeconds,
    min_overlap_sec: settings.minOverlapSeconds,
    max_segment_gap_in_snippet: settings.maxSegmentGapSeconds,
    repetition_filter: isFiltering,
    tokenizer: isFiltering ? (tokenizerFingerprint ?? null) : null,
    ngram_n: isFiltering ? settings.ngramN : null,
    ngram_max_count: isFiltering ? settings.ngramMaxCount : null,
    target_sample_rate: settings.targetSampleRate,
    output_format: settings.outputFormat,
    channel,
    on_clash: settings.onClash,
    dataset_name: datasetName,
    ...(sharding === undefined ? {} : { [SHARDING_NAMES[sharding.by]]: sharding.value }),
  };
}

const SHARDING_NAMES = { count: 'num_shards', snippets: 'snippets_per_shard', hours: 'hours_per_shard' } as const;

/** What differs between two runs, in words: `max_duration_sec 30, now 20`. Empty when nothing does. */
export function listDifferences(before: Partial<RunIdentity>, now: RunIdentity): string[] {
  const differences: string[] = [];
  const compare = (name: string, a: unknown, b: unknown): void => {
    if (a !== b) differences.push(`${name} was ${spell(a)}, now ${spell(b)}`);
  };
  const optionNames = new Set([...Object.keys(now.options), ...Object.keys(before.options ?? {})]);
  for (const name of optionNames) compare(name, before.options?.[name], now.options[name]);
  if (before.input_sha256 !== now.input_sha256) differences.push('the input manifest has another content');
  compare('cutroom_version', before.cutroom_version, now.cutroom_version);
  compare('audio_architecture', before.audio_architecture, now.audio_architecture);
  if (differences.length === 0 && before.plan_hash !== now.plan_hash) differences.push('the plan is another one');
  return differences;
}

function spell(value: unknown): string {
  return value === undefined ? 'unset' : JSON.stringify(value);
}
