import type { PlanFolder } from '../cluster/plan-folder.js';
import type { TaskEnd } from '../cluster/run-left.js';
import { TaskStates } from '../cluster/task-states.js';
import { countWords } from '../count-words.js';
import type { TaskOutcome, TaskProgress } from '../run/task.js';
import { count, duration } from './cut-progress.js';

const MICROS = 1e6;

/** Puts in words how far a run of tasks is, and how fast it goes. */
export class RunMeter {
  readonly #plan: PlanFolder;
  readonly #startMs = performance.now();
  readonly #task: number;
  /** Tasks that were done before, or have been since. */
  #doneTasks = 0;
  /** Audio or bytes of them. */
  #doneWeight = 0;
  #weightBefore = 0;

  constructor(plan: PlanFolder, task = 0) {
    this.#plan = plan;
    this.#task = task;
  }

  /** For all tasks that are left. */
  static async ofAll(plan: PlanFolder): Promise<RunMeter> {
    const meter = new RunMeter(plan);
    const { done } = await new TaskStates(plan.folder, plan.record.tasks).list();
    for (const task of done) meter.#add(task);
    meter.#weightBefore = meter.#doneWeight;
    return meter;
  }

  noteEnd({ task, outcome }: TaskEnd): void {
    if (outcome !== undefined) this.#add(task);
  }

  /** `task 7: 3 of 12 recordings, 0.50 of 2.00 h, 350 × real time, 15 s left`. */
  formatTask(progress: TaskProgress): string {
    const extent = this.#plan.plan.extents[this.#task];
    const units = `${count(progress.units)} of ${unitsOf((extent?.end ?? 0) - (extent?.first ?? 0), this.#plan)}`;
    return `task ${this.#task}: ${units}${this.#formatWork(this.#weightOf(progress), this.#weightAt(this.#task), 0)}`;
  }

  /** `running: 3 of 40 tasks, 1.50 of 20.00 h, 350 × real time, 3 min 10 s left`. */
  formatAll(progress: TaskProgress): string {
    const { tasks, hours, bytes } = this.#plan.record;
    const total = hours === null ? (bytes ?? 0) : hours * 3600;
    const work = this.#formatWork(this.#doneWeight + this.#weightOf(progress), total, this.#weightBefore);
    return `running: ${count(this.#doneTasks)} of ${countWords(tasks, 'task')}${work}`;
  }

  /** `Task 7 is done: 12 recordings, 2.00 h; failed: decode 1.` */
  formatOutcome(task: number, { units, audioSeconds, failures }: TaskOutcome): string {
    const failed = Object.entries(failures).filter(([, number]) => number > 0);
    const text = failed.map(([reason, number]) => `${reason} ${count(number)}`).join(', ');
    const audio = audioSeconds > 0 ? `, ${(audioSeconds / 3600).toFixed(3)} h` : '';
    return `Task ${task} is done: ${unitsOf(units, this.#plan)}${audio}${text === '' ? '' : `; failed: ${text}`}.`;
  }

  #formatWork(done: number, total: number, before: number): string {
    const seconds = (performance.now() - this.#startMs) / 1000;
    const speed = seconds > 0 ? (done - before) / seconds : 0;
    const left = speed > 0 ? `, ${duration((total - done) / speed)} left` : '';
    if (this.#plan.record.hours !== null) {
      const hours = (value: number): string => (value / 3600).toFixed(2);
      return `, ${hours(done)} of ${hours(total)} h, ${speed.toFixed(0)} × real time${left}`;
    }
    if (total === 0) return '';
    return `, ${gigabytes(done)} of ${gigabytes(total)} GB, ${(speed / 1e6).toFixed(0)} MB a second${left}`;
  }

  /** Seconds of audio, or bytes where durations are not known. */
  #weightOf({ audioSeconds, bytes }: TaskProgress): number {
    return this.#plan.record.hours === null ? bytes : audioSeconds;
  }

  #weightAt(task: number): number {
    const extent = this.#plan.plan.extents[task];
    return this.#plan.record.hours === null ? (extent?.bytes ?? 0) : (extent?.micros ?? 0) / MICROS;
  }

  #add(task: number): void {
    this.#doneTasks += 1;
    this.#doneWeight += this.#weightAt(task);
  }
}

/** `1 recording`, `12 recordings`. */
function unitsOf(number: number, { record }: PlanFolder): string {
  return countWords(number, record.units.name.replace(/s$/u, ''));
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(2);
}
