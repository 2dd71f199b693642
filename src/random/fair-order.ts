/**
 * An order of W = Σ weights places in which group g has w_g, such that of the first t, for every t, it has more than t
 * · w_g / W − 1 and fewer than t · w_g / W + 1.
 *
 * Item i of a group (from 0) may stand from place floor(i · W / w) on, for there t · w / W first exceeds i; and i + 1
 * items must stand in the places before ceil((i + 1) · W / w), for there t · w / W reaches i + 1. Each place goes to
 * the item with the earliest deadline among those that may stand there, ties to the group named first. That meets all
 * deadlines: the fluid schedule, which gives each group w / W of each place, meets them, and for items of one place
 * each with whole releases and deadlines, earliest deadline first does whatever any schedule can.
 *
 * Sources: Baruah, Cohen, Plaxton and Varvel, "Proportionate progress: a notion of fairness in resource allocation"
 * (Algorithmica 15, 1996), for releases and deadlines; Tijdeman, "The chairman assignment problem" (Discrete Mathematics
 * 32, 1980), for the bound.
 *
 * @param weights whole numbers from 1 on, at most 65,536 of them, of a sum below 2^26
 * @returns the group of each place
 */
export function earliestDeadlineOrder(weights: readonly number[]): Uint16Array {
  const places = weights.reduce((sum, weight) => sum + weight, 0);
  const order = new Uint16Array(places);
  const given = new Uint32Array(weights.length);
  const due = new DeadlineHeap(weights.length);
  // Groups whose next item may stand from a place on, as linked lists: a group waits in one at most.
  const firstReleased = new Int32Array(places + 1).fill(-1);
  const nextReleased = new Int32Array(weights.length).fill(-1);
  for (let group = weights.length - 1; group >= 0; group -= 1) {
    nextReleased[group] = firstReleased[0]!;
    firstReleased[0] = group;
  }
  for (let place = 0; place < places; place += 1) {
    for (let group = firstReleased[place]!; group >= 0; group = nextReleased[group]!) {
      due.push(group, Math.ceil(((given[group]! + 1) * places) / weights[group]!));
    }
    const group = due.pop();
    order[place] = group;
    const count = given[group]! + 1;
    given[group] = count;
    const release = Math.max(place + 1, Math.floor((count * places) / weights[group]!));
    nextReleased[group] = firstReleased[release]!;
    firstReleased[release] = group;
  }
  return order;
}

/** Groups by their deadline, then their number: a binary heap. */
class DeadlineHeap {
  readonly #groups: Int32Array;
  readonly #deadlines: Float64Array;
  #size = 0;

  constructor(capacity: number) {
    this.#groups = new Int32Array(capacity);
    this.#deadlines = new Float64Array(capacity);
  }

  push(group: number, deadline: number): void {
    this.#deadlines[group] = deadline;
    let at = this.#size;
    this.#size += 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = this.#groups[parent]!;
      if (!this.#isBefore(group, above)) break;
      this.#groups[at] = above;
      at = parent;
    }
    this.#groups[at] = group;
  }

  pop(): number {
    const top = this.#groups[0]!;
    this.#size -= 1;
    const moved = this.#groups[this.#size]!;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && this.#isBefore(this.#groups[child + 1]!, this.#groups[child]!)) child += 1;
      if (!this.#isBefore(this.#groups[child]!, moved)) break;
      this.#groups[at] = this.#groups[child]!;
      at = child;
    }
    this.#groups[at] = moved;
    return top;
  }

  #isBefore(one: number, other: number): boolean {
    const difference = this.#deadlines[one]! - this.#deadlines[other]!;
    return difference < 0 || (difference === 0 && one < other);
  }
}
