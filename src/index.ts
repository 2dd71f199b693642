export { generateList } from './build/generate-list.js';
export type { GenerateListContext, GenerateListResult, ListProgress } from './build/generate-list.js';
export type { GenerateListOptions } from './build/list-options.js';
export type { ShardProblem, ShardProblemCounts, ShardProblemKind } from './shard/shard-problem.js';
export { build, planBuild } from './build/build.js';
export type { BuildContext, BuildResult } from './build/build.js';
export type { BuildSummary, ShardExtent } from './build/build-summary.js';
export type { BuildFailureLimit, BuildOptions, BuildOutputs, InputFormat } from './build/options.js';
export { PlanFile } from './shard/plan-file.js';
export type { PackFailure, PlannedItem, PlannedShard, PlanHeader } from './shard/plan.js';
export type { OnPackProgress, PackProgress } from './shard/progress.js';
export { check } from './check/check.js';
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
export { loadEngine } from './cluster/engines.js';
export type { Engine, EngineJob, EngineName, EngineRecord } from './cluster/engine.js';
export type { EngineContext } from './cluster/engines.js';
export { finishPlan } from './cluster/finish-plan.js';
export type { FinishPlanOptions } from './cluster/finish-plan.js';
export { launch } from './cluster/launch.js';
export type { LaunchOptions, LaunchProgress, LaunchResult } from './cluster/launch.js';
export { makePlan } from './cluster/make-plan.js';
export type { MakePlanOptions } from './cluster/make-plan.js';
export { openPlanFolder } from './cluster/plan-folder.js';
export type { PlanFolder, PlanRecord } from './cluster/plan-folder.js';
export { readStatus, StatusReader } from './cluster/read-status.js';
export type { PlanStatus } from './cluster/read-status.js';
export { runLeft } from './cluster/run-left.js';
export type { RunLeftOptions, RunLeftResult, TaskEnd } from './cluster/run-left.js';
export { runTask } from './cluster/run-task.js';
export type { RunTaskOptions, RunTaskResult } from './cluster/run-task.js';
export type { FinishResult, KindName } from './cluster/task-kind.js';
export type { TaskBeat, TaskFailure, TaskState } from './cluster/task-states.js';
export type { PathMapping } from './run/path-map.js';
export type { TaskDivision, TaskExtent, TaskOutcome, TaskProgress } from './run/task.js';
export { cut, planCut } from './cut/cut.js';
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
export { createLoader } from './load/create-loader.js';
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
export { parseLoaderConfig, readLoaderConfig } from './load/parse-config.js';
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
export { scan } from './sample/scan.js';
export type { ScanContext, ScanProgress, ScanResult } from './sample/scan.js';
export type { ScanIdentity, ScanMetrics, ScanSummary } from './sample/scan-metrics.js';
export type { ScanOptions } from './sample/scan-options.js';
export type { FileFacts, FileLoudness, LoudnessSettings, ScanFailure, ScannedFile } from './sample/scan-types.js';
export { openScan } from './sample/read-scan.js';
export type { OpenScanOptions, Scan } from './sample/read-scan.js';
export { openLufsCache } from './sample/lufs-cache.js';
export type { LufsCache, StaleFile } from './sample/lufs-cache.js';
export { createAudioDataset } from './sample/audio-dataset.js';
export type { AudioDataset, AudioDatasetOptions, AudioDescription } from './sample/audio-dataset.js';
export type { StopRule } from './random/balance.js';
export { createBalancedDataset } from './sample/balanced-dataset.js';
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
export { createWindowedDataset } from './sample/windowed-dataset.js';
export type {
  LoudnessReport,
  WindowDescription,
  WindowedDataset,
  WindowedDatasetOptions,
} from './sample/windowed-dataset.js';
export type { PlannedWindow, PlanSeeds } from './sample/windowed-plan.js';
export { planSample } from './sample/plan-sample.js';
export type { PlannedSample } from './sample/plan-sample.js';
export type { SampleContext, SampleOptions, SampleProgress } from './sample/sample-options.js';
export type { Draw, SampledGroup, SamplePlan } from './sample/sample-plan.js';
export { figuresOf, removedFilesOf } from './sample/sample-figures.js';
export type { GroupFigures, SampleFigures } from './sample/sample-figures.js';
export { rowOfDraw } from './sample/draw-row.js';
export type { DrawRow } from './sample/draw-row.js';
export { chartsOf } from './sample/histogram.js';
export type { Bar, BarChart } from './sample/histogram.js';
export { exportExcerpts } from './sample/export-excerpts.js';
export type { ExportContext, ExportResult } from './sample/export-excerpts.js';
export type { ExportSummary } from './sample/export-finish.js';
export type { ExportOptions, ExportOutputs } from './sample/export-options.js';
export { tarDataset } from './tarred/tar-dataset.js';
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
