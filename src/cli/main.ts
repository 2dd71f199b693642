#!/usr/bin/env node
import { EXIT_CODES } from '../errors.js';
import { writeFailure } from '../tar/write-failure.js';
import { runApp } from './app.js';
import type { CliContext, TextStream } from './context.js';
import { formatError } from './error-text.js';

/** Exit code of a command line that cannot be understood. */
const USAGE_EXIT_CODE = 2;

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // A second Ctrl-C does not wait for anything.
    if (stop.signal.aborted && signal === 'SIGINT') process.exit(130);
    stop.abort(new Error(signal));
  });
}
let isStdoutLookedAfter = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (isStdoutLookedAfter) return;
  // A reader such as `head` that has seen enough is no error.
  if (error.code === 'EPIPE') process.exit(0);
  const failure = writeFailure(error, { action: 'Cannot write', path: 'standard output' });
  process.stderr.write(`${formatError(failure)}\n`, () => process.exit(EXIT_CODES.output));
});
// Where nobody reads messages any more the work goes on.
process.stderr.on('error', () => undefined);

const streamOf = (stream: NodeJS.WriteStream): TextStream => ({
  write: (text) => void stream.write(text),
  isTerminal: stream.isTTY,
  get columns() {
    // A terminal that does not tell its width has 0.
    return stream.columns > 0 ? stream.columns : undefined;
  },
});

const context: CliContext = {
  process: {
    stdout: streamOf(process.stdout),
    stderr: streamOf(process.stderr),
    get stdoutBytes() {
      isStdoutLookedAfter = true;
      return process.stdout;
    },
    // Touching it opens it, which only a command that reads it is to do.
    get stdin() {
      return process.stdin;
    },
    env: process.env,
  },
  signal: stop.signal,
  isProcessAlive: (pid) => {
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EPERM';
    }
  },
};

await runApp(process.argv.slice(2), context);
const exitCode = Number(context.process.exitCode ?? 0);
// The parser has codes of its own, all of them negative, for what cannot be understood.
process.exitCode = exitCode < 0 ? USAGE_EXIT_CODE : exitCode;
