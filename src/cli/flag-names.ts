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
