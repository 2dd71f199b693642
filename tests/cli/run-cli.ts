import type { Writable } from 'node:stream';
import { runApp } from '#cutroom/cli/app.js';
import type { CliContext } from '#cutroom/cli/context.js';

/** What a command printed and how it ended. */
export interface CliOutcome {
  stdout: string;
  stderr: string;
  /** As the parser leaves it: its own codes are negative. */
  exitCode: number;
}

export interface CliSetting {
  env?: Record<string, string>;
  isTerminal?: boolean;
  signal?: AbortSignal;
  /** Takes bytes that go to standard output. */
  stdoutBytes?: Writable;
}

/** Runs a command line in this process. */
export async function runCli(argv: readonly string[], setting: CliSetting = {}): Promise<CliOutcome> {
  const outcome: CliOutcome = { stdout: '', stderr: '', exitCode: 0 };
  const { isTerminal = false, env = {}, stdoutBytes } = setting;
  const context: CliContext = {
    process: {
      stdout: { write: (text) => void (outcome.stdout += text), isTerminal },
      stderr: { write: (text) => void (outcome.stderr += text), isTerminal },
      ...(stdoutBytes === undefined ? {} : { stdoutBytes }),
      env,
    },
    signal: setting.signal ?? new AbortController().signal,
    isProcessAlive: () => true,
  };
  await runApp(argv, context);
  outcome.exitCode = Number(context.process.exitCode ?? 0);
  return outcome;
}
