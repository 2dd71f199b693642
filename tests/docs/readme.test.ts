import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, listExamples, readDocument } from './markdown.js';

/** What the README calls the folder that its session is in. */
const SHOWN_FOLDER = '/data';

const sessions = listExamples(readDocument('README.md')).filter(({ language }) => language === 'sh');

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'cutroom-readme-')));
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

/** Runs a block of the README as a shell would; gives what a terminal would show. */
function runBlock(code: string): { status: number | null; printed: string[] } {
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-ec', `{ ${code}\n} 2>&1`], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...process.env,
      PATH: [path.join(folder, 'bin'), path.dirname(process.execPath), process.env['PATH']].join(path.delimiter),
    },
  });
  return { status, printed: normalise(stdout + stderr) };
}

/** Lines without what differs from run to run. */
function normalise(text: string): string[] {
  return text
    .replaceAll(folder, SHOWN_FOLDER)
    .replaceAll(/^( {2}time +).*$/gmu, '$1…')
    .split('\n')
    .filter((line) => line !== '');
}

describe('the session of the README', () => {
  it('has each kind of command', () => {
    const code = sessions.map((session) => session.code).join('\n');
    for (const part of [
      'cutroom cut',
      '--dry-run',
      'tar -tf',
      'metrics.json',
      'failures.jsonl',
      '--max-failures',
      'cutroom gen-lst',
    ]) {
      expect(code).toContain(part);
    }
    for (const { code: commands, shown } of sessions) {
      if (commands.includes('cutroom')) expect(normalise(shown.join('\n'))).not.toEqual([]);
    }
  });

  // One after the other: later commands look at what earlier ones made.
  it.each(sessions)('prints what it shows, line $line', ({ code, shown }) => {
    const { status, printed } = runBlock(code);
    expect({ status, printed }).toMatchObject({ status: 0 });
    const expected = normalise(shown.join('\n'));
    // Lines may be left out of what is shown, but none may be made up or out of order.
    let from = 0;
    for (const line of expected) {
      const at = printed.indexOf(line, from);
      expect(at, `"${line}" is not in:\n${printed.join('\n')}`).toBeGreaterThanOrEqual(0);
      from = at + 1;
    }
  });
});
