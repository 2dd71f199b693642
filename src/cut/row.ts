import { JsonObject, kindOfJson } from '../manifest/json-object.js';
import type { PlannedRecording } from './cut-plan.js';
import { joinTexts } from './segment-text.js';
import type { Segment } from './segments.js';
import { toMicros, toSeconds } from '../audio/times.js';
import type { PlannedSnippet, PlanSettings } from './types.js';

export interface RowFacts {
  /** Of the audio in the member; for a plan alone, `plannedDuration`. */
  durationSeconds: number;
  /** Where the recording's audio ends, in its own time, when it ends before the snippet was to. */
  audioEndSeconds?: number | undefined;
  settings: Pick<PlanSettings, 'audioFilepathKey' | 'targetSampleRate' | 'minDurationSeconds'>;
}

/** A row of the output manifest. */
export interface SnippetRow {
  /** JSON without a line break. */
  line: string;
  /** How many segments it holds. */
  segmentCount: number;
  /** How many of the snippet's segments lay past the end of the audio and were left out. */
  pastEndSegmentCount: number;
}

/** A snippet of which the real audio leaves nothing worth a row. */
export interface DroppedRow {
  dropped: 'past_end' | 'too_short';
  /** How many segments are lost with it. */
  segmentCount: number;
}

/** Describes the recording and not the snippet: removed. */
const REMOVED = ['alignment', 'audio_size', 'resampled_audio_filepath'];

/** The duration in seconds that a snippet has if the audio reaches that far: audio before 0 does not exist. */
export function plannedDuration({ startMicros, endMicros }: PlannedSnippet): number {
  return toSeconds(endMicros - Math.max(0, startMicros));
}

/**
 * Makes the output row of a snippet from the row of its recording. Fields keep their order and, if they are not about the audio, their
 * source text; times become relative to the member's first sample and lie within its duration:
 *
 * ```
 *            0                          start 12.4                 end 42.1   audio ends
 * recording  |------------------------------[=== seg ===]--[=== seg ===]---------|
 * row                                       0           6.4           29.7
 * ```
 */
export function buildRow(
  recording: PlannedRecording,
  snippet: PlannedSnippet,
  facts: RowFacts,
): SnippetRow | DroppedRow {
  const { durationSeconds, audioEndSeconds = Infinity, settings } = facts;
  const segments = recording.segmentsOf(snippet);
  const kept = segments.filter(({ startMicros }) => toSeconds(startMicros) < audioEndSeconds);
  const text = joinTexts(kept);
  if (text === '') return { dropped: 'past_end', segmentCount: segments.length };
  if (audioEndSeconds !== Infinity && toMicros(durationSeconds) < toMicros(settings.minDurationSeconds)) {
    return { dropped: 'too_short', segmentCount: segments.length };
  }
  const window = { offsetMicros: Math.max(0, snippet.startMicros), durationSeconds };
  const duration = JSON.stringify(durationSeconds);
  const member = JSON.stringify(snippet.member);
  const row = recording.row.clone();
  const setIfPresent = (key: string, rawJson: string): void => {
    if (row.has(key)) row.set(key, rawJson);
  };
  for (const key of REMOVED) row.delete(key);
  if (row.kind('id') !== 'string') row.set('id', JSON.stringify(recording.id));
  row.set('snippet_id', JSON.stringify(snippet.snippetId));
  row.set(settings.audioFilepathKey, member);
  row.set('duration', duration);
  setIfPresent('actual_duration', duration);
  setIfPresent('proposed_duration', duration);
  setIfPresent('audio_sample_rate', String(settings.targetSampleRate));
  setIfPresent('audio_num_channels', '1');
  setIfPresent('swift_audio_filepath', '""');
  setIfPresent('text', JSON.stringify(text));
  row.set('segments', `[${kept.map((segment) => shiftSegment(segment, window)).join(',')}]`);
  // Last, so that the member's name stays whatever the field is called.
  row.set(settings.audioFilepathKey, member);
  return { line: row.stringify(), segmentCount: kept.length, pastEndSegmentCount: segments.length - kept.length };
}

/** The stretch of the recording that the member holds. */
interface Window {
  offsetMicros: number;
  durationSeconds: number;
}

function shiftSegment({ object, startMicros, endMicros }: Segment, window: Window): string {
  const shifted = object.clone();
  shifted.set('start', shiftTime(startMicros, window));
  shifted.set('end', shiftTime(endMicros, window));
  const words = object.items('words');
  if (words !== undefined && words.length > 0) {
    shifted.set(
      'words',
      `[${words.map((word) => (typeof word === 'string' ? word : shiftWord(word, window))).join(',')}]`,
    );
  }
  return shifted.stringify();
}

/** A word keeps a time that is missing or null; one that is not a finite number becomes null. */
function shiftWord(word: JsonObject, window: Window): string {
  const shifted = word.clone();
  for (const key of ['start', 'end']) {
    const raw = word.raw(key);
    if (raw === undefined) continue;
    const seconds = kindOfJson(raw) === 'number' ? Number(raw) : NaN;
    shifted.set(key, Number.isFinite(seconds) ? shiftTime(seconds * 1e6, window) : 'null');
  }
  return shifted.stringify();
}

function shiftTime(micros: number, { offsetMicros, durationSeconds }: Window): string {
  const seconds = toSeconds(Math.round(micros) - offsetMicros);
  return JSON.stringify(Math.min(durationSeconds, Math.max(0, seconds)));
}
