import { inspect } from 'node:util';

const MASK = '[secret]';

/** Something that must not be shown. Printing it in any way gives a mask; only {@link Secret.reveal} gives the value. */
export class Secret {
  readonly #value: string;
  /** Where it was found, for messages: `HF_TOKEN`, a file, … */
  readonly source: string;

  constructor(value: string, source: string) {
    this.#value = value;
    this.source = source;
  }

  /** The value itself, for the one place that sends it. */
  reveal(): string {
    return this.#value;
  }

  /** The text with every occurrence of the value masked: as it is, percent-encoded, and in base64. */
  scrub(text: string): string {
    let scrubbed = text;
    for (const form of new Set([this.#value, encodeURIComponent(this.#value), ...base64Forms(this.#value)])) {
      scrubbed = scrubbed.replaceAll(form, MASK);
    }
    return scrubbed;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}

/** The base64 digits that stand for the value and nothing else, for each of the three places it can have in an encoded text. */
function base64Forms(value: string): string[] {
  return [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor((bytes.length * 8) / 6);
    return bytes.toString('base64').slice(first, last);
  });
}

/**
 * A copy of an error and its causes that holds names, messages and stacks only, with the secret masked. Errors of other libraries carry
 * requests, headers and bodies along; a copy does not.
 */
export function scrubError(error: unknown, secret: Secret | undefined): Error {
  const scrub = (text: string): string => secret?.scrub(text) ?? text;
  if (!(error instanceof Error)) return new Error(scrub(String(error)));
  const copy = new Error(
    scrub(error.message),
    error.cause === undefined ? undefined : { cause: scrubError(error.cause, secret) },
  );
  copy.name = scrub(error.name);
  copy.stack = scrub(error.stack ?? '');
  return copy;
}
