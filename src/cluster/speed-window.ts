/** Speed is that of the last minutes. */
const WINDOW_MS = 120_000;
/** In less than that nothing can be told. */
const LEAST_MS = 2_000;

/** Tells how fast a sum grows from look to look: tasks that are short say nothing of themselves before they end. */
export class SpeedWindow {
  /** The oldest first. */
  readonly #looks: { ms: number; sum: number }[] = [];

  /**
   * Takes the sum at a moment.
   *
   * @returns what it has grown by a second; 0 while that cannot be told
   */
  add(sum: number, ms: number): number {
    this.#looks.push({ ms, sum });
    while (this.#looks.length > 2 && ms - this.#looks[1]!.ms >= WINDOW_MS) this.#looks.shift();
    const oldest = this.#looks[0]!;
    return ms - oldest.ms < LEAST_MS ? 0 : Math.max(0, (sum - oldest.sum) / ((ms - oldest.ms) / 1000));
  }
}
