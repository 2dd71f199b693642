import type { Secret } from './secret.js';

export interface HubExchangeOptions {
  /** The Hub's address; only requests to its origin carry the token. */
  hubUrl: URL;
  token: Secret | undefined;
  signal: AbortSignal | undefined;
  /** A request that brings no byte for so long is given up. */
  stallSeconds: number;
  /** No answer may be longer. */
  maxBytes: number;
}

const MAX_REDIRECTS = 10;

/**
 * One conversation with the Hub: a `fetch` for the client library that adds the token, follows redirects and notes what the Hub's own
 * answers say of the file. Headers of the Hub get lost behind a redirect to its content network, and the library is not trusted with
 * the token: here it goes to the Hub alone, and no further after the first redirect to elsewhere.
 */
export class HubExchange {
  readonly #options: HubExchangeOptions;
  /** Commit that the revision stands for (`X-Repo-Commit`). */
  commit: string | undefined;
  /** Entity tag of the content (`X-Linked-ETag`, else `ETag`), without quotes: its SHA-256 or its Git object id. */
  etag: string | undefined;
  /** The content's hash in the Hub's storage of parts (`X-Xet-Hash`), which is no checksum of the whole. */
  xetHash: string | undefined;
  /** Length of the content (`X-Linked-Size`). */
  sizeBytes: number | undefined;
  /** Status of the last final answer; undefined when none came. */
  status: number | undefined;
  /** The Hub's name for the fault (`X-Error-Code`), like `GatedRepo`. */
  errorCode: string | undefined;
  /** The Hub's sentence about it (`X-Error-Message`). */
  errorText: string | undefined;
  /** What `Retry-After` asked for. */
  retryAfterSeconds: number | undefined;
  /** Bytes of the body of the last answer that have arrived. */
  receivedBytes = 0;
  #linkedEtag: string | undefined;

  constructor(options: HubExchangeOptions) {
    this.#options = options;
  }

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const stall = new AbortController();
    const timer = setTimeout(
      () => stall.abort(new Error(`no data for ${this.#options.stallSeconds} s`)),
      this.#options.stallSeconds * 1000,
    );
    timer.unref();
    const signals = [stall.signal, this.#options.signal, init.signal].filter((signal) => signal instanceof AbortSignal);
    this.status = undefined;
    this.receivedBytes = 0;
    try {
      const response = await this.#follow(toUrl(input), { ...init, signal: AbortSignal.any(signals) });
      this.#noteFinal(response);
      return this.#watch(response, timer);
    } catch (error) {
      clearTimeout(timer);
      throw error;
    }
  };

  async #follow(start: URL, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    // A compressed answer would have another length than the file; with a range, `fetch` asks for none itself.
    if (!headers.has('range')) headers.set('accept-encoding', 'identity');
    headers.set('user-agent', 'cutroom');
    let url = start;
    let mayCarryToken = true;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const isHub = url.origin === this.#options.hubUrl.origin;
      mayCarryToken &&= isHub;
      headers.delete('authorization');
      if (mayCarryToken && this.#options.token !== undefined) {
        headers.set('authorization', `Bearer ${this.#options.token.reveal()}`);
      }
      const response = await fetch(url, { ...init, headers, redirect: 'manual' });
      if (isHub) this.#noteFile(response.headers);
      if (![301, 302, 303, 307, 308].includes(response.status)) return response;
      await response.body?.cancel();
      url = redirectTarget(response, url);
    }
    throw new Error(`more than ${MAX_REDIRECTS} redirects`);
  }

  #noteFile(headers: Headers): void {
    this.commit ??= headers.get('x-repo-commit') ?? undefined;
    this.#linkedEtag ??= unquote(headers.get('x-linked-etag'));
    this.etag = this.#linkedEtag ?? this.etag ?? unquote(headers.get('etag'));
    this.xetHash ??= headers.get('x-xet-hash') ?? undefined;
    const size = Number(headers.get('x-linked-size') ?? Number.NaN);
    if (Number.isSafeInteger(size)) this.sizeBytes ??= size;
  }

  #noteFinal(response: Response): void {
    this.status = response.status;
    this.errorCode = response.headers.get('x-error-code') ?? undefined;
    this.errorText = response.headers.get('x-error-message') ?? undefined;
    this.retryAfterSeconds = readRetryAfter(response.headers.get('retry-after'));
  }

  /** The answer with a body that keeps the timer from firing while it flows, and that ends at the limit. */
  #watch(response: Response, timer: NodeJS.Timeout): Response {
    if (response.body === null) {
      clearTimeout(timer);
      return response;
    }
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        timer.refresh();
        this.receivedBytes += chunk.byteLength;
        if (this.receivedBytes > this.#options.maxBytes) {
          controller.error(
            new Error(`the answer is longer than ${this.#options.maxBytes.toLocaleString('en-US')} bytes`),
          );
        } else {
          controller.enqueue(chunk);
        }
      },
      flush: () => clearTimeout(timer),
    });
    const { status, headers } = response;
    return new Response(response.body.pipeThrough(counter), { status, headers });
  }
}

function toUrl(input: Parameters<typeof fetch>[0]): URL {
  return new URL(input instanceof Request ? input.url : String(input));
}

function redirectTarget(response: Response, from: URL): URL {
  const location = response.headers.get('location');
  if (location === null || !URL.canParse(location, from.href)) throw new Error('a redirect leads nowhere');
  const target = new URL(location, from.href);
  if (target.protocol !== 'https:' && target.protocol !== 'http:') throw new Error('a redirect leads out of HTTP');
  return target;
}

function unquote(etag: string | null): string | undefined {
  return etag === null ? undefined : etag.replace(/^W\//, '').replaceAll('"', '');
}

/** Seconds of a `Retry-After`, which holds seconds or a date (RFC 9110, section 10.2.3). */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value.trim())) return Number(value);
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : Math.max(0, (time - Date.now()) / 1000);
}
