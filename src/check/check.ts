import { accessSync, constants as fsConstants, statSync, type Stats } from 'node:fs';
import { availableParallelism } from 'node:os';
import { CanceledError, CutroomError, UsageError, errorMessage, systemCode } from '../errors.js';
import { roundHours } from '../manifest/shard-list.js';
import type { JsonManifestKind } from './check-manifest.js';
import type { UtteranceKind } from './check-utterances.js';
import { detectFile, detectFolder, type DetectedKind } from './detect-kind.js';
import type { AudioSpan, CheckContext, CheckProgress, Finding, FindingGroup, PathFacts } from './finding.js';
import { Findings } from './finding.js';
import { fixManifest, isFixableKind, type FixedCopy } from './fix-manifest.js';
import { placeCopies, type CopyPlace } from './fix-places.js';
import { ManifestReport } from './manifest-report.js';
import { readHead } from './open-manifest.js';
import { PATH_KINDS, type PathKind } from './path-kind.js';
import type { RankAnalysis } from './ranks.js';

/** What `check` is asked for. Everything but the paths has a default. */
export interface CheckOptions {
  /** Manifests, lists, tars, and folders of datasets. */
  paths: readonly string[];
  /** What all paths are; found out by their content where left out. */
  as?: PathKind | undefined;
  /** Decodes the audio: length, silence, clipping, rate. */
  deep?: boolean | undefined;
  /** Tells what each of so many trainer processes would read of a dataset. */
  worldSize?: number | undefined;
  /** Loader workers of each trainer process. Default 1. */
  workers?: number | undefined;
  /** Shards or files that are looked at at once. Default: one a core. */
  jobs?: number | undefined;
  /** Folder of relative audio paths. Default: that of the manifest. */
  base?: string | undefined;
  /** Writes corrected copies of manifests: a file for one path, a folder for several. */
  fixOut?: string | undefined;
  /** Replaces an earlier copy. */
  overwrite?: boolean | undefined;
}

/** How the caller hears of the check, and ends it. */
export interface CheckListener {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: CheckProgress) => void) | undefined;
  /** Takes each finding as it is met. */
  onFinding?: ((finding: Finding) => void) | undefined;
}

/** What was found of one path. */
export interface PathResult {
  path: string;
  /** Undefined where it could not be told. */
  kind: PathKind | undefined;
  rows: number;
  /** To six decimals; undefined where there are rows, and none says how long it is. */
  hours: number | undefined;
  members: number | undefined;
  shards: number | undefined;
  notes: readonly string[];
  ranks: RankAnalysis | undefined;
  findings: readonly FindingGroup[];
  findingCount: number;
  /** The corrected copy, where one was asked for and can be written. */
  fix: FixedCopy | undefined;
}

export interface CheckResult {
  paths: readonly PathResult[];
  findingCount: number;
  /** Nothing is wrong: with `fixOut`, with the copies. */
  isClean: boolean;
  seconds: number;
}

/**
 * Finds what is wrong with manifests and datasets before training does. Reads each path once, from its first byte to its last, and holds no
 * more than some places of each kind of finding.
 *
 * @throws UsageError where options contradict each other, OutputError where a copy cannot be written, CanceledError when the signal fires;
 *   what is wrong with a path is a finding, not an error
 */
export async function check(options: CheckOptions, listener: CheckListener = {}): Promise<CheckResult> {
  const startMs = performance.now();
  checkOptions(options);
  const copies = options.fixOut === undefined ? undefined : placeCopies(options.paths, options.fixOut);
  const paths: PathResult[] = [];
  for (const [index, path] of options.paths.entries()) {
    paths.push(await checkPath(path, options, copies?.[index], listener));
  }
  const findingCount = paths.reduce((sum, path) => sum + path.findingCount, 0);
  const remaining = paths.reduce((sum, { fix, findingCount: own }) => sum + (fix?.remainingCount ?? own), 0);
  return { paths, findingCount, isClean: remaining === 0, seconds: (performance.now() - startMs) / 1000 };
}

function checkOptions({ paths, as, worldSize, workers, jobs, fixOut }: CheckOptions): void {
  if (paths.length === 0) throw new UsageError('No path is given to check', { hint: 'cutroom check train.json' });
  if (as !== undefined && !PATH_KINDS.includes(as)) throw new RangeError(`as is no kind: ${JSON.stringify(as)}`);
  for (const [name, value] of Object.entries({ worldSize, workers, jobs })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1)) {
      throw new RangeError(`${name} must be a whole number of 1 or more, but is ${value}`);
    }
  }
  if (workers !== undefined && worldSize === undefined) {
    throw new UsageError('Workers are told without a world size', { hint: 'Give --world-size, too.' });
  }
  if (fixOut === '') throw new UsageError('The place of the corrected copy is empty');
}

async function checkPath(
  path: string,
  options: CheckOptions,
  copy: CopyPlace | undefined,
  listener: CheckListener,
): Promise<PathResult> {
  const findings = new Findings(listener.onFinding);
  const context = contextOf(options, listener, findings);
  const { kind, facts, ranks } = await readPath(path, options.as, context);
  const notes = [...(facts?.notes ?? [])];
  let fix: FixedCopy | undefined;
  if (copy !== undefined && kind !== undefined && facts !== undefined) {
    if (isFixableKind(kind)) {
      const silent = { ...listener, onFinding: undefined };
      fix = await fixManifest(
        { path, kind, copy, overwrite: options.overwrite ?? false },
        {
          contextOf: (remaining, base) => contextOf({ ...options, base: options.base ?? base }, silent, remaining),
          recheck: readKind,
        },
      );
    } else notes.push('no copy is written of tars, lists and inputs that cutroom build alone reads: make them again');
  }
  return {
    ...{ path, kind, notes, ranks, fix },
    rows: facts?.rows ?? 0,
    hours: facts === undefined ? undefined : knownHours(facts),
    members: facts?.members,
    shards: facts?.shards?.length,
    findings: findings.groups(),
    findingCount: findings.count,
  };
}

function knownHours({ hours, rows }: PathFacts): number | undefined {
  return hours === 0 && rows > 0 ? undefined : roundHours(hours);
}

function contextOf(options: CheckOptions, listener: CheckListener, findings: Findings): CheckContext {
  const { deep = false, worldSize, workers = 1, jobs = availableParallelism(), base } = options;
  return {
    settings: { deep, worldSize, workers, jobs, base },
    signal: listener.signal ?? new AbortController().signal,
    report: (finding) => findings.add(finding),
    onProgress: (progress) => listener.onProgress?.(progress),
  };
}

interface ReadPath {
  kind: PathKind | undefined;
  facts: PathFacts | undefined;
  ranks: RankAnalysis | undefined;
}

const NOTHING: ReadPath = { kind: undefined, facts: undefined, ranks: undefined };

async function readPath(path: string, as: PathKind | undefined, context: CheckContext): Promise<ReadPath> {
  const report = new ManifestReport(path, context);
  let detected: DetectedKind | undefined;
  try {
    detected = await detect(path, as, report);
  } catch (error) {
    if (!isReadFailure(error)) throw error;
    const kind = systemCode(error)?.startsWith('Z_') === true ? 'damaged_file' : 'unreadable_file';
    report.add(kind, undefined, `it cannot be read: ${errorMessage(error)}`);
    return NOTHING;
  }
  if (detected === undefined) return NOTHING;
  if ('reason' in detected) {
    report.add('unknown_kind', undefined, `what it is cannot be told: ${detected.reason}`, { hint: detected.hint });
    return NOTHING;
  }
  const { kind } = detected;
  try {
    const facts = await readKind(detected.path, kind, context);
    const { worldSize, workers } = context.settings;
    if (worldSize === undefined || facts.shards === undefined) return { kind, facts, ranks: undefined };
    const { checkRanks } = await import('./ranks.js');
    return { kind, facts, ranks: checkRanks(facts.shards, worldSize, workers, context, facts.loader) };
  } catch (error) {
    if (!(error instanceof CutroomError) || error instanceof CanceledError || error.code !== 'input') throw error;
    report.add('damaged_file', undefined, error.message, { hint: error.hint });
    return { kind, facts: undefined, ranks: undefined };
  }
}

/** Errors of the system and of gzip, not those of programs. */
function isReadFailure(error: unknown): boolean {
  if (error instanceof CutroomError) return error.code === 'input';
  return systemCode(error)?.startsWith('ERR_') === false;
}

/** What a path is. Undefined where a finding says why it is nothing. */
async function detect(
  path: string,
  as: PathKind | undefined,
  report: ManifestReport,
): Promise<DetectedKind | undefined> {
  const stats = statOf(path, report);
  if (stats === undefined) return undefined;
  if (stats.isDirectory()) {
    if (as !== undefined && FOLDER_KINDS.has(as)) return { kind: as, path };
    const found = detectFolder(path);
    return as !== undefined && 'kind' in found ? { kind: as, path: found.path } : found;
  }
  if (!stats.isFile()) return { reason: 'it is neither a file nor a folder' };
  accessSync(path, fsConstants.R_OK);
  if (stats.size === 0) {
    report.add('empty_file', undefined, 'the file is empty');
    return undefined;
  }
  if (as !== undefined) return { kind: as, path };
  const head = await readHead(path);
  const found = await detectFile(path, head);
  if ('kind' in found && found.kind === 'tar') return found;
  if (head.encoding === 'utf16') {
    report.add('invalid_utf8', 1, 'the file is UTF-16', { hint: 'convert it: iconv -f UTF-16 -t UTF-8' });
    return undefined;
  }
  if (head.encoding === 'binary') {
    report.add('binary_file', undefined, 'the file holds binary data, and is no tar');
    return undefined;
  }
  if (head.bytes.toString('utf8').trim() === '') {
    report.add('empty_file', undefined, 'the file holds nothing but white space');
    return undefined;
  }
  return found;
}

const FOLDER_KINDS: ReadonlySet<PathKind> = new Set<PathKind>(['nemo_tarred', 'cut_outputs']);

function statOf(path: string, report: ManifestReport): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR')
      report.add('no_such_path', undefined, 'there is no such file or folder');
    else report.add('unreadable_file', undefined, `it cannot be looked at: ${errorMessage(error)}`);
    return undefined;
  }
}

/** Checks what a path is known to be. */
async function readKind(path: string, kind: PathKind, context: CheckContext): Promise<PathFacts> {
  return CHECKERS[kind](path, context);
}

type Checker = (path: string, context: CheckContext) => Promise<PathFacts>;

const CHECKERS: Readonly<Record<PathKind, Checker>> = {
  long_form: manifestChecker('long_form'),
  nemo: manifestChecker('nemo'),
  canary_v1: manifestChecker('canary_v1'),
  canary_flash: manifestChecker('canary_flash'),
  atdataset_jsonl: manifestChecker('atdataset_jsonl'),
  tsv: utteranceChecker('tsv'),
  csv: utteranceChecker('csv'),
  utterances_jsonl: utteranceChecker('utterances_jsonl'),
  atdataset_list: async (path, context) => (await import('./dataset-list.js')).checkShardList(path, context),
  nemo_tarred: async (path, context) => (await import('./dataset-nemo.js')).checkNemoFolder(path, context),
  cut_outputs: async (path, context) => (await import('./dataset-cut.js')).checkCutOutputs(path, context),
  tar: async (path, context) => (await import('./tar-file.js')).checkTar(path, context),
};

function manifestChecker(kind: JsonManifestKind): Checker {
  return async (path, context) => {
    const { audioSpans, checkManifest } = await import('./check-manifest.js');
    const facts = await checkManifest(path, kind, context);
    if (context.settings.deep) await decodeSpans(path, audioSpans(path, kind, context), context);
    return facts;
  };
}

function utteranceChecker(kind: UtteranceKind): Checker {
  return async (path, context) => {
    const { checkUtterances, utteranceSpans } = await import('./check-utterances.js');
    const facts = await checkUtterances(path, kind, context);
    if (context.settings.deep) await decodeSpans(path, utteranceSpans(path, kind, context), context);
    return facts;
  };
}

async function decodeSpans(path: string, spans: AsyncIterable<AudioSpan>, context: CheckContext): Promise<void> {
  const { deepCheck } = await import('./deep-audio.js');
  await deepCheck(spans, context, path);
}
