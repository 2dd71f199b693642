import { countWords } from '../count-words.js';
import { kindOfJson } from '../manifest/json-object.js';
import { IdIndex } from '../shard/id-index.js';
import type { AudioUse } from './audio-files.js';
import { quote, type ManifestReport } from './manifest-report.js';
import { checkPathText } from './nemo-rows.js';
import type { RowChecker } from './row-checker.js';
import { checkValues } from './row-values.js';
import type { ScannedRow } from './scanned-row.js';
import { countOverlaps, nameTime, readSegmentList, type CheckedSegment, type SegmentFaults } from './segment-list.js';

/** Checks the rows of a long-form manifest: what `cutroom cut` would skip, drop or change, and why. */
export class LongFormRows implements RowChecker {
  readonly #report: ManifestReport;
  readonly #ids = new IdIndex();
  readonly #safeIds = new IdIndex();
  readonly #baseNames = new IdIndex();
  #seconds = 0;
  #segments = 0;
  #longestSeconds = 0;

  constructor(report: ManifestReport) {
    this.#report = report;
  }

  get seconds(): number {
    return this.#seconds;
  }

  check(row: ScannedRow, line: number): AudioUse | undefined {
    checkValues(row, line, this.#report);
    const id = this.#checkId(row, line);
    const audioPath = this.#checkPath(row, line, id);
    const durationSeconds = this.#checkDuration(row, line, id);
    const segments = this.#checkSegments(row, line, id);
    const latestEndSeconds = segments.reduce((latest, { endSeconds }) => Math.max(latest, endSeconds), 0);
    this.#seconds += durationSeconds ?? latestEndSeconds;
    if (durationSeconds !== undefined && latestEndSeconds > durationSeconds + END_TOLERANCE_SECONDS) {
      const message = `segments end at ${nameTime(latestEndSeconds)} s, and the duration is ${durationSeconds} s`;
      this.#report.add('segment_beyond_audio', line, message, { id });
    }
    if (audioPath === undefined) return undefined;
    const hasText = segments.some((segment) => segment.hasText);
    return { audioPath, line, id, startSeconds: 0, durationSeconds, isPart: false, latestEndSeconds, hasText };
  }

  notes(): string[] {
    if (this.#segments === 0) return [];
    const longest = Number(this.#longestSeconds.toFixed(3));
    return [
      `${countWords(this.#segments, 'segment')}, the longest ${longest} s: longer ones than --max-duration-sec are dropped whole`,
    ];
  }

  #checkId(row: ScannedRow, line: number): string | undefined {
    const raw = row.raw('id');
    const kind = raw === undefined ? 'null' : kindOfJson(raw);
    const id = kind === 'string' ? row.string('id') : kind === 'null' ? undefined : raw;
    if (id === undefined || id.trim() === '') {
      this.#report.add('missing_id', line, raw === undefined ? 'the row has no id' : `the id is ${quote(raw)}`);
      return undefined;
    }
    const first = this.#ids.firstShardOf(id, line);
    if (first !== line) {
      this.#report.add('duplicate_id', line, `the id ${JSON.stringify(id)} is already that of line ${first}`, { id });
      return id;
    }
    // oxlint-disable-next-line no-control-regex -- NUL is the character meant
    const safeId = id.replaceAll(/[./\\\u0000]/gu, '_');
    const clash = this.#safeIds.firstShardOf(safeId, line);
    if (clash !== line) {
      const message = `the id ${JSON.stringify(id)} and that of line ${clash} both become "${safeId}" in names`;
      this.#report.add('unsafe_id_clash', line, message, { id });
    }
    return id;
  }

  #checkPath(row: ScannedRow, line: number, id: string | undefined): string | undefined {
    const raw = row.raw('audio_filepath');
    const audioPath = row.string('audio_filepath');
    if (audioPath === undefined || audioPath === '') {
      const kind = raw === undefined || raw === 'null' || raw === '""' ? 'missing_audio_path' : 'bad_audio_path';
      const message = raw === undefined ? 'the row has no audio_filepath' : `audio_filepath is ${quote(raw)}`;
      this.#report.add(kind, line, message, {
        id,
        hint: 'cutroom cut takes another key with --audio-filepath-key',
      });
      return undefined;
    }
    checkPathText(audioPath, line, this.#report);
    const baseName = audioPath.slice(audioPath.lastIndexOf('/') + 1);
    const first = this.#baseNames.firstShardOf(baseName, line);
    if (first !== line) {
      const message = `the file name ${JSON.stringify(baseName)} is already that of line ${first}`;
      this.#report.add('duplicate_basename', line, message, { id });
    }
    return audioPath;
  }

  #checkDuration(row: ScannedRow, line: number, id: string | undefined): number | undefined {
    const raw = row.raw('duration');
    if (raw === undefined || raw === 'null') return undefined;
    const seconds = kindOfJson(raw) === 'number' ? Number(raw) : Number.NaN;
    if (!Number.isFinite(seconds)) this.#report.add('bad_duration', line, `duration is ${quote(raw)}`, { id });
    else if (seconds <= 0) this.#report.add('non_positive_duration', line, `duration is ${raw}`, { id });
    else return seconds;
    return undefined;
  }

  #checkSegments(row: ScannedRow, line: number, id: string | undefined): CheckedSegment[] {
    const raw = row.raw('segments');
    if (raw === undefined) {
      this.#report.add('missing_segments', line, 'the row has no segments', { id });
      return [];
    }
    const isEmpty = /^(?:null|\[\s*\]|\{\s*\})$/u.test(raw);
    if (isEmpty) {
      this.#report.add('no_segments', line, `segments is ${raw}`, { id });
      return [];
    }
    if (kindOfJson(raw) !== 'array') {
      this.#report.add('missing_segments', line, `segments is ${quote(raw)}, not a list`, { id });
      return [];
    }
    const faults: SegmentFaults = new Map();
    const segments = readSegmentList(raw, faults);
    for (const [kind, { count, position, message }] of faults) {
      const many = count === 1 ? '' : ` (${count} such segments in the row)`;
      this.#report.add(kind, line, `segment ${position}: ${message}${many}`, { id });
    }
    const { count, first } = countOverlaps(segments);
    if (first !== undefined) {
      const [a, b] = first;
      const spans = `segments ${a.position} (${nameTime(a.startSeconds)} to ${nameTime(a.endSeconds)}) and ${b.position} (${nameTime(b.startSeconds)} to ${nameTime(b.endSeconds)})`;
      const many = count === 2 ? '' : ` (${count} such segments in the row)`;
      this.#report.add('overlapping_segments', line, `${spans} overlap${many}`, { id });
    }
    this.#segments += segments.length;
    for (const { startSeconds, endSeconds } of segments) {
      this.#longestSeconds = Math.max(this.#longestSeconds, endSeconds - startSeconds);
    }
    return segments;
  }
}

const END_TOLERANCE_SECONDS = 0.01;
