import { describe, expect, it } from 'vitest';
import { readDocument } from '../../docs/markdown.js';
import { listSessions, testSession } from '../../docs/sessions.js';
import { listFields, listLiterals, listLiteralsOf } from '../../docs/source-fields.js';

const load = readDocument('docs/load.md');

describe('docs/load.md has every name', () => {
  it.each<[string, string[], string]>([
    ['of the kinds of sources', listLiteralsOf('load/sources.ts', 'type'), 'nemo_tarred'],
    ['of what all sources have', listFields('load/sources.ts', 'SourceCommon'), 'tags'],
    ['of groups', listFields('load/sources.ts', 'GroupSource'), 'temperature'],
    ['of what becomes of an item', listLiterals('load/batch-maker.ts', 'OnItemError'), 'replace'],
    ['of the strategies', listLiteralsOf('load/plan-settings.ts', 'strategy'), 'scatter'],
    ['of the ends of an epoch', listLiteralsOf('load/plan-settings.ts', 'lastBatch'), 'pad'],
    ['of the reasons of tars', listLiteralsOf('load/shard-indexes.ts', 'reason'), 'missing_member'],
    ['of the reasons of excerpts', listLiteralsOf('load/audio-reader.ts', 'reason'), 'passed_over'],
    ['of the reasons of lengths', listLiteralsOf('load/overlong.ts', 'reason'), 'longer_than_row'],
  ])('%s', (_, names, oneOfThem) => {
    expect(names).toContain(oneOfThem);
    expect([...new Set(names)].filter((name) => !load.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('the session of docs/load.md', () => {
  testSession(listSessions('docs/load.md', ['sh', 'js']));
});
