import { Column, detachString } from './column.js';
import { zeroCounts } from './plan-recording.js';
import { DROP_REASONS, type DropCounts } from './types.js';

/** What the plan keeps of one recording. */
export interface TableRow {
  offsetBytes: number;
  lengthBytes: number;
  inSegments: number;
  inDurationSeconds: number;
  dropped: DropCounts;
  droppedSegments: DropCounts;
  snippetCount: number;
  segmentCount: number;
  plannedMicros: number;
  /** Where the last snippet ends: so far the recording is decoded. */
  decodedMicros: number;
  /** Name of the first member in code-point order; empty where the recording has none. */
  firstMember: string;
  /** Whether a snippet's start is written with a minus sign. */
  hasMinus: boolean;
  /** Ordinals of the candidates that were dropped for repetition, ascending. */
  repetitive: readonly number[];
}

const REASONS = DROP_REASONS.length;

/** The figures of every recording of a plan, about 160 bytes each beside the name of its first member. */
export class PlanTable {
  readonly #offsets = new Column('float64');
  readonly #lengths = new Column('uint32');
  readonly #inSegments = new Column('uint32');
  readonly #inDurations = new Column('float64');
  readonly #dropped = new Column('uint32');
  readonly #droppedSegments = new Column('uint32');
  readonly #snippets = new Column('uint32');
  readonly #segments = new Column('uint32');
  readonly #planned = new Column('float64');
  readonly #decoded = new Column('float64');
  readonly #firstMembers: string[];
  readonly #minus = new Column('uint32');
  readonly #repetitiveStarts = new Column('uint32');
  readonly #repetitiveCounts = new Column('uint32');
  readonly #repetitive = new Column('uint32');

  /** @param length how many recordings there are already, all without figures: they are put in any order. */
  constructor(length = 0) {
    this.#firstMembers = Array.from({ length }, () => '');
  }

  get length(): number {
    return this.#firstMembers.length;
  }

  add(row: TableRow): void {
    this.put(this.length, row);
  }

  /** Sets the figures of a recording, once. */
  put(index: number, row: TableRow): void {
    this.#offsets.set(index, row.offsetBytes);
    this.#lengths.set(index, row.lengthBytes);
    this.#inSegments.set(index, row.inSegments);
    this.#inDurations.set(index, row.inDurationSeconds);
    for (const [place, reason] of DROP_REASONS.entries()) {
      this.#dropped.set(index * REASONS + place, row.dropped[reason]);
      this.#droppedSegments.set(index * REASONS + place, row.droppedSegments[reason]);
    }
    this.#snippets.set(index, row.snippetCount);
    this.#segments.set(index, row.segmentCount);
    this.#planned.set(index, row.plannedMicros);
    this.#decoded.set(index, row.decodedMicros);
    this.#firstMembers[index] = detachString(row.firstMember);
    this.#minus.set(index, row.hasMinus ? 1 : 0);
    this.#repetitiveStarts.set(index, this.#repetitive.length);
    this.#repetitiveCounts.set(index, row.repetitive.length);
    for (const ordinal of row.repetitive) this.#repetitive.push(ordinal);
  }

  /** @throws RangeError where there is no such recording */
  at(index: number): TableRow {
    return {
      offsetBytes: this.#offsets.at(index),
      lengthBytes: this.#lengths.at(index),
      inSegments: this.#inSegments.at(index),
      inDurationSeconds: this.#inDurations.at(index),
      dropped: readCounts(this.#dropped, index),
      droppedSegments: readCounts(this.#droppedSegments, index),
      snippetCount: this.#snippets.at(index),
      segmentCount: this.#segments.at(index),
      plannedMicros: this.#planned.at(index),
      decodedMicros: this.#decoded.at(index),
      firstMember: this.firstMemberAt(index),
      hasMinus: this.hasMinusAt(index),
      repetitive: this.#repetitiveAt(index),
    };
  }

  offsetAt(index: number): number {
    return this.#offsets.at(index);
  }

  lengthAt(index: number): number {
    return this.#lengths.at(index);
  }

  decodedMicrosAt(index: number): number {
    return this.#decoded.at(index);
  }

  firstMemberAt(index: number): string {
    return this.#firstMembers[index] ?? '';
  }

  setFirstMember(index: number, member: string): void {
    this.#firstMembers[index] = detachString(member);
  }

  hasMinusAt(index: number): boolean {
    return this.#minus.at(index) === 1;
  }

  #repetitiveAt(index: number): number[] {
    const ordinals: number[] = [];
    const start = this.#repetitiveStarts.at(index);
    const end = start + this.#repetitiveCounts.at(index);
    for (let at = start; at < end; at += 1) ordinals.push(this.#repetitive.at(at));
    return ordinals;
  }
}

function readCounts(column: Column, index: number): DropCounts {
  const counts = zeroCounts();
  for (const [place, reason] of DROP_REASONS.entries()) counts[reason] = column.at(index * REASONS + place);
  return counts;
}
