// A server on this machine that plays the Jobs REST API of Ray 2.60.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A job as the server knows it. */
export interface PlayedJob {
  submission_id: string;
  entrypoint: string;
  status: string;
  message: string | null;
  error_type: string | null;
  logs: string;
  body: Record<string, unknown>;
}

/** How the server answers instead, if it does. */
export type Trouble = (request: IncomingMessage, response: ServerResponse) => boolean;

export class RayApi {
  readonly jobs = new Map<string, PlayedJob>();
  /** Method and place of each request. */
  readonly calls: string[] = [];
  readonly #server: Server;
  readonly #token: string | undefined;
  trouble: Trouble | undefined;

  private constructor(token: string | undefined) {
    this.#token = token;
    this.#server = createServer((request, response) => {
      void this.#answer(request, response);
    });
  }

  static async start(token?: string): Promise<RayApi> {
    const api = new RayApi(token);
    await api.listen(0);
    return api;
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async listen(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  /** Changes what is known of a job. */
  set(id: string, changes: Partial<PlayedJob>): void {
    const job = this.jobs.get(id);
    if (job === undefined) throw new Error(`there is no job ${id}: ${[...this.jobs.keys()].join(' ')}`);
    Object.assign(job, changes);
  }

  /** The one job of a task that was submitted last. */
  idOf(task: number): string {
    const id = [...this.jobs.keys()].findLast((name) => new RegExp(`-${task}-\\d+$`, 'u').test(name));
    if (id === undefined) throw new Error(`no job of task ${task}`);
    return id;
  }

  count(method: string, place: string): number {
    return this.calls.filter((call) => call === `${method} ${place}`).length;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    this.calls.push(`${method} ${url}`);
    const body = await text(request);
    const say = (status: number, answer: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    };
    if (this.trouble?.(request, response) === true) return;
    if (this.#token !== undefined) {
      if (headers.authorization === undefined) return say(401, 'Unauthorized: Missing authentication token');
      if (headers.authorization !== `Bearer ${this.#token}`) return say(403, 'Forbidden: Invalid authentication token');
    }
    // As Ray tells a browser.
    if (method === 'POST' && 'sec-fetch-mode' in headers)
      return say(405, "'POST' method not allowed for browser traffic.");
    if (url === '/api/jobs/' && method === 'GET') return say(200, [...this.jobs.values()].map(asListed));
    if (url === '/api/jobs/') return this.#submit(JSON.parse(body) as Record<string, unknown>, say);
    const [, id = '', what] = /^\/api\/jobs\/([^/]+)\/(stop|logs)$/u.exec(url) ?? [];
    const job = this.jobs.get(id);
    if (job === undefined) return say(404, `Job ${id} does not exist`);
    if (what === 'logs') return say(200, { logs: job.logs });
    const isOver = ['STOPPED', 'SUCCEEDED', 'FAILED'].includes(job.status);
    if (!isOver) job.status = 'STOPPED';
    say(200, { stopped: !isOver });
  }

  #submit(body: Record<string, unknown>, say: (status: number, answer: unknown) => void): void {
    const id = String(body['submission_id']);
    if (this.jobs.has(id)) {
      // The head wraps what the agent of its node says.
      const said = `ValueError: Job with submission_id ${id} already exists. Please use a different submission_id.`;
      say(
        500,
        `Traceback (most recent call last):\nRuntimeError: Request failed with status code 400: Traceback:\n${said}\n.\n`,
      );
      return;
    }
    this.jobs.set(id, {
      submission_id: id,
      entrypoint: String(body['entrypoint']),
      status: 'PENDING',
      message: 'Job has not started yet. It may be waiting for resources (CPUs) to become available.',
      error_type: null,
      logs: '',
      body,
    });
    say(200, { job_id: id, submission_id: id });
  }
}

function asListed({ body, logs, ...job }: PlayedJob): Record<string, unknown> {
  void logs;
  return { type: 'SUBMISSION', job_id: null, ...job, metadata: body['metadata'], runtime_env: body['runtime_env'] };
}
