import { countOf, sumCounts, type CutMetricsFile } from './dataset-metrics.js';

/** A sum that does not come out: both sides, in words. */
export interface Imbalance {
  message: string;
}

/**
 * The sums in the metrics of `cutroom cut` that do not come out (docs/formats.md, "Sums that balance").
 *
 * @param failureLines lines of the failures file; undefined where it is not there
 */
export function findImbalances({ values, perOriginal }: CutMetricsFile, failureLines: number | undefined): Imbalance[] {
  const found: Imbalance[] = [];
  const compare = (name: string, left: number, right: number, what: string): void => {
    if (left === right) return;
    found.push({ message: `${name} is ${left}, and ${what} ${right}` });
  };
  const value = (key: string): number => countOf(values[key]);
  const lost =
    sumCounts(values['dropped_segments']) + value('failed_segments') + countOf(values['unfinished_segments'] ?? 0);
  const segments = value('output_total_segments') + lost;
  compare('input_total_segments', value('input_total_segments'), segments, 'what came of them adds up to');
  const histogram = sumCounts(values['snippet_duration_histogram_30s']);
  compare('num_output_snippets', value('num_output_snippets'), histogram, 'the histogram holds');
  if (perOriginal.count > 0) {
    const over = 'the entries of per_original add up to';
    compare('num_input_audios', value('num_input_audios'), perOriginal.count, 'per_original has entries:');
    compare('num_output_snippets', value('num_output_snippets'), perOriginal.outSnippets, over);
    compare('input_total_segments', value('input_total_segments'), perOriginal.inSegments, over);
    compare('output_total_segments', value('output_total_segments'), perOriginal.outSegments, over);
    compareReasons('dropped', values['dropped'], perOriginal.dropped, compare);
    compareReasons('failed_snippets', values['failed_snippets'], perOriginal.failedSnippets, compare);
  }
  if (failureLines !== undefined && values['dry_run'] !== true) {
    const { bad_times: badTimes = 0 } = (values['dropped_segments'] ?? {}) as Record<string, unknown>;
    const failures = sumCounts(values['skipped_rows']) + sumCounts(values['failed_snippets']) + countOf(badTimes);
    compare('the number of failures', failures, failureLines, 'the failures file has lines:');
  }
  return found;
}

function compareReasons(
  name: string,
  totals: unknown,
  sums: Readonly<Record<string, number>>,
  compare: (name: string, left: number, right: number, what: string) => void,
): void {
  const counts = (typeof totals === 'object' && totals !== null ? totals : {}) as Record<string, unknown>;
  for (const reason of new Set([...Object.keys(counts), ...Object.keys(sums)])) {
    const what = 'the entries of per_original add up to';
    compare(`${name}.${reason}`, countOf(counts[reason] ?? 0), sums[reason] ?? 0, what);
  }
}
