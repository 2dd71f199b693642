import type { JsonScanner } from './json-scanner.js';

/** Why a line is not a row: where, what was met, and the likely cause. */
export class JsonFault {
  readonly reason: 'invalid_json' | 'not_an_object';
  /** 1-based, in characters. */
  readonly column: number;
  /** One sentence without the place. */
  readonly message: string;
  readonly hint: string | undefined;

  constructor(reason: JsonFault['reason'], column: number, message: string, hint?: string) {
    this.reason = reason;
    this.column = column;
    this.message = message;
    this.hint = hint;
  }
}

const ONE_OBJECT = 'write one object a line';
const PRETTY_PRINTED = 'this looks like pretty-printed JSON; write one object a line, e.g. jq -c .';
const ARRAY_FILE = "this looks like a JSON array; write one object a line, e.g. jq -c '.[]'";
const PYTHON = 'JSON takes double quotes, true, false and null; in Python write json.dumps(row), not str(row)';
const CUT_OFF = 'the line seems to be cut off; is the file complete?';

/** The fault that stopped the scanner. */
export function describeScanFault(scanner: JsonScanner): JsonFault {
  const { text, problem, problemAt: at } = scanner;
  const fault = (message: string, hint?: string): JsonFault =>
    new JsonFault('invalid_json', columnOf(text, at), message, hint ?? hintOfLine(text));
  const found = foundAt(text, at);
  switch (problem) {
    case 'unclosed_string':
      return fault('the line ends inside a string', CUT_OFF);
    case 'control_character':
      return fault(`a raw control character stands inside a string: ${found}`, 'write it as an escape, such as \\t');
    case 'escape':
      return fault('a backslash inside a string begins no JSON escape', 'write a backslash itself as \\\\');
    case 'number':
      return fault('a number is not written as JSON takes it', 'no leading zeros, a digit on either side of the point');
    case 'depth':
      return fault('objects and arrays are nested more than 512 deep');
    case 'trailing_comma':
      return fault('a comma stands before the closing bracket', 'remove the comma after the last item');
    case 'value':
    case 'key':
    case 'colon':
    case 'comma_or_brace':
    case 'comma_or_bracket':
      break;
  }
  if (at >= text.length) return fault('the line ends inside an object or array', hintOfUnfinished(text));
  return fault(`${EXPECTED[problem]} is expected, but ${found} stands there`, hintOfToken(text, at));
}

const EXPECTED = {
  value: 'a value',
  key: 'a key in double quotes',
  colon: 'a colon',
  comma_or_brace: 'a comma or "}"',
  comma_or_bracket: 'a comma or "]"',
} as const;

/** The fault of a line on which something follows a whole value. */
export function describeTrailingText(text: string, at: number): JsonFault {
  const column = columnOf(text, at);
  const first = text.trimStart().charAt(0);
  if (first === '{' && text.charAt(at) === '{') {
    return new JsonFault('invalid_json', column, 'a second object begins', ONE_OBJECT);
  }
  const hint = first === '{' && text.charAt(at) === ',' ? ARRAY_FILE : hintOfLine(text);
  return new JsonFault('invalid_json', column, `${foundAt(text, at)} follows a whole value`, hint);
}

/** The fault of a line that holds a value other than an object, at `at`. */
export function describeOtherValue(text: string, at: number): JsonFault {
  const first = text.charAt(at);
  const kind =
    first === '[' ? 'an array' : first === '"' ? 'a string' : /[-\d]/.test(first) ? 'a number' : text.slice(at).trim();
  const hint = first === '[' ? ARRAY_FILE : 'each line must be a JSON object';
  return new JsonFault('not_an_object', columnOf(text, at), `the line is ${kind}, not an object`, hint);
}

function hintOfUnfinished(text: string): string {
  const trimmed = text.trim();
  if (trimmed.startsWith('[')) return ARRAY_FILE;
  return /[{[,]$/.test(trimmed) ? PRETTY_PRINTED : CUT_OFF;
}

function hintOfToken(text: string, at: number): string | undefined {
  if (text.charAt(at) === "'" || /^(?:True|False|None)\b/.test(text.slice(at, at + 6))) return PYTHON;
  if (text.charCodeAt(at) === 0xfeff) return 'a byte order mark stands inside the file; were files joined?';
  if (text.startsWith('//', at) || text.startsWith('/*', at) || text.charAt(at) === '#') return 'JSON has no comments';
  return undefined;
}

/** What a whole line that is not a row looks like. */
function hintOfLine(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed.startsWith('[')) return ARRAY_FILE;
  if (/^[}\]]/.test(trimmed) || /^"[^"\\]*"\s*:/.test(trimmed)) return PRETTY_PRINTED;
  return trimmed.startsWith('{') ? undefined : 'each line must be a JSON object';
}

function foundAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  if (code === undefined) return 'the end of the line';
  const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return code > 0x20 && code < 0x7f ? JSON.stringify(String.fromCodePoint(code)) : name;
}

/** The 1-based column, in characters, of a position in UTF-16 units. */
export function columnOf(text: string, at: number): number {
  let column = 1;
  for (let i = 0; i < at && i < text.length; column += 1) {
    i += (text.codePointAt(i) ?? 0) > 0xffff ? 2 : 1;
  }
  return column;
}
