import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { countWords } from '../count-words.js';
import { errorMessage, InputError, systemCode } from '../errors.js';
import { hoursOfMicros } from '../manifest/shard-list.js';
import { findImbalances } from './dataset-balance.js';
import { checkBuildOutputs } from './dataset-build.js';
import { countLines } from './dataset-files.js';
import { isMismatch, reportDataset, type DatasetKind } from './dataset-kinds.js';
import { checkListedShards } from './dataset-list.js';
import { countOf, readMetricsFile, type CutMetricsFile } from './dataset-metrics.js';
import { tarNotes } from './dataset-notes.js';
import { inspectShards, type DatasetTotals } from './dataset-shards.js';
import type { CheckContext, Finding, PathFacts } from './finding.js';

const WORK_FOLDER = '.cutroom-cut';

/** Checks the outputs of `cutroom cut` or `cutroom build`: a folder, or the manifest in it. */
export async function checkCutOutputs(outputs: string, context: CheckContext): Promise<PathFacts> {
  const isFolder = (await stat(outputs)).isDirectory();
  const folder = isFolder ? path.resolve(outputs) : path.dirname(path.resolve(outputs));
  const names = (await readdir(folder)).sort();
  if (isFolder && names.includes('plan.jsonl')) return await checkBuildOutputs(folder, names, context);
  const run = new CutOutputs({ shown: outputs, folder, names }, context);
  return await run.check(isFolder ? undefined : path.resolve(outputs));
}

interface CutPlace {
  /** As the user named it. */
  shown: string;
  folder: string;
  names: readonly string[];
}

class CutOutputs {
  readonly #place: CutPlace;
  readonly #context: CheckContext;
  #mismatchCount = 0;

  constructor(place: CutPlace, context: CheckContext) {
    this.#place = place;
    this.#context = {
      ...context,
      report: (finding: Finding) => {
        if (isMismatch(finding)) this.#mismatchCount += 1;
        context.report(finding);
      },
    };
  }

  async check(manifest: string | undefined): Promise<PathFacts> {
    const { folder, names } = this.#place;
    this.#checkLeftovers();
    const metrics = await this.#readMetrics(manifest);
    const mismatchesBefore = this.#mismatchCount;
    const options = (metrics?.values['options'] ?? {}) as Record<string, unknown>;
    const named = options['audio_filepath_key'];
    const audioKey = typeof named === 'string' ? named : undefined;
    const list = names.find((name) => name.endsWith('.lst'));
    const isSharded = manifest === undefined && (list !== undefined || metrics?.values['shards'] !== undefined);
    let totals: DatasetTotals | undefined;
    const notes: string[] = [];
    if (isSharded && list !== undefined) {
      const how = { isOwn: true, layout: 'cut' as const, audioKey };
      const checked = await checkListedShards(path.join(folder, list), this.#context, how);
      totals = checked.totals;
      notes.push(...(checked.facts.notes ?? []));
    } else if (isSharded) {
      this.#tell('missing_output', folder, 'the list of the shards is not there');
    } else {
      totals = await this.#checkPair(manifest, audioKey, metrics);
      if (totals !== undefined) notes.push(...tarNotes(totals));
    }
    if (metrics !== undefined) {
      await this.#checkBalance(metrics);
      if (totals !== undefined && metrics.values['dry_run'] !== true) {
        if (this.#mismatchCount === mismatchesBefore) this.#compareMetrics(metrics, totals);
        else notes.push('the metrics were not compared with the files, which do not fit each other');
      }
    }
    return {
      kind: 'cut_outputs',
      rows: totals?.rows ?? 0,
      hours: hoursOfMicros(totals?.durationMicros ?? 0n),
      members: totals?.members,
      shards: totals?.shards,
      // A list is read by ATdataset alone.
      loader: isSharded ? 'atdataset' : 'nemo',
      notes,
    };
  }

  #checkLeftovers(): void {
    const { folder, names } = this.#place;
    const left = names.find((name) => name === WORK_FOLDER || name.endsWith('.partial'));
    if (left === undefined) return;
    this.#tell('unfinished_run', path.join(folder, left), `"${left}" is there: a run is under way, or was interrupted`);
  }

  async #readMetrics(manifest: string | undefined): Promise<CutMetricsFile | undefined> {
    const { folder, names } = this.#place;
    const file = path.join(folder, 'metrics.json');
    if (!names.includes('metrics.json')) {
      if (manifest === undefined) {
        this.#tell('missing_output', folder, 'metrics.json, which is written last, is not there');
      }
      return undefined;
    }
    try {
      const metrics = await readMetricsFile(file);
      if (typeof metrics.values['num_output_snippets'] !== 'number') {
        this.#tell('unreadable_metrics', file, 'it is not the metrics of cutroom cut');
        return undefined;
      }
      if (metrics.values['complete'] === false) {
        this.#tell('unfinished_run', file, 'the run was ended before all recordings were done ("complete" is false)');
      }
      return metrics;
    } catch (error) {
      this.#tell('unreadable_metrics', file, `it cannot be read: ${errorMessage(error)}`);
      return undefined;
    }
  }

  /** One tar and its manifest. */
  async #checkPair(
    manifest: string | undefined,
    audioKey: string | undefined,
    metrics: CutMetricsFile | undefined,
  ): Promise<DatasetTotals | undefined> {
    const { folder, shown } = this.#place;
    const manifestPath = manifest ?? this.#pick('.jsonl', 'manifest');
    const stem = manifestPath === undefined ? undefined : path.basename(manifestPath).replace(/\.jsonl?$/u, '');
    const tarPath = this.#pick('.tar', 'tar', stem);
    const isDry = metrics?.values['dry_run'] === true;
    if (manifestPath === undefined) this.#tell('missing_output', folder, 'there is no manifest of the snippets');
    if (tarPath === undefined && !isDry) this.#tell('missing_output', folder, 'there is no tar of the snippets');
    if (tarPath === undefined) return undefined;
    const task = { layout: 'cut' as const, tarPath, manifestPath, audioKey };
    const how = { isOwn: true, isOrdered: true, wantsAudio: this.#context.settings.deep };
    return await inspectShards([{ ...task, ...how }], this.#context, { path: shown });
  }

  /** The only file of a kind, or among several the one that is named as the other output, or as outputs are named. */
  #pick(extension: string, what: string, stem = 'snippets'): string | undefined {
    const { folder, names } = this.#place;
    const found = names.filter((name) => name.endsWith(extension) && name !== 'failures.jsonl');
    const name = found.find((one) => one === `${stem}${extension}`) ?? found[0];
    if (name === undefined) return undefined;
    if (found.length > 1 && name !== `${stem}${extension}`) {
      throw new InputError(`Cannot tell which ${what} in "${folder}" is that of the snippets: ${found.join(', ')}`, {
        path: folder,
        hint: 'Give the manifest itself.',
      });
    }
    return path.join(folder, name);
  }

  async #checkBalance(metrics: CutMetricsFile): Promise<void> {
    const { folder } = this.#place;
    const file = path.join(folder, 'metrics.json');
    let failureLines: number | undefined;
    try {
      failureLines = await countLines(path.join(folder, 'failures.jsonl'));
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
    }
    for (const { message } of findImbalances(metrics, failureLines)) this.#tell('unbalanced_metrics', file, message);
  }

  #compareMetrics({ values }: CutMetricsFile, totals: DatasetTotals): void {
    const file = path.join(this.#place.folder, 'metrics.json');
    const compare = (key: string, found: number): void => {
      const said = countOf(values[key]);
      if (said !== found) this.#tell('wrong_metrics', file, `${key} is ${said}, and the rows have ${found}`);
    };
    compare('num_output_snippets', totals.rows);
    compare('output_total_segments', totals.segments);
    const seconds = Number(totals.durationMicros) / 1e6;
    const said = countOf(values['output_total_duration_sec']);
    // Durations that are no whole microseconds are rounded before they are summed here.
    if (!(Math.abs(said - seconds) <= 0.001 + totals.rows * 5e-7)) {
      this.#tell(
        'wrong_metrics',
        file,
        `output_total_duration_sec is ${said}, and the rows' durations add up to ${seconds}`,
      );
    }
    const { shards } = values;
    if (Array.isArray(shards) && shards.length !== totals.shards.length) {
      this.#tell(
        'wrong_metrics',
        file,
        `it names ${countWords(shards.length, 'shard')}, and those found are ${totals.shards.length}`,
      );
    }
  }

  #tell(kind: DatasetKind, file: string, message: string): void {
    reportDataset(this.#context, { kind, message, file });
  }
}
