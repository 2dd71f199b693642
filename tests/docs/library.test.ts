import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveCutOptions } from '#cutroom/cut/options.js';
import { ROOT, listExamples, readDocument } from './markdown.js';
import { listFields } from './source-fields.js';

const library = readDocument('docs/library.md');
const examples = listExamples(library).filter(({ language }) => language === 'js');
const entry = pathToFileURL(path.join(ROOT, 'dist/index.js')).href;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-library-'));
  for (const name of ['conversation.jsonl', 'conversation.opus']) {
    cpSync(path.join(ROOT, 'samples', name), path.join(folder, 'samples', name));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the examples of docs/library.md', () => {
  it('show each function and each error', () => {
    const code = examples.map((example) => example.code).join('\n');
    for (const name of ['cut(', 'planCut(', 'generateList(', 'onProgress', 'CanceledError', 'CutroomError'])
      expect(code).toContain(name);
  });

  it.each(examples)('prints what it shows, line $line', ({ code, shown, line }) => {
    expect(code).toContain("from 'cutroom';");
    const program = path.join(folder, `example-${line}.mjs`);
    writeFileSync(program, code.replaceAll("from 'cutroom';", `from '${entry}';`));
    const { status, stdout, stderr } = spawnSync(process.execPath, [program], { cwd: folder, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.trimEnd().split('\n')).toEqual(shown);
  });
});

/** The row of a table whose first cell names `name`. */
function findRow(name: string): string[] | undefined {
  const row = library.split('\n').find((line) => line.startsWith(`| \`${name}\``));
  return row
    ?.split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** Defaults that are no value, or hang on the machine. */
const WORDED_DEFAULTS =
  /^(?:needed|none|one a core|see |built-in words|the Hugging Face cache|`[a-z]+\.jsonl?` in|`\w+\.tar` in)/u;

describe('the tables of docs/library.md', () => {
  it('have every option with the default that it gets', () => {
    const fields = listFields('cut/options.ts', 'CutOptions');
    expect(fields.length).toBeGreaterThan(25);
    const needed = { inputManifest: 'in.jsonl', outputDir: '/out', maxDurationSeconds: 30 };
    const { settings, outputs, tokenizer, ...others } = resolveCutOptions(needed);
    const given: Record<string, unknown> = { ...settings, ...outputs, ...tokenizer, ...others };
    for (const field of fields) {
      const [, , shown] = findRow(field) ?? [];
      expect(shown, field).toBeDefined();
      const [, literal] = /^`([^`]*)`$/u.exec(shown ?? '') ?? [];
      if (literal === '{ count: 0 }') expect(given[field]).toEqual({ count: 0 });
      else if (literal !== undefined) expect(JSON.stringify(given[field])).toBe(literal.replaceAll("'", '"'));
      else if (/^[\d.]+$/u.test(shown ?? '')) expect(given[field]).toBe(Number(shown));
      else expect(shown).toMatch(WORDED_DEFAULTS);
    }
  });

  it.each([
    ['CutContext', 'cut/cut.ts'],
    ['CutResult', 'cut/cut.ts'],
    ['CutSummary', 'cut/summary.ts'],
    ['CutOutputs', 'cut/options.ts'],
    ['PlannedSnippet', 'cut/types.ts'],
    ['GenerateListOptions', 'build/list-options.ts'],
    ['GenerateListContext', 'build/generate-list.ts'],
    ['GenerateListResult', 'build/generate-list.ts'],
    ['ListProgress', 'build/generate-list.ts'],
  ])('have every field of %s', (name, file) => {
    const fields = listFields(file, name);
    expect(fields).not.toEqual([]);
    expect(fields.filter((field) => !library.includes(`\`${field}\``))).toEqual([]);
  });
});
