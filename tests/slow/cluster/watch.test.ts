import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { makeFolder } from '../../support/cut-runs.js';
import { planWork } from '../../support/plan-runs.js';

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

test('status --watch renews its lines in place on a terminal of unknown size', async (context) => {
  if (spawnSync('script', ['--version']).status !== 0) context.skip('there is no program "script"');
  const folder = await makeFolder(context);
  const audio = path.join(folder, 'audio');
  mkdirSync(audio);
  writeFileSync(path.join(audio, 'a.wav'), 'x');
  await planWork(path.join(folder, 'plan'), 'scan', { sources: [audio], out: path.join(folder, 'out') });
  const watch = `exec '${process.execPath}' '${MAIN}' status '${folder}/plan' --watch`;
  // Without a terminal of its own it makes one of no columns.
  const child = spawn('script', ['-qec', watch, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  let isStopped = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (isStopped || !said.includes('\u001b[J')) return;
    isStopped = true;
    // Ctrl-C, as it is typed.
    child.stdin.write('\u0003');
  });
  await once(child, 'close');
  expect(said).toContain('\u001b[3A\r\u001b[J');
  expect(said).toContain('Stopped watching');
});
