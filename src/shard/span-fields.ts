import { toMicros } from '../audio/times.js';
import type { UtteranceRow, RowRefusal } from './utterance-row.js';

/** Longer than any recording; whole microseconds stay exact. */
const MAX_SECONDS = 1e9;

/**
 * The span and the claimed duration of a row by the texts of its two fields.
 *
 * ```
 * start    duration   taken
 * –        –          the whole file
 * –        2.5        the whole file, which is said to be so long
 * 0        -1         the whole file
 * 0        2.5        [0, 2.5)
 * 1.5      -1         from 1.5 to the end
 * 1.5      2.5        [1.5, 4)
 * ```
 *
 * @param start undefined, or blank, where the row has none; so is `duration`
 */
export function readSpan(
  start: string | undefined,
  duration: string | undefined,
): Pick<UtteranceRow, 'span' | 'duration'> | RowRefusal {
  const startText = start?.trim() ?? '';
  const durationText = duration?.trim() ?? '';
  const startSeconds = startText === '' ? 0 : parseSeconds(startText);
  const durationSeconds = durationText === '' ? -1 : parseSeconds(durationText);
  if (startSeconds === undefined || startSeconds < 0) {
    const message = `the start, ${JSON.stringify(start)}, is no number of seconds from 0 on`;
    return { reason: 'bad_start', message, hint: 'write seconds with a point, such as 12.5' };
  }
  if (durationSeconds === undefined || durationSeconds === 0) {
    const message =
      durationSeconds === 0
        ? 'the duration is 0'
        : `the duration, ${JSON.stringify(duration)}, is no number of seconds`;
    return { reason: 'bad_duration', message, hint: 'a duration below 0 goes to the end of the file' };
  }
  const startMicros = toMicros(startSeconds);
  if (durationSeconds < 0) {
    return { span: startMicros === 0 ? undefined : { start: startMicros, end: null }, duration: undefined };
  }
  if (startText === '') return { span: undefined, duration: spellNumber(durationText) };
  const end = startMicros + Math.max(1, toMicros(durationSeconds));
  return { span: { start: startMicros, end }, duration: spellNumber(durationText) };
}

function parseSeconds(text: string): number | undefined {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/iu.test(text)) return undefined;
  const seconds = Number(text);
  return Math.abs(seconds) <= MAX_SECONDS ? seconds : undefined;
}

/** The text where it is JSON, else the number in JSON's spelling. */
function spellNumber(text: string): string {
  return /^(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u.test(text) ? text : JSON.stringify(Number(text));
}
