import type { Writable } from 'node:stream';
import type { CommandContext } from '@stricli/core';

/** Where a command writes text. */
export interface TextStream {
  write(text: string): void;
  /** True when a person is looking at it. */
  readonly isTerminal: boolean;
  /** Characters in a line of a terminal. */
  readonly columns?: number | undefined;
}

/** All that a command knows of the process it runs in; tests make their own. */
export interface CliContext extends CommandContext {
  readonly process: {
    readonly stdout: TextStream;
    readonly stderr: TextStream;
    /** Standard output for bytes; a command that asks for it looks after its errors. */
    readonly stdoutBytes?: Writable;
    /** The bytes that are piped in. */
    readonly stdin?: AsyncIterable<Uint8Array>;
    readonly env: Readonly<Record<string, string | undefined>>;
    exitCode?: number | string | null;
  };
  /** Fires when the user or the system asks the command to stop. */
  readonly signal: AbortSignal;
  /** Tells whether a process of this machine lives, where there is no `/proc`. */
  isProcessAlive(pid: number): boolean;
}
