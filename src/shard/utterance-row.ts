import type { JsonObject } from '../manifest/json-object.js';
import type { OwnShard } from './own-shards.js';
import type { PlannedItem } from './plan.js';

/** What a line of an input says of an utterance, whatever the kind of the input. */
export interface UtteranceRow {
  /** Undefined where the input has no ids: they are made of the paths then. */
  id: string | undefined;
  /** As the input spells it. */
  path: string;
  text: string;
  /** Half-open, in microseconds; undefined is the whole file, an end of null that of the audio. */
  span: { start: number; end: number | null } | undefined;
  /** Spelling of the number of seconds that the row claims; undefined where it claims none. */
  duration: string | undefined;
  /** Further columns. */
  extras: JsonObject | undefined;
  /** Where the audio is a member of a tar. */
  inside?: PlannedItem['inside'];
  /** What is known of that member without a look at it, where cutroom made it: mono, and of the duration that the row says. */
  own?: OwnShard | undefined;
}

/** Why a line holds no utterance. */
export interface RowRefusal {
  reason: string;
  /** One sentence. */
  message: string;
  hint?: string | undefined;
  /** 1-based, in characters. */
  column?: number | undefined;
  id?: string | undefined;
  /** Where it is not the input itself. */
  file?: string | undefined;
}

/** A line that was read: the utterance, or why it holds none. */
export type ReadLine = { line: number; input?: number } & ({ row: UtteranceRow } | { refusal: RowRefusal });

/** Names of fields in headers and JSON objects, in the order in which they are looked for. */
export const FIELD_NAMES = {
  id: ['id', 'utt', 'utt_id', 'key'],
  path: ['audio_path', 'audio_filepath', 'audio', 'path', 'wav'],
  text: ['text', 'sentence', 'transcript'],
  start: ['start', 'offset'],
  duration: ['duration'],
  extras: ['json', 'extras'],
} as const;

export type FieldRole = keyof typeof FIELD_NAMES;

/** The field of each role, by the names that there are. */
export function fieldsOf(names: readonly string[]): Partial<Record<FieldRole, string>> {
  const fields: Partial<Record<FieldRole, string>> = {};
  for (const [role, known] of Object.entries(FIELD_NAMES) as [FieldRole, readonly string[]][]) {
    const name = known.find((candidate) => names.includes(candidate));
    if (name !== undefined) fields[role] = name;
  }
  return fields;
}
