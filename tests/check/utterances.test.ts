import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { build } from '#cutroom/build/build.js';
import type { PathResult } from '#cutroom/check/check.js';
import { CheckFolder } from './check-folder.js';

let folder: CheckFolder;
beforeAll(() => {
  folder = new CheckFolder();
  folder.wav('a.wav', 2);
});
afterAll(() => folder.remove());

const told = ({ findings }: PathResult): string[] =>
  findings
    .flatMap(({ kept }) => kept)
    .map(({ line, kind }) => `${line ?? 0} ${kind}`)
    .toSorted();

const HEADER = ['speaker', 'text', 'audio_path', 'id', 'duration', 'start'];
const good = ['ada', 'good morning', 'a.wav', 'u1', '1', '0.5'];
/** The good utterance with some fields changed, by their names. */
const change = (changes: Record<string, string>): string[] =>
  good.map((field, place) => changes[HEADER[place]!] ?? field);

/** What is wrong with each line, by what `cutroom build` makes of it. */
const lines: [fields: string[], kinds: string[]][] = [
  [good, []],
  [change({ id: 'u2', audio_path: 'gone.wav' }), ['audio_missing']],
  [change({ id: 'u.3' }), ['dotted_id']],
  [change({ id: '../u4' }), ['bad_id']],
  [good, ['duplicate_id']],
  [change({ id: '' }), ['missing_id']],
  [change({ id: 'u7', text: ' ' }), ['empty_text']],
  [change({ id: 'u8', start: 'x' }), ['bad_offset']],
  [change({ id: 'u9', duration: '0' }), ['bad_duration']],
  [change({ id: 'u10', start: '1.5' }), ['end_beyond_audio']],
  [change({ id: 'u11', audio_path: '' }), ['missing_audio_path']],
];
const wanted = (shift: number): string[] =>
  lines.flatMap(([, kinds], index) => kinds.map((kind) => `${index + shift} ${kind}`)).toSorted();

const asCsv = (fields: readonly string[]): string => fields.map((field) => `"${field}"`).join(',');
const asObject = (fields: readonly string[]): string =>
  JSON.stringify(Object.fromEntries(fields.map((field, place) => [HEADER[place], field])));
const rows = lines.map(([fields]) => fields);

describe('check() of utterances for build', () => {
  const inputs = [
    ['a TSV with a header', 'named.tsv', 'tsv', [HEADER, ...rows].map((fields) => fields.join('\t')), 2],
    ['a CSV', 'named.csv', 'csv', [HEADER.join(','), ...rows.map(asCsv)], 2],
    ['JSONL', 'named.jsonl', 'utterances_jsonl', rows.map(asObject), 1],
  ] as const;
  it.each(inputs)('judges %s by its columns', async (_what, name, kind, text, firstLine) => {
    const result = await folder.check(folder.write(name, `${text.join('\n')}\n`));
    expect(result).toMatchObject({ kind, rows: lines.length });
    expect(told(result)).toEqual(wanted(firstLine));
    const sound = await folder.check(folder.write(`sound-${name}`, text.slice(0, firstLine).join('\n')));
    expect(sound).toMatchObject({ kind, rows: 1, findingCount: 0, hours: 0.000278 });
  });

  it.each(inputs)('finds what keeps build from a row of %s', async (_what, name, _kind, text, firstLine) => {
    const input = folder.write(`both-${name}`, text.join('\n'));
    const result = await build({
      ...{ input, outputDir: folder.path(`plan-${name}`), numTars: 1, planOnly: true, balanceBy: 'samples' },
    });
    const refused = result.summary.failedRows;
    expect(Object.values(refused).reduce((sum, count) => sum + count, 0)).toBe(8);
    const errors = (await folder.check(input)).findings.filter(({ severity }) => severity === 'error');
    // What lies behind the end of the audio fails when the member is made.
    expect(errors.reduce((sum, { count }) => sum + count, 0)).toBe(9);
    expect(firstLine).toBeGreaterThan(0);
  });

  it('tells of a CSV without a header, with stray quotes, and of lines with other numbers of fields', async () => {
    expect(told(await folder.check(folder.write('bare.csv', 'u1,a.wav,hello\n')))).toEqual(['1 missing_header']);
    const text = 'id,audio_path,text\nu1,a.wav,"hello\nu2,a.wav,a "word"\nu3,a.wav\nu4,a.wav,"two\nlines"\n';
    expect(told(await folder.check(folder.write('quotes.csv', text)))).toContain('4 wrong_field_count');
    expect(told(await folder.check(folder.write('quotes.csv', text)))).toContain('3 bad_quotes');
  });

  it('takes what it is told to take, gzip included, and writes copies of named columns', async () => {
    const plain = folder.write('list.txt', `${HEADER.join(',')}\n${asCsv(good)}\n`);
    expect(await folder.check(plain, { as: 'csv' })).toMatchObject({ kind: 'csv', rows: 1, findingCount: 0 });
    const input = folder.write('dots.tsv', `${HEADER.join('\t')}\n${change({ id: 'u.3' }).join('\t')}\n`);
    const result = await folder.check(input, { fixOut: folder.path('fixed.tsv') });
    expect(result.fix).toMatchObject({ changeCount: 1, remainingCount: 0 });
    expect(folder.read('fixed.tsv')).toBe(`${HEADER.join('\t')}\n${change({ id: 'u_3' }).join('\t')}\n`);
  });
});
