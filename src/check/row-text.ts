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

/** Reports characters of a text that tokenizers see and readers do not, and text that cannot be said in the time there is. */
export function checkText(
  text: string,
  durationSeconds: number | undefined,
  place: { line: number; id?: string | undefined },
  report: ManifestReport,
): void {
  const found = SUSPECT.exec(text);
  if (found !== null) reportCharacter(text, found.index, place, report);
  if (durationSeconds === undefined || !(durationSeconds > 0) || text.length < MIN_RATED_CHARACTERS) return;
  // By UTF-16 units it is at least as much: most texts need no count of characters.
  if (text.length <= durationSeconds * MAX_CHARACTERS_A_SECOND) return;
  const characters = columnOf(text, text.length) - 1;
  if (characters < MIN_RATED_CHARACTERS || characters <= durationSeconds * MAX_CHARACTERS_A_SECOND) return;
  const rate = (characters / durationSeconds).toFixed(1);
  report.add('fast_text', place.line, `${characters} characters in ${durationSeconds} s: ${rate} a second`, place);
}

function reportCharacter(
  text: string,
  index: number,
  place: { line: number; id?: string | undefined },
  report: ManifestReport,
): void {
  const code = text.charCodeAt(index);
  const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  const at = `after ${columnOf(text, index) - 1} characters`;
  if (code === 0xfffd) report.add('replacement_character', place.line, `the text holds ${name} ${at}`, place);
  else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
    report.add('control_character', place.line, `the text holds the control character ${name} ${at}`, place);
  } else report.add('invisible_character', place.line, `the text holds the invisible character ${name} ${at}`, place);
}
