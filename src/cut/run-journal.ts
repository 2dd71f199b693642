import { randomUUID } from 'node:crypto';
import { InputError } from '../errors.js';
import { Journal } from '../run/journal.js';
import { listDifferences } from './identity.js';
import type { RunIdentity } from './identity.js';
import type { CutOutputs } from './options.js';
import type { SourceFacts } from './source-facts.js';
import { StaleWorkError } from './stale-work.js';

/** What is known of a snippet once its recording is done: `[ordinal, samples, clipped samples, end of the audio in seconds]`. */
export type SnippetFacts = [ordinal: number, samples: number, clipped: number, audioEndSeconds: number | null];

/** What came of a recording. */
export interface RecordingOutcome {
  /** Position in the plan. */
  recording: number;
  /** Snippets that were made or found to lie past the end of the audio; those that are missing failed. */
  snippets: SnippetFacts[];
  failure?: { reason: string; message: string; hint?: string | undefined };
  warnings: string[];
  source?: SourceFacts;
  /** How many attempts left files in the work folder. */
  attempts: number;
}

/** A shard that is whole; a run without shards has one, the 0. */
export interface ShardSizes {
  /** 0-based. */
  shard: number;
  tarBytes: number;
  manifestBytes: number;
}

/** How far the outputs are, at a moment when all of it was on the disk: in the shard that is being written. */
export interface Checkpoint extends ShardSizes {
  /** Members of the plan that are dealt with, in its order. */
  members: number;
  /** The last member in a tar. */
  lastMember: string | undefined;
  /** Shards that became whole since the checkpoint before. */
  finished: readonly ShardSizes[];
}

type JournalRecord =
  | { kind: 'run'; token: string; identity: RunIdentity; outputs: Pick<CutOutputs, 'manifest' | 'tar' | 'metrics'> }
  | ({ kind: 'recording' } & RecordingOutcome)
  | ({ kind: 'checkpoint' } & Checkpoint)
  | { kind: 'publish'; shards: readonly ShardSizes[]; complete: boolean };

const START: Checkpoint = {
  members: 0,
  shard: 0,
  tarBytes: 0,
  manifestBytes: 0,
  lastMember: undefined,
  finished: [],
};

/** The journal of a run: which recordings are done, how far the outputs are, whether they are being published. */
export class RunJournal {
  /** Names this run, however often it is resumed; what another run left is never taken for its own. */
  readonly token: string;
  readonly checkpoint: Checkpoint;
  /** The shards that were whole at the checkpoint. */
  readonly finished: readonly ShardSizes[];
  /** Set once publishing has begun: nothing but moving the files into place is left. */
  readonly publishing: { shards: readonly ShardSizes[]; complete: boolean } | undefined;
  readonly #journal: Journal;
  /** As JSON: of a million recordings the texts fit into memory, the objects hardly do. */
  readonly #outcomes: Map<number, string>;

  private constructor(journal: Journal, token: string, replayed: Replayed) {
    this.#journal = journal;
    this.token = token;
    this.#outcomes = replayed.outcomes;
    this.checkpoint = replayed.checkpoint;
    this.finished = replayed.finished;
    this.publishing = replayed.publishing;
  }

  /**
   * Opens the journal of a run, or begins one.
   *
   * @throws StaleWorkError when it is damaged, or the journal of another run, naming what differs
   */
  static async open(path: string, identity: RunIdentity, outputs: CutOutputs): Promise<RunJournal> {
    const replayed: Replayed = {
      outcomes: new Map(),
      checkpoint: START,
      finished: [],
      publishing: undefined,
      head: undefined,
    };
    const journal = await openJournal(path, (record) => replay(record, replayed));
    try {
      const token = replayed.head?.token ?? randomUUID();
      if (replayed.head === undefined) {
        const { manifest, tar, metrics } = outputs;
        const places = { manifest, tar, metrics };
        await journal.append({ kind: 'run', token, identity, outputs: places } satisfies JournalRecord);
        await journal.sync();
      } else {
        refuseOther(replayed.head, identity, outputs);
      }
      return new RunJournal(journal, token, replayed);
    } catch (error) {
      await journal.close();
      throw error;
    }
  }

  /** What came of a recording in an earlier run, if it was done. To be asked for once. */
  takeOutcome(recording: number): RecordingOutcome | undefined {
    const text = this.#outcomes.get(recording);
    this.#outcomes.delete(recording);
    return text === undefined ? undefined : (JSON.parse(text) as RecordingOutcome);
  }

  async noteRecording(outcome: RecordingOutcome): Promise<void> {
    await this.#journal.append({ kind: 'recording', ...outcome } satisfies JournalRecord);
  }

  /** Notes how far the outputs are; they must be on the disk. */
  async noteCheckpoint(checkpoint: Checkpoint): Promise<void> {
    await this.#journal.append({ kind: 'checkpoint', ...checkpoint } satisfies JournalRecord);
    await this.#journal.sync();
  }

  async notePublishing(shards: readonly ShardSizes[], complete: boolean): Promise<void> {
    await this.#journal.append({ kind: 'publish', shards, complete } satisfies JournalRecord);
    await this.#journal.sync();
  }

  async close(): Promise<void> {
    await this.#journal.close();
  }
}

async function openJournal(path: string, onRecord: (record: JournalRecord) => void): Promise<Journal> {
  try {
    return await Journal.open(path, { onRecord: (record) => onRecord(record as JournalRecord) });
  } catch (error) {
    if (error instanceof InputError) throw new StaleWorkError(error.message, { path, cause: error });
    throw error;
  }
}

interface Replayed {
  outcomes: Map<number, string>;
  checkpoint: Checkpoint;
  finished: ShardSizes[];
  publishing: RunJournal['publishing'];
  head: Extract<JournalRecord, { kind: 'run' }> | undefined;
}

function replay(record: JournalRecord, replayed: Replayed): void {
  if (record.kind === 'run') {
    replayed.head = record;
  } else if (record.kind === 'recording') {
    replayed.outcomes.set(record.recording, JSON.stringify(record));
  } else if (record.kind === 'checkpoint') {
    replayed.checkpoint = record;
    for (const sizes of record.finished) replayed.finished.push(sizes);
  } else {
    replayed.publishing = record;
  }
}

function refuseOther(head: NonNullable<Replayed['head']>, identity: RunIdentity, outputs: CutOutputs): void {
  const differences = listDifferences(head.identity, identity);
  for (const name of ['manifest', 'tar', 'metrics'] as const) {
    if (head.outputs[name] !== outputs[name]) {
      differences.push(`the ${name} was to go to "${head.outputs[name]}", now to "${outputs[name]}"`);
    }
  }
  if (differences.length === 0) return;
  throw new StaleWorkError(`An unfinished run in "${outputs.folder}" is another one: ${differences.join('; ')}`, {
    path: outputs.folder,
    hint: 'Run the earlier command again to finish it, choose another --output-dir, or give --overwrite to drop it.',
  });
}
