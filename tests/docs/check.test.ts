import { describe, expect, it } from 'vitest';
import { DATASET_KINDS } from '#cutroom/check/dataset-kinds.js';
import { FIXABLE_KINDS, MANIFEST_KINDS } from '#cutroom/check/manifest-kinds.js';
import { PATH_KINDS } from '#cutroom/check/path-kind.js';
import { readDocument } from './markdown.js';
import { listSessions, testSession } from './sessions.js';
import { listFields, listSnakeCase } from './source-fields.js';

const document = readDocument('docs/check.md');
const [manifests = '', datasets = ''] = document.split('### Of tars');

/** Cells of the rows of tables whose second cell says how bad a kind is, by kind. */
function listRows(part: string): Map<string, string[]> {
  const rows = [...part.matchAll(/^\| `(\w+)` +\| (?:error|warning) .*\|$/gmu)];
  return new Map(
    rows.map(([row, kind = '']) => [
      kind,
      row
        .split('|')
        .slice(2, -1)
        .map((cell) => cell.trim()),
    ]),
  );
}

describe('docs/check.md has every kind of finding, and how bad it is', () => {
  it.each([
    ['of manifests', manifests, MANIFEST_KINDS],
    ['of datasets', datasets, DATASET_KINDS],
  ])('%s', (_, part, kinds) => {
    const shown = Object.fromEntries([...listRows(part)].map(([kind, [severity]]) => [kind, severity]));
    const expected = Object.fromEntries(Object.entries(kinds).map(([kind, { severity }]) => [kind, severity]));
    expect(shown).toEqual(expected);
  });

  it('and which of them a corrected copy is free of', () => {
    const always = [...listRows(manifests)].filter(([, cells]) => cells.at(-1)?.startsWith('yes') === true);
    expect(always.map(([kind]) => kind).toSorted()).toEqual([...FIXABLE_KINDS].toSorted());
  });
});

describe('docs/check.md has every name', () => {
  it.each<[string, readonly string[], string]>([
    ['of kinds of paths', PATH_KINDS, 'canary_flash'],
    ['of the summary', listSnakeCase('cli/check-summary.ts'), 'problems_left'],
    ['of a change', listFields('check/fix-changes.ts', 'Change'), 'from'],
    ['of ranks', listSnakeCase('cli/check-ranks.ts'), 'fitting_shard_counts'],
    ['of a share', ['strategy', 'rank', 'worker', 'shards', 'rows'], 'rank'],
  ])('%s', (_, names, oneOfThem) => {
    expect(names).toContain(oneOfThem);
    expect(names.filter((name) => !document.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('the session of docs/check.md', () => {
  testSession(listSessions('docs/check.md'));
});
