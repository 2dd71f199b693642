import path from 'node:path';
import { CutroomError, errorMessage, InputError } from '../errors.js';
import { JsonObject } from '../manifest/json-object.js';
import { parseRowLine } from '../manifest/row-line.js';
import { csvRecords } from '../shard/csv-records.js';
import { columnsOfHeader, rowOfFields, type Columns } from '../shard/field-rows.js';
import { rowOfObject } from '../shard/object-rows.js';
import { AudioFiles, spanOf, type AudioUse } from './audio-files.js';
import { resolvePlainPath } from './audio-path-rules.js';
import type { AudioSpan, CheckContext, PathFacts } from './finding.js';
import { manifestEntries, throwIfCanceled } from './manifest-entries.js';
import { ManifestReport } from './manifest-report.js';
import { openManifest } from './open-manifest.js';
import { checkValues } from './row-values.js';
import { isHeaderLine, TsvLines } from './tsv-lines.js';
import { tsvLines } from './tsv-text.js';
import { UtteranceRows } from './utterance-rows.js';

/** Inputs of `cutroom build`, by the layout of their rows. */
export type UtteranceKind = 'tsv' | 'csv' | 'utterances_jsonl';

const SECONDS_AN_HOUR = 3600;
const ROWS_A_NOTE = 2000;

/** Checks a list of utterances as `cutroom build` takes it; a TSV without a header as `atdataset build` does, too. */
export async function checkUtterances(
  filePath: string,
  kind: UtteranceKind,
  context: CheckContext,
): Promise<PathFacts> {
  const report = new ManifestReport(filePath, context);
  const reader = new UtteranceReader(filePath, kind, report, context);
  const files = filesOf(filePath, report, context);
  let rows = 0;
  for await (const use of reader.uses()) {
    rows += 1;
    if (rows % ROWS_A_NOTE === 0) context.onProgress({ path: filePath, stage: 'read', items: rows });
    if (use !== undefined) files.check(use);
  }
  const notes = [...reader.notes, ...(context.settings.deep ? [] : files.notes())];
  return { kind, rows, hours: reader.seconds / SECONDS_AN_HOUR, notes };
}

/** The spans of audio that utterances mean, for checks that decode; what is wrong with rows is not told again. */
export async function* utteranceSpans(
  filePath: string,
  kind: UtteranceKind,
  context: CheckContext,
): AsyncGenerator<AudioSpan> {
  const silent: CheckContext = { ...context, report: () => undefined };
  const report = new ManifestReport(filePath, silent);
  const files = filesOf(filePath, report, silent);
  for await (const use of new UtteranceReader(filePath, kind, report, silent).uses()) {
    const audioPath = use === undefined ? undefined : files.check(use);
    if (use !== undefined && audioPath !== undefined) yield spanOf(use, audioPath, filePath);
  }
}

/** Reads utterances, and reports what is wrong with them but for their audio. */
class UtteranceReader {
  readonly notes: string[] = [];
  readonly #filePath: string;
  readonly #kind: UtteranceKind;
  readonly #report: ManifestReport;
  readonly #context: CheckContext;
  /** Of lines without a header. */
  readonly #plain: TsvLines;
  readonly #rows: UtteranceRows;

  constructor(filePath: string, kind: UtteranceKind, report: ManifestReport, context: CheckContext) {
    this.#filePath = filePath;
    this.#kind = kind;
    this.#report = report;
    this.#context = context;
    this.#plain = new TsvLines(report);
    this.#rows = new UtteranceRows(report);
  }

  /** Sum of durations so far. */
  get seconds(): number {
    return this.#plain.seconds + this.#rows.seconds;
  }

  /** The audio of each row; undefined where that cannot be told. */
  uses(): AsyncGenerator<AudioUse | undefined> {
    if (this.#kind === 'tsv') return this.#readTsv();
    return this.#kind === 'csv' ? this.#readCsv() : this.#readObjects();
  }

  async *#readTsv(): AsyncGenerator<AudioUse | undefined> {
    let columns: Columns | undefined;
    let isFirst = true;
    for await (const { text, number } of tsvLines(this.#filePath, this.#context, this.#report)) {
      const fields = text?.split('\t');
      const isHeader = isFirst && fields !== undefined && this.#isHeader(fields, number);
      if (isHeader) columns = columnsOfHeader(fields);
      isFirst = false;
      if (isHeader) continue;
      if (text === undefined || fields === undefined) yield undefined;
      else yield columns === undefined ? this.#plain.check(text, number) : this.#judge(fields, columns, number);
    }
  }

  #isHeader(fields: readonly string[], line: number): boolean {
    if (columnsOfHeader(fields) !== undefined) {
      this.notes.push('the first line names columns: cutroom build reads it, atdataset takes it for an utterance');
      return true;
    }
    if (!isHeaderLine(fields)) return false;
    const message = 'the first line names columns, and not as cutroom build knows them: it is taken for an utterance';
    this.#report.add('header_line', line, message);
    return true;
  }

  async *#readCsv(): AsyncGenerator<AudioUse | undefined> {
    let columns: Columns | undefined;
    const manifest = await openManifest(this.#filePath);
    try {
      let count = 0;
      for await (const record of csvRecords(manifest.handle)) {
        count += 1;
        if (count % ROWS_A_NOTE === 0) throwIfCanceled(this.#context);
        if ('refusal' in record) {
          this.#rows.refuse(record.refusal, record.line);
          yield undefined;
        } else if (columns === undefined) {
          columns = columnsOfHeader(record.fields);
          if (columns !== undefined) continue;
          this.#report.add('missing_header', record.line, 'the first line does not name the columns');
          return;
        } else yield this.#judge(record.fields, columns, record.line);
      }
    } catch (error) {
      if (error instanceof CutroomError) throw error;
      const message = `Cannot read "${this.#filePath}": ${errorMessage(error)}`;
      throw new InputError(message, { path: this.#filePath, cause: error });
    } finally {
      await manifest.close();
    }
  }

  async *#readObjects(): AsyncGenerator<AudioUse | undefined> {
    const entries = manifestEntries(this.#filePath, { context: this.#context, report: this.#report });
    for await (const { row, line, bytes } of entries) {
      const object = row === undefined ? undefined : parseRowLine({ bytes });
      if (row === undefined || !(object instanceof JsonObject)) {
        yield undefined;
        continue;
      }
      checkValues(row, line, this.#report);
      yield this.#take(rowOfObject(object), line);
    }
  }

  #judge(fields: readonly string[], columns: Columns, line: number): AudioUse | undefined {
    return this.#take(rowOfFields(fields, columns), line);
  }

  #take(read: ReturnType<typeof rowOfFields>, line: number): AudioUse | undefined {
    if (!('reason' in read)) return this.#rows.check(read, line);
    this.#rows.refuse(read, line);
    return undefined;
  }
}

function filesOf(filePath: string, report: ManifestReport, { settings }: CheckContext): AudioFiles {
  const folder = settings.base ?? path.dirname(filePath);
  return new AudioFiles({ report, resolve: (audioPath) => resolvePlainPath(audioPath, folder) });
}
