import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pathToFileURL } from 'node:url';
import { ROOT, listExamples, readDocument, type Example } from './markdown.js';

/** What documents call the folder that their sessions are in. */
const SHOWN_FOLDER = '/data';

/** The blocks of a document that a shell runs, and those of other languages that are asked for. */
export function listSessions(document: string, languages: readonly string[] = ['sh']): Example[] {
  return listExamples(readDocument(document)).filter(({ language }) => languages.includes(language));
}

/** Runs the blocks of a session one after the other, since later commands look at what earlier ones made, and compares what they print. */
export function testSession(sessions: readonly Example[]): void {
  let folder: string;
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'cutroom-session-')));
    for (const name of ['conversation.jsonl', 'conversation.opus']) {
      cpSync(path.join(ROOT, 'samples', name), path.join(folder, 'samples', name));
    }
    mkdirSync(path.join(folder, 'bin'));
    const main = path.join(ROOT, 'dist/cli/main.js');
    writeFileSync(path.join(folder, 'bin/cutroom'), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, {
      mode: 0o755,
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(sessions)('prints what it shows, line $line', ({ language, code, shown }) => {
    const { status, printed } = language === 'js' ? runProgram(code, folder) : runBlock(code, folder);
    expect(status, printed.join('\n')).toBe(0);
    const expected = normalise(shown.join('\n'), folder);
    // Lines may be left out of what is shown, but none may be made up or out of order.
    let from = 0;
    for (const line of expected) {
      const at = printed.indexOf(line, from);
      expect(at, `"${line}" is not in:\n${printed.join('\n')}`).toBeGreaterThanOrEqual(0);
      from = at + 1;
    }
  });
}

/** Runs a block as a shell would; gives what a terminal would show. */
function runBlock(code: string, folder: string): { status: number | null; printed: string[] } {
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-ec', `{ ${code}\n} 2>&1`], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...process.env,
      PATH: [path.join(folder, 'bin'), path.dirname(process.execPath), process.env['PATH']].join(path.delimiter),
    },
  });
  return { status, printed: normalise(stdout + stderr, folder) };
}

/** Runs a program of the library. */
function runProgram(code: string, folder: string): ReturnType<typeof runBlock> {
  const entry = pathToFileURL(path.join(ROOT, 'dist/index.js')).href;
  writeFileSync(path.join(folder, 'program.mjs'), code.replaceAll("from 'cutroom';", `from '${entry}';`));
  return runBlock('node program.mjs', folder);
}

/** Lines without what differs from run to run. */
function normalise(text: string, folder: string): string[] {
  return text
    .replaceAll(folder, SHOWN_FOLDER)
    .replaceAll(/^( {2}time +).*$/gmu, '$1…')
    .replaceAll(/(paths? checked in )\d+ s/gu, '$1…')
    .split('\n')
    .filter((line) => line !== '');
}
