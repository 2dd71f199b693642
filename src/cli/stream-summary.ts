import { countWords } from '../count-words.js';
import type { LoaderState } from '../load/epoch-plan.js';
import type { LoaderFailures } from '../load/failure-log.js';
import type { StreamSummary } from '../load/stream-tar.js';

const MAX_NAMED = 3;

/** How far a stream is, in words. */
export function formatStreamProgress(now: StreamSummary, seconds: number): string {
  return `streaming: ${figures(now)}, ${rate(now, seconds)}`;
}

/** What was written. */
export function formatStreamSummary(summary: StreamSummary, seconds: number): string {
  const end = summary.isWhole ? '' : '; the reader closed the stream';
  return `${figures(summary)} in ${seconds.toFixed(1)} s, ${rate(summary, seconds)}${end}`;
}

/** Items that could not be read: how many, of which reasons, and the first. */
export function formatStreamFailures(failures: LoaderFailures, isVerbose: boolean): string {
  const { count, replaced, reasons, first } = failures;
  const list = Object.entries(reasons).map(([reason, times]) => `${reason}: ${times.toLocaleString('en-US')}`);
  const shown = isVerbose ? first : first.slice(0, MAX_NAMED);
  return [
    `warning: ${countWords(count, 'item')} could not be read (${list.join(', ')}), of which ${replaced.toLocaleString('en-US')} replaced:`,
    ...shown.flatMap(({ id, manifestPath, lineNumber, message }) => {
      const place = manifestPath === '' ? '' : `${manifestPath}:${lineNumber}: `;
      return [`  ${place}${id}: ${message}`];
    }),
  ].join('\n');
}

/** The same as plain data. */
export function streamAsJson(
  { isWhole, batches, items, hours, bytes }: StreamSummary,
  { count, reasons, replaced, dropped }: LoaderFailures,
  state: LoaderState,
  seconds: number,
): Record<string, unknown> {
  const failures = { count, replaced, dropped, reasons };
  return { whole: isWhole, items, batches, hours, bytes, seconds, state, failures };
}

function figures({ items, batches, hours, bytes }: StreamSummary): string {
  return `${countWords(items, 'item')} in ${countWords(batches, 'batch', 'batches')}, ${hours.toFixed(3)} h, ${(bytes / 1e6).toFixed(1)} MB`;
}

function rate({ items }: StreamSummary, seconds: number): string {
  return `${Math.round(items / Math.max(seconds, 1e-3)).toLocaleString('en-US')} items a second`;
}
