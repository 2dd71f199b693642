import { hash } from 'node:crypto';

/** A name in its parts: `_data_a.wav` is `_data_a` and `.wav`. */
export interface NameParts {
  /** Holds no slash and no dot: it is the key of a WebDataset sample. */
  stem: string;
  /** With its dot; empty where the file has none. */
  extension: string;
}

/**
 * The name of a member for the path of its file, as NeMo's converter makes it: `/` and `.` of all before the extension become `_`.
 * The `-sub` before a number becomes `_sub`: loaders take it for the mark of a repeated file, cut it off and look for another member.
 */
export function flattenPath(filePath: string): NameParts {
  const dot = filePath.lastIndexOf('.');
  const hasExtension = dot > 0 && startsExtension(filePath, dot);
  const stem = (hasExtension ? filePath.slice(0, dot) : filePath).replaceAll(/[/.]/gu, '_');
  return {
    stem: stem.includes(SUB_MARK) ? stem.replaceAll(/-sub(?=\d)/gu, '_sub') : stem,
    extension: hasExtension ? filePath.slice(dot) : '',
  };
}

const SUB_MARK = '-sub';

/** As in Python, dots that a name begins with start no extension. */
function startsExtension(filePath: string, dot: number): boolean {
  if (filePath.includes('/', dot)) return false;
  for (let at = dot - 1; at >= 0 && filePath[at] !== '/'; at -= 1) {
    if (filePath[at] !== '.') return true;
  }
  return false;
}

/** Tells whether `flattenPath` had to change a `-sub` before a number. */
export function holdsSubMark(filePath: string): boolean {
  return filePath.includes(SUB_MARK) && /-sub\d/u.test(filePath);
}

/**
 * What stands behind the stem of a span: `_12_0_3_5` for 3.5 s from 12 s on.
 *
 * @param durationSeconds NaN means: to the end of the audio
 */
export function spanSuffix(offsetSeconds: number, durationSeconds: number): string {
  const duration = Number.isNaN(durationSeconds) ? 'end' : spellFloat(durationSeconds);
  return `_${withoutDot(spellFloat(offsetSeconds))}_${withoutDot(duration)}`;
}

function withoutDot(number: string): string {
  const dot = number.indexOf('.');
  return dot < 0 ? number : `${number.slice(0, dot)}_${number.slice(dot + 1)}`;
}

/** A number with a point, as Python's `repr` of a float writes it, but never with an exponent. */
export function spellFloat(value: number): string {
  let text = String(value);
  if (text.includes('e')) {
    text = Math.abs(value) < 1 ? value.toFixed(20).replace(/0+$/u, '') : BigInt(Math.round(value)).toString();
  }
  return text.includes('.') ? text : `${text}.0`;
}

/** What tells apart files whose names are equal when they are flattened: it depends on the path alone, not on who came first. */
export function hashSuffix(filePath: string): string {
  return `-x${hash('sha256', filePath).slice(0, 8)}`;
}
