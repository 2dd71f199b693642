// Functions load what they need when they are first called: loading all of it takes longer than the first batch of a loader.
/** Writes the list that a loader reads of shards that are there. */
export const generateList: typeof import('./build/generate-list.js').generateList = async (...given) =>
  await (await import('./build/generate-list.js')).generateList(...given);
export type { GenerateListContext, GenerateListResult, ListProgress } from './build/generate-list.js';
export type { GenerateListOptions } from './build/list-options.js';
export type { ShardProblem, ShardProblemCounts, ShardProblemKind } from './shard/shard-problem.js';
/** Packs recordings and manifests that are ready into shards. */
export const build: typeof import('./build/build.js').build = async (...given) =>
  await (await import('./build/build.js')).build(...given);
/** Decides what `build` would pack into which shard, and writes nothing else. */
export const planBuild: typeof import('./build/build.js').planBuild = async (...given) =>
  await (await import('./build/build.js')).planBuild(...given);
export type { BuildContext, BuildResult } from './build/build.js';
export type { BuildSummary, ShardExtent } from './build/build-summary.js';
export type { BuildFailureLimit, BuildOptions, BuildOutputs, InputFormat } from './build/options.js';
export { PlanFile } from './shard/plan-file.js';
export type { PackFailure, PlannedItem, PlannedShard, PlanHeader } from './shard/plan.js';
export type { OnPackProgress, PackProgress } from './shard/progress.js';
/** Reads a dataset again, and tells what is wrong with it. */
export const check: typeof import('./check/check.js').check = async (...given) =>
  await (await import('./check/check.js')).check(...given);
export type { CheckListener, CheckOptions, CheckResult, PathResult } from './check/check.js';
export type {
  CheckProgress,
  Finding,
  FindingGroup,
  RankLoader,
  RankReport,
  RankShare,
  ShardFacts,
} from './check/finding.js';
export type { PaddedShare, RankAnalysis } from './check/ranks.js';
export type { Change, ChangeGroup } from './check/fix-changes.js';
export type { FixedCopy } from './check/fix-manifest.js';
export type { PathKind } from './check/path-kind.js';
/** The engine that runs tasks on a cluster. */
export const loadEngine: typeof import('./cluster/engines.js').loadEngine = async (...given) =>
  await (await import('./cluster/engines.js')).loadEngine(...given);
export type { Engine, EngineJob, EngineName, EngineRecord } from './cluster/engine.js';
export type { EngineContext } from './cluster/engines.js';
/** Joins what the tasks of a plan left to what one run would have left. */
export const finishPlan: typeof import('./cluster/finish-plan.js').finishPlan = async (...given) =>
  await (await import('./cluster/finish-plan.js')).finishPlan(...given);
export type { FinishPlanOptions } from './cluster/finish-plan.js';
/** Has the tasks of a plan run by an engine. */
export const launch: typeof import('./cluster/launch.js').launch = async (...given) =>
  await (await import('./cluster/launch.js')).launch(...given);
export type { LaunchOptions, LaunchProgress, LaunchResult } from './cluster/launch.js';
/** Divides a run into tasks, in a folder of the plan. */
export const makePlan: typeof import('./cluster/make-plan.js').makePlan = async (...given) =>
  await (await import('./cluster/make-plan.js')).makePlan(...given);
export type { MakePlanOptions } from './cluster/make-plan.js';
/** Opens the folder of a plan. */
export const openPlanFolder: typeof import('./cluster/plan-folder.js').openPlanFolder = async (...given) =>
  await (await import('./cluster/plan-folder.js')).openPlanFolder(...given);
export type { PlanFolder, PlanRecord } from './cluster/plan-folder.js';
export { StatusReader } from './cluster/read-status.js';
/** How far the tasks of a plan are. */
export const readStatus: typeof import('./cluster/read-status.js').readStatus = async (...given) =>
  await (await import('./cluster/read-status.js')).readStatus(...given);
export type { PlanStatus, StatusOptions } from './cluster/read-status.js';
/** Runs the tasks of a plan that nobody has done, one after the other. */
export const runLeft: typeof import('./cluster/run-left.js').runLeft = async (...given) =>
  await (await import('./cluster/run-left.js')).runLeft(...given);
export type { RunLeftOptions, RunLeftResult, TaskEnd } from './cluster/run-left.js';
/** Runs one task of a plan. */
export const runTask: typeof import('./cluster/run-task.js').runTask = async (...given) =>
  await (await import('./cluster/run-task.js')).runTask(...given);
export type { RunTaskOptions, RunTaskResult } from './cluster/run-task.js';
export type { FinishResult, KindName } from './cluster/task-kind.js';
export type { TaskBeat, TaskFailure, TaskState } from './cluster/task-states.js';
export type { PathMapping } from './run/path-map.js';
export type { TaskDivision, TaskExtent, TaskOutcome, TaskProgress } from './run/task.js';
/** Cuts recordings into snippets, and packs these into shards. */
export const cut: typeof import('./cut/cut.js').cut = async (...given) =>
  await (await import('./cut/cut.js')).cut(...given);
/** Decides what `cut` would cut, and writes nothing else. */
export const planCut: typeof import('./cut/cut.js').planCut = async (...given) =>
  await (await import('./cut/cut.js')).planCut(...given);
export type { CutContext, CutResult } from './cut/cut.js';
export type { CutOptions, CutOutputs, FailureLimit } from './cut/options.js';
export type { CutPlan, PlannedMember, PlannedRecording, RecordingSummary } from './cut/cut-plan.js';
export type { CutProgress, OnCutProgress } from './cut/progress.js';
export type { CutSummary } from './cut/summary.js';
export type {
  AudioPathResolution,
  ChannelChoice,
  DropCounts,
  DropReason,
  FailureRecord,
  OutputFormat,
  PlannedSnippet,
  PlanSettings,
  SkipReason,
} from './cut/types.js';
/** Opens sources, and makes batches of them. */
export const createLoader: typeof import('./load/create-loader.js').createLoader = async (...given) =>
  await (await import('./load/create-loader.js')).createLoader(...given);
export type { AugmentOptions, NoiseOptions, VolumeOptions } from './load/augment-options.js';
export type { AppliedAugmentation, Batch, ItemFailure } from './load/batch.js';
export type { OnItemError } from './load/batch-maker.js';
export type { BatchLimits, BucketBins, BucketOptions, PlanOptions } from './load/batch-options.js';
export type { BucketReport, LoaderState, PlanReport } from './load/epoch-plan.js';
export type { LoaderFailures } from './load/failure-log.js';
export type { ItemTable, Leaf, RowFilters, TableLosses, TablePart } from './load/item-table.js';
export type { Loader } from './load/loader.js';
export type { LoaderOptions, LoaderWarning } from './load/loader-options.js';
export { searchBatchSizes } from './load/oom-search.js';
export type { BatchSizeSearchOptions, FoundBatchSize } from './load/oom-search.js';
export type { SourceProgress } from './load/open-sources.js';
/** Takes a configuration of a loader as NeMo has it. */
export const parseLoaderConfig: typeof import('./load/parse-config.js').parseLoaderConfig = async (...given) =>
  await (await import('./load/parse-config.js')).parseLoaderConfig(...given);
/** The same from a file. */
export const readLoaderConfig: typeof import('./load/parse-config.js').readLoaderConfig = async (...given) =>
  await (await import('./load/parse-config.js')).readLoaderConfig(...given);
export type { ConfigOptions, IgnoredKey, LoaderConfig, ParseConfigOptions } from './load/parse-config.js';
export type { GivenSource } from './load/source-spec.js';
export type {
  BucketedSource,
  ExcerptDataset,
  ExcerptsSource,
  GroupSource,
  LoadedExcerpt,
  NemoSource,
  NemoTarredSource,
  PathSource,
  SourceCommon,
  SourceSpec,
} from './load/sources.js';
/** Measures the recordings of folders. */
export const scan: typeof import('./sample/scan.js').scan = async (...given) =>
  await (await import('./sample/scan.js')).scan(...given);
export type { ScanContext, ScanProgress, ScanResult } from './sample/scan.js';
export type { ScanIdentity, ScanMetrics, ScanSummary } from './sample/scan-metrics.js';
export type { ScanOptions } from './sample/scan-options.js';
export type { FileFacts, FileLoudness, LoudnessSettings, ScanFailure, ScannedFile } from './sample/scan-types.js';
/** Opens what `scan` left. */
export const openScan: typeof import('./sample/read-scan.js').openScan = async (...given) =>
  await (await import('./sample/read-scan.js')).openScan(...given);
export type { OpenScanOptions, Scan } from './sample/read-scan.js';
/** Opens the loudness of windows that `scan` left. */
export const openLufsCache: typeof import('./sample/lufs-cache.js').openLufsCache = async (...given) =>
  await (await import('./sample/lufs-cache.js')).openLufsCache(...given);
export type { LufsCache, StaleFile } from './sample/lufs-cache.js';
/** A dataset of recordings. */
export const createAudioDataset: typeof import('./sample/audio-dataset.js').createAudioDataset = async (...given) =>
  await (await import('./sample/audio-dataset.js')).createAudioDataset(...given);
export type { AudioDataset, AudioDatasetOptions, AudioDescription } from './sample/audio-dataset.js';
export type { StopRule } from './random/balance.js';
/** A dataset of several, in shares. */
export const createBalancedDataset: typeof import('./sample/balanced-dataset.js').createBalancedDataset = async (
  ...given
) => await (await import('./sample/balanced-dataset.js')).createBalancedDataset(...given);
export type {
  BalancedDataset,
  BalancedDatasetOptions,
  BalancedDescription,
  WindowConfig,
} from './sample/balanced-dataset.js';
export type { OutputOptions } from './sample/excerpt-dataset.js';
export type { ExcerptIterator, IterateOptions } from './sample/excerpt-iterator.js';
export type { Excerpt, PadMode } from './sample/excerpt.js';
export type { OnReadError } from './sample/read-error.js';
/** A dataset of windows of recordings. */
export const createWindowedDataset: typeof import('./sample/windowed-dataset.js').createWindowedDataset = async (
  ...given
) => await (await import('./sample/windowed-dataset.js')).createWindowedDataset(...given);
export type {
  LoudnessReport,
  WindowDescription,
  WindowedDataset,
  WindowedDatasetOptions,
} from './sample/windowed-dataset.js';
export type { PlannedWindow, PlanSeeds } from './sample/windowed-plan.js';
/** Decides what is drawn from which recordings. */
export const planSample: typeof import('./sample/plan-sample.js').planSample = async (...given) =>
  await (await import('./sample/plan-sample.js')).planSample(...given);
export type { PlannedSample } from './sample/plan-sample.js';
export type { SampleContext, SampleOptions, SampleProgress } from './sample/sample-options.js';
export type { Draw, SampledGroup, SamplePlan } from './sample/sample-plan.js';
export { figuresOf, removedFilesOf } from './sample/sample-figures.js';
export type { GroupFigures, SampleFigures } from './sample/sample-figures.js';
export { rowOfDraw } from './sample/draw-row.js';
export type { DrawRow } from './sample/draw-row.js';
export { chartsOf } from './sample/histogram.js';
export type { Bar, BarChart } from './sample/histogram.js';
/** Writes excerpts of a dataset as shards. */
export const exportExcerpts: typeof import('./sample/export-excerpts.js').exportExcerpts = async (...given) =>
  await (await import('./sample/export-excerpts.js')).exportExcerpts(...given);
export type { ExportContext, ExportResult } from './sample/export-excerpts.js';
export type { ExportSummary } from './sample/export-finish.js';
export type { ExportOptions, ExportOutputs } from './sample/export-options.js';
/** Makes a tarred dataset as the converter of NeMo does. */
export const tarDataset: typeof import('./tarred/tar-dataset.js').tarDataset = async (...given) =>
  await (await import('./tarred/tar-dataset.js')).tarDataset(...given);
export type { TarResult } from './tarred/tar-dataset.js';
export type { TarContext } from './tarred/context.js';
export type { TarOptions } from './tarred/options.js';
export type { RowSum } from './tarred/select.js';
export type { DatasetSummary, IndexSummary, TarSummary } from './tarred/summary.js';
export type { KeepMembers } from './tar/member-file.js';
export type { Tokenizer, TokenizerEvent } from './text/tokenizer.js';
export { CanceledError, CutroomError, InputError, OutputError, UsageError } from './errors.js';
export type { ErrorCode } from './errors.js';
export { VERSION } from './version.js';
