import { createHash } from 'node:crypto';
import type { PlannedRecording } from './cut-plan.js';
import type { KnownRecordings } from './known-recordings.js';
import type { PlannedSnippet } from './types.js';

/** Snippets that have one name. */
export interface Clash {
  snippetId: string;
  /** In the order of the manifest and of time. */
  snippets: { recording: PlannedRecording; snippet: PlannedSnippet }[];
}

/** What is known of recordings from their first planning. */
export interface ClashSuspects {
  known: KnownRecordings;
  /** Whether a start is written with a minus sign. */
  hasMinusAt: (index: number) => boolean;
  /** Recordings in which two snippets have one name. */
  selfClashing: ReadonlySet<number>;
}

/**
 * Finds the snippets that have one name. Names are `<safe id>-<start>-<end>`, and only a start can be negative, so two are equal only if
 *
 * - they are of one recording, with spans equal to the millisecond, or
 * - the ids are equal once they are safe for names, or
 * - one id is the other and a "-": "X" from -1.5 s and "X-" from 1.5 s.
 *
 * Recordings for which none of this can hold are not read again. Holds the rows of one group of such recordings at a time.
 */
export async function* clashes(
  suspects: ClashSuspects,
  load: (index: number) => Promise<PlannedRecording>,
): AsyncGenerator<Clash> {
  for (const safeId of suspects.known.safeIds()) {
    const group = listGroup(safeId, suspects);
    const first = group[0];
    if (first === undefined || (group.length === 1 && !suspects.selfClashing.has(first))) continue;
    const byName = new Map<string, Clash>();
    for (const index of group) {
      const recording = await load(index);
      for (const snippet of recording.snippets) {
        const clash = byName.get(snippet.snippetId) ?? { snippetId: snippet.snippetId, snippets: [] };
        clash.snippets.push({ recording, snippet });
        byName.set(snippet.snippetId, clash);
      }
    }
    for (const clash of byName.values()) if (clash.snippets.length > 1) yield clash;
  }
}

/**
 * The recordings that may share names with those of a safe id, ascending. Empty where another safe id leads the group: "X" leads that of "X-"
 * if a start in "X" has a minus sign.
 */
function listGroup(safeId: string, { known, hasMinusAt }: ClashSuspects): number[] {
  if (safeId.endsWith('-') && known.listSameSafeId(safeId.slice(0, -1)).some(hasMinusAt)) return [];
  const group: number[] = [];
  for (let id = safeId; ; id += '-') {
    const same = known.listSameSafeId(id);
    group.push(...same);
    if (!same.some(hasMinusAt)) return group.sort((a, b) => a - b);
  }
}

/**
 * A suffix for each snippet of a clash, in their order: `-x` and the first 8 hexadecimal digits of the SHA-256 of the id, NUL and the ordinal; more
 * digits where these are equal.
 */
export function suffixClash(clash: Clash): string[] {
  const digests = clash.snippets.map(({ recording, snippet }) =>
    createHash('sha256')
      .update(`${distinctId(recording.id)}\0${snippet.ordinal}`)
      .digest('hex'),
  );
  for (let digits = 8; ; digits += 8) {
    const suffixes = digests.map((digest) => `-x${digest.slice(0, digits)}`);
    if (new Set(suffixes).size === suffixes.length || digits >= 64) return suffixes;
  }
}

/** UTF-8 has one form for every half of a surrogate pair; escapes keep them apart. */
function distinctId(id: string): string {
  return /\p{Surrogate}/u.test(id) ? JSON.stringify(id) : id;
}
