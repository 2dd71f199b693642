import type { IncomingMessage } from 'node:http';
import { OutputError } from '../errors.js';
import type { Secret } from '../text/secret.js';
import type { RayAddress } from './ray-address.js';
import { RayHttp, type RayHttpOptions } from './ray-http.js';
import { objectsInArray } from './ray-job-list.js';
import { addJob, toRayJob, type RayJobFields, type RayJobs } from './ray-jobs.js';
import { readLogTail } from './ray-log-tail.js';

/** What a job is submitted with: fields of Ray's `JobSubmitRequest`. */
export interface RaySubmission {
  submission_id: string;
  /** A line for the shell. */
  entrypoint: string;
  entrypoint_num_cpus: number;
  runtime_env: { env_vars: Readonly<Record<string, string>> };
  metadata: Readonly<Record<string, string>>;
}

/** The Jobs REST API of a Ray cluster. Its calls can be repeated: jobs have names of our own. */
export class RayClient {
  readonly #http: RayHttp;
  readonly #address: RayAddress;
  readonly #token: Secret | undefined;

  constructor(options: RayHttpOptions) {
    this.#http = new RayHttp(options);
    this.#address = options.address;
    this.#token = options.token;
  }

  /** The jobs whose names begin so. Ray lists all jobs that it remembers at once; those of others are dropped as they come. */
  async list(prefix: string): Promise<RayJobs> {
    const jobs = await this.#http.send('GET', 'api/jobs/', undefined, async (answer) => {
      const found: RayJobs = { last: new Map(), alive: new Map() };
      await this.#parse(answer, async (text) => {
        for await (const fields of objectsInArray(text)) {
          const job = toRayJob(prefix, fields as RayJobFields);
          if (job !== undefined) addJob(found, job);
        }
      });
      return found;
    });
    if (jobs !== undefined) return jobs;
    throw new OutputError(`There is no Jobs API at ${this.#address.text}: it answers 404`, {
      hint: 'It is at the dashboard of the head (port 8265), where Ray is installed as ray[default].',
    });
  }

  /** Submits a job, unless there is one of this name already. */
  async submit(submission: RaySubmission): Promise<void> {
    try {
      const done = await this.#http.send('POST', 'api/jobs/', submission, drain);
      if (done !== undefined) return;
    } catch (error) {
      if (error instanceof OutputError && /already exists/u.test(error.message)) return;
      throw error;
    }
    throw new OutputError(`Ray at ${this.#address.text} takes no jobs: it answers 404`);
  }

  /** Asks Ray to stop a job; one that it does not know is as good. */
  async stop(id: string): Promise<void> {
    await this.#http.send('POST', `api/jobs/${encodeURIComponent(id)}/stop`, undefined, drain);
  }

  /** The end of what a job wrote, or undefined. */
  async log(id: string): Promise<string | undefined> {
    const place = `api/jobs/${encodeURIComponent(id)}/logs`;
    const log = await this.#http.send(
      'GET',
      place,
      undefined,
      async (answer) => await this.#parse(answer, readLogTail),
    );
    return log === undefined ? undefined : (this.#token?.scrub(log) ?? log);
  }

  async #parse<T>(answer: IncomingMessage, parse: (text: AsyncIterable<string>) => Promise<T>): Promise<T> {
    try {
      return await parse(answer.setEncoding('utf8') as AsyncIterable<string>);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      // The cause would quote the answer.
      throw new OutputError(`${this.#address.text} answers something other than the Jobs API of Ray`, {
        hint: 'See that the address is that of the dashboard of a Ray head.',
      });
    }
  }
}

async function drain(answer: IncomingMessage): Promise<true> {
  for await (const chunk of answer) void chunk;
  return true;
}
