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
}

/** Numbers kept for each line: a digest of its path, its offset, its duration. */
const NUMBERS = 3;

/**
 * Finds what the names of files bring about: rows that are there twice, and, before there is a tar, names of members that clash, are too
 * long, or hold `-sub`. Keeps about 80 bytes a file.
 */
export class FileUses {
  /** The first line of each name of a member. */
  readonly #names = new IdIndex();
  /** The first line of each span of files that several rows use. */
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
      this.#checkSpan(use, first);
      return;
    }
    const message = `the file becomes the member "${name}", as that of line ${first}: NeMo pairs its text with the other's audio`;
    this.#report.add('member_name_clash', line, message);
  }

  #checkSpan({ audioPath, line, offsetSeconds, durationSeconds }: FileUse, first: number): void {
    const firstOffset = this.#numbers[first * NUMBERS + 1] ?? 0;
    const firstDuration = this.#numbers[first * NUMBERS + 2] ?? 0;
    this.#spans.firstShardOf(`${audioPath}\n${firstOffset}\n${firstDuration}`, first);
    const same = this.#spans.firstShardOf(`${audioPath}\n${offsetSeconds}\n${durationSeconds}`, line);
    if (same === line) return;
    this.#report.add('duplicate_row', line, `line ${same} has the same file, offset and duration`);
  }

  #checkName(name: string, line: number): void {
    if (name.length > MAX_NAME_BYTES / 4 && Buffer.byteLength(name) > MAX_NAME_BYTES) {
      const message = `the file becomes a member with a name of ${Buffer.byteLength(name)} bytes: a tar header holds ${MAX_NAME_BYTES}`;
      this.#report.add('long_member_name', line, message);
    }
    if (name.includes('-sub')) this.#report.add('sub_in_name', line, `the name ${JSON.stringify(name)} holds "-sub"`);
  }

  #keep({ line, offsetSeconds, durationSeconds }: FileUse, digest: number): void {
    const at = line * NUMBERS;
    if (at + NUMBERS > this.#numbers.length) {
      const grown = new Float64Array(Math.max(this.#numbers.length * 2, at + NUMBERS));
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    this.#numbers[at] = digest;
    this.#numbers[at + 1] = offsetSeconds;
    this.#numbers[at + 2] = durationSeconds;
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
