import { kindOfJson } from '../manifest/json-object.js';
import { IdIndex } from '../shard/id-index.js';
import { loaderGroup, sampleKey } from '../shard/sample-key.js';
import { quote, type ManifestReport } from './manifest-report.js';
import { checkPathText } from './nemo-rows.js';
import type { RowChecker } from './row-checker.js';
import { checkText } from './row-text.js';
import { readDuration } from './row-times.js';
import { checkValues } from './row-values.js';
import type { ScannedRow } from './scanned-row.js';

/** What ATdataset's loader keeps by default. */
const SHORTEST_SECONDS = 0.1;
const LONGEST_SECONDS = 60;

const EMPTY = 'ATdataset reads the text <|EMPTY|>';

/** Checks the rows of the manifest of an ATdataset shard. Their audio is in a tar. */
export class AtdatasetRows implements RowChecker {
  readonly #report: ManifestReport;
  readonly #ids = new IdIndex();
  #seconds = 0;

  constructor(report: ManifestReport) {
    this.#report = report;
  }

  get seconds(): number {
    return this.#seconds;
  }

  check(row: ScannedRow, line: number): undefined {
    checkValues(row, line, this.#report);
    const limits = { shortest: SHORTEST_SECONDS, longest: LONGEST_SECONDS };
    const durationSeconds = readDuration(row, line, this.#report, limits);
    if (durationSeconds !== undefined && durationSeconds > 0) this.#seconds += durationSeconds;
    const id = this.#checkName(row, line);
    this.#checkText(row, line, durationSeconds, id);
  }

  notes(): string[] {
    return [];
  }

  #checkName(row: ScannedRow, line: number): string | undefined {
    const raw = row.raw('audio_filepath');
    if (raw === undefined) {
      this.#report.add(
        'missing_audio_path',
        line,
        'the row has no audio_filepath: the loader finds no text for its member',
      );
      return undefined;
    }
    const name = row.string('audio_filepath');
    if (name === undefined || name.trim() === '') {
      this.#report.add('bad_audio_path', line, `audio_filepath is ${name === undefined ? quote(raw) : 'empty'}`);
      return undefined;
    }
    checkPathText(name, line, this.#report);
    const id = sampleKey(name);
    const first = this.#ids.firstShardOf(id, line);
    if (first !== line) {
      this.#report.add('duplicate_id', line, `the id ${JSON.stringify(id)} is already that of line ${first}`, { id });
    }
    const group = loaderGroup(name);
    if (group !== undefined && group !== id) {
      const message = `the id ${JSON.stringify(id)} holds a dot: neighbours that begin with ${JSON.stringify(group)} become one sample`;
      this.#report.add('dotted_name', line, message, { id });
      if (id.slice(group.length) !== id.slice(group.length).toLowerCase()) {
        const lost = `an upper-case letter follows a dot in ${JSON.stringify(id)}: ${EMPTY}`;
        this.#report.add('upper_case_after_dot', line, lost, { id });
      }
    }
    return id;
  }

  #checkText(row: ScannedRow, line: number, durationSeconds: number | undefined, id: string | undefined): void {
    const raw = row.raw('text');
    if (raw === undefined || kindOfJson(raw) === 'null') {
      const message = `${raw === undefined ? 'the row has no text' : 'text is null'}: ${EMPTY}`;
      this.#report.add(raw === undefined ? 'missing_text' : 'null_text', line, message, { id });
      return;
    }
    const text = row.string('text');
    if (text === undefined) {
      this.#report.add('bad_text', line, `text is ${quote(raw)}, not a string`, { id });
    } else if (text.trim() === '') this.#report.add('empty_text', line, `the text is empty: ${EMPTY}`, { id });
    else checkText(text, durationSeconds, { line, id }, this.#report);
  }
}
