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

/** Finds what member names bring about before there is a tar: clashes, names that are too long, `-sub`. */
export class MemberNames {
  /** First line of each path, and of each flattened name. */
  readonly #paths = new IdIndex();
  readonly #names = new IdIndex();
  readonly #report: ManifestReport;
  readonly #isTarred: boolean;
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

  check(audioPath: string, line: number): void {
    const pathLine = this.#paths.firstShardOf(audioPath, line);
    if (pathLine !== line) {
      this.#repeats += 1;
      return;
    }
    if (this.#isTarred) return;
    const name = flattenPath(audioPath);
    const nameLine = this.#names.firstShardOf(name, line);
    if (nameLine !== line) {
      const message = `the file becomes the member "${name}", as that of line ${nameLine}: NeMo pairs its text with the other's audio`;
      this.#report.add('member_name_clash', line, message);
    }
    if (name.length > MAX_NAME_BYTES / 4 && Buffer.byteLength(name) > MAX_NAME_BYTES) {
      const message = `the file becomes a member with a name of ${Buffer.byteLength(name)} bytes: a tar header holds ${MAX_NAME_BYTES}`;
      this.#report.add('long_member_name', line, message);
    }
    if (/-sub/u.test(name)) this.#report.add('sub_in_name', line, `the name ${JSON.stringify(name)} holds "-sub"`);
  }
}
