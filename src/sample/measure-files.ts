import { statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { measureByHeader } from '../audio/header-measure.js';
import { measureRecording } from '../audio/measure-recording.js';
import { InputError } from '../errors.js';
import { orderedMap } from '../run/ordered-map.js';
import { ProcessPool } from '../run/process-pool.js';
import { mtimeMicrosOf } from './scan-job.js';
import type { FileOutcome, ScanJob } from './scan-job.js';
import type { FileFacts } from './scan-types.js';

const FILES_A_JOB = 64;
const SILENCE_MS = 300_000;

/**
 * The facts of files, in their order: from the headers where these can be trusted, else by decoding.
 *
 * @param jobs processes at once; 0 or 1 reads in this one.
 * @throws AudioError, or InputError, for the first file that cannot be read.
 */
export async function measureFiles(paths: readonly string[], jobs: number): Promise<FileFacts[]> {
  if (jobs > 1 && paths.length > 1) return await measureInProcesses(paths, jobs);
  const facts: FileFacts[] = [];
  for (const path of paths) {
    if (facts.length % FILES_A_JOB === FILES_A_JOB - 1) await setImmediate();
    facts.push(await measureFile(path));
  }
  return facts;
}

async function measureFile(path: string): Promise<FileFacts> {
  const measured = measureByHeader(path) ?? (await measureRecording(path, () => setImmediate()));
  const { frames, sampleRate, channels, container, codec } = measured;
  const stats = statSync(path);
  const mtimeMicros = mtimeMicrosOf(stats);
  return { frames, sampleRate, channels, container, codec, sizeBytes: stats.size, mtimeMicros };
}

async function measureInProcesses(paths: readonly string[], jobs: number): Promise<FileFacts[]> {
  const program = new URL('./scan-process.js', import.meta.url);
  const pool = new ProcessPool({ program, size: jobs, silenceMs: SILENCE_MS });
  try {
    const size = Math.min(FILES_A_JOB, Math.ceil(paths.length / jobs));
    const batches = Array.from({ length: Math.ceil(paths.length / size) }, (_, at) =>
      paths.slice(at * size, (at + 1) * size),
    );
    const facts: FileFacts[] = [];
    const options = { concurrency: jobs, window: 2 * jobs };
    for await (const batch of orderedMap(batches, options, (names, signal) => measureBatch(pool, names, signal))) {
      facts.push(...batch);
    }
    return facts;
  } finally {
    await pool.close();
  }
}

async function measureBatch(pool: ProcessPool, names: readonly string[], signal: AbortSignal): Promise<FileFacts[]> {
  const facts: FileFacts[] = [];
  while (facts.length < names.length) {
    const rest = names.slice(facts.length);
    const files = rest.map((filepath) => ({ filepath, known: undefined }));
    const job: ScanJob = { files, loudness: undefined, indexFolder: undefined };
    const outcome = await pool.run<FileOutcome[]>(job, { signal });
    const [first = ''] = rest;
    if (outcome.kind !== 'done') {
      const how = outcome.kind === 'died' ? outcome.how : `it said nothing for ${outcome.seconds} s`;
      throw new InputError(
        `Cannot read "${first}" or one of the ${rest.length - 1} after it: the decoder failed (${how})`,
        {
          path: first,
          hint: 'cutroom scan finds which, and leaves it out.',
        },
      );
    }
    for (const [at, result] of outcome.value.entries()) {
      if (result.kind === 'read') facts.push(result.facts);
      if (result.kind === 'failed') throw new InputError(result.message, { path: rest[at], hint: result.hint });
    }
  }
  return facts;
}
