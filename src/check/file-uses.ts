import { IdIndex } from '../shard/id-index.js';
import type { ManifestReport } from './manifest-report.js';

/** Longer names need a pax header in a tar. */
const MAX_NAME_BYTES = 100;

/**
 * The name that NeMo's converter gives the member of a file: of the path without its extension, "/" and "." become "_".
 * Source: convert_to_tarred_audio_dataset.py.
 */
export function flattenPath(audioPath: string): string {
  const slash = audioPath.lastIndexOf('/');
  const dot = audioPath.lastIndexOf('.');
  // As Python's splitext: dots at the start of the last part begin no extension.
  const hasExtension = dot > slash + 1 && !/^\.*$/u.test(audioPath.slice(slash + 1, dot));
  const stemEnd = hasExtension ? dot : audioPath.length;
  return audioPath.slice(0, stemEnd).replaceAll(/[/.]/gu, '_') + audioPath.slice(stemEnd);
}

/** What a row takes of a file. */
export interface FileUse {
  audioPath: string;
  line: number;
  offsetSeconds: number;
  /** -1 where the row does not say. */
  durationSeconds: number;
  text: string;
  /** What is to be made of the audio, such as its languages: rows that differ in it may well have other texts. */
  prompt: string;
}

/** Numbers kept for each line: digests of its path, its prompt and its text, its offset, its duration. */
const NUMBERS = 5;
const OFFSET = 1;
const DURATION = 2;
const PROMPT = 3;
const TEXT = 4;

/**
 * Finds what the names of files bring about: rows that are there twice, audio that has two texts, and, before there is a tar, names of members
 * that clash, are too long, or hold `-sub`. Keeps about 100 bytes a file.
 */
export class FileUses {
  /** The first line of each name of a member. */
  readonly #names = new IdIndex();
  /** The first line of each span of files that several rows use, by its prompt, and by its prompt and text. */
  readonly #spans = new IdIndex();
  readonly #report: ManifestReport;
  readonly #isTarred: boolean;
  #numbers = new Float64Array(1024 * NUMBERS);
  #repeats = 0;

  /** @param isTarred names are members already: `-sub` is NeMo's own, and nothing is flattened any more */
  constructor(report: ManifestReport, isTarred: boolean) {
    this.#report = report;
    this.#isTarred = isTarred;
  }

  /** How many rows use a file that an earlier row uses. */
  get repeats(): number {
    return this.#repeats;
  }

  check(use: FileUse): void {
    const { audioPath, line } = use;
    const name = this.#isTarred ? audioPath : flattenPath(audioPath);
    const digest = digestOf(audioPath);
    this.#keep(use, digest);
    const first = this.#names.firstShardOf(name, line);
    if (first === line) {
      if (!this.#isTarred) this.#checkName(name, line);
      return;
    }
    if (this.#numbers[first * NUMBERS] === digest) {
      this.#repeats += 1;
      this.#checkSpan(use.line, audioPath, first);
      return;
    }
    const message = `the file becomes the member "${name}", as that of line ${first}: NeMo pairs its text with the other's audio`;
    this.#report.add('member_name_clash', line, message);
  }

  #checkSpan(line: number, audioPath: string, first: number): void {
    this.#findSame(first, audioPath);
    const { twin, rival } = this.#findSame(line, audioPath);
    if (twin !== line) {
      this.#report.add('duplicate_row', line, `line ${twin} has the same file, offset, duration and text`);
    } else if (rival !== line) {
      this.#report.add('two_texts', line, `line ${rival} has the same file, offset and duration, and another text`);
    }
  }

  /** The first lines of the same span and prompt, with the same text and with any; the line itself where there is none before it. */
  #findSame(line: number, audioPath: string): { twin: number; rival: number } {
    const [, offset, duration, prompt, text] = this.#numbers.subarray(line * NUMBERS, (line + 1) * NUMBERS);
    const span = `${audioPath}\n${offset}\n${duration}\n${prompt}`;
    return {
      twin: this.#spans.firstShardOf(`same ${text} ${span}`, line),
      rival: this.#spans.firstShardOf(`any ${span}`, line),
    };
  }

  #checkName(name: string, line: number): void {
    if (name.length > MAX_NAME_BYTES / 4 && Buffer.byteLength(name) > MAX_NAME_BYTES) {
      const message = `the file becomes a member with a name of ${Buffer.byteLength(name)} bytes: a tar header holds ${MAX_NAME_BYTES}`;
      this.#report.add('long_member_name', line, message);
    }
    if (name.includes('-sub')) this.#report.add('sub_in_name', line, `the name ${JSON.stringify(name)} holds "-sub"`);
  }

  #keep({ line, offsetSeconds, durationSeconds, prompt, text }: FileUse, digest: number): void {
    const at = line * NUMBERS;
    if (at + NUMBERS > this.#numbers.length) {
      const grown = new Float64Array(Math.max(this.#numbers.length * 2, at + NUMBERS));
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    this.#numbers[at] = digest;
    this.#numbers[at + OFFSET] = offsetSeconds;
    this.#numbers[at + DURATION] = durationSeconds;
    this.#numbers[at + PROMPT] = prompt === '' ? 0 : digestOf(prompt);
    this.#numbers[at + TEXT] = digestOf(text);
  }
}

/** 53 bits of a text: FNV-1a twice, from two starts. Two paths of one name that are taken for equal are one in 10^15. */
function digestOf(text: string): number {
  let low = 0x811c9dc5;
  let high = 0x01234567;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x5bd1e995);
    high ^= high >>> 15;
  }
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0);
}
