import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { countWords } from '../count-words.js';
import { CutroomError, InputError } from '../errors.js';
import { partialPath, sizeOf } from '../run/atomic-file.js';
import type { PathMapping } from '../run/path-map.js';
import type { Report } from '../run/pool-child.js';
import { AtFile, NO_ITEM } from './at-file.js';
import { microsOf, plannedMicros, spellDuration } from './item-duration.js';
import { describeFault, ItemFault, type ItemFailure } from './item-fault.js';
import { ItemMaker, type MadeMember } from './item-maker.js';
import { workFile } from './outcome-file.js';
import type { ShardOutcome } from './outcome.js';
import { PlanFile } from './plan-file.js';
import type { PackFailure, PlannedItem, PlannedShard } from './plan.js';
import { readShardJournal, ShardJournalWriter, type ShardSizes } from './shard-journal.js';
import { ShardTally, type SharedMember } from './shard-tally.js';
import { ShardWriter } from './shard-writer.js';
import { lockWriter } from './writer-lock.js';

/** An item at which processes died: it is left out. */
export interface DeadItem {
  /** Its place in the shard, from 0. */
  item: number;
  reason: 'decoder_crashed' | 'decoder_hung';
  /** Completes "its decoder …". */
  how: string;
}

/** One shard to be made; plain data. */
export interface PackShardJob {
  planPath: string;
  planHash: string;
  shard: number;
  /** Output folder. */
  folder: string;
  workFolder: string;
  base: string;
  /** Default: none. */
  mappings?: readonly PathMapping[] | undefined;
  dead: readonly DeadItem[];
  checkpointMs: number;
  /** How long an earlier process that still writes this shard is waited for. */
  patienceMs: number;
}

/** How far a shard is; plain data. */
export interface PackShardReport {
  items: number;
  /** Of audio, as the plan knows it, or else as it was written, in microseconds. */
  micros: number;
  /** Items of an earlier process that were gone on from. */
  resumedItems: number;
}

/** How a job ended; plain data. With `fault`, it was not the items that failed. */
export type PackShardResult =
  | { kind: 'made'; outcome: ShardOutcome }
  | { kind: 'fault'; code: 'input' | 'output'; message: string; hint: string | undefined; path: string | undefined };

/** Time between two reports: a message costs both processes as much work as some items. */
const REPORT_MS = 100;
const CHECKPOINT_BYTES = 256 << 20;
/** So many failures and warnings are noted at once at most. */
const MAX_FRESH = 2000;

/**
 * Makes the tar and the manifest of a shard, beside their places, from where an earlier process got to. Runs in a process of its own.
 */
export async function packShard(
  job: PackShardJob,
  report: Report,
  isProcessAlive?: (pid: number) => boolean,
): Promise<PackShardResult> {
  try {
    const lock = await lockWriter(
      workFile(job.workFolder, job.shard, 'writer'),
      job.patienceMs,
      report,
      isProcessAlive,
    );
    try {
      return { kind: 'made', outcome: await new ShardPacking(job, openPlan(job), report).run() };
    } finally {
      await lock.release();
    }
  } catch (error) {
    if (!(error instanceof CutroomError)) throw error;
    const { message, hint } = error;
    const place = 'path' in error ? (error.path as string | undefined) : undefined;
    return { kind: 'fault', code: error.code === 'input' ? 'input' : 'output', message, hint, path: place };
  }
}

let lastPlan: PlanFile | undefined;

/** The plan of a job; that of the last job is kept. */
function openPlan({ planPath, planHash }: PackShardJob): PlanFile {
  if (lastPlan?.path !== planPath || lastPlan.hash !== planHash) lastPlan = PlanFile.open(planPath);
  if (lastPlan?.hash === planHash) return lastPlan;
  const state = lastPlan === undefined ? 'it is gone' : 'it is another one by now';
  throw new InputError(`Cannot carry out the plan "${planPath}": ${state}`, {
    path: planPath,
    hint: 'Leave the plan as it is while it is being carried out.',
  });
}

class ShardPacking {
  readonly #job: PackShardJob;
  readonly #plan: PlanFile;
  readonly #place: PlannedShard;
  readonly #report: Report;
  readonly #tally = new ShardTally();
  #shared: ReadonlySet<string> = new Set();
  #items = 0;
  #micros = 0;
  /** Of the item that is being made, the planned length, Infinity where the plan knows none, and how much of it is done. */
  #current = { startMicros: 0, micros: 0, doneMicros: 0 };
  #resumedItems = 0;
  #nextReportMs = 0;

  constructor(job: PackShardJob, plan: PlanFile, report: Report) {
    const place = plan.shards[job.shard];
    if (place === undefined) throw new RangeError(`There is no shard ${job.shard} in "${plan.path}"`);
    this.#job = job;
    this.#plan = plan;
    this.#place = place;
    this.#report = report;
  }

  async run(): Promise<ShardOutcome> {
    const { planHash: plan, shard, workFolder } = this.#job;
    const journalPath = workFile(workFolder, shard, 'journal');
    const noted = await readShardJournal(journalPath, { plan, shard });
    if (noted.outcome !== undefined && (await this.#isThere(noted.outcome))) return noted.outcome;
    const { tar, manifest } = this.#partials();
    const start = noted.checkpoint;
    const canResume =
      start !== undefined && noted.outcome === undefined && isAtLeast(await sizesOf(tar, manifest), start);
    if (canResume) this.#tally.restore(start.sums, noted.findings);
    const firstItem = canResume ? start.items : 0;
    const sizes = canResume ? start : { tarBytes: 0, manifestBytes: 0 };
    using journal = closing(new ShardJournalWriter(journalPath, { plan, shard }, canResume ? noted.endOffsetBytes : 0));
    using writer = closing(new ShardWriter({ tar, manifest }, sizes));
    using at = closing(new AtFile(workFile(workFolder, shard, 'at')));
    this.#resumedItems = firstItem;
    await this.#makeItems(firstItem, { journal: journal.value, writer: writer.value, at: at.value });
    at.value.set(NO_ITEM);
    const { tarBytes } = writer.value;
    const whole = writer.value.finish();
    // All that was found is noted before the shard counts as whole.
    this.#noteCheckpoint(journal.value, { tarBytes, manifestBytes: whole.manifestBytes });
    journal.value.noteFinished(whole, this.#tally.sums);
    const { sums, failures, warnings } = this.#tally;
    return { plan, shard, ...whole, ...sums, failures, warnings };
  }

  async #makeItems(firstItem: number, files: PackFiles): Promise<void> {
    const { job, plan } = { job: this.#job, plan: this.#plan };
    const spoolPath = workFile(job.workFolder, job.shard, 'spool');
    await rm(spoolPath, { force: true });
    this.#shared = listShared(plan, job.shard);
    const maker = new ItemMaker({
      stream: files.writer.members,
      target: plan.header.audio,
      base: job.base,
      mappings: job.mappings ?? [],
      spoolPath,
      onPosition: (frames, rate) => this.#reportPosition((frames / rate) * 1e6),
      onBytes: () => this.#reportNowAndThen(),
    });
    const dead = new Map(job.dead.map((item) => [item.item, item]));
    let lastMs = performance.now();
    let lastBytes = files.writer.tarBytes;
    for (const item of plan.items(job.shard)) {
      if (this.#items < firstItem) {
        this.#count(item);
        continue;
      }
      files.at.set(this.#items);
      this.#current = { startMicros: item.span?.start ?? 0, micros: plannedMicros(item) || Infinity, doneMicros: 0 };
      await this.#makeItem(item, maker, files.writer, dead.get(this.#items));
      this.#count(item);
      await this.#reportNowAndThen();
      const isDue =
        performance.now() - lastMs >= job.checkpointMs ||
        files.writer.tarBytes - lastBytes >= CHECKPOINT_BYTES ||
        this.#tally.freshCount >= MAX_FRESH;
      if (!isDue) continue;
      // A disk that hangs is not the item's fault.
      files.at.set(NO_ITEM);
      this.#noteCheckpoint(files.journal, files.writer.sync());
      lastMs = performance.now();
      lastBytes = files.writer.tarBytes;
    }
    if (this.#items !== this.#place.itemCount) {
      throw new InputError(
        `Cannot carry out the plan "${plan.path}": shard ${job.shard} has ${countWords(this.#items, 'item')}`,
        {
          path: plan.path,
          hint: `Its index says ${this.#place.itemCount}: copy it again from where it was made.`,
        },
      );
    }
  }

  /** Appends the member and the row of an item, or notes why not. */
  async #makeItem(item: PlannedItem, maker: ItemMaker, writer: ShardWriter, dead: DeadItem | undefined): Promise<void> {
    const audioPath = maker.pathOf(item);
    await maker.prepare(item);
    try {
      if (dead !== undefined) throw describeDeath(dead, audioPath);
      const duration = item.how === 'share' ? this.#shareMember(item) : this.#noteMember(item, await maker.make(item));
      if (typeof duration !== 'string') {
        this.#tally.addFailure(this.#failureOf(item, duration));
        return;
      }
      writer.addRow(item.row[0] + duration + item.row[1]);
      this.#tally.addRow(microsOf(duration));
    } catch (error) {
      const failure = asPlanned(describeFault(error, audioPath), audioPath, maker.plannedPathOf(item));
      writer.members.drop();
      this.#tally.addFailure(this.#failureOf(item, failure));
      if (item.how !== 'share' && this.#shared.has(item.member)) this.#tally.share(item.member, { failure });
    }
  }

  /** Counts a member; answers the duration of its row. */
  #noteMember(item: PlannedItem, made: MadeMember): string {
    const { length } = made;
    const duration = length === undefined ? (item.duration ?? '0') : spellDuration(item.duration, length);
    this.#tally.addMember(made, item.id);
    if (this.#shared.has(item.member)) this.#tally.share(item.member, { duration, ...(length && { length }) });
    return duration;
  }

  /** The duration of a row that shares the member of an earlier one, or why there is none. */
  #shareMember(item: PlannedItem): string | ItemFailure {
    const member: SharedMember | undefined = this.#tally.shared.get(item.member);
    if (member === undefined) {
      throw new ItemFault('missing_member', `The shard has no member ${JSON.stringify(item.member)} to share`);
    }
    if ('failure' in member) return member.failure;
    const { duration, span } = item;
    if (duration === undefined) return member.duration;
    return span === undefined && member.length !== undefined ? spellDuration(duration, member.length) : duration;
  }

  #failureOf(item: PlannedItem, { reason, message, hint }: ItemFailure): PackFailure {
    const duration = item.duration === undefined ? undefined : Number(item.duration);
    return {
      kind: 'member',
      reason,
      message,
      ...(hint !== undefined && { hint }),
      file: this.#plan.header.inputs[item.input]?.path ?? this.#plan.path,
      line: item.line,
      id: item.id,
      member: item.member,
      shard: this.#job.shard,
      ...(duration !== undefined && { duration }),
    };
  }

  #count(item: PlannedItem): void {
    this.#items += 1;
    this.#micros += plannedMicros(item);
    this.#current = { startMicros: 0, micros: 0, doneMicros: 0 };
  }

  /** Notes what is on the disk by now. */
  #noteCheckpoint(journal: ShardJournalWriter, sizes: ShardSizes): void {
    journal.noteCheckpoint({ items: this.#items, ...sizes, sums: { ...this.#tally.sums } }, this.#tally.takeFresh());
  }

  async #reportPosition(positionMicros: number): Promise<void> {
    const { startMicros, micros } = this.#current;
    this.#current.doneMicros = Math.max(0, Math.min(micros, positionMicros - startMicros));
    await this.#reportNowAndThen();
  }

  /** Takes a turn of the event loop: only then does the codec library give memory back, and is it noticed that the parent is gone. */
  async #reportNowAndThen(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs < this.#nextReportMs) return await setImmediate();
    this.#nextReportMs = nowMs + REPORT_MS;
    const micros = Math.max(this.#micros, this.#tally.sums.durationMicros) + this.#current.doneMicros;
    await this.#report({ items: this.#items, micros, resumedItems: this.#resumedItems } satisfies PackShardReport);
  }

  #partials(): { tar: string; manifest: string } {
    const { folder } = this.#job;
    return {
      tar: partialPath(path.join(folder, this.#place.tar)),
      manifest: partialPath(path.join(folder, this.#place.manifest)),
    };
  }

  /** Whether tar and manifest, once made, are still there: beside their places, or at them. */
  async #isThere({ tarBytes, manifestBytes }: ShardSizes): Promise<boolean> {
    const { folder } = this.#job;
    for (const [name, size] of [
      [this.#place.tar, tarBytes],
      [this.#place.manifest, manifestBytes],
    ] as const) {
      const final = path.join(folder, name);
      if ((await sizeOf(partialPath(final))) !== size && (await sizeOf(final)) !== size) return false;
    }
    return true;
  }
}

interface PackFiles {
  journal: ShardJournalWriter;
  writer: ShardWriter;
  at: AtFile;
}

/** Closes a file at the end of its block. */
function closing<T extends { close(): void }>(value: T): { value: T } & Disposable {
  return { value, [Symbol.dispose]: () => value.close() };
}

/** Members of a shard that later rows share. */
function listShared(plan: PlanFile, shard: number): Set<string> {
  const shared = new Set<string>();
  for (const { how, member } of plan.items(shard)) if (how === 'share') shared.add(member);
  return shared;
}

async function sizesOf(tar: string, manifest: string): Promise<ShardSizes> {
  return { tarBytes: (await sizeOf(tar)) ?? -1, manifestBytes: (await sizeOf(manifest)) ?? -1 };
}

function isAtLeast(sizes: ShardSizes, least: ShardSizes): boolean {
  return sizes.tarBytes >= least.tarBytes && sizes.manifestBytes >= least.manifestBytes;
}

/** What is written down of a failure depends on no machine. */
function asPlanned(failure: ItemFailure, here: string, planned: string): ItemFailure {
  return here === planned ? failure : { ...failure, message: failure.message.replaceAll(here, () => planned) };
}

function describeDeath({ reason, how }: DeadItem, audioPath: string): ItemFault {
  const hint = reason === 'decoder_hung' ? 'Where the disk is that slow, allow a longer silence.' : undefined;
  return new ItemFault(reason, `Cannot read "${audioPath}": its decoder ${how}`, { hint });
}
