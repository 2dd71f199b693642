/**
 * Work of which several pieces are prepared at once, and each begins once those before it have begun or failed:
 *
 * ```
 * 1  prepare ······· begin ▼
 * 2  prepare ··           begin ▼
 * ```
 */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** @throws what `prepare` or `begin` throws. */
  async take<Prepared, Result>(
    prepare: () => Promise<Prepared>,
    begin: (prepared: Prepared) => Promise<Result>,
  ): Promise<Result> {
    const before = this.#last;
    let hasBegun = (): void => undefined;
    this.#last = new Promise((resolve) => (hasBegun = resolve));
    try {
      const prepared = await prepare();
      await before;
      const result = begin(prepared);
      hasBegun();
      return await result;
    } finally {
      hasBegun();
    }
  }
}
