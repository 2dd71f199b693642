import { parseJsonObject } from '../manifest/json-object.js';
import { IdIndex } from '../shard/id-index.js';
import type { AudioUse } from './audio-files.js';
import { quote, type ManifestReport } from './manifest-report.js';
import { checkText } from './row-text.js';

/** The fields of a line of a TSV. */
export interface TsvFields {
  id: string;
  audioPath: string;
  text: string;
  start: string | undefined;
  duration: string | undefined;
  extras: string | undefined;
}

const FIELD_COUNTS: readonly number[] = [3, 5, 6];
const HEADER_NAMES = new Set([
  'id',
  'audio_path',
  'audio',
  'path',
  'audio_filepath',
  'text',
  'start',
  'duration',
  'utt_id',
]);

/** Whether a first line names columns: its first two fields, or all of them, are words that name such. */
export function isHeaderLine(fields: readonly string[]): boolean {
  const known = fields.filter((field) => HEADER_NAMES.has(field.trim().toLowerCase())).length;
  return known >= 2 && known >= fields.length / 2;
}

/** Checks the lines of a TSV of utterances, as `cutroom build` and `atdataset build` take it. */
export class TsvLines {
  readonly #report: ManifestReport;
  readonly #ids = new IdIndex();
  #seconds = 0;
  #threeFields = 0;

  constructor(report: ManifestReport) {
    this.#report = report;
  }

  get seconds(): number {
    return this.#seconds;
  }

  /** Returns the audio that a line means where that can be told. */
  check(text: string, line: number): AudioUse | undefined {
    const fields = text.split('\t');
    if (!FIELD_COUNTS.includes(fields.length)) {
      const message = `the line has ${fields.length} field${fields.length === 1 ? '' : 's'}`;
      const hint = fields.length === 4 ? 'is there a tab inside the text, or is the duration missing?' : undefined;
      this.#report.add('wrong_field_count', line, message, { hint });
      return undefined;
    }
    const [id = '', audioPath = '', transcript = '', start, duration, extras] = fields;
    if (fields.length === 3) {
      this.#threeFields += 1;
      // Of a whole file one is enough to know.
      if (this.#threeFields === 1) this.#report.add('three_fields', line, 'lines have 3 fields');
    }
    this.#checkId(id, line);
    if (audioPath.trim() === '') this.#report.add('missing_audio_path', line, 'the audio path is empty', { id });
    const startSeconds = this.#readTime(start, 'start', line, id);
    const durationSeconds = this.#readTime(duration, 'duration', line, id);
    if (extras !== undefined && extras !== '') this.#checkExtras(extras, line, id);
    const hasText = transcript.trim() !== '';
    if (!hasText) this.#report.add('empty_text', line, 'the text is empty: ATdataset reads <|EMPTY|>', { id });
    else checkText(transcript, durationSeconds, { line, id }, this.#report);
    if (durationSeconds !== undefined && durationSeconds > 0) this.#seconds += durationSeconds;
    if (audioPath.trim() === '') return undefined;
    const isWhole = durationSeconds === undefined || durationSeconds < 0;
    return {
      ...{ audioPath, line, id, hasText, isPart: !isWhole },
      startSeconds: Math.max(0, startSeconds ?? 0),
      durationSeconds: isWhole ? undefined : durationSeconds,
    };
  }

  #checkId(id: string, line: number): void {
    if (id.trim() === '') {
      this.#report.add('missing_id', line, 'the id is empty', { hint: 'every utterance needs an id' });
      return;
    }
    const first = this.#ids.firstShardOf(id, line);
    if (first !== line) {
      this.#report.add('duplicate_id', line, `the id ${JSON.stringify(id)} is already that of line ${first}`, { id });
    }
    if (id.includes('.')) {
      const message = `the id ${JSON.stringify(id)} holds a dot, at which WebDataset takes names apart`;
      this.#report.add('dotted_id', line, message, { id });
    }
    if (/[/\\]/u.test(id)) {
      this.#report.add('slash_in_id', line, `the id ${JSON.stringify(id)} holds a slash`, { id });
    }
  }

  #readTime(raw: string | undefined, key: 'start' | 'duration', line: number, id: string): number | undefined {
    if (raw === undefined) return undefined;
    const seconds = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/iu.test(raw) ? Number(raw) : Number.NaN;
    if (!Number.isFinite(seconds)) {
      const hint = 'is there a tab inside the text?';
      const kind = key === 'start' ? 'bad_offset' : 'bad_duration';
      this.#report.add(kind, line, `the ${key} is ${quote(JSON.stringify(raw))}, not a number`, { id, hint });
      return undefined;
    }
    if (key === 'start' && seconds < 0) this.#report.add('negative_offset', line, `the start is ${raw}`, { id });
    if (key === 'duration' && seconds === 0) {
      this.#report.add('non_positive_duration', line, 'the duration is 0: below 0 means the whole file', { id });
    }
    return seconds;
  }

  #checkExtras(extras: string, line: number, id: string): void {
    const parsed = parseJsonObject(extras);
    if ('reason' in parsed) {
      this.#report.add('bad_extras', line, `the sixth field is no JSON object: ${parsed.message}`, { id });
    }
  }
}
