import type { EngineName } from '../cluster/engine.js';
import { parsePathMapping, type PathMapping } from '../run/path-map.js';

/** Where the tasks of a command run. */
export type BackendName = EngineName | 'local';

/** What was asked for, and the name that it goes by elsewhere where that was given. */
export interface BackendChoice {
  name: BackendName;
  /** `xenna` or `ray_data`, which NeMo Curator calls its own. */
  alias: string | undefined;
}

const ALIASES: Readonly<Record<string, BackendName>> = { xenna: 'ray', ray_data: 'ray' };

/** `local`, `slurm` or `ray`, or a name of NeMo Curator's for the last. */
export function backendChoice(text: string): BackendChoice {
  if (text === 'local' || text === 'slurm' || text === 'ray') return { name: text, alias: undefined };
  const name = Object.hasOwn(ALIASES, text) ? ALIASES[text] : undefined;
  if (name !== undefined) return { name, alias: text };
  throw new SyntaxError('must be local, slurm or ray');
}

/** `/local/folder=/remote/folder`. */
export function pathMapping(text: string): PathMapping {
  try {
    return parsePathMapping(text);
  } catch (error) {
    throw new SyntaxError('must be LOCAL=REMOTE, two absolute paths such as /home/me/data=/mnt/data', { cause: error });
  }
}

/** The number of a task, counted from 0. */
export function taskNumber(text: string): number {
  if (/^\d{1,9}$/u.test(text.trim())) return Number(text);
  throw new SyntaxError('must be the number of a task, counted from 0');
}

/** A whole number from 0 on. */
export function countOrZero(text: string): number {
  if (/^\d{1,9}$/u.test(text.trim())) return Number(text);
  throw new SyntaxError('must be a whole number of 0 or more');
}

/** A time limit as `sbatch --time` takes it: minutes, M:S, H:M:S, D-H, D-H:M, D-H:M:S, or UNLIMITED. */
export function slurmTime(text: string): string {
  const time = text.trim();
  if (/^(?:\d+(?::\d{1,2}){0,2}|\d+-\d{1,2}(?::\d{1,2}){0,2}|UNLIMITED|INFINITE)$/iu.test(time)) return time;
  throw new SyntaxError('must be a time as Slurm takes it: minutes, H:MM:SS, D-HH:MM:SS, or UNLIMITED');
}

/** Memory as `sbatch --mem` takes it: a number of megabytes, or one with K, M, G or T. */
export function slurmMemory(text: string): string {
  const memory = text.trim();
  if (/^\d+[KMGT]?B?$/iu.test(memory)) return memory;
  throw new SyntaxError('must be memory as Slurm takes it, such as 4000M or 8G');
}

/** A name that goes into a script: of a partition, an account, a quality of service. */
export function slurmName(text: string): string {
  if (/^[\w.,:@/+-]+$/u.test(text)) return text;
  throw new SyntaxError('must be a name of letters, digits and . , : @ / + - _');
}

/** An argument of `sbatch`, with its dashes. */
export function sbatchArgument(text: string): string {
  if (text.startsWith('-') && !/[\n\r\0]/u.test(text)) return text;
  throw new SyntaxError('must be an argument of sbatch with its dashes, such as --constraint=avx512');
}

/** An http or https address of a Ray cluster's head. */
export function rayAddress(text: string): string {
  let address: URL;
  try {
    address = new URL(text);
  } catch {
    throw new SyntaxError(RAY_ADDRESS);
  }
  if (address.protocol === 'http:' || address.protocol === 'https:') return text;
  throw new SyntaxError(RAY_ADDRESS);
}

const RAY_ADDRESS = 'must be the address of the dashboard of a Ray head, such as http://head:8265';

/** A command with its arguments, split where a shell would: at blanks that are not quoted. */
export function commandWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at]!;
    if (quote !== undefined) {
      if (letter === quote) quote = undefined;
      else word = (word ?? '') + letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word ??= '';
    } else if (letter === '\\' && at + 1 < text.length) {
      at += 1;
      word = (word ?? '') + text[at]!;
    } else if (/\s/u.test(letter)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + letter;
    }
  }
  if (quote !== undefined) throw new SyntaxError(`must close its quote (${quote})`);
  if (word !== undefined) words.push(word);
  if (words.length === 0 || words[0] === '') throw new SyntaxError('must be a command');
  return words;
}
