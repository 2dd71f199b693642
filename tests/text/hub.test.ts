import { execFile } from 'node:child_process';
import { lstat, mkdir, mkdtemp, readFile, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CanceledError, OutputError, UsageError } from '#cutroom/errors.js';
import { parseHubId } from '#cutroom/text/hub-id.js';
import { type HubOptions, fetchHubTokenizer } from '#cutroom/text/hub.js';
import type { TokenizerEvent } from '#cutroom/text/types.js';
import { FakeHub, type FakeRequest, cutAfter, gitIdOf, isTransfer, redirect, refuse, sha256Of } from './fake-hub.js';
import { makeLongTokenizer, makeTokenizerJson } from './small-tokenizer.js';

const COMMIT = 'c0ffee'.padEnd(40, '0');
const SMALL = Buffer.from(makeTokenizerJson());
const LONG = makeLongTokenizer();
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

let hub: FakeHub;
let home: string;
let events: TokenizerEvent[];
let waits: number[];

beforeEach(async () => {
  hub = await FakeHub.start();
  home = await mkdtemp(join(tmpdir(), 'cutroom-hub-'));
  events = [];
  waits = [];
});
afterEach(async () => {
  await hub.stop();
  await rm(home, { recursive: true });
});

function fetchTokenizer(id: string, changes: Partial<HubOptions> = {}) {
  return fetchHubTokenizer(parseHubId(id), {
    homeDir: home,
    environment: { HF_ENDPOINT: hub.url },
    onEvent: (event) => events.push(event),
    wait: (seconds) => {
      waits.push(seconds);
      return Promise.resolve();
    },
    ...changes,
  });
}

async function failureOf(promise: Promise<unknown>): Promise<UsageError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UsageError);
  return error as UsageError;
}

/** Contents are compared by their hash: comparing long ones byte by byte takes seconds. */
const hashOf = async (path: string): Promise<string> => sha256Of(await readFile(path));

const cacheOf = (name: string): string => join(home, '.cache/huggingface/hub', `models--${name.replace('/', '--')}`);

/** Every file in the cache of a repository that is not a link, with the SHA-256 of its content. */
async function listBlobs(name: string): Promise<Record<string, string>> {
  const blobs: Record<string, string> = {};
  const entries = await readdir(cacheOf(name), { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !entry.parentPath.includes('refs')) blobs[entry.name] = await hashOf(path);
  }
  return blobs;
}

const retries = (): string[] => events.flatMap((event) => (event.kind === 'retry' ? [event.reason] : []));

describe('fetchHubTokenizer()', () => {
  it('fetchHubTokenizer() fetches one file into the standard layout', async () => {
    hub.repositories['team/model'] = { commit: COMMIT, files: { 'tokenizer.json': SMALL, 'model.safetensors': LONG } };
    const { path, commit } = await fetchTokenizer('team/model');

    expect(commit).toBe(COMMIT);
    expect(path).toBe(join(cacheOf('team/model'), 'snapshots', COMMIT, 'tokenizer.json'));
    expect(await hashOf(path)).toBe(sha256Of(SMALL));
    expect((await lstat(path)).isSymbolicLink()).toBe(true);
    expect(await readlink(path)).toBe(join('..', '..', 'blobs', gitIdOf(SMALL)));
    expect(await readFile(join(cacheOf('team/model'), 'refs/main'), 'utf8')).toBe(COMMIT);
    expect(await listBlobs('team/model')).toEqual({ [gitIdOf(SMALL)]: sha256Of(SMALL) });
    expect(events.map((event) => event.kind)).toEqual(['download', 'downloaded']);
    expect(events[0]).toMatchObject({ repository: 'team/model', commit: COMMIT, sizeBytes: SMALL.length });
  });

  it('fetchHubTokenizer() asks for nothing but the tokenizer', async () => {
    hub.repositories['team/model'] = { commit: COMMIT, files: { 'tokenizer.json': SMALL, 'config.json': SMALL } };
    await fetchTokenizer('team/model');
    expect(hub.requests).toHaveLength(4);
    for (const request of hub.requests) expect(request).toMatchObject({ method: 'GET', acceptEncoding: 'identity' });
    const paths = hub.requests.map((request) => request.url.replace(/\?.*/, ''));
    expect(new Set(paths)).toEqual(
      new Set([
        '/team/model/resolve/main/tokenizer.json',
        `/api/resolve-cache/models/team/model/${COMMIT}/tokenizer.json`,
      ]),
    );
    expect(hub.requests.filter(isTransfer)).toHaveLength(1);
  });

  it.each(['large', 'xet'] as const)(
    'fetchHubTokenizer() follows the %s file to the content network',
    async (storage) => {
      hub.repositories['team/model'] = { commit: COMMIT, files: { 'tokenizer.json': LONG }, storage, token: 'hf_abc' };
      const { path } = await fetchTokenizer('team/model', { token: 'hf_abc' });
      expect(await hashOf(path)).toBe(sha256Of(LONG));
      expect(Object.keys(await listBlobs('team/model'))).toEqual([sha256Of(LONG)]);
      const servers = new Map<FakeRequest['server'], Set<string | undefined>>();
      for (const { server, authorization } of hub.requests) {
        servers.set(server, (servers.get(server) ?? new Set()).add(authorization));
      }
      expect(servers.get('hub')).toEqual(new Set(['Bearer hf_abc']));
      expect(servers.get('cdn')).toEqual(new Set([undefined]));
    },
  );

  it('fetchHubTokenizer() does not send the token again after a detour over another host', async () => {
    hub.repositories['team/model'] = { commit: COMMIT, files: { 'tokenizer.json': SMALL } };
    hub.override(
      1,
      ({ server }) => server === 'hub',
      (response) => redirect(response, 302, `${hub.cdnUrl}/detour`),
    );
    hub.override(
      1,
      ({ url }) => url === '/detour',
      (response) => redirect(response, 302, `${hub.url}/team/model/resolve/main/tokenizer.json`),
    );
    await fetchTokenizer('team/model', { token: 'hf_abc' });
    expect(hub.requests.slice(0, 4).map((request) => request.authorization)).toEqual([
      'Bearer hf_abc',
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('fetchHubTokenizer() follows a repository that was renamed', async () => {
    hub.repositories['org/gpt2'] = { commit: COMMIT, files: { 'tokenizer.json': SMALL } };
    hub.override(
      2,
      ({ url }) => url.startsWith('/gpt2/'),
      (response) => redirect(response, 307, '/org/gpt2/resolve/main/tokenizer.json'),
    );
    const { path } = await fetchTokenizer('gpt2');
    expect(path).toBe(join(cacheOf('gpt2'), 'snapshots', COMMIT, 'tokenizer.json'));
  });

  it('fetchHubTokenizer() uses the cache without the network', async () => {
    hub.repositories['team/model'] = { commit: COMMIT, files: { 'tokenizer.json': SMALL } };
    const { path } = await fetchTokenizer('team/model');
    const { length } = hub.requests;
    await hub.stop();
    events = [];
    expect(await fetchTokenizer('team/model')).toEqual({ path, commit: COMMIT });
    expect(await fetchTokenizer('team/model', { environment: { HF_HUB_OFFLINE: '1' } })).toEqual({
      path,
      commit: COMMIT,
    });
    expect(await fetchTokenizer(`team/model@${COMMIT}`)).toEqual({ path, commit: COMMIT });
    expect(events.map((event) => event.kind)).toEqual(['cached', 'cached', 'cached']);
    expect(hub.requests).toHaveLength(length);
  });

  it.each(['1', 'true', 'YES'])('fetchHubTokenizer() stays offline with HF_HUB_OFFLINE=%s', async (value) => {
    hub.repositories['team/model'] = { commit: COMMIT, files: { 'tokenizer.json': SMALL } };
    const environment = { HF_ENDPOINT: hub.url, HF_HUB_OFFLINE: value };
    const error = await failureOf(fetchTokenizer('team/model', { environment }));
    expect(error.message).toMatch(/"team\/model" at "main": it is not in the Hub cache .* HF_HUB_OFFLINE is set/);
    expect(hub.requests).toEqual([]);
  });

  it('fetchHubTokenizer() takes a revision and keeps each in its own snapshot', async () => {
    const older = 'a'.repeat(40);
    const revisions = { 'v1.0': older, 'refs/pr/1': older };
    hub.repositories['team/model'] = { commit: COMMIT, files: { 'tokenizer.json': SMALL }, revisions };
    const main = await fetchTokenizer('team/model');
    const tagged = await fetchTokenizer('team/model@v1.0');
    expect([main.commit, tagged.commit]).toEqual([COMMIT, older]);
    expect(await hashOf(tagged.path)).toBe(sha256Of(SMALL));
    // The content is the same, so it is linked and not fetched again.
    expect(hub.requests.filter(isTransfer)).toHaveLength(1);
    await fetchTokenizer(`team/model@refs/pr/1`);
    expect(await readFile(join(cacheOf('team/model'), 'refs/refs/pr/1'), 'utf8')).toBe(older);
  });

  it.each(['a snapshot without it', 'a link to nothing'])(
    'fetchHubTokenizer() fetches what the cache has as %s',
    async (state) => {
      const older = 'b'.repeat(40);
      const snapshot = join(cacheOf('team/model'), 'snapshots', older);
      await mkdir(snapshot, { recursive: true });
      await mkdir(join(cacheOf('team/model'), 'refs'));
      await writeFile(join(cacheOf('team/model'), 'refs/main'), older);
      await writeFile(join(snapshot, 'config.json'), '{}');
      if (state === 'a link to nothing') await symlink('../../blobs/gone', join(snapshot, 'tokenizer.json'));
      hub.repositories['team/model'] = { commit: COMMIT, files: { 'tokenizer.json': SMALL }, revisions: { older } };
      expect(await hashOf((await fetchTokenizer('team/model')).path)).toBe(sha256Of(SMALL));
      expect(await readFile(join(cacheOf('team/model'), 'refs/main'), 'utf8')).toBe(COMMIT);
      expect(await hashOf((await fetchTokenizer(`team/model@${older}`)).path)).toBe(sha256Of(SMALL));
    },
  );

  it('fetchHubTokenizer() does not reuse a damaged content', async () => {
    hub.repositories['team/model'] = { commit: COMMIT, files: { 'tokenizer.json': SMALL } };
    await mkdir(join(cacheOf('team/model'), 'blobs'), { recursive: true });
    await writeFile(join(cacheOf('team/model'), 'blobs', gitIdOf(SMALL)), SMALL.subarray(0, 50));
    const { path } = await fetchTokenizer('team/model');
    expect(await hashOf(path)).toBe(sha256Of(SMALL));
  });

  it('fetchHubTokenizer() puts files where it is told', async () => {
    hub.repositories['team/model'] = { commit: COMMIT, files: { 'tokenizer.json': SMALL } };
    const rest = ['models--team--model', 'snapshots', COMMIT, 'tokenizer.json'];
    const HF_ENDPOINT = `${hub.url}/`;
    const placed: [string[], Partial<HubOptions>][] = [
      [['given'], { cacheDir: join(home, 'given') }],
      [['tilde'], { cacheDir: '~/tilde' }],
      [['a'], { environment: { HF_ENDPOINT, HF_HUB_CACHE: join(home, 'a'), HF_HOME: join(home, 'b') } }],
      [['b', 'hub'], { environment: { HF_ENDPOINT, HF_HUB_CACHE: '', HF_HOME: join(home, 'b') } }],
      [['c', 'huggingface', 'hub'], { environment: { HF_ENDPOINT, XDG_CACHE_HOME: join(home, 'c') } }],
    ];
    for (const [parts, options] of placed) {
      expect((await fetchTokenizer('team/model', options)).path).toBe(join(home, ...parts, ...rest));
    }
  });

  it('fetchHubTokenizer() serves promises and processes that load the same at once', async () => {
    hub.repositories['team/model'] = { commit: COMMIT, files: { 'tokenizer.json': LONG } };
    const script = `import { fetchHubTokenizer } from '#cutroom/text/hub.js';
      const options = { homeDir: ${JSON.stringify(home)}, environment: { HF_ENDPOINT: ${JSON.stringify(hub.url)} } };
      console.log((await fetchHubTokenizer({ name: 'team/model', revision: 'main' }, options)).path);`;
    const run = promisify(execFile);
    const processes = [1, 2].map(() =>
      run(process.execPath, ['--input-type=module', '--eval', script], { cwd: REPOSITORY }).then(({ stdout }) =>
        stdout.trim(),
      ),
    );
    const promises = [1, 2, 3].map(() => fetchTokenizer('team/model').then(({ path }) => path));
    const paths = await Promise.all([...processes, ...promises]);
    expect(new Set(paths)).toEqual(new Set([join(cacheOf('team/model'), 'snapshots', COMMIT, 'tokenizer.json')]));
    expect(await listBlobs('team/model')).toEqual({ [gitIdOf(LONG)]: sha256Of(LONG) });
  });

  it('fetchHubTokenizer() refuses a cache that cannot be written', async () => {
    hub.repositories['team/model'] = { commit: COMMIT, files: { 'tokenizer.json': SMALL } };
    await writeFile(join(home, 'file'), '');
    const error = await fetchTokenizer('team/model', { cacheDir: join(home, 'file') }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(OutputError);
    expect((error as OutputError).path).toContain(join(home, 'file'));
  });
});

describe('fetchHubTokenizer() with a transfer that breaks', () => {
  beforeEach(() => {
    hub.repositories['team/model'] = { commit: COMMIT, files: { 'tokenizer.json': LONG } };
    hub.repositories['team/large'] = { commit: COMMIT, files: { 'tokenizer.json': LONG }, storage: 'large' };
  });

  const cuts = (['length', 'chunks', 'nothing'] as const).flatMap((announce) =>
    ['team/model', 'team/large'].map((name) => [announce, name] as const),
  );

  it.each(cuts)('fetchHubTokenizer() tries again after a cut with %s announced, %s', async (announce, name) => {
    hub.override(1, isTransfer, cutAfter(100_000, LONG, announce));
    const { path } = await fetchTokenizer(name);
    expect(await hashOf(path)).toBe(sha256Of(LONG));
    expect(waits).toEqual([1]);
    expect(retries()).toEqual([
      expect.stringMatching(/^the transfer (?:broke off at byte|is broken: 100,000 bytes came)/),
    ]);
    expect(events.map((event) => event.kind)).toEqual(['download', 'retry', 'download', 'downloaded']);
  });

  it.each(cuts)(
    'fetchHubTokenizer() leaves no torn file when every try is cut with %s announced, %s',
    async (announce, name) => {
      hub.override(9, isTransfer, cutAfter(100_000, LONG, announce));
      const error = await failureOf(fetchTokenizer(name));
      expect(error.message).toMatch(/^Cannot fetch tokenizer "team\/\w+" from .*: the transfer .* \(3 tries\)$/);
      expect(error.hint).toMatch(/network/);
      expect(waits).toEqual([1, 4]);
      expect(hub.requests.filter(isTransfer)).toHaveLength(3);
      expect(await listBlobs(name)).toEqual({});
      await expect(fetchTokenizer(name, { environment: { HF_HUB_OFFLINE: '1' } })).rejects.toThrow(
        /not in the Hub cache/,
      );
    },
  );

  it.each(['team/model', 'team/large'])(
    'fetchHubTokenizer() finds a flipped byte by the checksum, %s',
    async (name) => {
      const flipped = Buffer.from(LONG);
      flipped[5000]! ^= 1;
      hub.override(1, isTransfer, (response) => response.end(flipped));
      expect(await hashOf((await fetchTokenizer(name)).path)).toBe(sha256Of(LONG));
      expect(retries()).toEqual(['the transfer is broken: the content does not have the announced checksum']);
    },
  );

  it('fetchHubTokenizer() gives up a transfer that stands still', async () => {
    hub.override(1, isTransfer, (response) => response.write(LONG.subarray(0, 10)));
    expect(await hashOf((await fetchTokenizer('team/model', { stallSeconds: 0.3 })).path)).toBe(sha256Of(LONG));
    expect(retries()).toEqual([expect.stringMatching(/broke off at byte 10 of [\d,]+: no data for 0\.3 s/)]);
  });

  it('fetchHubTokenizer() gives up a Hub that does not answer', async () => {
    hub.override(
      1,
      () => true,
      () => {},
    );
    expect(await hashOf((await fetchTokenizer('team/model', { stallSeconds: 0.3 })).path)).toBe(sha256Of(LONG));
    expect(retries()).toEqual(['the Hub cannot be reached: no data for 0.3 s']);
  });

  it('fetchHubTokenizer() stops in the middle of a transfer', async () => {
    const controller = new AbortController();
    hub.override(1, isTransfer, (response) => {
      response.write(LONG.subarray(0, 10), () => controller.abort());
    });
    await expect(fetchTokenizer('team/model', { signal: controller.signal })).rejects.toBeInstanceOf(CanceledError);
    expect(await listBlobs('team/model')).toEqual({});
    expect(retries()).toEqual([]);
  });

  it('fetchHubTokenizer() stops while it waits for the next try', async () => {
    const controller = new AbortController();
    hub.override(
      9,
      () => true,
      (response) => refuse(response, 503, 'Busy'),
    );
    const onEvent = (): void => controller.abort();
    const options = { signal: controller.signal, onEvent, wait: undefined };
    await expect(fetchTokenizer('team/model', options)).rejects.toBeInstanceOf(CanceledError);
  });
});

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
    waits = [];
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
