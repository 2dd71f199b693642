import { createHash } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeRepository {
  /** Contents by file name. */
  files: Record<string, Buffer>;
  commit: string;
  /** Commits by branch or tag; `main` is at `commit`. */
  revisions?: Record<string, string>;
  /**
   * How the Hub hands a file out: `plain` from itself behind a relative redirect, `large` from its content network behind a redirect to
   * another host, `xet` the same, but a client that can may take it in parts.
   */
  storage?: 'plain' | 'large' | 'xet';
  /** Who has no such token gets 401. */
  token?: string;
  /** Who has a token, but not access, gets 403. */
  isGated?: boolean;
}

export interface FakeRequest {
  method: string;
  /** Path and query. */
  url: string;
  server: 'hub' | 'cdn';
  authorization: string | undefined;
  range: string | undefined;
  acceptEncoding: string | undefined;
}

export type FakeAnswer = (response: ServerResponse, request: IncomingMessage) => void;

/** Plays the Hub, and on another port its content network, for what reading one file takes. */
export class FakeHub {
  readonly repositories: Record<string, FakeRepository> = {};
  readonly requests: FakeRequest[] = [];
  /** Addresses of the two; they stay after the end. */
  url = '';
  cdnUrl = '';
  readonly #hub: Server;
  readonly #cdn: Server;
  readonly #overrides: { count: number; matches: (request: FakeRequest) => boolean; answer: FakeAnswer }[] = [];

  private constructor() {
    this.#hub = createServer((request, response) => this.#serve('hub', request, response));
    this.#cdn = createServer((request, response) => this.#serve('cdn', request, response));
  }

  static async start(): Promise<FakeHub> {
    const hub = new FakeHub();
    for (const server of [hub.#hub, hub.#cdn]) {
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve);
      });
    }
    hub.url = addressOf(hub.#hub);
    hub.cdnUrl = addressOf(hub.#cdn);
    return hub;
  }

  /** Answers the next `count` requests that match with something else. */
  override(count: number, matches: (request: FakeRequest) => boolean, answer: FakeAnswer): void {
    this.#overrides.push({ count, matches, answer });
  }

  async stop(): Promise<void> {
    for (const server of [this.#hub, this.#cdn]) {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    }
  }

  #serve(server: 'hub' | 'cdn', request: IncomingMessage, response: ServerResponse): void {
    const seen: FakeRequest = {
      method: request.method ?? '',
      url: request.url ?? '',
      server,
      authorization: request.headers.authorization,
      range: request.headers.range,
      acceptEncoding: request.headers['accept-encoding'],
    };
    this.requests.push(seen);
    const override = this.#overrides.find((candidate) => candidate.count > 0 && candidate.matches(seen));
    if (override !== undefined) {
      override.count -= 1;
      override.answer(response, request);
    } else {
      this.#answer(seen, request, response);
    }
  }

  #answer(seen: FakeRequest, request: IncomingMessage, response: ServerResponse): void {
    const path = seen.url.replace(/\?.*$/, '');
    const segments = path.replace('/api/resolve-cache/models', '').replace('/resolve/', '/').slice(1).split('/');
    const [revision = '', file = ''] = segments.slice(-2).map(decodeURIComponent);
    const name = segments.slice(0, -2).join('/');
    const repository = this.repositories[name];
    if (seen.server === 'cdn') {
      const content = this.#findContent(path.slice(1));
      return content === undefined ? refuse(response, 404, 'NoSuchKey') : sendContent(response, seen.range, content);
    }
    if (repository === undefined) return refuse(response, 401, 'RepoNotFound', 'Invalid username or password.');
    if (repository.token !== undefined && seen.authorization !== `Bearer ${repository.token}`) {
      return refuse(response, 401, 'RepoNotFound', 'Invalid username or password.');
    }
    if (repository.isGated === true) return refuse(response, 403, 'GatedRepo', `Access to model ${name} is restricted`);
    const commits: Record<string, string> = { main: repository.commit, ...repository.revisions };
    const commit = commits[revision] ?? (Object.values(commits).includes(revision) ? revision : undefined);
    if (commit === undefined) return refuse(response, 404, 'RevisionNotFound', `Invalid rev id: ${revision}`);
    response.setHeader('x-repo-commit', commit);
    const content = repository.files[file];
    if (content === undefined) return refuse(response, 404, 'EntryNotFound', 'Entry not found');
    const { storage = 'plain' } = repository;
    const sha256 = sha256Of(content);
    response.setHeader('x-linked-size', content.length);
    if (storage === 'plain') {
      response.setHeader('etag', `"${gitIdOf(content)}"`);
      if (path.startsWith('/api/')) return sendContent(response, seen.range, content);
      return redirect(response, 307, `/api/resolve-cache/models/${name}/${commit}/${file}?etag=x`);
    }
    response.setHeader('x-linked-etag', `"${sha256}"`);
    if (storage === 'xet' && request.headers.accept?.includes('xet-fileinfo') === true) {
      response.setHeader('content-type', 'application/vnd.xet-fileinfo+json');
      response.setHeader('x-xet-hash', 'f'.repeat(64));
      const link = (to: string): string => `<${this.url}/api/xet/${to}>; rel="xet-${to}"`;
      response.setHeader('link', `${link('auth')}, ${link('reconstruction-info')}`);
      return void response.end('{}');
    }
    return redirect(response, 302, `${this.cdnUrl}/${sha256}?signature=abc`);
  }

  #findContent(sha256: string): Buffer | undefined {
    const contents = Object.values(this.repositories).flatMap((repository) => Object.values(repository.files));
    return contents.find((content) => sha256Of(content) === sha256);
  }
}

/** The request that brings a content, not the question for its length. */
export function isTransfer({ server, url, range }: FakeRequest): boolean {
  return range === undefined && (server === 'cdn' || url.startsWith('/api/resolve-cache/'));
}

/** Sends the first bytes of a content under the headers of the whole, and hangs up. */
export function cutAfter(sizeBytes: number, content: Buffer, announce: 'length' | 'chunks' | 'nothing'): FakeAnswer {
  return (response) => {
    if (announce === 'length') response.setHeader('content-length', content.length);
    if (announce === 'nothing') {
      // As HTTP/1.0 does it: the end of the connection is the end of the content, also when it comes too soon.
      response.socket?.end(
        `HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${content.subarray(0, sizeBytes).toString('latin1')}`,
        'latin1',
      );
      return;
    }
    response.write(content.subarray(0, sizeBytes), () => setTimeout(() => response.socket?.destroy(), 20));
  };
}

export function refuse(response: ServerResponse, status: number, code: string, text = code): void {
  response.writeHead(status, { 'x-error-code': code, 'x-error-message': text, 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: text }));
}

export function redirect(response: ServerResponse, status: number, location: string): void {
  response.writeHead(status, { location });
  response.end(`Redirecting to ${location}`);
}

function sendContent(response: ServerResponse, range: string | undefined, content: Buffer): void {
  response.setHeader('content-type', 'text/plain');
  if (!response.hasHeader('etag')) response.setHeader('etag', '"of-the-cdn"');
  if (range !== undefined) {
    response.writeHead(206, { 'content-range': `bytes 0-0/${content.length}`, 'content-length': 1 });
    response.end(content.subarray(0, 1));
  } else {
    response.writeHead(200, { 'content-length': content.length });
    response.end(content);
  }
}

export function sha256Of(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

export function gitIdOf(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
