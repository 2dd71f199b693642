import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { UsageError } from '../errors.js';
import { expandBraces } from '../shard/brace-expansion.js';
import { matchPaths } from '../shard/path-pattern.js';
import { findForeignPlace } from './foreign-place.js';

/** What patterns of files stand for. */
export interface PatternFiles {
  /** Absolute paths, in the order of the patterns; a file that is named twice stands there twice. */
  paths: string[];
  /** Of those, the ones that are not there. Patterns with `*` or `?` that match nothing are here as they are spelled. */
  missing: string[];
}

/**
 * The files that patterns stand for, as NeMo's `tarred_audio_filepaths` does: `{0..63}`, `{000..063}`, `{a,b}`, with `(`, `[`, `<` or `_OP_` for
 * the opening and `)`, `]`, `>` or `_CL_` for the closing brace; several patterns in one text with commas between. Beyond NeMo, `*` and `?` match.
 *
 * A path that is there as it is spelled is that file; a folder whose name holds such characters is that folder; and what stands between brackets
 * that is neither a range nor a choice, as in `audio(v2)`, is a name.
 *
 * @throws {UsageError} for commands and addresses, which are never run or fetched, and for patterns that stand for more than a million names.
 */
export async function expandFilePatterns(patterns: readonly string[]): Promise<PatternFiles> {
  const paths: string[] = [];
  const missing: string[] = [];
  for (const pattern of patterns) {
    for (const part of await splitPatterns(pattern)) {
      const found = await expandPattern(part);
      paths.push(...found.paths);
      missing.push(...found.missing);
    }
  }
  return { paths, missing };
}

/** Patterns of a text with commas between them; a comma of a path that is there belongs to it. */
async function splitPatterns(text: string): Promise<string[]> {
  return !text.includes(',') || (await isThere(expandHome(text))) ? [text] : splitAtCommas(text);
}

/** What stands between the commas of a text; a comma inside brackets belongs to its pattern. */
export function splitAtCommas(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let depth = 0;
  for (const { at, length, kind } of bracketsOf(text, true)) {
    if (kind === 'open') depth += 1;
    else if (kind === 'close') depth = Math.max(0, depth - 1);
    else if (depth === 0) {
      parts.push(text.slice(start, at));
      start = at + length;
    }
  }
  parts.push(text.slice(start));
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

async function expandPattern(pattern: string): Promise<PatternFiles> {
  const foreign = findForeignPlace(pattern);
  if (foreign !== undefined) {
    throw new UsageError(`Cannot take ${foreign.what} as files: ${foreign.refusal}`, { hint: foreign.hint });
  }
  if (pattern.trim() === '') throw new UsageError('A path of a source is empty');
  const anchored = expandHome(pattern);
  if (await isThere(anchored)) return { paths: [path.resolve(anchored)], missing: [] };
  const found: PatternFiles = { paths: [], missing: [] };
  for (const word of await listWords(anchored)) {
    if (/[*?]/u.test(word)) {
      const { paths } = await matchPaths(word);
      found.paths.push(...paths.map((match) => path.resolve(match)));
      if (paths.length === 0) found.missing.push(word);
    } else {
      const file = path.resolve(word);
      found.paths.push(file);
      if (!(await isThere(file))) found.missing.push(file);
    }
  }
  return found;
}

/** The names that a pattern stands for, folder by folder, so that a real folder of a strange name is found. */
async function listWords(pattern: string): Promise<string[]> {
  const parts = pattern.split('/');
  const hasSplitPair = parts.some(
    (part) => bracketsOf(part).reduce((sum, { kind }) => sum + (kind === 'open' ? 1 : -1), 0) !== 0,
  );
  let heads = [''];
  for (const [index, part] of parts.entries()) {
    if (bracketsOf(part).length === 0) {
      heads = heads.map((head) => join(head, part, index));
      continue;
    }
    const next: string[] = [];
    for (const head of heads) {
      const literal = join(head, part, index);
      if (await isThere(literal)) next.push(literal);
      // A pair of brackets around a "/" is expanded with all that follows.
      else if (hasSplitPair) next.push(...expandWords(join(head, parts.slice(index).join('/'), index)));
      else next.push(...expandWords(part).map((word) => join(head, word, index)));
      if (next.length > MAX_WORDS)
        throw new UsageError(`The pattern "${pattern}" stands for more than a million names`);
    }
    if (hasSplitPair && next.some((word) => !heads.some((head) => word === join(head, part, index)))) return next;
    heads = next;
  }
  return heads;
}

const MAX_WORDS = 1_000_000;

function join(head: string, part: string, index: number): string {
  return index === 0 ? part : `${head}/${part}`;
}

/** Whether a text may stand for several paths. */
export function isPattern(text: string): boolean {
  return /[*?,]/u.test(text) || bracketsOf(text).length > 0;
}

/** The words of a text whose brackets are all those of patterns: NeMo's forms become braces where they hold a range or a choice. */
export function expandWords(text: string): string[] {
  const toBraces = convertBrackets(text);
  return expandBraces(toBraces.text).map((word) => toBraces.restore(word));
}

interface Bracket {
  at: number;
  length: number;
  kind: 'open' | 'close' | 'comma';
}

const OPENING = ['{', '(', '[', '<', '_OP_'];
const CLOSING = ['}', ')', ']', '>', '_CL_'];

function bracketsOf(text: string, withCommas = false): Bracket[] {
  const brackets: Bracket[] = [];
  for (const match of text.matchAll(/_OP_|_CL_|[{}()[\]<>,]/gu)) {
    const [sign] = match;
    if (sign === ',' && !withCommas) continue;
    const kind = sign === ',' ? 'comma' : OPENING.includes(sign) ? 'open' : 'close';
    brackets.push({ at: match.index, length: sign.length, kind });
  }
  return brackets;
}

/**
 * Puts braces where brackets hold a range or a choice. Brackets of any kind pair with each other, as they do in NeMo; the others are hidden from
 * the expansion behind characters that no path holds, and are put back by `restore`.
 */
function convertBrackets(text: string): { text: string; restore: (word: string) => string } {
  const brackets = bracketsOf(text, true);
  const hasBraces = brackets.map(() => false);
  const open: { bracket: number; commas: number; hasPattern: boolean }[] = [];
  for (const [at, bracket] of brackets.entries()) {
    const inner = open.at(-1);
    if (bracket.kind === 'comma') {
      if (inner !== undefined) inner.commas += 1;
    } else if (bracket.kind === 'open') open.push({ bracket: at, commas: 0, hasPattern: false });
    else if (inner !== undefined) {
      open.pop();
      const start = brackets[inner.bracket]!;
      const inside = text.slice(start.at + start.length, bracket.at);
      if (inner.commas === 0 && !RANGE.test(inside)) continue;
      hasBraces[inner.bracket] = true;
      hasBraces[at] = true;
    }
  }
  let converted = '';
  let end = 0;
  for (const [at, { at: start, length, kind }] of brackets.entries()) {
    const sign = text.slice(start, start + length);
    converted += text.slice(end, start);
    if (kind === 'comma') converted += sign;
    else if (hasBraces[at]) converted += kind === 'open' ? '{' : '}';
    else converted += hide(sign);
    end = start + length;
  }
  return { text: converted + text.slice(end), restore };
}

const RANGE = /^(?:-?\d{1,15}\.\.-?\d{1,15}|[a-z]\.\.[a-z])(?:\.\.-?\d{1,15})?$/iu;

const SIGNS = [...OPENING, ...CLOSING];

/** U+0000 is in no path. */
function hide(sign: string): string {
  return `\0${String.fromCodePoint(0x61 + SIGNS.indexOf(sign))}`;
}

function restore(word: string): string {
  return word.replaceAll(/\0(.)/gsu, (_, letter: string) => SIGNS[letter.charCodeAt(0) - 0x61] ?? '');
}

function expandHome(text: string): string {
  return text === '~' || text.startsWith('~/') ? path.join(homedir(), text.slice(1)) : text;
}

async function isThere(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}
