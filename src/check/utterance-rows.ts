import { IdIndex } from '../shard/id-index.js';
import { idFault, idOfPath } from '../shard/member-id.js';
import type { RowRefusal, UtteranceRow } from '../shard/utterance-row.js';
import type { AudioUse } from './audio-files.js';
import type { ManifestKind } from './manifest-kinds.js';
import type { ManifestReport } from './manifest-report.js';
import { checkText } from './row-text.js';

const MICROS = 1e6;
/** Of the members that `cutroom build` makes unless another format is asked for. */
const EXTENSION = '.flac';

/** What the reasons for which `cutroom build` refuses a line are called here. */
const KINDS: Readonly<Record<string, ManifestKind>> = {
  field_count: 'wrong_field_count',
  bad_quotes: 'bad_quotes',
  invalid_utf8: 'invalid_utf8',
  missing_path: 'missing_audio_path',
  bad_type: 'bad_type',
  bad_start: 'bad_offset',
  bad_duration: 'bad_duration',
  bad_extras: 'bad_extras',
};

/** Judges utterances by the rules of `cutroom build`. */
export class UtteranceRows {
  readonly #report: ManifestReport;
  readonly #ids = new IdIndex();
  #seconds = 0;

  constructor(report: ManifestReport) {
    this.#report = report;
  }

  /** Sum of durations so far. */
  get seconds(): number {
    return this.#seconds;
  }

  /** Reports why a line holds no utterance. */
  refuse({ reason, message, hint, column, id }: RowRefusal, line: number): void {
    const kind = KINDS[reason];
    if (kind === undefined) throw new TypeError(`Lines are refused for ${reason}, and it has no name here`);
    this.#report.add(kind, line, message, { hint, column, id });
  }

  /** Returns the audio that an utterance means where that can be told. */
  check(row: UtteranceRow, line: number): AudioUse | undefined {
    const { path: audioPath, text, span } = row;
    const id = row.id ?? idOfPath(row);
    this.#checkId(id, line);
    const durationSeconds = row.duration === undefined ? undefined : Number(row.duration);
    const hasText = text.trim() !== '';
    if (!hasText) this.#report.add('empty_text', line, 'the text is empty: ATdataset reads <|EMPTY|>', { id });
    else checkText(text, durationSeconds, { line, id }, this.#report);
    this.#seconds += durationSeconds ?? 0;
    if (audioPath.trim() === '') {
      this.#report.add('missing_audio_path', line, 'the path of the audio is empty', { id });
      return undefined;
    }
    if (audioPath.includes('\0')) {
      this.#report.add('bad_audio_path', line, 'the path of the audio holds a NUL character', { id });
      return undefined;
    }
    const isPart = span !== undefined && span.end !== null;
    return { audioPath, line, id, hasText, isPart, startSeconds: (span?.start ?? 0) / MICROS, durationSeconds };
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
    const fault = idFault(id, EXTENSION);
    if (fault === undefined) return;
    const leads = id.split('/').some((part) => part === '.' || part === '..');
    const isDotted = !leads && idFault(id.replaceAll('.', '_'), EXTENSION) === undefined;
    const message = `the id ${JSON.stringify(id)} cannot name a member: ${fault}`;
    this.#report.add(isDotted ? 'dotted_id' : 'bad_id', line, message, { id });
  }
}
