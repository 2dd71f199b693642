import { kindOfJson, type JsonObject } from '../manifest/json-object.js';
import type { ManifestLine } from '../manifest/lines.js';
import { parseRowLine } from '../manifest/row-line.js';
import { baseName } from './audio-path.js';
import type { KnownRecordings } from './known-recordings.js';
import { stripText } from './segment-text.js';
import { readSegments, type SegmentFault, type SegmentList } from './segments.js';
import type { PlanSettings, SkipReason } from './types.js';

/** A row that becomes a recording. */
export interface AcceptedRow {
  id: string;
  /** As in the row. */
  audioPath: string;
  list: SegmentList;
  segmentFaults: SegmentFault[];
}

/** A row that does not, and why. */
export interface SkippedRow {
  reason: SkipReason;
  message: string;
  hint?: string | undefined;
  /** 1-based, in characters. */
  column?: number | undefined;
  id?: string | undefined;
}

/** Tells whether a line becomes a recording. A skipped row leaves no trace: its id and path stay free. */
export function acceptRow(
  line: ManifestLine,
  settings: Pick<PlanSettings, 'audioFilepathKey' | 'audioPathResolution'>,
  known: KnownRecordings,
): AcceptedRow | SkippedRow {
  const row = parseRowLine(line);
  if ('reason' in row) return row;
  const id = readId(row);
  if (id === undefined) {
    const message = row.has('id') && row.kind('id') !== 'null' ? 'the id is empty' : 'the row has no id';
    return { reason: 'missing_id', message };
  }
  const sameId = known.findId(id);
  if (sameId !== undefined) {
    const message = `the id ${JSON.stringify(id)} is already that of line ${known.lineOf(sameId)}`;
    return { reason: 'duplicate_id', message, id };
  }
  const key = settings.audioFilepathKey;
  const audioPath = row.kind(key) === 'string' ? (row.value(key) as string) : '';
  if (audioPath === '') {
    const message = `the row's ${JSON.stringify(key)} is ${describeLack(row, key)}`;
    const hint = row.has(key) ? undefined : 'another field that holds the path is named with --audio-filepath-key';
    return { reason: 'missing_audio_path', message, hint, id };
  }
  const segmentFaults: SegmentFault[] = [];
  const list = readSegments(row, (fault) => segmentFaults.push(fault));
  if (list === undefined) {
    return { reason: 'missing_segments', message: `the row's "segments" is ${describeLack(row, 'segments')}`, id };
  }
  const sameName = known.findBaseName(audioPath);
  if (sameName !== undefined) {
    const message =
      `the audio file name ${JSON.stringify(baseName(audioPath))} is already that of line ${known.lineOf(sameName)}, ` +
      `id ${JSON.stringify(known.idOf(sameName))}`;
    const hint = 'with --audio-path-resolution relative, paths that differ in their folders stay apart';
    return { reason: 'duplicate_basename', message, hint, id };
  }
  return { id, audioPath, list, segmentFaults };
}

/** The id as text: a number as it is spelled, a boolean as Python writes it. Undefined where there is none. */
export function readId(row: JsonObject): string | undefined {
  const raw = row.raw('id');
  if (raw === undefined) return undefined;
  const kind = kindOfJson(raw);
  if (kind === 'null') return undefined;
  if (kind === 'boolean') return raw === 'true' ? 'True' : 'False';
  if (kind !== 'string') return raw;
  const id = row.value('id') as string;
  return stripText(id) === '' ? undefined : id;
}

function describeLack(row: JsonObject, key: string): string {
  const kind = row.kind(key);
  if (kind === undefined) return 'missing';
  if (kind === 'null') return 'null';
  if (kind === 'string') return row.raw(key) === '""' ? 'empty' : 'a string';
  return `${kind === 'array' || kind === 'object' ? 'an' : 'a'} ${kind}`;
}
