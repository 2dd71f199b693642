import { CanceledError, CutroomError } from '../errors.js';
import { orderedMap } from '../run/ordered-map.js';
import { ProcessPool } from '../run/process-pool.js';
import type { DeepItem, DeepJob, DeepResult } from './deep-items.js';
import { DeepVerdicts } from './deep-verdicts.js';
import type { CheckContext } from './finding.js';

export type { DeepItem } from './deep-items.js';

/** A decoder that says nothing for so long is taken for hung. */
const SILENCE_MS = 120_000;

/** How many pieces of audio a process is given at once. */
const BATCH_ITEMS = 32;

/** Batches that are gathered for each process before they are decoded: the fewer rounds, the less waiting for the slowest. */
const ROUND_BATCHES = 8;

/** Batches that wait for an earlier one, for each that is decoded. */
const WAITING_BATCHES = 2;

/** Decodes audio and reports what is wrong with it, in the order of the items. */
export async function deepCheck(
  items: Iterable<DeepItem> | AsyncIterable<DeepItem>,
  context: CheckContext,
  path = '',
): Promise<void> {
  const checker = new DeepChecker(context, path);
  try {
    await checker.check(items);
    await checker.finish();
  } finally {
    await checker.close();
  }
}

/** Decodes the audio of a dataset piece by piece, in child processes: a decoder that crashes costs the audio that it was at. */
export class DeepChecker {
  readonly #context: CheckContext;
  readonly #path: string;
  readonly #pool: ProcessPool;
  readonly #verdicts: DeepVerdicts;
  readonly #pending: DeepItem[] = [];
  #count = 0;
  #skippedCount = 0;

  /** @param path shown as what is being checked */
  constructor(context: CheckContext, path: string) {
    this.#context = context;
    this.#path = path;
    this.#verdicts = new DeepVerdicts(context);
    const program = new URL('./deep-process.js', import.meta.url);
    this.#pool = new ProcessPool({ program, size: context.settings.jobs, silenceMs: SILENCE_MS });
  }

  /** Members of compressed tars, which are not decoded. */
  get skippedCount(): number {
    return this.#skippedCount;
  }

  /** Takes some more, and decodes when there is enough for all processes. Throws {CanceledError} where the user stops it. */
  async check(items: Iterable<DeepItem> | AsyncIterable<DeepItem>): Promise<void> {
    for await (const item of items) {
      if (item.inside?.isCompressed === true) {
        this.#skippedCount += 1;
        continue;
      }
      this.#pending.push(item);
      if (this.#pending.length >= ROUND_BATCHES * BATCH_ITEMS * this.#context.settings.jobs)
        await this.#decodePending();
    }
  }

  /** Decodes what is left, and reports what only all of the audio shows. */
  async finish(): Promise<void> {
    await this.#decodePending();
    this.#verdicts.finish();
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #decodePending(): Promise<void> {
    const { jobs } = this.#context.settings;
    const work = { concurrency: jobs, window: jobs * (1 + WAITING_BATCHES), signal: this.#context.signal };
    const pending = this.#pending.splice(0);
    // Less than a batch for each is shared out all the same.
    const size = Math.max(1, Math.min(BATCH_ITEMS, Math.ceil(pending.length / jobs)));
    const batches = Array.from({ length: Math.ceil(pending.length / size) }, (_, index) =>
      pending.slice(index * size, (index + 1) * size),
    );
    try {
      const decoded = orderedMap(batches, work, async (batch, stop) => ({
        batch,
        results: await this.#decode(batch, stop),
      }));
      for await (const { batch, results } of decoded) {
        for (const [index, item] of batch.entries()) this.#verdicts.judge(item, results[index] ?? NO_RESULT);
        this.#count += batch.length;
        this.#context.onProgress({ path: this.#path, stage: 'deep', items: this.#count });
      }
    } catch (error) {
      if (!this.#context.signal.aborted || error instanceof CutroomError) throw error;
      throw new CanceledError('The check was stopped', { cause: error });
    }
  }

  /** The results of a batch; where a process dies, the audio that it was at gets the blame, and another goes on behind it. */
  async #decode(batch: readonly DeepItem[], signal: AbortSignal): Promise<DeepResult[]> {
    const results: DeepResult[] = [];
    while (results.length < batch.length) {
      const items = batch.slice(results.length).map(({ audioPath, inside, startSeconds, durationSeconds }) => {
        return { audioPath, inside, startSeconds, durationSeconds };
      });
      const outcome = await this.#pool.run({ items } satisfies DeepJob, {
        signal,
        onReport: (report) => {
          if (report !== undefined) results.push(report as DeepResult);
        },
      });
      if (outcome.kind === 'done') return results;
      const how = outcome.kind === 'died' ? outcome.how : `nothing came of it for ${outcome.seconds} s`;
      if (results.length < batch.length) results.push({ kind: 'crashed', how });
    }
    return results;
  }
}

const NO_RESULT: DeepResult = { kind: 'undecodable', reason: 'the decoder gave no result' };
