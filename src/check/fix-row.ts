import { decodeJson, kindOfJson } from '../manifest/json-object.js';
import type { JsonManifestKind } from './check-manifest.js';
import type { Changes } from './fix-changes.js';
import { quote } from './manifest-report.js';
import { PATH_ALIASES } from './nemo-rows.js';
import { FLASH_SWITCHES, judgeEmotion, judgeLanguage, judgeSwitch, judgeTask } from './prompt-values.js';
import { NUMBER_AS_TEXT } from './row-times.js';
import { ScannedRow } from './scanned-row.js';

/** A piece of a line that gets another text. */
interface Edit {
  start: number;
  end: number;
  text: string;
}

/**
 * The text of a row with all that is mechanical put right; every other character stays as it is. One line: space between the tokens of an
 * object that stood on several lines is left out.
 */
export function fixRow(row: ScannedRow, line: number, kind: JsonManifestKind, changes: Changes): string {
  let text = row.text;
  let current = row;
  const apply = (edits: Edit[]): void => {
    if (edits.length === 0) return;
    text = applyEdits(text, edits);
    current = ScannedRow.scan(text) ?? failFix(text);
  };
  if (/[\r\n]/u.test(text)) {
    text = withoutSpace(text);
    current = ScannedRow.scan(text) ?? failFix(text);
  }
  if (current.hasDuplicates) apply(joinDuplicates(current, line, changes));
  if (current.holdsNonFinite) apply(replaceNonFinite(text, line, changes));
  if (kind !== 'long_form' && kind !== 'atdataset_jsonl') apply(renameAlias(current, line, changes));
  if (kind !== 'long_form') apply(unquoteNumbers(current, line, changes));
  if (kind === 'canary_v1' || kind === 'canary_flash') apply(canonizePrompt(current, line, kind, changes));
  return text;
}

function failFix(text: string): never {
  throw new TypeError(`a corrected row is no JSON object: ${quote(text)}`);
}

function applyEdits(text: string, edits: Edit[]): string {
  let fixed = '';
  let copied = 0;
  for (const { start, end, text: replacement } of edits.toSorted((a, b) => a.start - b.start)) {
    fixed += text.slice(copied, start) + replacement;
    copied = end;
  }
  return fixed + text.slice(copied);
}

const STRING_OR_SPACE = /"(?:[^"\\]|\\.)*"|\s+/gu;

function withoutSpace(text: string): string {
  return text.replaceAll(STRING_OR_SPACE, (token) => (token.startsWith('"') ? token : ''));
}

/** Of keys that stand twice the last value counts: it takes the place of the first, and the others go. */
function joinDuplicates(row: ScannedRow, line: number, changes: Changes): Edit[] {
  const edits: Edit[] = [];
  for (const [place, key] of row.keys.entries()) {
    const first = row.keys.indexOf(key);
    const last = row.keys.lastIndexOf(key);
    if (first === last) continue;
    const { valueStart, valueEnd } = row.boundsAt(place);
    if (place !== first) {
      edits.push({ start: row.boundsAt(place - 1).valueEnd, end: valueEnd, text: '' });
      continue;
    }
    edits.push({ start: valueStart, end: valueEnd, text: row.rawAt(last) });
    const from = `${JSON.stringify(key)} ${quote(row.rawAt(place))}`;
    changes.add({ kind: 'duplicate_key', line, from, to: quote(row.rawAt(last)) });
  }
  return edits;
}

const STRING_OR_NON_FINITE = /"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)/gu;

function replaceNonFinite(text: string, line: number, changes: Changes): Edit[] {
  const edits: Edit[] = [];
  for (const { 0: token, index } of text.matchAll(STRING_OR_NON_FINITE)) {
    if (token.startsWith('"')) continue;
    edits.push({ start: index, end: index + token.length, text: 'null' });
    changes.add({ kind: 'nonfinite_number', line, from: token, to: 'null' });
  }
  return edits;
}

function renameAlias(row: ScannedRow, line: number, changes: Changes): Edit[] {
  if (row.has('audio_filepath')) return [];
  const alias = PATH_ALIASES.find((name) => row.kind(name) === 'string');
  if (alias === undefined) return [];
  const { keyStart, keyEnd } = row.boundsAt(row.keys.indexOf(alias));
  changes.add({ kind: 'audio_path_alias', line, from: alias, to: 'audio_filepath' });
  return [{ start: keyStart, end: keyEnd, text: '"audio_filepath"' }];
}

function unquoteNumbers(row: ScannedRow, line: number, changes: Changes): Edit[] {
  const edits: Edit[] = [];
  for (const key of ['duration', 'offset']) {
    const raw = row.raw(key);
    if (raw === undefined || kindOfJson(raw) !== 'string') continue;
    const inner = decodeJson(raw) as string;
    if (!NUMBER_AS_TEXT.test(inner)) continue;
    edits.push(editOf(row, key, inner));
    changes.add({ kind: 'number_as_text', line, from: `${key} ${raw}`, to: inner });
  }
  return edits;
}

/** Values of a prompt become those that its documentation names. */
function canonizePrompt(row: ScannedRow, line: number, kind: 'canary_v1' | 'canary_flash', changes: Changes): Edit[] {
  const edits: Edit[] = [];
  const replace = (key: string, raw: string, verdict: string, canonical: string | undefined): void => {
    if (canonical === undefined) return;
    const to = JSON.stringify(canonical);
    if (to === raw || decodeJson(raw) === canonical) return;
    edits.push(editOf(row, key, to));
    changes.add({ kind: verdict, line, from: `${key} ${quote(raw)}`, to });
  };
  const slots = kind === 'canary_v1' ? ['pnc'] : Object.keys(FLASH_SWITCHES);
  for (const slot of slots) {
    const raw = row.raw(slot);
    if (raw === undefined) continue;
    const { verdict, canonical } = judgeSwitch(slot, raw);
    replace(slot, raw, verdict, canonical);
  }
  for (const key of ['source_lang', 'target_lang']) {
    const raw = row.raw(key);
    if (raw === undefined) continue;
    const { verdict, code } = judgeLanguage(raw);
    if (verdict === 'bad_language') replace(key, raw, verdict, code);
  }
  const other = kind === 'canary_flash' ? 'emotion' : row.has('task') ? 'task' : 'taskname';
  const raw = row.raw(other);
  if (raw !== undefined) {
    const { verdict, canonical } = other === 'emotion' ? judgeEmotion(raw) : judgeTask(raw);
    replace(other, raw, verdict, canonical);
  }
  return edits;
}

function editOf(row: ScannedRow, key: string, text: string): Edit {
  const { valueStart, valueEnd } = row.boundsAt(row.keys.lastIndexOf(key));
  return { start: valueStart, end: valueEnd, text };
}
