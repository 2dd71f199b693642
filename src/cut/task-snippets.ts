import path from 'node:path';
import { InputError } from '../errors.js';
import type { TaskOutcome } from '../run/task.js';
import { paddingBytes } from '../tar/header.js';
import { members } from '../tar/reader.js';
import type { TarMember } from '../tar/reader.js';
import { compareCodePoints } from '../tar/order.js';
import type { CutPlan, PlannedRecording } from './cut-plan.js';
import type { StoredSnippet } from './part.js';
import type { Checkpoint, RecordingOutcome } from './run-journal.js';
import type { RunLog, SnippetSource } from './snippet-source.js';
import { OutcomesReader, TASK_FILES } from './task-outcomes.js';
import type { TaskPlanFacts } from './task-plan.js';
import type { PlannedSnippet } from './types.js';

export interface TaskSnippetsParts {
  plan: CutPlan;
  facts: TaskPlanFacts;
  /** The folder that a task has its outputs in. */
  folderOf: (task: number) => string;
  /** Of the tasks that are done. */
  done: ReadonlyMap<number, TaskOutcome>;
}

/** A task of which recordings are being dealt with. */
interface OpenTask {
  outcomes: OutcomesReader;
  tar: TarCursor;
  /** Recordings of which members are still to come. */
  remaining: number;
}

/**
 * The snippets that tasks have made, in the place of those that are cut: outcomes and tars are read once, from their start to their end. A
 * task's files are opened when the order of members reaches it and closed when it is past: few are open at a time, however many there are.
 *
 * Recordings are to be asked for in the order of the plan, one at a time.
 */
export class TaskSnippets implements SnippetSource {
  readonly #parts: TaskSnippetsParts;
  readonly #open = new Map<number, OpenTask>();
  /** The unit of each recording. */
  readonly #units: Uint32Array;

  constructor(parts: TaskSnippetsParts) {
    this.#parts = parts;
    this.#units = new Uint32Array(parts.plan.recordingCount);
    for (const [unit, index] of parts.plan.recordingsInOrder().entries()) this.#units[index] = unit;
  }

  /** Takes the place of a journal: what the tasks know need not be noted again. */
  logOf(journal: Pick<RunLog, 'checkpoint' | 'noteCheckpoint'>): RunLog {
    return {
      checkpoint: journal.checkpoint,
      takeOutcome: (recording) => this.#takeOutcome(recording),
      noteRecording: () => Promise.resolve(),
      noteCheckpoint: (checkpoint: Checkpoint) => journal.noteCheckpoint(checkpoint),
    };
  }

  extract(recording: PlannedRecording): never {
    throw new TypeError(`"${recording.audioPath}" is not to be cut: its task is done`);
  }

  stored(): Promise<{ snippets: Map<number, StoredSnippet> }> {
    return Promise.resolve({ snippets: new Map() });
  }

  /** Places are found by the way, in the order of members. */
  async findAgain({ index }: PlannedRecording, snippet: PlannedSnippet): Promise<Map<number, StoredSnippet>> {
    const { ordinal, member } = snippet;
    const task = this.taskOf(index);
    const { tar } = this.#openTask(task);
    const { offsetBytes: offset, sizeBytes: size, headerOffsetBytes: start } = await tar.find(member);
    const known = { samples: 0, clippedSamples: 0, invalidSamples: 0, bytes: { offset, size, crc32: 0 } };
    const whole = { offset: start, size: offset + size + paddingBytes(size) - start };
    return new Map([[ordinal, { ordinal, ...known, partPath: tar.path, member: whole }]]);
  }

  sourceOf(): undefined {
    return undefined;
  }

  listReleased(index: number): string[] {
    const task = this.taskOf(index);
    const open = this.#open.get(task);
    if (open === undefined) return [];
    open.remaining -= 1;
    return open.remaining === 0 ? [open.tar.path] : [];
  }

  /** What tasks have made stays theirs. */
  discard(): Promise<void> {
    return Promise.resolve();
  }

  async close(): Promise<void> {
    for (const [task, open] of this.#open) await this.#closeTask(task, open);
  }

  /** The task of a recording. */
  taskOf(index: number): number {
    return findStretch(this.#parts.facts.starts, this.#units[index] ?? 0);
  }

  async #takeOutcome(index: number): Promise<RecordingOutcome | undefined> {
    const task = this.taskOf(index);
    if (!this.#parts.done.has(task)) return undefined;
    if (!this.#open.has(task)) await this.#closePassed();
    const outcome = await this.#openTask(task).outcomes.next();
    const first = this.#parts.facts.starts[task] ?? 0;
    if (first + outcome.recording !== this.#units[index]) {
      throw new InputError(`Cannot use the outcomes of task ${task}: they are out of order`, {
        path: this.#parts.folderOf(task),
      });
    }
    return { ...outcome, recording: index };
  }

  #openTask(task: number): OpenTask {
    const { facts, folderOf } = this.#parts;
    const known = this.#open.get(task);
    if (known !== undefined) return known;
    const folder = folderOf(task);
    const first = facts.starts[task] ?? 0;
    const end = facts.starts[task + 1] ?? first;
    const open: OpenTask = {
      outcomes: new OutcomesReader(folder, { hash: facts.hash, first, end }),
      tar: new TarCursor(path.join(folder, TASK_FILES.tar)),
      remaining: end - first,
    };
    this.#open.set(task, open);
    return open;
  }

  async #closePassed(): Promise<void> {
    for (const [task, open] of this.#open) if (open.remaining === 0) await this.#closeTask(task, open);
  }

  async #closeTask(task: number, open: OpenTask): Promise<void> {
    this.#open.delete(task);
    await open.outcomes.close();
    await open.tar.close();
  }
}

/** Finds members of a sorted tar that are asked for in its order. */
class TarCursor {
  readonly path: string;
  readonly #members: AsyncGenerator<TarMember, unknown, undefined>;

  constructor(file: string) {
    this.path = file;
    this.#members = members(file, { isBlocking: true });
  }

  /** @throws {InputError} when there is no such member, or the tar cannot be read. */
  async find(name: string): Promise<TarMember> {
    const hint = `Remove "${path.dirname(this.path)}" and run the task again.`;
    for (;;) {
      const step = await this.#members.next().catch((error: unknown) => {
        if (!(error instanceof InputError)) throw error;
        throw new InputError(error.message, { path: this.path, offsetBytes: error.offsetBytes, hint, cause: error });
      });
      if (step.done !== true && step.value.name === name) return step.value;
      if (step.done === true || compareCodePoints(step.value.name, name) > 0) {
        throw new InputError(`Cannot take ${JSON.stringify(name)} from "${this.path}": it is not there`, {
          path: this.path,
          hint,
        });
      }
    }
  }

  async close(): Promise<void> {
    await this.#members.return(undefined);
  }
}

/** Which of the stretches that begin at `starts` holds a unit. */
function findStretch(starts: readonly number[], unit: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= unit) low = middle;
    else high = middle;
  }
  return low;
}
