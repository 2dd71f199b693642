import { OPEN_END_SECONDS } from '../load/config-options.js';
import type { PlanReport } from '../load/epoch-plan.js';
import type { Bar, BarChart } from '../sample/histogram.js';

/** Classes of hours that steps are counted in. */
const CLASSES = 20;
/** Stretches of an epoch whose steps are averaged. */
const STRETCHES = 40;
/** Steps that differ by less are one class: a second in an hour. */
const LEAST_SPREAD = 1 / 3600;

/** How many steps of some epochs hold how much audio, over all ranks. */
export function chartOfSteps(reports: readonly PlanReport[]): BarChart {
  const hours = reports.flatMap(({ hoursOfSteps }) => [...hoursOfSteps]);
  const unit = timeUnit(Math.max(0, ...extremes(hours)));
  return {
    title: `steps by the audio that they hold on all ranks, in ${unit.name}`,
    series: ['steps'],
    unit: 'number',
    bars: countClasses(hours.map((value) => value * unit.perHour)),
  };
}

/** The audio of the steps of an epoch in their order, in stretches. */
export function chartOfEpoch({ hoursOfSteps }: PlanReport, epoch: number): BarChart {
  const unit = timeUnit(Math.max(0, ...extremes(hoursOfSteps)));
  const count = Math.min(STRETCHES, hoursOfSteps.length);
  const bars = Array.from({ length: count }, (_, at): Bar => {
    const from = Math.floor((at * hoursOfSteps.length) / count);
    const end = Math.floor(((at + 1) * hoursOfSteps.length) / count);
    const sum = hoursOfSteps.subarray(from, end).reduce((total, value) => total + value, 0);
    const label = end - from === 1 ? String(from) : `${from}–${end - 1}`;
    return { label, values: [(sum / (end - from)) * unit.perHour] };
  });
  return {
    title: `${unit.name} of audio in a step of epoch ${epoch}, by its number`,
    series: ['audio'],
    unit: 'number',
    bars,
  };
}

/** What share of items, audio and padding each bucket has; undefined where there is one bucket. */
export function chartOfBuckets({ buckets }: PlanReport): BarChart | undefined {
  if (buckets.length < 2) return undefined;
  const items = buckets.reduce((sum, bucket) => sum + bucket.items, 0);
  const hours = buckets.reduce((sum, bucket) => sum + bucket.hours, 0);
  return {
    title: 'buckets: their share of items and audio, and the padding in their batches',
    series: ['items', 'audio', 'padding'],
    unit: 'share',
    bars: buckets.map((bucket) => ({
      label: bucketLabel(bucket),
      values: [bucket.items / Math.max(1, items), hours > 0 ? bucket.hours / hours : 0, bucket.paddingShare],
    })),
  };
}

/** `≤ 2.5 s`, with the tokens where buckets have bounds of them. */
export function bucketLabel({ toSeconds, toTokens }: { toSeconds: number; toTokens: number | undefined }): string {
  const bound = `≤ ${shortSeconds(toSeconds)} s`;
  return toTokens === undefined ? bound : `${bound}, ${toTokens}`;
}

/** Whether a bound of a bucket is none. */
export function isOpenEnd(seconds: number): boolean {
  return seconds >= OPEN_END_SECONDS;
}

/** Seconds to the millisecond, no zeros behind. */
export function shortSeconds(seconds: number): string {
  return isOpenEnd(seconds) ? '∞' : String(Number(seconds.toFixed(3)));
}

function countClasses(values: readonly number[]): Bar[] {
  if (values.length === 0) return [];
  const [least, most] = extremes(values);
  if (most - least <= LEAST_SPREAD * most) return [{ label: format(most, most), values: [values.length] }];
  const step = niceStep((most - least) / CLASSES);
  const first = Math.floor(least / step);
  const count = Math.floor(most / step) - first + 1;
  const counts = Array.from({ length: count }, () => 0);
  for (const value of values) counts[Math.min(count - 1, Math.floor(value / step) - first)]! += 1;
  return counts.map((bars, at) => ({
    label: `${format((first + at) * step, step)}–${format((first + at + 1) * step, step)}`,
    values: [bars],
  }));
}

/** The next of 1, 2 and 5 times a power of ten. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
}

/** With as many decimals as tell values apart that differ by `step`. */
function format(value: number, step: number): string {
  return value.toFixed(Math.max(0, Math.min(6, -Math.floor(Math.log10(step)))));
}

/** The least and the most: an epoch may have more steps than a call takes arguments. */
function extremes(values: Iterable<number>): [least: number, most: number] {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return [least, most];
}

/** The unit that hours of a step are told in. */
export function timeUnit(mostHours: number): { name: string; perHour: number } {
  if (mostHours >= 2) return { name: 'hours', perHour: 1 };
  return mostHours >= 2 / 60 ? { name: 'minutes', perHour: 60 } : { name: 'seconds', perHour: 3600 };
}
