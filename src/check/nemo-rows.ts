import { countWords } from '../count-words.js';
import { kindOfJson } from '../manifest/json-object.js';
import type { AudioUse } from './audio-files.js';
import type { CanaryKeys } from './canary-keys.js';
import type { FileUses } from './file-uses.js';
import { quote, type ManifestReport } from './manifest-report.js';
import { FLASH_SWITCHES } from './prompt-values.js';
import type { RowChecker } from './row-checker.js';
import { readDuration, readOffset } from './row-times.js';
import { checkText } from './row-text.js';
import { checkValues } from './row-values.js';
import type { ScannedRow } from './scanned-row.js';
import { checkTextFile } from './text-file.js';

/** Keys that some programs take for the path, and others do not; mistakes that are often made come last. */
export const PATH_ALIASES = ['audio_filename', 'audio_file', 'audio_path', 'audio', 'wav_path', 'path', 'wav'] as const;

const SHORTEST_SECONDS = 0.1;
const LONGEST_SECONDS = 120;

export interface NemoRowsOptions {
  report: ManifestReport;
  uses: FileUses;
  /** Where rows carry the keys of a Canary prompt. */
  canary?: CanaryKeys | undefined;
  /** The rows are those of tars. */
  isTarred: boolean;
}

/** Checks the rows of a NeMo manifest. */
export class NemoRows implements RowChecker {
  readonly #options: NemoRowsOptions;
  #seconds = 0;
  #skipped = 0;
  #lists = 0;

  constructor(options: NemoRowsOptions) {
    this.#options = options;
  }

  get seconds(): number {
    return this.#seconds;
  }

  check(row: ScannedRow, line: number): AudioUse | undefined {
    const { report, canary, uses, isTarred } = this.#options;
    checkValues(row, line, report);
    const audioPaths = this.#readPaths(row, line);
    const durationSeconds = readDuration(row, line, report, { shortest: SHORTEST_SECONDS, longest: LONGEST_SECONDS });
    const startSeconds = readOffset(row, line, report);
    if (durationSeconds !== undefined && durationSeconds > 0) this.#seconds += durationSeconds;
    if (startSeconds !== undefined && startSeconds > 0) this.#checkOffset(row, line);
    const hasText = this.#checkTexts(row, line, durationSeconds);
    this.#checkSkipMe(row, line);
    canary?.check(row, line);
    if (isTarred || row.has('shard_id')) this.#checkShardId(row, line);
    const [audioPath] = audioPaths;
    if (audioPath === undefined) return undefined;
    const offsetSeconds = startSeconds ?? 0;
    uses.check({
      audioPath: audioPaths.join('\n'),
      line,
      offsetSeconds,
      durationSeconds: durationSeconds ?? -1,
      text: textOf(row),
      prompt: promptOf(row),
    });
    if (audioPaths.length > 1) return undefined;
    const isPart = row.kind('offset') === 'number';
    return { audioPath, line, startSeconds: offsetSeconds, durationSeconds, isPart, hasText };
  }

  notes(): string[] {
    const notes: string[] = [];
    const { repeats } = this.#options.uses;
    const { canary } = this.#options;
    if (repeats > 0 && !this.#options.isTarred) {
      notes.push(
        `${countWords(repeats, 'row')} after the first of a file: NeMo's converter makes -sub rows of such, cutroom tar cuts them apart`,
      );
    }
    if (this.#lists > 0) notes.push(`${countWords(this.#lists, 'row')} with several files, one a channel`);
    if (this.#skipped > 0)
      notes.push(
        `${countWords(this.#skipped, 'row')} with _skipme: Lhotse passes over such, the older loader does not`,
      );
    if (canary !== undefined && canary.synonyms > 0) {
      notes.push(
        `${countWords(canary.synonyms, 'accepted synonym')} among the values; --fix writes them as the documentation does`,
      );
    }
    return notes;
  }

  #readPaths(row: ScannedRow, line: number): string[] {
    const { report } = this.#options;
    const raw = row.raw('audio_filepath');
    if (raw === undefined) return this.#readAlias(row, line);
    const kind = kindOfJson(raw);
    if (kind === 'array') {
      const paths = row.value('audio_filepath') as unknown[];
      if (paths.length > 0 && paths.every((item): item is string => typeof item === 'string' && item !== '')) {
        if (paths.length > 1) this.#lists += 1;
        return paths;
      }
      report.add('bad_audio_path', line, `audio_filepath is ${quote(raw)}: a list holds paths, one a channel`);
      return [];
    }
    const value = kind === 'string' ? (row.string('audio_filepath') ?? '') : '';
    if (kind !== 'string' || value.trim() === '') {
      report.add('bad_audio_path', line, `audio_filepath is ${kind === 'string' ? 'empty' : quote(raw)}`);
      return [];
    }
    checkPathText(value, line, report);
    return [value];
  }

  #readAlias(row: ScannedRow, line: number): string[] {
    const { report } = this.#options;
    const alias = PATH_ALIASES.find((name) => row.kind(name) === 'string');
    if (alias === undefined) {
      report.add('missing_audio_path', line, 'the row has no audio_filepath');
      return [];
    }
    const isKnown = alias === 'audio_filename' || alias === 'audio_file';
    const message = `the path stands in ${JSON.stringify(alias)}, which ${isKnown ? 'not every program reads' : 'NeMo does not read'}`;
    report.add('audio_path_alias', line, message);
    const value = row.string(alias) ?? '';
    return value === '' ? [] : [value];
  }

  #checkOffset(row: ScannedRow, line: number): void {
    const { report } = this.#options;
    if (row.kind('duration') !== 'number') {
      report.add('offset_without_duration', line, 'the row has an offset and no duration');
    }
    if (row.kind('sampling_rate') === 'number') {
      report.add('sampling_rate_with_offset', line, 'the row has sampling_rate and an offset');
    }
  }

  #checkTexts(row: ScannedRow, line: number, durationSeconds: number | undefined): boolean {
    const { report } = this.#options;
    const key = row.has('text') ? 'text' : row.has('text_filepath') ? 'text_filepath' : 'normalized_text';
    const raw = row.raw(key);
    if (key === 'text_filepath') return checkTextFile(row, line, report);
    if (raw === undefined) {
      if (!row.has('answer')) report.add('missing_text', line, 'the row has no text');
      return false;
    }
    if (raw === 'null') {
      report.add('null_text', line, `${key} is null`);
      return false;
    }
    const text = row.string(key);
    if (text === undefined) {
      report.add('bad_text', line, `${key} is ${quote(raw)}, not a string`);
      return false;
    }
    if (text.trim() === '') {
      report.add('empty_text', line, 'the text is empty');
      return false;
    }
    checkText(text, durationSeconds, { line }, report);
    return true;
  }

  #checkSkipMe(row: ScannedRow, line: number): void {
    const raw = row.raw('_skipme');
    if (raw === undefined) return;
    const isTruthy = !/^(?:false|null|-?0(?:\.0*)?|""|\[\s*\]|\{\s*\})$/u.test(raw);
    if (isTruthy) this.#skipped += 1;
    if (!/^"\s*(?:false|no|0|off|none|null)\s*"$/iu.test(raw)) return;
    this.#options.report.add('skipme_misread', line, `_skipme is ${raw}, which counts as true: the row is passed over`);
  }

  #checkShardId(row: ScannedRow, line: number): void {
    const raw = row.raw('shard_id');
    if (raw !== undefined && /^\d+$/u.test(raw)) return;
    this.#options.report.add(
      'bad_shard_id',
      line,
      raw === undefined ? 'shard_id is missing' : `shard_id is ${quote(raw)}`,
    );
  }
}

/** What is said, or where that is written, without the space around it. */
function textOf(row: ScannedRow): string {
  for (const key of ['text', 'text_filepath', 'normalized_text', 'answer']) {
    const text = row.string(key);
    if (text !== undefined) return text.trim();
  }
  return '';
}

/** Keys that tell a model what to make of the audio: the languages of multilingual models, and the prompt of Canary. */
const PROMPT_KEYS = ['lang', 'source_lang', 'target_lang', 'task', 'taskname', ...Object.keys(FLASH_SWITCHES)];

function promptOf(row: ScannedRow): string {
  let prompt = '';
  for (const key of PROMPT_KEYS) {
    const raw = row.raw(key);
    if (raw !== undefined) prompt += `${key} ${raw}\n`;
  }
  return prompt;
}

/** Reports what makes a path that is there for people not there for programs. */
export function checkPathText(value: string, line: number, report: ManifestReport): void {
  if (value !== value.trim()) {
    report.add('space_around_path', line, `audio_filepath ${JSON.stringify(value)} begins or ends with a space`);
  }
  if (value.includes('\\')) report.add('backslash_path', line, `audio_filepath ${JSON.stringify(value)} holds "\\"`);
}
