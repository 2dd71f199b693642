/**
 * The objects in a JSON array, one after the other as its text comes: a list of thousands of jobs is never in memory as a whole.
 *
 * @param chunks of text, cut anywhere
 * @throws {SyntaxError} when it is no array of objects, or ends early.
 */
export async function* objectsInArray(chunks: AsyncIterable<string>): AsyncGenerator {
  const splitter = new Splitter();
  for await (const chunk of chunks) yield* splitter.push(chunk);
  splitter.end();
}

/** Finds where objects end by counting braces outside of strings. */
class Splitter {
  /** Of the object that is not whole yet. */
  #pending = '';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #state: 'before' | 'inside' | 'after' = 'before';

  *push(chunk: string): Generator {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const letter = chunk[at]!;
      if (this.#depth === 0) {
        if (letter === '{' && this.#state === 'inside') {
          this.#depth = 1;
          start = at;
        } else this.#between(letter);
        continue;
      }
      if (!this.#closes(letter)) continue;
      yield JSON.parse(this.#pending + chunk.slice(start, at + 1)) as unknown;
      this.#pending = '';
    }
    if (this.#depth > 0) this.#pending += chunk.slice(start);
  }

  end(): void {
    if (this.#state !== 'after') throw new SyntaxError('the list ends early');
  }

  /** Takes a letter of an object; true when it is the last. */
  #closes(letter: string): boolean {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (letter === '\\') this.#isEscaped = true;
      else if (letter === '"') this.#isInString = false;
      return false;
    }
    if (letter === '"') this.#isInString = true;
    else if (letter === '{' || letter === '[') this.#depth += 1;
    else if (letter === '}' || letter === ']') this.#depth -= 1;
    return this.#depth === 0;
  }

  #between(letter: string): void {
    if (/\s/u.test(letter)) return;
    if (letter === '[' && this.#state === 'before') this.#state = 'inside';
    else if (letter === ']' && this.#state === 'inside') this.#state = 'after';
    else if (letter !== ',' || this.#state !== 'inside') throw new SyntaxError('it is no list of objects');
  }
}
