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
  /** Name of the first member in code-point order; empty where the recording has none. */
  firstMember: string;
  /** Whether a snippet's start is written with a minus sign. */
  hasMinus: boolean;
  /** Ordinals of the candidates that were dropped for repetition, ascending. */
  repetitive: readonly number[];
}

const REASONS = DROP_REASONS.length;

/** The figures of every recording of a plan, about 150 bytes each beside the name of its first member. */
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
  readonly #firstMembers: string[] = [];
  readonly #minus = new Column('uint32');
  /** Where the repetitive ordinals of a recording end; they begin where those of the one before end. */
  readonly #repetitiveEnds = new Column('uint32');
  readonly #repetitive = new Column('uint32');

  get length(): number {
    return this.#firstMembers.length;
  }

  add(row: TableRow): void {
    this.#offsets.push(row.offsetBytes);
    this.#lengths.push(row.lengthBytes);
    this.#inSegments.push(row.inSegments);
    this.#inDurations.push(row.inDurationSeconds);
    for (const reason of DROP_REASONS) this.#dropped.push(row.dropped[reason]);
    for (const reason of DROP_REASONS) this.#droppedSegments.push(row.droppedSegments[reason]);
    this.#snippets.push(row.snippetCount);
    this.#segments.push(row.segmentCount);
    this.#planned.push(row.plannedMicros);
    this.#firstMembers.push(detachString(row.firstMember));
    this.#minus.push(row.hasMinus ? 1 : 0);
    for (const ordinal of row.repetitive) this.#repetitive.push(ordinal);
    this.#repetitiveEnds.push(this.#repetitive.length);
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
      firstMember: this.firstMemberAt(index),
      hasMinus: this.hasMinusAt(index),
      repetitive: this.#repetitiveAt(index),
    };
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
    const start = index === 0 ? 0 : this.#repetitiveEnds.at(index - 1);
    for (let at = start; at < this.#repetitiveEnds.at(index); at += 1) ordinals.push(this.#repetitive.at(at));
    return ordinals;
  }
}

function readCounts(column: Column, index: number): DropCounts {
  const counts = zeroCounts();
  for (const [place, reason] of DROP_REASONS.entries()) counts[reason] = column.at(index * REASONS + place);
  return counts;
}
