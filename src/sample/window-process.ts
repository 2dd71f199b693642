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

serveJobs<WindowJob>(({ options, job }) => {
  reader ??= new WindowReader(options);
  return Promise.resolve(tryExcerpt(reader, job));
});
