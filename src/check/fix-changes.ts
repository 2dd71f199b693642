/** One change that a corrected copy has. */
export interface Change {
  /** The kind of finding that it cures; `synonym` for a value that was accepted already. */
  kind: string;
  /** 1-based, of the original. */
  line: number;
  /** What stood there, and what stands there now; cut where they are long. */
  from: string;
  to: string;
}

/** All changes of one kind. */
export interface ChangeGroup {
  kind: string;
  count: number;
  /** The first of them, at most 1,000. */
  kept: readonly Change[];
}

const MAX_KEPT_CHANGES = 1000;

/** Changes as they are made: all are counted, so many of each kind are kept. */
export class Changes {
  readonly #groups = new Map<string, { kind: string; count: number; kept: Change[] }>();

  add(change: Change): void {
    let group = this.#groups.get(change.kind);
    if (group === undefined) {
      group = { kind: change.kind, count: 0, kept: [] };
      this.#groups.set(change.kind, group);
    }
    group.count += 1;
    if (group.kept.length < MAX_KEPT_CHANGES) group.kept.push(change);
  }

  groups(): ChangeGroup[] {
    return [...this.#groups.values()];
  }
}
