import type { Command } from '@stricli/core';
import type { CliContext } from './context.js';

/** The flags of commands as they are typed, without dashes. */
export function flagNamesOf(commands: readonly Command<CliContext>[]): string[] {
  const names = ['help', 'version'];
  for (const { parameters } of commands) {
    for (const [key, flag] of Object.entries(parameters.flags ?? {})) {
      const name = key.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
      names.push(name);
      if (flag.kind === 'boolean' && flag.withNegated !== false) names.push(`no-${name}`);
    }
  }
  return names;
}

/** A flag that is spelled as in Python, `--num_shards`, as it is spelled here. Anything else stays. */
export function withDashes(argument: string): string {
  return argument.replace(/^--[a-z]+(?:_[a-z]+)+(?==|$)/u, (flag) => flag.replaceAll('_', '-'));
}
