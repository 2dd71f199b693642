import { WindowReader } from '../audio/window-reader.js';
import type { WindowReaderOptions } from '../audio/window-reader.js';
import { serveJobs } from '../run/pool-child.js';
import { tryExcerpt } from './excerpt-job.js';
import type { ExcerptJob } from './excerpt-job.js';

/** What a process is given to decode: with the first job it makes its reader. */
export interface WindowJob {
  options: WindowReaderOptions;
  job: ExcerptJob;
}

let reader: WindowReader | undefined;
/** What the reader has to say while it does a job. */
const notices: string[] = [];

serveJobs<WindowJob>(async ({ options, job }, report) => {
  reader ??= new WindowReader(options, (message) => void notices.push(message));
  const outcome = await tryExcerpt(reader, job, () => report([]));
  if (notices.length > 0) await report(notices.splice(0));
  return outcome;
});
