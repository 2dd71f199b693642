import path from 'node:path';
import { AtdatasetRows } from './atdataset-rows.js';
import { AudioFiles, spanOf } from './audio-files.js';
import { isTarredManifestName, resolveNemoPath, resolvePlainPath, resolveRecordingPath } from './audio-path-rules.js';
import { CanaryKeys } from './canary-keys.js';
import { kindOfRow } from './detect-kind.js';
import { FileUses } from './file-uses.js';
import type { AudioSpan, CheckContext, PathFacts } from './finding.js';
import { LongFormRows } from './long-form-rows.js';
import { manifestEntries } from './manifest-entries.js';
import { ManifestReport } from './manifest-report.js';
import { NemoRows } from './nemo-rows.js';
import type { RowChecker } from './row-checker.js';
import type { ScannedRow } from './scanned-row.js';

/** Kinds of manifests whose lines are JSON. */
export type JsonManifestKind = 'long_form' | 'nemo' | 'canary_v1' | 'canary_flash' | 'atdataset_jsonl';

const SECONDS_AN_HOUR = 3600;
/** How many rows are read between two notes of progress. */
const ROWS_A_NOTE = 2000;

/** Checks a manifest of JSON rows, from its first line to its last. */
export async function checkManifest(
  filePath: string,
  kind: JsonManifestKind,
  context: CheckContext,
): Promise<PathFacts> {
  const report = new ManifestReport(filePath, context);
  checkName(filePath, kind, report);
  const { checker, files } = makeChecker(filePath, kind, report, context);
  let rows = 0;
  const entries = manifestEntries(filePath, { context, report, reportsBlankLines: kind !== 'long_form' });
  for await (const { row, line } of entries) {
    rows += 1;
    if (rows % ROWS_A_NOTE === 0) context.onProgress({ path: filePath, stage: 'read', items: rows });
    if (row === undefined) continue;
    const other = otherKind(row, kind);
    if (other !== undefined) {
      report.add('mixed_rows', line, `the row is ${other}, and the manifest one of ${RECORDS[kind]}`);
      continue;
    }
    const use = checker.check(row, line);
    if (use !== undefined) files.check(use);
  }
  const hours = checker.seconds / SECONDS_AN_HOUR;
  return { kind, rows, hours, notes: [...checker.notes(), ...notesOf(files, context)] };
}

function notesOf(files: AudioFiles, { settings }: CheckContext): string[] {
  return settings.deep ? [] : files.notes();
}

/** The spans of audio that a manifest names, for checks that decode; what is wrong with its rows is not told again. */
export async function* audioSpans(
  filePath: string,
  kind: JsonManifestKind,
  context: CheckContext,
): AsyncGenerator<AudioSpan> {
  const silent: CheckContext = { ...context, report: () => undefined };
  const report = new ManifestReport(filePath, silent);
  const { checker, files } = makeChecker(filePath, kind, report, silent);
  for await (const { row, line } of manifestEntries(filePath, { context: silent })) {
    if (row === undefined || otherKind(row, kind) !== undefined) continue;
    const use = checker.check(row, line);
    const audioPath = use === undefined ? undefined : files.check(use);
    if (use !== undefined && audioPath !== undefined) yield spanOf(use, audioPath, filePath);
  }
}

const RECORDS: Readonly<Record<JsonManifestKind, string>> = {
  long_form: 'recordings',
  nemo: 'utterances',
  canary_v1: 'utterances',
  canary_flash: 'utterances',
  atdataset_jsonl: 'utterances',
};

/** What a row is where it cannot belong to the manifest. */
function otherKind(row: ScannedRow, kind: JsonManifestKind): string | undefined {
  if (kind === 'long_form') {
    const isUtterance = !row.has('segments') && !row.has('id') && (row.has('text') || row.has('source_lang'));
    return isUtterance ? 'an utterance' : undefined;
  }
  const rowKind = kindOfRow(row);
  if (rowKind === 'conversation') return 'a conversation';
  if (rowKind === 'cut_set') return 'a cut of Lhotse';
  const isRecording = rowKind === 'long_form' && !(row.has('text') && row.has('duration'));
  return isRecording ? 'a recording with segments' : undefined;
}

function checkName(filePath: string, kind: JsonManifestKind, report: ManifestReport): void {
  if (kind === 'long_form' || kind === 'atdataset_jsonl' || !/\.jsonl(?:\.gz)?$/u.test(filePath)) return;
  const message = "the name ends in .jsonl: NeMo's front end takes such files for CutSets of Lhotse, and fails";
  report.add('jsonl_name', undefined, message);
}

function makeChecker(
  filePath: string,
  kind: JsonManifestKind,
  report: ManifestReport,
  { settings }: CheckContext,
): { checker: RowChecker; files: AudioFiles } {
  const folder = settings.base ?? path.dirname(filePath);
  if (kind === 'long_form') {
    const resolve = (audioPath: string): ReturnType<typeof resolvePlainPath> => resolveRecordingPath(audioPath, folder);
    return {
      checker: new LongFormRows(report),
      files: new AudioFiles({ report, resolve, endKind: 'segment_beyond_audio' }),
    };
  }
  const isTarred = isTarredManifestName(filePath);
  const resolve = (audioPath: string): ReturnType<typeof resolvePlainPath> =>
    resolveNemoPath(audioPath, folder, isTarred);
  const files = new AudioFiles({ report, resolve });
  if (kind === 'atdataset_jsonl') return { checker: new AtdatasetRows(report), files };
  const canary = kind === 'nemo' ? undefined : new CanaryKeys(report, kind === 'canary_v1' ? 'v1' : 'flash');
  const uses = new FileUses(report, isTarred);
  return { checker: new NemoRows({ report, uses, canary, isTarred }), files };
}
