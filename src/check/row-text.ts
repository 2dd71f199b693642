import { countWords } from '../count-words.js';
import { columnOf } from '../manifest/json-fault.js';
import type { ManifestReport } from './manifest-report.js';

/** More characters a second than anybody says, in any script. */
export const MAX_CHARACTERS_A_SECOND = 30;
/** Shorter texts say little about their rate. */
const MIN_RATED_CHARACTERS = 15;

/** What a text may hold and hardly means: controls, marks of direction, soft hyphens, zero-width spaces, lost characters. */
const SUSPECT =
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufffd]/u;

/** What is odd about a text. */
export interface TextFault {
  kind: 'control_character' | 'invisible_character' | 'replacement_character' | 'fast_text';
  message: string;
}

/** Reports characters of a text that tokenizers see and readers do not, and text that cannot be said in the time there is. */
export function checkText(
  text: string,
  durationSeconds: number | undefined,
  place: { line: number; id?: string | undefined },
  report: ManifestReport,
): void {
  for (const { kind, message } of textFaults(text, durationSeconds)) report.add(kind, place.line, message, place);
}

/** The first suspect character of a text, and whether it is too long for its audio. */
export function* textFaults(text: string, durationSeconds: number | undefined): Generator<TextFault> {
  const found = SUSPECT.exec(text);
  if (found !== null) yield characterFault(text, found.index);
  if (durationSeconds === undefined || !(durationSeconds > 0) || text.length < MIN_RATED_CHARACTERS) return;
  // By UTF-16 units it is at least as much: most texts need no count of characters.
  if (text.length <= durationSeconds * MAX_CHARACTERS_A_SECOND) return;
  const characters = columnOf(text, text.length) - 1;
  if (characters < MIN_RATED_CHARACTERS || characters <= durationSeconds * MAX_CHARACTERS_A_SECOND) return;
  const rate = (characters / durationSeconds).toFixed(1);
  yield { kind: 'fast_text', message: `${characters} characters in ${durationSeconds} s: ${rate} a second` };
}

function characterFault(text: string, index: number): TextFault {
  const code = text.charCodeAt(index);
  const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  const at = `after ${countWords(columnOf(text, index) - 1, 'character')}`;
  if (code === 0xfffd) return { kind: 'replacement_character', message: `the text holds ${name} ${at}` };
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
    return { kind: 'control_character', message: `the text holds the control character ${name} ${at}` };
  }
  return { kind: 'invisible_character', message: `the text holds the invisible character ${name} ${at}` };
}
