import path from 'node:path';
import { InputError } from '../errors.js';
import { formatJournalLine } from '../run/journal-reader.js';
import type { TaskOutcome } from '../run/task.js';
import type { RecordingOutcome } from './run-journal.js';
import { readLastRecord, recordsBetween } from './task-lines.js';
import type { LinesFile } from './task-lines.js';

/** What a task leaves in its folder when it is done. */
export const TASK_FILES = {
  /** Its snippets in the order of members. */
  tar: 'snippets.tar',
  /** Their rows. */
  manifest: 'snippets.jsonl',
  /** What came of each recording, in the order of the plan; written last, as the sign that the task is done. */
  outcomes: 'outcomes.jsonl',
} as const;

/** Which stretch of which plan outcomes are of. */
export interface OutcomesHead {
  hash: string;
  first: number;
  end: number;
}

type OutcomeLine = Pick<RecordingOutcome, 'recording' | 'snippets' | 'warnings' | 'failure'>;
type OutcomesLine =
  | ({ kind: 'task' } & OutcomesHead)
  | ({ kind: 'recording' } & OutcomeLine)
  | ({ kind: 'end' } & OutcomesHead & { outcome: TaskOutcome });

export function formatHead(head: OutcomesHead): Buffer {
  return formatJournalLine({ kind: 'task', ...head } satisfies OutcomesLine);
}

/** What came of a recording; its position is that in the task. */
export function formatOutcome({ recording, snippets, warnings, failure }: RecordingOutcome): Buffer {
  const line: OutcomeLine = { recording, snippets, warnings, ...(failure === undefined ? {} : { failure }) };
  return formatJournalLine({ kind: 'recording', ...line } satisfies OutcomesLine);
}

export function formatEnd(head: OutcomesHead, outcome: TaskOutcome): Buffer {
  return formatJournalLine({ kind: 'end', ...head, outcome } satisfies OutcomesLine);
}

/**
 * How a task ended; undefined where it is not done.
 *
 * @throws {InputError} when its outcomes are damaged, or of another plan.
 */
export async function readTaskOutcome(folder: string, head: OutcomesHead): Promise<TaskOutcome | undefined> {
  const file = describeFile(folder);
  const record = (await readLastRecord(file)) as OutcomesLine | undefined;
  if (record === undefined) return undefined;
  if (record.kind !== 'end' || !isSame(record, head)) throw foreign(file);
  return record.outcome;
}

/** Reads what came of the recordings of a task, one after the other. */
export class OutcomesReader {
  readonly #file: LinesFile;
  readonly #head: OutcomesHead;
  readonly #records: AsyncGenerator<unknown, void, undefined>;
  #isBegun = false;

  constructor(folder: string, head: OutcomesHead) {
    this.#file = describeFile(folder);
    this.#head = head;
    this.#records = recordsBetween(this.#file);
  }

  /**
   * The next outcome; to be asked for as often as the task has recordings.
   *
   * @throws {InputError} when they are gone, damaged, or of another plan.
   */
  async next(): Promise<RecordingOutcome> {
    if (!this.#isBegun) {
      const head = await this.#read();
      if (head.kind !== 'task' || !isSame(head, this.#head)) throw foreign(this.#file);
      this.#isBegun = true;
    }
    const record = await this.#read();
    if (record.kind !== 'recording') throw endsEarly(this.#file);
    return { ...record, attempts: 0 };
  }

  async close(): Promise<void> {
    await this.#records.return();
  }

  async #read(): Promise<OutcomesLine> {
    const step = await this.#records.next();
    if (step.done === true) throw endsEarly(this.#file);
    return step.value as OutcomesLine;
  }
}

function describeFile(folder: string): LinesFile {
  return { path: path.join(folder, TASK_FILES.outcomes), hint: `Remove "${folder}" and run the task again.` };
}

function isSame(a: OutcomesHead, b: OutcomesHead): boolean {
  return a.hash === b.hash && a.first === b.first && a.end === b.end;
}

function endsEarly(file: LinesFile): InputError {
  return new InputError(`Cannot read "${file.path}": it ends before its task does`, file);
}

function foreign(file: LinesFile): InputError {
  return new InputError(`Cannot use "${file.path}": it is not of this task of this plan`, file);
}
