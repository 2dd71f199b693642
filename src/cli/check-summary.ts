import { countWords } from '../count-words.js';
import type { CheckResult, PathResult } from '../check/check.js';
import type { CheckProgress, Finding, FindingGroup } from '../check/finding.js';
import { formatRanks, ranksAsJson } from './check-ranks.js';
import type { ChangeGroup, Change } from '../check/fix-changes.js';
import type { FixedCopy } from '../check/fix-manifest.js';
import type { PathKind } from '../check/path-kind.js';
import { count, duration } from './cut-progress.js';

/** How many places of a kind are shown unless more are asked for. */
const MAX_SHOWN = 5;

/** How far the check is, on one line. */
export function formatCheckProgress({ path, stage, items, share }: CheckProgress): string {
  const what = { read: 'reading', files: 'looking at files', deep: 'decoding' }[stage];
  const percent = share === undefined ? '' : `, ${Math.floor(share * 100)}%`;
  return `${what} ${path}: ${count(items)}${percent}`;
}

/** All that was found, a block for each path. */
export function formatCheck(result: CheckResult, isVerbose: boolean): string {
  const blocks = result.paths.map((path) => formatPath(path, isVerbose));
  return [...blocks, formatEnd(result)].join('\n\n');
}

const KIND_NAMES: Readonly<Record<PathKind, string>> = {
  long_form: 'long-form manifest',
  nemo: 'NeMo manifest',
  canary_v1: 'Canary manifest, first format',
  canary_flash: 'Canary manifest, format of flash and v2',
  atdataset_jsonl: 'manifest of an ATdataset shard',
  atdataset_list: 'list of ATdataset shards',
  tsv: 'TSV of utterances',
  csv: 'CSV of utterances',
  utterances_jsonl: 'JSONL of utterances for cutroom build',
  nemo_tarred: 'NeMo tarred dataset',
  cut_outputs: 'outputs of cutroom',
  tar: 'tar',
};

function formatPath(path: PathResult, isVerbose: boolean): string {
  const lines = [headingOf(path)];
  for (const group of path.findings) lines.push(...formatGroup(group, path.path, isVerbose));
  for (const note of path.notes) lines.push(`  note: ${note}`);
  if (path.ranks !== undefined) lines.push(...formatRanks(path.ranks));
  if (path.fix !== undefined) lines.push(...formatFix(path.fix, isVerbose));
  if (path.findingCount === 0) lines.push('  no problem found');
  return lines.join('\n');
}

function headingOf({ path, kind, rows, hours, members, shards }: PathResult): string {
  if (kind === undefined) return path;
  const facts: string[] = [];
  if (shards !== undefined && kind !== 'tar') facts.push(countWords(shards, 'shard'));
  if (members !== undefined) facts.push(countWords(members, 'member'));
  // A tar alone has no rows.
  if (kind !== 'tar') facts.push(countWords(rows, 'row'));
  if (kind !== 'tar' && hours !== undefined) facts.push(`${hours.toFixed(3)} h`);
  return `${path}: ${KIND_NAMES[kind]}, ${facts.join(', ')}`;
}

function formatGroup(group: FindingGroup, path: string, isVerbose: boolean): string[] {
  const shown = group.kept.slice(0, isVerbose ? group.kept.length : MAX_SHOWN);
  const hints = new Set(shown.map(({ hint }) => hint));
  const [onlyHint] = hints;
  const isShared = hints.size === 1;
  const lines = [`  ${group.severity} ${group.kind}: ${count(group.count)}`];
  for (const finding of shown) {
    const place = placeOf(finding, path);
    lines.push(`    ${place}${place === '' ? '' : ' '}${finding.message}`);
    if (!isShared && finding.hint !== undefined) lines.push(`      hint: ${finding.hint}`);
  }
  const hidden = group.count - shown.length;
  if (hidden > 0) {
    const more = isVerbose || shown.length === group.kept.length ? '' : '; --verbose shows more';
    lines.push(`    and ${count(hidden)} more${more}`);
  }
  if (isShared && onlyHint !== undefined) lines.push(`    hint: ${onlyHint}`);
  return lines;
}

/** `12:5:` where the file is the path itself, else with the file's name. */
function placeOf({ file, line, column, offsetBytes, member }: Finding, path: string): string {
  const isOther = file !== path;
  const parts: string[] = [];
  if (line !== undefined) parts.push(isOther ? String(line) : `line ${line}`);
  if (line !== undefined && column !== undefined) parts.push(isOther ? String(column) : `column ${column}`);
  const byte = offsetBytes === undefined ? '' : `byte ${count(offsetBytes)}`;
  const inside = member === undefined ? '' : `member ${JSON.stringify(member)}`;
  if (!isOther) {
    const place = [parts.join(', '), byte, inside].filter((part) => part !== '').join(', ');
    return place === '' ? '' : `${place}:`;
  }
  const place = [[file, ...parts].join(':'), byte, inside].filter((part) => part !== '').join(', ');
  return `${place}:`;
}

function formatFix(fix: FixedCopy, isVerbose: boolean): string[] {
  const lines = [`  corrected copy: ${fix.output}, ${countWords(fix.changeCount, 'change')}`];
  for (const group of fix.changes) lines.push(...formatChanges(group, isVerbose));
  for (const note of fix.notes) lines.push(`    note: ${note}`);
  if (fix.remainingCount === 0) lines.push('    nothing is wrong with the copy');
  else {
    const listed = fix.remaining.map(({ kind, count: number }) => `${kind} ${count(number)}`).join(', ');
    lines.push(`    left in the copy: ${listed}`);
  }
  return lines;
}

function formatChanges({ kind, count: number, kept }: ChangeGroup, isVerbose: boolean): string[] {
  const shown = kept.slice(0, isVerbose ? kept.length : MAX_SHOWN);
  const lines = [`    ${kind}: ${count(number)}`];
  for (const { line, from, to } of shown) lines.push(`      line ${line}: ${from} -> ${to}`);
  if (number > shown.length) lines.push(`      and ${count(number - shown.length)} more`);
  return lines;
}

function formatEnd({ paths, findingCount, isClean, seconds }: CheckResult): string {
  const errors = countOf(paths, 'error');
  const warnings = findingCount - errors;
  const found =
    findingCount === 0 ? 'no problem' : `${countWords(errors, 'error')}, ${countWords(warnings, 'warning')}`;
  const fixed = findingCount > 0 && isClean ? ', and none in the copy' : '';
  return `${countWords(paths.length, 'path')} checked in ${duration(seconds)}: ${found}${fixed}`;
}

function countOf(paths: readonly PathResult[], severity: Finding['severity']): number {
  let sum = 0;
  for (const { findings } of paths) {
    for (const group of findings) if (group.severity === severity) sum += group.count;
  }
  return sum;
}

/** The same as plain data. */
export function checkAsJson({ paths, findingCount, isClean, seconds }: CheckResult): Record<string, unknown> {
  return {
    result: isClean ? 'clean' : 'problems',
    problems: findingCount,
    paths: paths.map((path) => ({
      path: path.path,
      kind: path.kind ?? null,
      rows: path.rows,
      duration_hours: path.hours ?? null,
      members: path.members,
      shards: path.shards,
      problems: path.findingCount,
      findings: path.findings.map(groupAsJson),
      notes: path.notes,
      ranks: path.ranks === undefined ? undefined : ranksAsJson(path.ranks),
      fix: path.fix === undefined ? undefined : fixAsJson(path.fix),
    })),
    wall_sec: Number(seconds.toFixed(3)),
  };
}

function groupAsJson({ kind, severity, count: number, kept }: FindingGroup): Record<string, unknown> {
  return {
    kind,
    severity,
    count: number,
    first: kept.map(({ message, file, line, column, offsetBytes, id, member, hint }) => ({
      ...{ message, file, line, column, offset_bytes: offsetBytes, id, member, hint },
    })),
  };
}

function fixAsJson({
  output,
  changes,
  changeCount,
  remaining,
  remainingCount,
  notes,
}: FixedCopy): Record<string, unknown> {
  return {
    output,
    changes: changeCount,
    by_kind: changes.map(({ kind, count: number, kept }) => ({
      kind,
      count: number,
      first: kept satisfies readonly Change[],
    })),
    problems_left: remainingCount,
    left: remaining.map(groupAsJson),
    notes,
  };
}
