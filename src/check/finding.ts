import type { PathKind } from './path-kind.js';

/**
 * One thing that is wrong, and where. `kind` is snake_case; the kinds of manifests are listed in manifest-kinds.ts, those of datasets in
 * dataset-kinds.ts. An error ends a loader or loses data, a warning is accepted and then does what was likely not meant: both are problems.
 */
export interface Finding {
  kind: string;
  severity: 'error' | 'warning';
  /** One sentence without the place: what was met, and what comes of it. */
  message: string;
  /** The manifest, list or tar at fault. */
  file: string;
  /** 1-based, of a manifest or list. */
  line?: number | undefined;
  /** 1-based, in characters. */
  column?: number | undefined;
  /** Of a tar: where the member's headers start, or where reading ended. */
  offsetBytes?: number | undefined;
  /** Of the sample or recording. */
  id?: string | undefined;
  /** Name of the member of a tar. */
  member?: string | undefined;
  /** What can be done about it; the same for all findings of a kind where possible. */
  hint?: string | undefined;
}

/** All findings of one kind. */
export interface FindingGroup {
  kind: string;
  severity: Finding['severity'];
  count: number;
  /** The first of them, at most `MAX_KEPT_FINDINGS`. */
  kept: readonly Finding[];
}

/** How many findings of one kind are kept with their places. */
export const MAX_KEPT_FINDINGS = 1000;

/** Findings as they are met: all are counted and handed on, so many of each kind are kept. */
export class Findings {
  readonly #groups = new Map<string, { kind: string; severity: Finding['severity']; count: number; kept: Finding[] }>();
  readonly #onFinding: ((finding: Finding) => void) | undefined;
  readonly #maxKept: number;
  #count = 0;

  constructor(onFinding?: (finding: Finding) => void, maxKept = MAX_KEPT_FINDINGS) {
    this.#onFinding = onFinding;
    this.#maxKept = maxKept;
  }

  /** How many there are in all. */
  get count(): number {
    return this.#count;
  }

  add(finding: Finding): void {
    let group = this.#groups.get(finding.kind);
    if (group === undefined) {
      group = { kind: finding.kind, severity: finding.severity, count: 0, kept: [] };
      this.#groups.set(finding.kind, group);
    }
    if (finding.severity === 'error') group.severity = 'error';
    group.count += 1;
    this.#count += 1;
    if (group.kept.length < this.#maxKept) group.kept.push(finding);
    this.#onFinding?.(finding);
  }

  /** By kind, in the order in which kinds were first met, errors before warnings. */
  groups(): FindingGroup[] {
    const groups = [...this.#groups.values()];
    return [
      ...groups.filter(({ severity }) => severity === 'error'),
      ...groups.filter(({ severity }) => severity === 'warning'),
    ];
  }
}

/** How far the check of one path is. */
export interface CheckProgress {
  path: string;
  stage: 'read' | 'files' | 'deep';
  /** Rows, members or files that were looked at. */
  items: number;
  /** Of the bytes to be read, 0 to 1; undefined where it is not known. */
  share?: number | undefined;
}

/** What every checker is given. */
export interface CheckSettings {
  /** Decode audio: length, silence, clipping, rate. */
  deep: boolean;
  /** Trainer processes to look at; undefined where ranks are not asked for. */
  worldSize: number | undefined;
  /** Loader workers of each trainer process. */
  workers: number;
  /** Shards or files that are looked at at once. */
  jobs: number;
  /** Folder of relative audio paths in place of the manifest's own. */
  base: string | undefined;
}

/** How a checker hears of the user and is heard. */
export interface CheckContext {
  settings: CheckSettings;
  signal: AbortSignal;
  report(finding: Finding): void;
  onProgress(progress: CheckProgress): void;
}

/** A shard as the look at ranks takes it. */
export interface ShardFacts {
  path: string;
  rows: number;
  hours: number;
}

/** What one worker of one rank reads in an epoch. */
export interface RankShare {
  strategy: 'scatter' | 'replicate';
  rank: number;
  worker: number;
  shards: number;
  rows: number;
  hours: number;
}

/** What is read, by whom, and what by nobody. */
export interface RankReport {
  worldSize: number;
  workers: number;
  shares: readonly RankShare[];
  /** Shards that no rank reads under scatter. */
  unread: readonly ShardFacts[];
}

/** How a loader gives shards to ranks: NeMo's scatter and replicate, or ATdataset's padding. */
export type RankLoader = 'nemo' | 'atdataset';

/** What a checker found a path to hold. Checkers report findings and return this. */
export interface PathFacts {
  kind: PathKind;
  rows: number;
  hours: number;
  /** Of a dataset or tar. */
  members?: number | undefined;
  /** Of a dataset, in the order in which a loader takes them. */
  shards?: readonly ShardFacts[] | undefined;
  /** Whose loader the shards are for: by its rule they are given to ranks. Default `nemo`. */
  loader?: RankLoader | undefined;
  /** What is worth knowing and no problem, a sentence each. */
  notes?: readonly string[] | undefined;
}

/** A span of audio that a row names, for checks that decode. */
export interface AudioSpan {
  audioPath: string;
  startSeconds: number;
  /** Undefined where the row means the rest of the file. */
  durationSeconds: number | undefined;
  /** The row's text is not blank. */
  hasText: boolean;
  /** The manifest and line that name it. */
  file: string;
  line: number | undefined;
  id: string | undefined;
}
