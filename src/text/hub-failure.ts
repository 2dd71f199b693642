import { CutroomError, UsageError } from '../errors.js';
import type { Environment } from './hub-cache.js';
import type { HubExchange } from './hub-exchange.js';
import type { HubId } from './hub-id.js';
import { type Secret, scrubError } from './secret.js';

/** What is asked of whom, for messages. */
export interface HubPlace {
  id: HubId;
  hubUrl: URL;
  token: Secret | undefined;
  environment: Environment;
}

/** A try that failed in a way that another try may mend. */
export class BrokenTransfer extends Error {
  override readonly name = 'BrokenTransfer';
  /** One clause: what happened. Without the token. */
  readonly reason: string;
  /** How long the Hub asked to wait. */
  readonly retryAfterSeconds: number | undefined;
  readonly #place: HubPlace;
  readonly #hint: string;

  constructor(place: HubPlace, reason: string, options: BrokenTransferOptions) {
    super(reason, options.cause === undefined ? undefined : { cause: scrubError(options.cause, place.token) });
    this.reason = reason;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.#place = place;
    this.#hint = options.hint;
  }

  /** The error that ends the run after the last try. */
  toUsageError(tries: number): UsageError {
    const message = `${describeRequest(this.#place)}: ${this.reason} (${tries} tries)`;
    return new UsageError(message, { hint: this.#hint, cause: this.cause });
  }
}

export interface BrokenTransferOptions {
  hint: string;
  retryAfterSeconds?: number | undefined;
  cause?: unknown;
}

/** What to throw for a failed request: {@link BrokenTransfer} where trying again makes sense. */
export function describeFailure(error: unknown, exchange: HubExchange, place: HubPlace): Error {
  if (error instanceof CutroomError || error instanceof BrokenTransfer) return error;
  const { status } = exchange;
  if (status === undefined) {
    const hint = hasProxy(place.environment) ? PROXY_HINT : NETWORK_HINT;
    return new BrokenTransfer(place, `the Hub cannot be reached: ${reasonOf(error, place)}`, { hint, cause: error });
  }
  if (status >= 400) return describeStatus(status, exchange, place);
  return describeProtocolFault(reasonOf(error, place), place);
}

/** What to throw when an answer is not what the Hub gives. */
export function describeProtocolFault(reason: string, place: HubPlace): UsageError {
  return new UsageError(`${describeRequest(place)}: it does not answer like the Hub: ${reason}`, {
    hint: 'Check HF_ENDPOINT, and whether a proxy or a login page stands in between.',
  });
}

/** What to throw when a transfer began and did not give the whole file. */
export function describeBrokenBody(error: unknown, sizeBytes: number, exchange: HubExchange, place: HubPlace): Error {
  const { status, receivedBytes } = exchange;
  if (status === undefined || status >= 400) return describeFailure(error, exchange, place);
  const where = `byte ${receivedBytes.toLocaleString('en-US')} of ${sizeBytes.toLocaleString('en-US')}`;
  const reason = `the transfer broke off at ${where}: ${reasonOf(error, place)}`;
  return new BrokenTransfer(place, reason, { hint: NETWORK_HINT, cause: error });
}

/** What to throw when the whole transfer is not the file that was announced. */
export function describeWrongContent(fault: string, place: HubPlace): BrokenTransfer {
  return new BrokenTransfer(place, `the transfer is broken: ${fault}`, { hint: NETWORK_HINT });
}

const NETWORK_HINT =
  'Check the network, or fetch the file on another machine and name the folder that holds it with --tokenizer-path.';
const PROXY_HINT =
  'Node.js uses the proxy of HTTPS_PROXY only when NODE_USE_ENV_PROXY=1 is set (Node.js 24); or name a local folder with --tokenizer-path.';
const TOKEN_HINT =
  'Ask for access on the page of the repository, then log in with `hf auth login`, set HF_TOKEN, or use --hf-token-file.';

function hasProxy(environment: Environment): boolean {
  return ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].some((name) => (environment[name] ?? '') !== '');
}

function describeRequest({ id, hubUrl }: HubPlace): string {
  const revision = id.revision === 'main' ? '' : ` at "${id.revision}"`;
  return `Cannot fetch tokenizer "${id.name}"${revision} from ${hubUrl.origin}`;
}

function describeStatus(status: number, exchange: HubExchange, place: HubPlace): Error {
  const request = describeRequest(place);
  const said = quoteHub(exchange.errorText, place);
  if (status === 401 || status === 403) {
    const state =
      exchange.errorCode === 'GatedRepo'
        ? 'access to it must be granted first'
        : 'it is private or gated, or does not exist';
    const source = place.token === undefined ? 'no token was given' : `the token of ${place.token.source} was sent`;
    return new UsageError(`${request}: ${state}; ${source} (status ${status}${said})`, { hint: TOKEN_HINT });
  }
  if (status === 404) return describeMissing(exchange.errorCode, said, place);
  const isPassing = status === 408 || status === 425 || status === 429 || status >= 500;
  const reason = `the Hub answered with status ${status}${said}`;
  if (!isPassing)
    return new UsageError(`${request}: ${reason}`, { hint: 'Check HF_ENDPOINT and the id of the repository.' });
  return new BrokenTransfer(place, reason, {
    hint: status === 429 ? 'Too many requests: wait a while, or give a token, which raises the limit.' : NETWORK_HINT,
    retryAfterSeconds: exchange.retryAfterSeconds,
  });
}

function describeMissing(errorCode: string | undefined, said: string, place: HubPlace): UsageError {
  const request = describeRequest(place);
  if (errorCode === 'EntryNotFound') {
    return new UsageError(`${request}: the repository has no tokenizer.json (status 404${said})`, {
      hint: 'It holds a slow tokenizer only: load it in Python with use_fast=True, save_pretrained() it to a folder, and name that.',
    });
  }
  if (errorCode === 'RevisionNotFound') {
    return new UsageError(`${request}: the repository has no such revision (status 404${said})`, {
      hint: 'Name a branch, a tag or a full commit id after the @.',
    });
  }
  return new UsageError(`${request}: no such repository (status 404${said})`, {
    hint: 'There is no local file or folder of that name either; check the spelling.',
  });
}

/** What the Hub said, in one short line without the token. */
function quoteHub(text: string | undefined, place: HubPlace): string {
  if (text === undefined) return '';
  const scrubbed = place.token?.scrub(text) ?? text;
  return `: ${scrubbed
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 300)}`;
}

/** The innermost message: `fetch` hides the reason behind "fetch failed". */
function reasonOf(error: unknown, place: HubPlace): string {
  let innermost = error;
  while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause;
  // Several addresses tried in vain give an error without a message of its own.
  if (innermost instanceof AggregateError && innermost.message === '') innermost = innermost.errors[0];
  const text = innermost instanceof Error ? innermost.message : String(innermost);
  return place.token?.scrub(text) ?? text;
}
