import { closeSync, fdatasyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { InputError, systemCode } from '../errors.js';
import { formatJournalLine, readRecords } from '../run/journal-reader.js';
import { writeFailure } from '../tar/write-failure.js';
import type { ShardOutcome } from './outcome.js';
import type { ShardFindings, ShardSums } from './shard-tally.js';

/** How far a shard is on the disk for certain. */
export interface ShardCheckpoint extends ShardSizes {
  /** Items that are dealt with. */
  items: number;
  sums: ShardSums;
}

type JournalRecord =
  | { kind: 'shard'; plan: string; shard: number }
  | ({ kind: 'checkpoint'; found: ShardFindings } & ShardCheckpoint)
  | { kind: 'finished'; sizes: ShardSizes; sums: ShardSums };

/** Of tar and manifest. */
export interface ShardSizes {
  tarBytes: number;
  manifestBytes: number;
}

/** What the journal of a shard holds. */
export interface ShardJournalContent {
  /** The last one; undefined where there is none. */
  checkpoint: ShardCheckpoint | undefined;
  /** What was found up to there, in parts. */
  findings: ShardFindings[];
  /** Set when tar and manifest are whole, and wait for their names or have them. */
  outcome: ShardOutcome | undefined;
  /** Where its whole records end; 0 where it is not of this shard of this plan. */
  endOffsetBytes: number;
}

/** Which shard a journal must be of. */
export interface ShardIdentity {
  plan: string;
  shard: number;
}

/**
 * Reads the journal of a shard. One of another plan reads as empty, as does one that is damaged before its end: the shard is then made anew.
 *
 * @throws {OutputError} when it cannot be read.
 */
export async function readShardJournal(path: string, identity: ShardIdentity): Promise<ShardJournalContent> {
  const nothing = { checkpoint: undefined, findings: [], outcome: undefined, endOffsetBytes: 0 };
  const content: ShardJournalContent = { ...nothing, findings: [] };
  let isOurs = false;
  try {
    await using handle = await open(path, 'r');
    const end = await readRecords(path, handle, (value) => {
      const record = value as JournalRecord;
      if (record.kind === 'shard') isOurs = record.plan === identity.plan && record.shard === identity.shard;
      if (record.kind === 'finished') {
        const failures = content.findings.flatMap((found) => found.failures);
        const warnings = content.findings.flatMap((found) => found.warnings);
        content.outcome = { ...identity, ...record.sizes, ...record.sums, failures, warnings };
      }
      if (record.kind !== 'checkpoint') return;
      const { items, tarBytes, manifestBytes, sums, found } = record;
      content.checkpoint = { items, tarBytes, manifestBytes, sums };
      content.findings.push(found);
    });
    return isOurs ? { ...content, endOffsetBytes: end.endOffsetBytes } : nothing;
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || error instanceof InputError) return nothing;
    throw writeFailure(error, { action: 'Cannot read the journal', path });
  }
}

/** Appends to the journal of a shard. The process waits for each write. */
export class ShardJournalWriter {
  readonly #path: string;
  readonly #file: number;
  #offset: number;

  /**
   * Opens a journal and cuts it to its whole records; from 0 on, it is begun anew.
   *
   * @throws {OutputError} when it cannot be written.
   */
  constructor(path: string, identity: ShardIdentity, offsetBytes: number) {
    this.#path = path;
    this.#offset = offsetBytes;
    this.#file = this.#guard(() => openSync(path, offsetBytes === 0 ? 'w' : 'r+'));
    this.#guard(() => ftruncateSync(this.#file, offsetBytes));
    if (offsetBytes === 0) this.#append({ kind: 'shard', ...identity });
  }

  /** Notes what is on the disk by now, and what was found since the last checkpoint. */
  noteCheckpoint(checkpoint: ShardCheckpoint, found: ShardFindings): void {
    this.#append({ kind: 'checkpoint', ...checkpoint, found });
  }

  /** Notes that tar and manifest are whole; all that was found is in the checkpoints. */
  noteFinished(sizes: ShardSizes, sums: ShardSums): void {
    this.#append({ kind: 'finished', sizes, sums });
    this.#guard(() => fdatasyncSync(this.#file));
  }

  close(): void {
    closeSync(this.#file);
  }

  #append(record: JournalRecord): void {
    const line = formatJournalLine(record);
    for (let written = 0; written < line.length;) {
      const from = written;
      written += this.#guard(
        () => writeSync(this.#file, line, from, line.length - from, this.#offset + from),
        line.length - from,
      );
    }
    this.#offset += line.length;
  }

  #guard<T>(operation: () => T, neededBytes?: number): T {
    try {
      return operation();
    } catch (error) {
      throw writeFailure(error, { action: 'Cannot write the journal', path: this.#path, neededBytes });
    }
  }
}
