import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { OutputError } from '../errors.js';
import type { ProcessPool } from '../run/process-pool.js';
import { writeFailure } from '../tar/write-failure.js';
import { readSourceFacts } from './extract.js';
import type { ExtractJob, ExtractResult } from './extract.js';
import type { PlannedRecording } from './cut-plan.js';
import type { ResolvedCutOptions } from './options.js';
import { indexPath, partPath, readPart } from './part.js';
import type { StoredSnippet } from './part.js';
import type { RecordingOutcome } from './run-journal.js';

/** A decoder process that dies gets one more chance: it may have been killed for the machine's sake. */
const MAX_DEATHS = 2;

/** Has recordings cut by the pool, and keeps what earlier attempts at them left. */
export class RecordingExtractor {
  readonly #pool: ProcessPool;
  readonly #folder: string;
  readonly #options: ResolvedCutOptions;
  /** Attempts that earlier runs left in the work folder, by recording. */
  readonly #attempts = new Map<number, number[]>();

  /** @param folder holds the parts; it exists. */
  constructor(pool: ProcessPool, folder: string, options: ResolvedCutOptions) {
    this.#pool = pool;
    this.#folder = folder;
    this.#options = options;
  }

  /** Finds what earlier runs left. To be awaited before anything else. */
  async scan(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
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
    const { index } = recording;
    const stored = await this.stored(index, false);
    let result: ExtractResult = { warnings: [] };
    for (let deaths = 0; recording.snippets.some(({ ordinal }) => !stored.has(ordinal));) {
      const attempt = (this.#attempts.get(index)?.at(-1) ?? -1) + 1;
      this.#attempts.set(index, [...(this.#attempts.get(index) ?? []), attempt]);
      const job = this.#job(recording, stored, attempt);
      const outcome = await this.#pool.run<ExtractResult>(job, {
        signal,
        onReport: (seconds) => onSeconds(seconds as number),
      });
      const isDone = outcome.kind === 'done';
      for (const snippet of await readPart(job.part, isDone)) stored.set(snippet.ordinal, snippet);
      if (isDone) {
        result = outcome.value;
        this.#refuseOutputFault(result, job.part);
        break;
      }
      deaths += 1;
      if (deaths === MAX_DEATHS || outcome.kind === 'hung') {
        result = { warnings: [], failure: describeDeath(recording.audioPath, outcome) };
        break;
      }
    }
    const outcome: RecordingOutcome = {
      recording: index,
      snippets: recording.snippets.flatMap(({ ordinal }) => {
        const snippet = stored.get(ordinal);
        if (snippet === undefined) return [];
        return [[ordinal, snippet.samples, snippet.clippedSamples, snippet.audioEndSeconds ?? null] as const];
      }) as RecordingOutcome['snippets'],
      warnings: result.warnings,
      attempts: this.#attempts.get(index)?.length ?? 0,
    };
    if (result.failure !== undefined) outcome.failure = result.failure;
    const source = result.source ?? readSourceFacts(recording.audioPath);
    if (source !== undefined) outcome.source = source;
    return { outcome, stored };
  }

  /** The snippets of a recording that are in the work folder, by ordinal. */
  async stored(index: number, isTrusted: boolean): Promise<Map<number, StoredSnippet>> {
    const stored = new Map<number, StoredSnippet>();
    for (const attempt of this.#attempts.get(index) ?? []) {
      const snippets = await readPart(partPath(this.#folder, index, attempt), isTrusted);
      for (const snippet of snippets) stored.set(snippet.ordinal, snippet);
    }
    return stored;
  }

  /** Removes the files of a recording whose snippets are in the tar. */
  async discard(index: number): Promise<void> {
    for (const attempt of this.#attempts.get(index) ?? []) {
      const part = partPath(this.#folder, index, attempt);
      await rm(indexPath(part), { force: true });
      await rm(part, { force: true });
    }
    this.#attempts.delete(index);
  }

  #job(recording: PlannedRecording, stored: ReadonlyMap<number, StoredSnippet>, attempt: number): ExtractJob {
    const { settings, channel } = this.#options;
    return {
      audioPath: path.resolve(recording.audioPath),
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

  #refuseOutputFault({ outputFault }: ExtractResult, part: string): void {
    if (outputFault === undefined) return;
    const error = Object.assign(new Error(outputFault.message), { code: outputFault.code });
    const failure = writeFailure(error, { action: 'Cannot write', path: part });
    throw failure instanceof OutputError ? failure : new OutputError(failure.message, { path: part, cause: error });
  }
}

function describeDeath(
  audioPath: string,
  outcome: { kind: 'died'; how: string } | { kind: 'hung'; seconds: number },
): NonNullable<ExtractResult['failure']> {
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
