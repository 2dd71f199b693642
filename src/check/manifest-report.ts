import type { CheckContext } from './finding.js';
import { MANIFEST_KINDS, type ManifestKind } from './manifest-kinds.js';

/** What is known of a finding's place beside its line. */
export interface FindingDetails {
  column?: number | undefined;
  id?: string | undefined;
  /** In place of the hint of the kind. */
  hint?: string | undefined;
}

/** Takes the findings of one manifest. */
export class ManifestReport {
  readonly file: string;
  readonly #context: CheckContext;

  constructor(file: string, context: CheckContext) {
    this.file = file;
    this.#context = context;
  }

  /** @param line 1-based, or undefined for what is wrong with the file as a whole */
  add(kind: ManifestKind, line: number | undefined, message: string, details: FindingDetails = {}): void {
    const { severity, ...rest } = MANIFEST_KINDS[kind];
    const hint = details.hint ?? ('hint' in rest ? rest.hint : undefined);
    const { column, id } = details;
    this.#context.report({ kind, severity, message, file: this.file, line, column, id, hint });
  }
}

const MAX_QUOTED = 60;

/** A value as it stands in the row, cut where it is long. */
export function quote(raw: string): string {
  const characters = Array.from(raw.slice(0, MAX_QUOTED * 2));
  if (characters.length <= MAX_QUOTED && raw.length <= MAX_QUOTED * 2) return raw;
  return `${characters.slice(0, MAX_QUOTED).join('')}…`;
}
