import { setTimeout as sleep } from 'node:timers/promises';
import { CanceledError, CutroomError, UsageError } from '../errors.js';
import {
  type CachedFile,
  type Environment,
  HubRepositoryCache,
  expandHome,
  hubCacheFolder,
  isCommit,
  nonEmpty,
} from './hub-cache.js';
import { type FileFacts, blobNameOf, findContentFault } from './hub-checksum.js';
import { HubExchange } from './hub-exchange.js';
import {
  BrokenTransfer,
  type HubPlace,
  describeBrokenBody,
  describeFailure,
  describeProtocolFault,
  describeWrongContent,
} from './hub-failure.js';
import type { HubId } from './hub-id.js';
import { scrubError } from './secret.js';
import { type TokenSources, resolveToken } from './token.js';
import type { TokenizerEvent } from './types.js';

export interface HubOptions extends TokenSources {
  /** Folder for downloaded files, laid out like the standard cache; that one where none is named. */
  cacheDir?: string | undefined;
  signal?: AbortSignal | undefined;
  onEvent?: ((event: TokenizerEvent) => void) | undefined;
  /** How to wait before another try; for tests. */
  wait?: ((seconds: number, signal: AbortSignal | undefined) => Promise<void>) | undefined;
  /** A transfer that brings no byte for so long is given up and tried again; 30 where none is given. */
  stallSeconds?: number | undefined;
}

/** The one file of a repository that the tokenizer needs. */
const FILE_NAME = 'tokenizer.json';
const WAITS_SECONDS = [1, 4];
const TRIES = WAITS_SECONDS.length + 1;
const LONGEST_WAIT_SECONDS = 60;
/** Ten times the largest one known. */
const MAX_BYTES = 512 * 1024 * 1024;

/**
 * Finds the `tokenizer.json` of a repository in the cache, or fetches it there, and returns its place. A revision that is in the cache
 * is taken from there and the Hub not asked. What is fetched is checked against the length and the checksum that the Hub gives before
 * it gets its name, and tried three times.
 *
 * @throws UsageError when the file cannot be had; the token is in no error.
 * @throws OutputError when the cache cannot be written.
 * @throws CanceledError
 */
export async function fetchHubTokenizer(id: HubId, options: HubOptions): Promise<CachedFile> {
  const { environment, homeDir } = options;
  const cacheDir = nonEmpty(options.cacheDir);
  const cacheFolder = cacheDir === undefined ? hubCacheFolder(environment, homeDir) : expandHome(cacheDir, homeDir);
  const cache = new HubRepositoryCache(cacheFolder, id);
  const cached = await cache.find(id.revision, FILE_NAME);
  if (cached !== undefined) {
    options.onEvent?.({ kind: 'cached', repository: id.name, ...cached });
    return cached;
  }
  if (/^(?:1|on|yes|true)$/i.test(environment['HF_HUB_OFFLINE'] ?? '')) {
    throw new UsageError(
      `Cannot load tokenizer "${id.name}" at "${id.revision}": it is not in the Hub cache "${cacheFolder}", and HF_HUB_OFFLINE is set`,
      { hint: 'Unset HF_HUB_OFFLINE for one run, or name a local folder that holds its tokenizer.json.' },
    );
  }
  const place = { id, hubUrl: readEndpoint(environment), token: await resolveToken(options), environment };
  try {
    return await fetchWithRetries(place, cache, options);
  } catch (error) {
    if (options.signal?.aborted === true) throw new CanceledError(`Canceled while fetching tokenizer "${id.name}"`);
    if (error instanceof CutroomError) throw error;
    throw scrubError(error, place.token);
  }
}

function readEndpoint(environment: Environment): URL {
  const text = nonEmpty(environment['HF_ENDPOINT']) ?? 'https://huggingface.co';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new UsageError('Cannot use HF_ENDPOINT: it is not an http or https address without a user name', {
      hint: 'It looks like https://huggingface.co; a token is given with HF_TOKEN.',
    });
  }
  return url;
}

async function fetchWithRetries(place: HubPlace, cache: HubRepositoryCache, options: HubOptions): Promise<CachedFile> {
  const wait = options.wait ?? waitFor;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await fetchOnce(place, cache, options);
    } catch (error) {
      if (!(error instanceof BrokenTransfer) || options.signal?.aborted === true) throw error;
      if (attempt === TRIES) throw error.toUsageError(TRIES);
      const asked = error.retryAfterSeconds ?? WAITS_SECONDS[attempt - 1]!;
      const waitSeconds = Math.min(asked, LONGEST_WAIT_SECONDS);
      const { reason } = error;
      options.onEvent?.({ kind: 'retry', repository: place.id.name, attempt, tries: TRIES, waitSeconds, reason });
      await wait(waitSeconds, options.signal);
    }
  }
}

async function waitFor(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(seconds * 1000, undefined, signal === undefined ? {} : { signal });
}

async function fetchOnce(place: HubPlace, cache: HubRepositoryCache, options: HubOptions): Promise<CachedFile> {
  const { id, hubUrl, token } = place;
  const { signal, stallSeconds = 30, onEvent } = options;
  const exchange = new HubExchange({ hubUrl, token, signal, stallSeconds, maxBytes: MAX_BYTES });
  // Loading the library takes longer than many a dry run, so it is loaded for a transfer only.
  const { downloadFile, fileDownloadInfo } = await import('@huggingface/hub');
  const request = {
    repo: { type: 'model' as const, name: id.name },
    path: FILE_NAME,
    revision: id.revision,
    hubUrl: hubUrl.href.replace(/\/+$/, ''),
    fetch: exchange.fetch,
    // Without the token, which the library would take only where it begins with hf_: the exchange adds it.
  };

  let info;
  try {
    info = await fileDownloadInfo(request);
  } catch (error) {
    throw describeFailure(error, exchange, place);
  }
  if (info === null) throw describeFailure(undefined, exchange, place);
  const facts = readFacts(exchange, info.size, place);
  const { commit, sizeBytes } = facts;

  let content = facts.isEtagChecksum ? await cache.readBlob(facts.etag) : undefined;
  if (content === undefined || findContentFault(content, facts) !== undefined) {
    onEvent?.({ kind: 'download', repository: id.name, commit, sizeBytes });
    try {
      // The plain transfer: the protocol for parts of large files (Xet) is not worth its requests for this one.
      const blob = await downloadFile({ ...request, downloadInfo: info, xet: false });
      content = new Uint8Array(await blob!.arrayBuffer());
    } catch (error) {
      throw describeBrokenBody(error, sizeBytes, exchange, place);
    }
    const fault = findContentFault(content, facts);
    if (fault !== undefined) throw describeWrongContent(fault, place);
  }
  const blobName = blobNameOf(content, facts);
  const added = await cache.add(id.revision, { name: FILE_NAME, commit, blobName, content });
  onEvent?.({ kind: 'downloaded', repository: id.name, commit, sizeBytes, path: added.path });
  return added;
}

function readFacts(exchange: HubExchange, sizeBytes: number, place: HubPlace): FileFacts {
  const commit = isCommit(place.id.revision) ? place.id.revision : exchange.commit;
  if (commit === undefined || !isCommit(commit)) throw describeProtocolFault('it names no commit', place);
  const etag = exchange.etag ?? '';
  const isEtagChecksum = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(etag) && etag !== exchange.xetHash;
  return { commit, sizeBytes: exchange.sizeBytes ?? sizeBytes, etag, isEtagChecksum };
}
