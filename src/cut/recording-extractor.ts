import { readdir } from 'node:fs/promises';
import { describeInvalid } from '../shard/invalid-samples.js';
import { OutputError } from '../errors.js';
import { removeFile } from '../run/atomic-file.js';
import type { JobOutcome, ProcessPool } from '../run/process-pool.js';
import { writeFailure } from '../tar/write-failure.js';
import type { ExtractJob, ExtractResult } from './extract.js';
import type { PlannedRecording } from './cut-plan.js';
import type { ResolvedCutOptions } from './options.js';
import { indexPath, partPath, readPart } from './part.js';
import type { Attempt, AttemptEnd, StoredSnippet } from './part.js';
import type { RecordingOutcome, SnippetFacts } from './run-journal.js';
import type { SnippetSource } from './snippet-source.js';
import { readSourceFacts } from './source-facts.js';
import type { SourceFacts } from './source-facts.js';
import type { PlannedSnippet } from './types.js';

/** A decoder process that dies gets one more chance: it may have been killed for the machine's sake. */
const MAX_DEATHS = 2;

/** What the work folder holds of a recording. */
export interface StoredRecording {
  /** By ordinal. */
  snippets: Map<number, StoredSnippet>;
  /** Set when all that can be made of the recording is there. */
  end: AttemptEnd | undefined;
}

/** Has recordings cut by the pool, and keeps what earlier attempts at them left. */
export class RecordingExtractor implements SnippetSource {
  readonly #pool: ProcessPool;
  readonly #folder: string;
  readonly #options: ResolvedCutOptions;
  /** Attempts that earlier runs left in the work folder, by recording. */
  readonly #attempts = new Map<number, number[]>();
  readonly #locate: (audioPath: string) => string;

  /**
   * @param folder holds the parts; it exists.
   * @param locate leads a path of the plan to the file on this machine; what is told of a recording names it as the plan does.
   */
  constructor(
    pool: ProcessPool,
    folder: string,
    options: ResolvedCutOptions,
    locate: (audioPath: string) => string = (audioPath) => audioPath,
  ) {
    this.#pool = pool;
    this.#folder = folder;
    this.#options = options;
    this.#locate = locate;
  }

  /** Finds what earlier runs left. To be awaited before anything else. */
  async scan(): Promise<void> {
    for (const name of await this.#guard(() => readdir(this.#folder), 'Cannot read')) {
      const match = /^(\d+)\.(\d+)\.part$/u.exec(name);
      if (match === null) continue;
      const recording = Number(match[1]);
      const attempts = this.#attempts.get(recording) ?? [];
      attempts.push(Number(match[2]));
      this.#attempts.set(
        recording,
        attempts.toSorted((a, b) => a - b),
      );
    }
  }

  /**
   * Cuts what is still missing of a recording.
   *
   * @returns what came of it, and the snippets with their places
   * @throws OutputError when the parts cannot be written
   */
  async extract(
    recording: PlannedRecording,
    signal: AbortSignal,
    onSeconds: (seconds: number) => void,
  ): Promise<{ outcome: RecordingOutcome; stored: Map<number, StoredSnippet> }> {
    const { index, audioPath } = recording;
    const source = this.sourceOf(audioPath);
    const stored = await this.stored(index, source);
    for (let deaths = 0; stored.end === undefined;) {
      const attempt = (this.#attempts.get(index)?.at(-1) ?? -1) + 1;
      this.#attempts.set(index, [...(this.#attempts.get(index) ?? []), attempt]);
      const job = this.#job(recording, stored.snippets, attempt);
      const outcome = await this.#pool.run<ExtractResult>(job, {
        signal,
        onReport: (seconds) => onSeconds(seconds as number),
      });
      if (outcome.kind === 'done') {
        if (isTaken(outcome.value)) continue;
        this.#refuseOutputFault(outcome.value, job.part);
        addAttempt(stored, await this.#read(job.part, true));
        if (stored.end === undefined) throw this.#lost(audioPath);
        break;
      }
      addAttempt(stored, await this.#read(job.part, false));
      deaths += 1;
      if (deaths === MAX_DEATHS || outcome.kind === 'hung') {
        stored.end = { warnings: [], ordinals: [], failure: describeDeath(audioPath, outcome) };
      }
    }
    return { outcome: this.#describe(recording, stored.snippets, stored.end, source), stored: stored.snippets };
  }

  /**
   * What is in the work folder of a recording.
   *
   * @param source what its file must have been when it was cut; undefined stands for what it last was.
   */
  async stored(index: number, source: SourceFacts | undefined): Promise<StoredRecording> {
    const attempts: Attempt[] = [];
    for (const number of this.#attempts.get(index) ?? []) {
      attempts.push(await this.#read(partPath(this.#folder, index, number), false));
    }
    const wanted = source ?? attempts.findLast((attempt) => attempt.source !== undefined)?.source;
    const stored: StoredRecording = { snippets: new Map(), end: undefined };
    for (const attempt of attempts) if (isSameFile(attempt.source, wanted)) addAttempt(stored, attempt);
    return stored;
  }

  async findAgain(
    recording: PlannedRecording,
    _snippet: PlannedSnippet,
    signal: AbortSignal,
  ): Promise<Map<number, StoredSnippet>> {
    return (await this.extract(recording, signal, () => undefined)).stored;
  }

  sourceOf(audioPath: string): SourceFacts | undefined {
    return readSourceFacts(this.#locate(audioPath));
  }

  listReleased(_index: number, stored: Iterable<StoredSnippet>): string[] {
    return [...stored].map(({ partPath: file }) => file);
  }

  /** Removes the files of a recording whose snippets are in the tar. */
  async discard(index: number): Promise<void> {
    for (const attempt of this.#attempts.get(index) ?? []) {
      const part = partPath(this.#folder, index, attempt);
      await removeFile(indexPath(part));
      await removeFile(part);
    }
    this.#attempts.delete(index);
  }

  #job(recording: PlannedRecording, stored: ReadonlyMap<number, StoredSnippet>, attempt: number): ExtractJob {
    const { settings, channel } = this.#options;
    return {
      audioPath: this.#locate(recording.audioPath),
      snippets: recording.snippets.map(({ ordinal, snippetId, startMicros, endMicros }) => ({
        ordinal,
        snippetId,
        startMicros,
        endMicros,
        isDone: stored.has(ordinal),
      })),
      targetSampleRate: settings.targetSampleRate,
      outputFormat: settings.outputFormat,
      channel,
      part: partPath(this.#folder, recording.index, attempt),
    };
  }

  #describe(
    recording: PlannedRecording,
    stored: ReadonlyMap<number, StoredSnippet>,
    { failure, warnings }: AttemptEnd,
    source: SourceFacts | undefined,
  ): RecordingOutcome {
    const made = recording.snippets.flatMap(({ ordinal }) => stored.get(ordinal) ?? []);
    const invalidSamples = made.reduce((sum, snippet) => sum + snippet.invalidSamples, 0);
    const located = this.#locate(recording.audioPath);
    const spell = (text: string): string => text.replaceAll(located, () => recording.audioPath);
    const spelled = warnings.map(spell);
    return {
      recording: recording.index,
      snippets: made.map(factsOf),
      warnings: invalidSamples === 0 ? spelled : [...spelled, describeInvalid(invalidSamples)],
      attempts: this.#attempts.get(recording.index)?.length ?? 0,
      ...(failure === undefined ? {} : { failure: { ...failure, message: spell(failure.message) } }),
      ...(source === undefined ? {} : { source }),
    };
  }

  #refuseOutputFault({ outputFault }: ExtractResult, part: string): void {
    if (outputFault === undefined) return;
    const error = Object.assign(new Error(outputFault.message), { code: outputFault.code });
    throw writeFailure(error, { action: 'Cannot write', path: part });
  }

  async #read(part: string, isTrusted: boolean): Promise<Attempt> {
    return await this.#guard(() => readPart(part, isTrusted), 'Cannot read', part);
  }

  async #guard<T>(operation: () => Promise<T>, action: string, file = this.#folder): Promise<T> {
    try {
      return await operation();
    } catch (error) {
      throw writeFailure(error, { action, path: file });
    }
  }

  #lost(audioPath: string): OutputError {
    return new OutputError(`Snippets of "${audioPath}" were lost from "${this.#folder}" as soon as they were made`, {
      path: this.#folder,
      hint: 'See that nothing else works in that folder, then run the same command again.',
    });
  }
}

/** What the journal keeps of a snippet. */
export function factsOf({ ordinal, samples, clippedSamples, audioEndSeconds }: StoredSnippet): SnippetFacts {
  return [ordinal, samples, clippedSamples, audioEndSeconds ?? null];
}

/** A process that outlived an earlier run for a moment may have made the file of this number since the folder was read. */
function isTaken({ outputFault }: ExtractResult): boolean {
  return outputFault?.code === 'EEXIST';
}

function isSameFile(a: SourceFacts | undefined, b: SourceFacts | undefined): boolean {
  return a?.sizeBytes === b?.sizeBytes && a?.modifiedMs === b?.modifiedMs;
}

/** An attempt that ended speaks for the recording as long as all that it and those before it made is still whole. */
function addAttempt(stored: StoredRecording, { snippets, end }: Attempt): void {
  for (const snippet of snippets) stored.snippets.set(snippet.ordinal, snippet);
  if (end?.ordinals.every((ordinal) => stored.snippets.has(ordinal)) === true) stored.end = end;
}

function describeDeath(
  audioPath: string,
  outcome: Exclude<JobOutcome<unknown>, { kind: 'done' }>,
): NonNullable<AttemptEnd['failure']> {
  if (outcome.kind === 'hung') {
    return {
      reason: 'decoder_hung',
      message: `Cannot read "${audioPath}": its decoder said nothing for ${outcome.seconds} s`,
      hint: 'Where the disk is that slow, give a longer --recording-timeout.',
    };
  }
  return {
    reason: 'decoder_crashed',
    message: `Cannot read "${audioPath}": its decoder process died ${MAX_DEATHS} times (${outcome.how})`,
  };
}
