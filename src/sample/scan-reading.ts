import path from 'node:path';
import { isIndexedKind } from '../audio/open-block-source.js';
import { mapPath, type PathMapping } from '../run/path-map.js';
import { orderedMap } from '../run/ordered-map.js';
import { ProcessPool } from '../run/process-pool.js';
import type { FileOutcome, JobFile, ScanJob } from './scan-job.js';
import type { LoudnessSettings } from './scan-types.js';
import type { ScanTable } from './scan-table.js';

export interface ReadingParts {
  table: ScanTable;
  /** What paths are joined to. */
  base: string;
  /** Folders that this machine has elsewhere than the scan says; what is told of files keeps to what it says. Default: none. */
  mappings?: readonly PathMapping[] | undefined;
  loudness: LoudnessSettings | undefined;
  /** Where indexes of long files are kept; undefined for nowhere. */
  indexFolder: string | undefined;
  jobs: number;
  silenceMs: number;
  signal: AbortSignal | undefined;
  /** Takes what became of each file, in any order; files known and unchanged stay as the table has them. */
  onOutcome(index: number, outcome: FileOutcome): Promise<void>;
}

/** Extensions of files whose header alone is read. */
const HEADER_EXTENSIONS: ReadonlySet<string> = new Set(['.wav', '.wave', '.flac']);
/** Files read from their headers in one job; one that has to be decoded stands for many of them. */
const JOB_WEIGHT = 256;
const DECODED_WEIGHT = 64;
/** Some other cause may end a process once, such as a lack of memory; so often it is the file's fault. */
const MAX_DEATHS = 2;

/**
 * Reads all files of a table in processes of their own. A file that makes its process crash or hang fails alone.
 *
 * @returns how many there were.
 */
export async function readFiles(parts: ReadingParts): Promise<number> {
  const { jobs, silenceMs, signal } = parts;
  const pool = new ProcessPool({ program: new URL('scan-process.js', import.meta.url), size: jobs, silenceMs });
  const reading = new Reading(pool, parts);
  let files = 0;
  try {
    const work = { concurrency: jobs, window: jobs * 16, signal };
    for await (const count of orderedMap(reading.batches(), work, (batch, stop) => reading.readBatch(batch, stop)))
      files += count;
  } finally {
    await pool.close();
  }
  return files;
}

class Reading {
  readonly #pool: ProcessPool;
  readonly #parts: ReadingParts;

  constructor(pool: ProcessPool, parts: ReadingParts) {
    this.#pool = pool;
    this.#parts = parts;
  }

  /** Neighbours in the table, so many that a job takes neither too long nor too short. */
  *batches(): Generator<number[]> {
    const { table, jobs } = this.#parts;
    // Few files are spread over all processes.
    const most = Math.max(1, Math.ceil(table.count / (jobs * 4)));
    let batch: number[] = [];
    let weight = 0;
    for (let index = 0; index < table.count; index += 1) {
      batch.push(index);
      weight += this.#weightOf(index);
      if (weight < JOB_WEIGHT && batch.length < most) continue;
      yield batch;
      batch = [];
      weight = 0;
    }
    if (batch.length > 0) yield batch;
  }

  async readBatch(batch: readonly number[], signal: AbortSignal): Promise<number> {
    for (let [rest, deaths] = [batch, 0]; rest.length > 0;) {
      const { loudness, indexFolder } = this.#parts;
      const job: ScanJob = { files: rest.map((index) => this.#jobFile(index)), loudness, indexFolder };
      const outcome = await this.#pool.run<FileOutcome[]>(job, { signal });
      if (outcome.kind === 'done') {
        await this.#note(rest, outcome.value);
        rest = rest.slice(outcome.value.length);
        continue;
      }
      if (rest.length > 1) {
        for (const index of rest) await this.readBatch([index], signal);
        break;
      }
      if (outcome.kind === 'died') deaths += 1;
      if (outcome.kind === 'died' && deaths < MAX_DEATHS) continue;
      const how = outcome.kind === 'died' ? outcome.how : `it said nothing for ${outcome.seconds} s`;
      const message = `Cannot read "${job.files[0]?.filepath}": its decoder failed (${how})`;
      const reason = outcome.kind === 'died' ? 'decoder_crashed' : 'decoder_hung';
      await this.#note(rest, [{ kind: 'failed', reason, message, hint: undefined }]);
      break;
    }
    return batch.length;
  }

  #weightOf(index: number): number {
    const { table, loudness } = this.#parts;
    const isKnown = table.factsOf(index) !== undefined;
    const extension = path.extname(table.pathOf(index)).toLowerCase();
    return isKnown || (loudness === undefined && HEADER_EXTENSIONS.has(extension)) ? 1 : DECODED_WEIGHT;
  }

  #jobFile(index: number): JobFile {
    const { table, base } = this.#parts;
    const facts = table.factsOf(index);
    const name = path.resolve(base, table.pathOf(index));
    const filepath = mapPath(name, this.#parts.mappings ?? []);
    if (facts === undefined) return { filepath, name, known: undefined };
    const { sizeBytes, mtimeMicros, frames } = facts;
    return {
      filepath,
      name,
      known: { sizeBytes, mtimeMicros, indexedFrames: isIndexedKind(facts) ? frames : undefined },
    };
  }

  /** What is written down of a failure depends on no machine. */
  #asNamed(index: number, outcome: FileOutcome): FileOutcome {
    if (outcome.kind !== 'failed' || this.#parts.mappings === undefined) return outcome;
    const { filepath, name = filepath } = this.#jobFile(index);
    return { ...outcome, message: outcome.message.replaceAll(filepath, () => name) };
  }

  async #note(batch: readonly number[], outcomes: readonly FileOutcome[]): Promise<void> {
    await Promise.all(
      outcomes.map(async (outcome, at) => {
        const index = batch[at];
        if (index !== undefined) await this.#parts.onOutcome(index, this.#asNamed(index, outcome));
      }),
    );
  }
}
