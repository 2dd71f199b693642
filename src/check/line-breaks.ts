import type { ManifestLine } from '../manifest/lines.js';
import type { ManifestReport } from './manifest-report.js';

/** Tells once that lines end in CR LF, by the bytes between one line and the next. */
export class ReturnsNote {
  readonly #report: ManifestReport | undefined;
  #last: { number: number; endBytes: number } | undefined;
  #isTold = false;

  constructor(report: ManifestReport | undefined) {
    this.#report = report;
  }

  next({ number, offsetBytes, lengthBytes }: Pick<ManifestLine, 'number' | 'offsetBytes' | 'lengthBytes'>): void {
    if (this.#last?.number === number - 1) this.end(offsetBytes);
    this.#last = { number, endBytes: offsetBytes + lengthBytes };
  }

  end(nextBytes: number): void {
    if (this.#isTold || this.#last === undefined || nextBytes - this.#last.endBytes !== 2) return;
    this.#isTold = true;
    this.#report?.add('crlf', this.#last.number, 'lines end in CR LF: readers that split at LF keep the CR');
  }
}
