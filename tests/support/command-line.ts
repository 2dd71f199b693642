// The command line in a process of its own, as a user runs it.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

/** What a command left. */
export interface CommandEnd {
  stdout: string;
  stderr: string;
}

/** A kind of finding in `cutroom check --json`, with its first places. */
export interface CheckFinding {
  kind: string;
  severity: 'error' | 'warning';
  count: number;
  first: { message: string; line?: number; id?: string; member?: string; hint?: string }[];
}

/** What `cutroom check --json` prints of a path. */
export interface CheckedPath {
  kind: string;
  rows: number;
  members: number;
  shards: number;
  findings: CheckFinding[];
  notes: string[];
}

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** Runs `cutroom` with these arguments and expects that it ends with `code`. */
export function runCutroom(args: readonly string[], code = 0): CommandEnd {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  expect(status, `cutroom ${args.join(' ')}\n${stderr}`).toBe(code);
  return { stdout, stderr };
}

/** What `cutroom check` finds in a path; expects its exit code to fit. */
export function checkPath(path: string, flags: readonly string[] = []): CheckedPath {
  const args = ['check', path, '--json', '--quiet', ...flags];
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const { paths, problems } = JSON.parse(stdout) as { paths: CheckedPath[]; problems: number };
  expect(status, `cutroom ${args.join(' ')}\n${stderr}`).toBe(problems === 0 ? 0 : 1);
  expect(paths).toHaveLength(1);
  return paths[0]!;
}

/** How often each kind was found. */
export function countKinds({ findings }: CheckedPath): Record<string, number> {
  return Object.fromEntries(findings.map(({ kind, count }) => [kind, count]));
}
