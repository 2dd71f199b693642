import { rm } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { isTransfer, redirect, refuse, sha256Of } from './fake-hub.js';
import {
  COMMIT,
  cacheOf,
  failureOf,
  fetchTokenizer,
  hashOf,
  hub,
  listBlobs,
  retries,
  waits,
  useFakeHub,
} from './hub-session.js';
import { makeTokenizerJson } from './small-tokenizer.js';

const SMALL = Buffer.from(makeTokenizerJson());

useFakeHub();

describe('fetchHubTokenizer() with a Hub that refuses', () => {
  beforeEach(() => {
    hub.repositories['team/model'] = { commit: COMMIT, files: { 'tokenizer.json': SMALL } };
  });

  it('fetchHubTokenizer() says that a repository may be private or missing', async () => {
    const error = await failureOf(fetchTokenizer('team/nothing'));
    expect(error.message).toMatch(
      /^Cannot fetch tokenizer "team\/nothing" from http:.*: it is private or gated, or does not exist; no token was given \(status 401/,
    );
    expect(error.hint).toMatch(/HF_TOKEN.*--hf-token-file/);
    expect(waits).toEqual([]);
    expect(hub.requests).toHaveLength(1);
  });

  it('fetchHubTokenizer() names the token that was refused', async () => {
    hub.repositories['team/private'] = { commit: COMMIT, files: { 'tokenizer.json': SMALL }, token: 'hf_right' };
    const environment = { HF_ENDPOINT: hub.url, HF_TOKEN: 'hf_wrong' };
    const error = await failureOf(fetchTokenizer('team/private', { environment }));
    expect(error.message).toContain('the token of HF_TOKEN was sent');
    expect((await fetchTokenizer('team/private', { environment, token: 'hf_right' })).commit).toBe(COMMIT);
  });

  it('fetchHubTokenizer() says that access must be granted', async () => {
    hub.repositories['team/gated'] = { commit: COMMIT, files: {}, token: 'hf_abc', isGated: true };
    const error = await failureOf(fetchTokenizer('team/gated', { token: 'hf_abc' }));
    expect(error.message).toMatch(/access to it must be granted first; .* \(status 403: Access to model team\/gated/);
  });

  it('fetchHubTokenizer() says what is missing', async () => {
    hub.repositories['team/slow'] = { commit: COMMIT, files: { 'spiece.model': SMALL } };
    const slow = await failureOf(fetchTokenizer('team/slow'));
    expect(slow.message).toContain('the repository has no tokenizer.json');
    expect(slow.hint).toContain('slow tokenizer');
    const revision = await failureOf(fetchTokenizer('team/model@v9'));
    expect(revision.message).toMatch(/"team\/model" at "v9" from .*: the repository has no such revision/);
    hub.override(
      1,
      () => true,
      (response) => refuse(response, 404, 'RepoNotFound'),
    );
    expect((await failureOf(fetchTokenizer('team/gone'))).message).toContain('no such repository');
  });

  it('fetchHubTokenizer() waits as long as the Hub asks', async () => {
    const busy = (value: string) => {
      hub.override(
        1,
        () => true,
        (response) => {
          response.setHeader('retry-after', value);
          refuse(response, 429, 'TooManyRequests');
        },
      );
    };
    busy('7');
    busy('100000');
    await fetchTokenizer('team/model');
    expect(waits).toEqual([7, 60]);
    expect(retries()[0]).toBe('the Hub answered with status 429: TooManyRequests');
    await rm(cacheOf('team/model'), { recursive: true });
    waits.length = 0;
    busy(new Date(Date.now() + 20_000).toUTCString());
    await fetchTokenizer('team/model');
    expect(waits[0]).toBeGreaterThan(17);
    expect(waits[0]).toBeLessThanOrEqual(20);
  });

  it('fetchHubTokenizer() tries again after a fault of the Hub', async () => {
    hub.override(
      1,
      () => true,
      (response) => refuse(response, 500, 'Oops'),
    );
    hub.override(1, isTransfer, (response) => refuse(response, 502, 'Gateway'));
    expect(await hashOf((await fetchTokenizer('team/model')).path)).toBe(sha256Of(SMALL));
    expect(waits).toEqual([1, 4]);
  });

  it('fetchHubTokenizer() gives up after three faults of the Hub', async () => {
    hub.override(
      9,
      () => true,
      (response) => refuse(response, 500, 'Oops'),
    );
    const error = await failureOf(fetchTokenizer('team/model'));
    expect(error.message).toMatch(/the Hub answered with status 500: Oops \(3 tries\)$/);
    expect(hub.requests).toHaveLength(3);
  });

  it('fetchHubTokenizer() says that there is no network', async () => {
    await hub.stop();
    const error = await failureOf(fetchTokenizer('team/model'));
    expect(error.message).toMatch(/the Hub cannot be reached: connect ECONNREFUSED .* \(3 tries\)$/);
    expect(error.hint).toContain('--tokenizer-path');
    const environment = { HF_ENDPOINT: hub.url, https_proxy: 'http://proxy.invalid' };
    expect((await failureOf(fetchTokenizer('team/model', { environment }))).hint).toContain('NODE_USE_ENV_PROXY');
  });

  it('fetchHubTokenizer() is not taken in by a login page', async () => {
    hub.override(
      9,
      () => true,
      (response) => response.end('<html>Log in</html>'),
    );
    const error = await failureOf(fetchTokenizer('team/model'));
    expect(error.message).toContain('it does not answer like the Hub');
    expect(waits).toEqual([]);
  });

  it('fetchHubTokenizer() ends a loop of redirects', async () => {
    hub.override(
      99,
      () => true,
      (response, request) => redirect(response, 302, request.url ?? ''),
    );
    expect((await failureOf(fetchTokenizer('team/model'))).message).toContain('more than 10 redirects');
  });

  it.each([
    ['no commit', 'x-repo-commit', ''],
    ['a path', 'x-repo-commit', '../../../etc'],
  ])('fetchHubTokenizer() refuses %s as the commit', async (_, header, value) => {
    hub.override(
      9,
      () => true,
      (response) => {
        response.writeHead(206, { [header]: value, etag: '"x"', 'content-range': 'bytes 0-0/5' });
        response.end('{');
      },
    );
    expect((await failureOf(fetchTokenizer('team/model'))).message).toContain('it names no commit');
  });

  it('fetchHubTokenizer() does not take a path for the name of a content', async () => {
    hub.override(
      9,
      () => true,
      (response, request) => {
        const headers = { 'x-repo-commit': COMMIT, etag: '"../../escaped"' };
        if (request.headers.range === undefined) response.writeHead(200, headers).end(SMALL);
        else response.writeHead(206, { ...headers, 'content-range': `bytes 0-0/${SMALL.length}` }).end('{');
      },
    );
    await fetchTokenizer('team/model');
    expect(Object.keys(await listBlobs('team/model'))).toEqual([sha256Of(SMALL)]);
  });

  it.each(['not a url', 'ftp://host', 'https://user:hf_abc@host'])(
    'fetchHubTokenizer() refuses the endpoint %s',
    async (endpoint) => {
      const error = await failureOf(fetchTokenizer('team/model', { environment: { HF_ENDPOINT: endpoint } }));
      expect(error.message).toMatch(/^Cannot use HF_ENDPOINT/);
      expect(error.message).not.toContain('hf_abc');
    },
  );
});
