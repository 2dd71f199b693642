/** What a JSON text lacks at the place where scanning stopped. */
export type JsonProblem =
  | 'value'
  | 'key'
  | 'colon'
  | 'comma_or_brace'
  | 'comma_or_bracket'
  | 'trailing_comma'
  | 'unclosed_string'
  | 'control_character'
  | 'escape'
  | 'number'
  | 'depth';

/** Objects and arrays may nest this deep. */
export const MAX_DEPTH = 512;

/** Which of the open containers are objects, by depth. Shared by all scanners: it is in use within one call of `skipValue` only. */
const openContainers = new Uint8Array(MAX_DEPTH);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * Walks over JSON without building values: each method takes the position of a token's first character and returns the position after it,
 * or -1, with `problem` and `problemAt` set. Takes what `JSON.parse` takes (RFC 8259), and Python's bare NaN, Infinity and -Infinity.
 */
export class JsonScanner {
  readonly text: string;
  problem: JsonProblem = 'value';
  problemAt = 0;
  /** True once NaN, Infinity or -Infinity was met. */
  sawNonFinite = false;

  constructor(text: string) {
    this.text = text;
  }

  /** The position of the first character at or after `at` that is not JSON whitespace. */
  skipSpace(at: number): number {
    const { text } = this;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code > 0x20 || (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)) return at;
      at += 1;
    }
  }

  /** Any value, with all it holds. `depth` counts the containers that are already open around it. */
  skipValue(at: number, depth: number): number {
    const { text } = this;
    const floor = depth;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        at = this.skipString(at);
      } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        if (depth >= MAX_DEPTH) return this.#fail('depth', at);
        const inner = this.skipSpace(at + 1);
        const innerCode = text.charCodeAt(inner);
        if (innerCode === (code === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET)) {
          at = inner + 1;
        } else {
          openContainers[depth] = code === OPEN_BRACE ? 1 : 0;
          depth += 1;
          at = code === OPEN_BRACE ? this.skipKey(inner) : inner;
          if (at < 0) return at;
          continue;
        }
      } else {
        at = this.#skipScalar(at, code);
      }
      if (at < 0) return at;
      // A value has ended: close what ends with it, up to the comma before the next value.
      for (;;) {
        if (depth === floor) return at;
        at = this.skipSpace(at);
        const next = text.charCodeAt(at);
        const inObject = openContainers[depth - 1] === 1;
        if (next === COMMA) {
          at = inObject ? this.skipKey(this.skipSpace(at + 1)) : this.#afterArrayComma(at);
          if (at < 0) return at;
          break;
        }
        if (next !== (inObject ? CLOSE_BRACE : CLOSE_BRACKET)) {
          return this.#fail(inObject ? 'comma_or_brace' : 'comma_or_bracket', at);
        }
        at += 1;
        depth -= 1;
      }
    }
  }

  /** A key, its colon, and the space around them: returns where the value begins. */
  skipKey(at: number): number {
    if (this.text.charCodeAt(at) !== QUOTE) return this.#failKey(at);
    const end = this.skipString(at);
    return end < 0 ? end : this.skipColon(end);
  }

  /** The colon after a key and the space around it: returns where the value begins. */
  skipColon(at: number): number {
    const colon = this.skipSpace(at);
    return this.text.charCodeAt(colon) === COLON ? this.skipSpace(colon + 1) : this.#fail('colon', colon);
  }

  /** A string, from its opening to after its closing quote. */
  skipString(at: number): number {
    const { text } = this;
    const start = at;
    at += 1;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) return at + 1;
      if (code === BACKSLASH) {
        const after = this.#skipEscape(at);
        if (after < 0) return after;
        at = after;
      } else if (code >= 0x20) {
        at += 1;
      } else {
        return at >= text.length ? this.#fail('unclosed_string', start) : this.#fail('control_character', at);
      }
    }
  }

  #skipEscape(at: number): number {
    const { text } = this;
    switch (text.charCodeAt(at + 1)) {
      case 0x22:
      case 0x5c:
      case 0x2f:
      case 0x62:
      case 0x66:
      case 0x6e:
      case 0x72:
      case 0x74:
        return at + 2;
      case 0x75: {
        for (let i = at + 2; i < at + 6; i += 1) {
          if (!isHexDigit(text.charCodeAt(i))) return this.#fail('escape', at);
        }
        return at + 6;
      }
      default:
        return this.#fail('escape', at);
    }
  }

  #skipScalar(at: number, code: number): number {
    const { text } = this;
    if (code === MINUS || (code >= ZERO && code <= NINE)) return this.#skipNumber(at, code);
    if (text.startsWith('true', at) || text.startsWith('null', at)) return at + 4;
    if (text.startsWith('false', at)) return at + 5;
    if (text.startsWith('NaN', at)) {
      this.sawNonFinite = true;
      return at + 3;
    }
    if (text.startsWith('Infinity', at)) {
      this.sawNonFinite = true;
      return at + 8;
    }
    return this.#fail('value', at);
  }

  #skipNumber(start: number, first: number): number {
    const { text } = this;
    let at = start;
    let code = first;
    if (code === MINUS) {
      if (text.startsWith('Infinity', at + 1)) {
        this.sawNonFinite = true;
        return at + 9;
      }
      at += 1;
      code = text.charCodeAt(at);
    }
    if (code === ZERO) {
      at += 1;
      code = text.charCodeAt(at);
      if (code >= ZERO && code <= NINE) return this.#fail('number', start);
    } else {
      const digits = this.#skipDigits(at);
      if (digits === at) return this.#fail('number', start);
      at = digits;
      code = text.charCodeAt(at);
    }
    if (code === DOT) {
      const digits = this.#skipDigits(at + 1);
      if (digits === at + 1) return this.#fail('number', start);
      at = digits;
      code = text.charCodeAt(at);
    }
    if (code === 0x65 || code === 0x45) {
      const sign = text.charCodeAt(at + 1);
      const from = sign === 0x2b || sign === MINUS ? at + 2 : at + 1;
      const digits = this.#skipDigits(from);
      if (digits === from) return this.#fail('number', start);
      at = digits;
    }
    return at;
  }

  #skipDigits(at: number): number {
    const { text } = this;
    for (;;) {
      const code = text.charCodeAt(at);
      if (!(code >= ZERO && code <= NINE)) return at;
      at += 1;
    }
  }

  #afterArrayComma(comma: number): number {
    const at = this.skipSpace(comma + 1);
    return this.text.charCodeAt(at) === CLOSE_BRACKET ? this.#fail('trailing_comma', comma) : at;
  }

  #failKey(at: number): number {
    const { text } = this;
    if (text.charCodeAt(at) === CLOSE_BRACE) {
      let before = at - 1;
      while (before > 0 && text.charCodeAt(before) <= 0x20) before -= 1;
      if (text.charCodeAt(before) === COMMA) return this.#fail('trailing_comma', before);
    }
    return this.#fail('key', at);
  }

  #fail(problem: JsonProblem, at: number): -1 {
    this.problem = problem;
    this.problemAt = at;
    return -1;
  }
}

function isHexDigit(code: number): boolean {
  return (code >= ZERO && code <= NINE) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}
