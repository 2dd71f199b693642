import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { columnsOfHeader } from '../shard/field-rows.js';
import { FIELD_NAMES } from '../shard/utterance-row.js';
import { jsonObjects } from './json-objects.js';
import { PATH_ALIASES } from './nemo-rows.js';
import { openManifest, type ManifestHead } from './open-manifest.js';
import type { PathKind } from './path-kind.js';
import { ScannedRow } from './scanned-row.js';

/** What a path is, or why that cannot be told. */
export type DetectedKind = { kind: PathKind; path: string } | { reason: string; hint?: string };

/** How many rows are looked at. */
const MAX_ROWS = 200;
const MAX_READ_BYTES = 1024 * 1024;

/** Tells what a folder holds by the names in it. */
export function detectFolder(folder: string): DetectedKind {
  const names = readdirSync(folder).sort();
  const has = (pattern: RegExp): boolean => names.some((name) => pattern.test(name));
  if (names.includes('sharded_manifests') || has(/^tarred_audio_manifest.*\.json$/u) || has(/^audio_\d+\.tar$/u)) {
    return { kind: 'nemo_tarred', path: folder };
  }
  if (has(/^bucket\d+$/u) && detectBucket(folder, names)) return { kind: 'nemo_tarred', path: folder };
  if (names.includes('scan.jsonl') && !has(/\.tar$/u)) {
    const hint = 'cutroom scan looks at its files itself, and lists those that cannot be read in failures.jsonl';
    return { reason: 'it holds the outputs of cutroom scan, which name audio files and no rows', hint };
  }
  const isOurs = has(/^(?:plan\.jsonl|\.cutroom-cut|\.cutroom-build)$/u);
  if (isOurs || (names.includes('metrics.json') && has(/\.jsonl$/u))) return { kind: 'cut_outputs', path: folder };
  const lists = names.filter((name) => name.endsWith('.lst'));
  const [list] = lists;
  if (lists.length === 1 && list !== undefined) return { kind: 'atdataset_list', path: path.join(folder, list) };
  if (lists.length > 1)
    return { reason: `it holds ${lists.length} lists`, hint: `give one of them: ${lists.join(', ')}` };
  if (names.includes('audios') && names.includes('manifests')) {
    return { reason: 'it holds shards and no list of them', hint: 'cutroom gen-lst writes the list' };
  }
  const tars = names.filter((name) => name.endsWith('.tar'));
  if (tars.length > 0) {
    return { reason: `it holds ${tars.length} tars and no list or manifest of them`, hint: 'give the tars themselves' };
  }
  const manifests = names.filter((name) => /\.(?:jsonl?|tsv|csv)(?:\.gz)?$/u.test(name));
  if (manifests.length > 0) {
    return {
      reason: 'it is no dataset, and holds manifests',
      hint: `give a file: ${manifests.slice(0, 3).join(', ')}`,
    };
  }
  const hint = 'a dataset holds data.lst, or sharded_manifests/, or the outputs of cutroom cut';
  return { reason: names.length === 0 ? 'the folder is empty' : 'nothing in the folder is known', hint };
}

/** Tells what a file is by its first bytes, and by its name where these leave two answers. */
export async function detectFile(filePath: string, head: ManifestHead): Promise<DetectedKind> {
  const { bytes, hasByteOrderMark } = head;
  if (isTar(bytes) || /\.tar(?:\.gz)?$/u.test(filePath)) return { kind: 'tar', path: filePath };
  const text = bytes.subarray(hasByteOrderMark ? 3 : 0).toString('utf8');
  const first = text.trimStart();
  if (first.startsWith('{') || first.startsWith('[')) return detectRows(filePath);
  const line = first.split(/\r?\n/u, 1)[0] ?? '';
  if (filePath.endsWith('.lst') || /^\S+\.tar(?:\.gz)?\s+\S+\.jsonl?(?:\s|$)/u.test(line)) {
    return { kind: 'atdataset_list', path: filePath };
  }
  if (line.includes('\t')) return { kind: 'tsv', path: filePath };
  if (/\.tsv(?:\.gz)?$/u.test(filePath)) return { kind: 'tsv', path: filePath };
  if (/\.csv(?:\.gz)?$/u.test(filePath) || isCsvHeader(line)) return { kind: 'csv', path: filePath };
  // Rows whose first line is damaged are rows all the same.
  if (/\n\s*\{/u.test(text)) return detectRows(filePath);
  return { reason: 'it is neither JSON, nor a TSV or CSV of utterances, nor a list of shards, nor a tar' };
}

function isCsvHeader(line: string): boolean {
  const fields = line.split(',').map((field) => field.replace(/^"(?<inner>.*)"$/u, '$<inner>'));
  return columnsOfHeader(fields) !== undefined;
}

async function detectRows(filePath: string): Promise<DetectedKind> {
  const rows = await readFirstRows(filePath);
  const counts = new Map<RowKind, number>();
  for (const row of rows) {
    const kind = kindOfRow(row);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const [most] = [...counts].sort((a, b) => b[1] - a[1]);
  const kind = most?.[0] ?? 'nothing';
  if (kind === 'cut_set') {
    return { reason: 'its rows are a CutSet of Lhotse', hint: 'Lhotse itself checks those: lhotse validate' };
  }
  if (kind === 'conversation') {
    return { reason: 'its rows are conversations', hint: 'give the manifest of the utterances' };
  }
  if (kind === 'nothing') {
    return { reason: rows.length === 0 ? 'no row can be read' : 'its rows have neither audio_filepath nor segments' };
  }
  const isShard = kind === 'nemo' && isShardManifest(filePath, rows);
  return { kind: isShard ? 'atdataset_jsonl' : kind, path: filePath };
}

/** The first rows, however long they are: a recording may have a megabyte of words. */
async function readFirstRows(filePath: string): Promise<ScannedRow[]> {
  const manifest = await openManifest(filePath);
  try {
    const rows: ScannedRow[] = [];
    let readBytes = 0;
    for await (const { kind, bytes } of jsonObjects(manifest.handle, filePath)) {
      readBytes += bytes.length;
      const row = kind === 'object' ? ScannedRow.scan(bytes.toString('utf8')) : undefined;
      if (row !== undefined) rows.push(row);
      if (rows.length === MAX_ROWS || (rows.length > 0 && readBytes > MAX_READ_BYTES)) break;
    }
    return rows;
  } finally {
    await manifest.close();
  }
}

type RowKind =
  | 'utterances_jsonl'
  | 'long_form'
  | 'nemo'
  | 'canary_v1'
  | 'canary_flash'
  | 'cut_outputs'
  | 'cut_set'
  | 'conversation'
  | 'nothing';

/** What a row is by its keys alone. */
export function kindOfRow(row: ScannedRow): RowKind {
  if (row.has('snippet_id') && row.has('segments')) return 'cut_outputs';
  if (row.has('segments')) return 'long_form';
  if (row.has('conversations')) return 'conversation';
  if (row.has('supervisions') || row.kind('recording') === 'object') return 'cut_set';
  const hasTask = row.has('task') || row.has('taskname');
  if (row.has('source_lang') || row.has('target_lang')) return hasTask ? 'canary_v1' : 'canary_flash';
  if (row.has('pnc') && !row.has('lang')) return hasTask ? 'canary_v1' : 'canary_flash';
  if (isUtterance(row)) return 'utterances_jsonl';
  if (row.has('audio_filepath') || row.has('duration')) return 'nemo';
  return PATH_ALIASES.some((name) => row.kind(name) === 'string') ? 'nemo' : 'nothing';
}

/** Rows for `cutroom build` alone: with an id or a start, and a name of the path that is not NeMo's. */
function isUtterance(row: ScannedRow): boolean {
  if (row.has('audio_filepath') || row.has('offset')) return false;
  const hasOwnKey = [...FIELD_NAMES.id, 'start'].some((name) => row.has(name));
  return hasOwnKey && FIELD_NAMES.path.some((name) => row.kind(name) === 'string');
}

/** NeMo's rows and ATdataset's have the same keys: those of a shard name members, which lie in no folder, and are called .jsonl. */
function isShardManifest(filePath: string, rows: readonly ScannedRow[]): boolean {
  if (!/\.jsonl(?:\.gz)?$/u.test(filePath)) return false;
  const folder = path.dirname(filePath);
  const key = path.basename(filePath).replace(/\.jsonl(?:\.gz)?$/u, '');
  if (shardTarOf(folder, key) !== undefined) return true;
  return rows.every((row) => {
    const name = row.string('audio_filepath');
    if (name === undefined || row.has('offset') || row.has('shard_id')) return false;
    return !name.includes('/') && !existsSync(path.join(folder, name));
  });
}

/** The tar of a manifest, beside it or in the folder `audios` beside its folder. */
export function shardTarOf(folder: string, key: string): string | undefined {
  const places = [path.join(folder, `${key}.tar`), path.join(folder, '..', 'audios', `${key}.tar`)];
  return places.find((place) => existsSync(place));
}

function detectBucket(folder: string, names: readonly string[]): boolean {
  const bucket = names.find((name) => /^bucket\d+$/u.test(name));
  if (bucket === undefined || !statSync(path.join(folder, bucket)).isDirectory()) return false;
  const found = detectFolder(path.join(folder, bucket));
  return 'kind' in found && found.kind === 'nemo_tarred';
}

const TAR_MAGIC_OFFSET_BYTES = 257;

function isTar(bytes: Buffer): boolean {
  return bytes.toString('latin1', TAR_MAGIC_OFFSET_BYTES, TAR_MAGIC_OFFSET_BYTES + 5) === 'ustar';
}
