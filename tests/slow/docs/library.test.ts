import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, listExamples, readDocument } from '../../docs/markdown.js';

const examples = listExamples(readDocument('docs/library.md')).filter(({ language }) => language === 'js');
const entry = pathToFileURL(path.join(ROOT, 'dist/index.js')).href;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-library-'));
  for (const name of ['conversation.jsonl', 'conversation.opus']) {
    cpSync(path.join(ROOT, 'samples', name), path.join(folder, 'samples', name));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('an example of docs/library.md', () => {
  it.each(examples)('prints what it shows, line $line', ({ code, shown, line }) => {
    expect(code).toContain("from 'cutroom';");
    const program = path.join(folder, `example-${line}.mjs`);
    writeFileSync(program, code.replaceAll("from 'cutroom';", `from '${entry}';`));
    const { status, stdout, stderr } = spawnSync(process.execPath, [program], { cwd: folder, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.trimEnd().split('\n')).toEqual(shown);
  });
});
