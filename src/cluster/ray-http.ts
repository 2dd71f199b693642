import { request as requestPlain, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestSecure } from 'node:https';
import { CanceledError, errorMessage, OutputError, systemCode } from '../errors.js';
import type { Secret } from '../text/secret.js';
import { redirected, type RayAddress } from './ray-address.js';
import { RAY_TOKEN_HINT } from './ray-token.js';

/** How a cluster is spoken to. */
export interface RayHttpOptions {
  address: RayAddress;
  token: Secret | undefined;
  /** An answer that is not whole by then is given up. */
  answerTimeoutMs: number;
  signal: AbortSignal | undefined;
}

/** Ray does not answer, or not now: the same call may succeed later. */
export class RayUnreachableError extends OutputError {}

/** The text of an error is read so far. */
const ERROR_BODY_BYTES = 64 * 1024;
const QUOTED_LENGTH = 300;
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

/**
 * Calls of the dashboard of a Ray head. They do not go through `fetch`: it says `Sec-Fetch-Mode`, for which Ray takes it for a browser and
 * refuses to let it submit.
 */
export class RayHttp {
  readonly #options: RayHttpOptions;

  constructor(options: RayHttpOptions) {
    this.#options = options;
  }

  /**
   * Sends one request.
   *
   * @param place relative to the address
   * @param read takes the answer, if it is a good one
   * @returns what `read` made of it, or undefined for 404
   * @throws {RayUnreachableError} when the same call may succeed later.
   * @throws {OutputError} when Ray refuses it, in its words.
   */
  async send<T>(
    method: 'GET' | 'POST',
    place: string,
    body: unknown,
    read: (answer: IncomingMessage) => Promise<T>,
  ): Promise<T | undefined> {
    const { signal, answerTimeoutMs, address } = this.#options;
    const timeout = AbortSignal.timeout(answerTimeoutMs);
    try {
      const answer = await this.#exchange(
        method,
        new URL(place, address.url),
        body === undefined ? undefined : JSON.stringify(body),
        signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      );
      const { statusCode: status = 0 } = answer;
      if (status >= 200 && status < 300) return await read(answer);
      const text = await readStart(answer);
      if (status === 404) return undefined;
      throw this.#refusal(status, answer, text);
    } catch (error) {
      if (error instanceof OutputError) throw error;
      if (signal?.aborted === true) throw new CanceledError('Stopped while Ray was asked');
      throw this.#failure(error, timeout.aborted);
    }
  }

  async #exchange(method: string, url: URL, body: string | undefined, signal: AbortSignal): Promise<IncomingMessage> {
    const { token } = this.#options;
    const options: RequestOptions = {
      method,
      signal,
      headers: {
        accept: 'application/json',
        'user-agent': 'cutroom',
        ...(token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` }),
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      },
    };
    const send = url.protocol === 'https:' ? requestSecure : requestPlain;
    return await new Promise((resolve, reject) => {
      const begin = (): void => {
        const request = send(url, options, resolve);
        request.on('error', (error) => {
          // A connection that was kept may have been closed meanwhile; the next one is a new one, or another that was kept.
          if (request.reusedSocket && systemCode(error) === 'ECONNRESET') begin();
          else reject(error);
        });
        request.end(body);
      };
      begin();
    });
  }

  #refusal(status: number, { headers }: IncomingMessage, text: string): OutputError {
    const { address, token } = this.#options;
    const words = this.#quote(text);
    const said = `Ray at ${address.text} answers ${status}${words === '' ? '' : `: ${words}`}`;
    if (status >= 300 && status < 400) return redirected(address, headers.location);
    if (status === 401 || status === 403) {
      const which = token === undefined ? 'no token was found to send' : `the token of ${token.source} was sent`;
      return new OutputError(`${said}; ${which}`, { hint: RAY_TOKEN_HINT });
    }
    // The head passes on what the agent of its node refuses for good as an error of its own.
    const isForGood = /status code 4\d\d\b/u.test(text);
    if (TRANSIENT_STATUSES.has(status) || (status >= 500 && !isForGood)) return new RayUnreachableError(said);
    return new OutputError(said);
  }

  #failure(error: unknown, isTimeout: boolean): OutputError {
    const { address, answerTimeoutMs, token } = this.#options;
    const at = `Cannot reach Ray at ${address.text}`;
    if (isTimeout) return new RayUnreachableError(`${at}: no whole answer within ${answerTimeoutMs / 1000} s`);
    const code = systemCode(error) ?? '';
    // Of several addresses of one host the error has no message of its own.
    const reason = isPlain(error) ? 'it answers without TLS' : errorMessage(error).trim() || code;
    const text = `${at}: ${token?.scrub(reason) ?? reason}`;
    if (!/CERT|TLS|SSL|SIGNATURE|EPROTO|HPE_/u.test(code)) return new RayUnreachableError(text);
    return new OutputError(text, {
      hint: 'See that http or https is right; NODE_EXTRA_CA_CERTS names a file of further certificates to trust.',
    });
  }

  /** The last line of a Python traceback says what is wrong; a page of a gateway says nothing. */
  #quote(text: string): string {
    if (/^\s*</u.test(text)) return '';
    const line =
      text
        .split('\n')
        .findLast((part) => /\w/u.test(part))
        ?.trim() ?? '';
    const scrubbed = this.#options.token?.scrub(line) ?? line;
    return scrubbed.length > QUOTED_LENGTH ? `${scrubbed.slice(0, QUOTED_LENGTH)}…` : scrubbed;
  }
}

/** What OpenSSL says of an answer that does not begin like one of TLS is for nobody. */
function isPlain(error: unknown): boolean {
  return systemCode(error) === 'EPROTO' && /wrong version number|packet length too long/u.test(errorMessage(error));
}

async function readStart(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    if (length < ERROR_BODY_BYTES) chunks.push(chunk);
    length += chunk.length;
  }
  return Buffer.concat(chunks).toString('utf8').slice(0, ERROR_BODY_BYTES);
}
