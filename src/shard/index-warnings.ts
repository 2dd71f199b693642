import type { IndexKind, IndexWarning } from './index-types.js';

/** Warnings of one index: what is met often is told once, with the first place and how often. */
export class IndexWarnings {
  readonly #index: IndexKind;
  readonly #byState = new Map<string, { count: number; first: string; hint: string | undefined }>();

  constructor(index: IndexKind) {
    this.#index = index;
  }

  /**
   * @param state one clause that is the same for all of its kind
   * @param place where it was met
   */
  add(state: string, place: string, hint?: string): void {
    const known = this.#byState.get(state);
    if (known === undefined) this.#byState.set(state, { count: 1, first: place, hint });
    else known.count += 1;
  }

  list(): IndexWarning[] {
    return [...this.#byState].map(([state, { count, first, hint }]) => ({
      index: this.#index,
      message: `${state}: ${count === 1 ? first : `${count.toLocaleString('en-US')} times, first ${first}`}`,
      hint,
    }));
  }
}
