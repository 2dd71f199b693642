import type { PlannedRecording } from './cut-plan.js';
import type { StoredSnippet } from './part.js';
import type { StoredRecording } from './recording-extractor.js';
import type { Checkpoint, RecordingOutcome } from './run-journal.js';
import type { SourceFacts } from './source-facts.js';
import type { PlannedSnippet } from './types.js';

/** Where the snippets of a plan come from: they are cut, or were cut elsewhere. */
export interface SnippetSource {
  /** Makes what is still missing of a recording. */
  extract(
    recording: PlannedRecording,
    signal: AbortSignal,
    onSeconds: (seconds: number) => void,
  ): Promise<{ outcome: RecordingOutcome; stored: Map<number, StoredSnippet> }>;
  /** What is there of a recording whose file was `source` when it was cut. */
  stored(index: number, source: SourceFacts | undefined): Promise<Pick<StoredRecording, 'snippets'>>;
  /** The places of snippets that are not among the stored ones although they were made: at least that of the one that is asked for. */
  findAgain(
    recording: PlannedRecording,
    snippet: PlannedSnippet,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<number, StoredSnippet>>;
  /** What the file of a recording is now; undefined where nothing hangs on it. */
  sourceOf(audioPath: string): SourceFacts | undefined;
  /** The files of snippets that may be closed now that all members of a recording are dealt with. */
  listReleased(index: number, stored: Iterable<StoredSnippet>): Iterable<string>;
  /** Removes what is kept of a recording whose snippets are in the tar. */
  discard(index: number): Promise<void>;
}

/** What is remembered of a run: which recordings are done, and how far the outputs are. */
export interface RunLog {
  /** How far the outputs were when it was opened. */
  readonly checkpoint: Checkpoint;
  /** What came of a recording, if it is done. To be asked for once. */
  takeOutcome(recording: number): RecordingOutcome | undefined | Promise<RecordingOutcome | undefined>;
  noteRecording(outcome: RecordingOutcome): Promise<void>;
  /** Notes how far the outputs are; they must be on the disk. */
  noteCheckpoint(checkpoint: Checkpoint): Promise<void>;
}
