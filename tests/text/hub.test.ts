import { execFile } from 'node:child_process';
import { lstat, mkdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { OutputError } from '#cutroom/errors.js';
import type { HubOptions } from '#cutroom/text/hub.js';
import { type FakeRequest, gitIdOf, isTransfer, redirect, sha256Of } from './fake-hub.js';
import {
  COMMIT,
  cacheOf,
  events,
  failureOf,
  fetchTokenizer,
  hashOf,
  home,
  hub,
  listBlobs,
  useFakeHub,
} from './hub-session.js';
import { makeLongTokenizer, makeTokenizerJson } from './small-tokenizer.js';

const SMALL = Buffer.from(makeTokenizerJson());
const LONG = makeLongTokenizer();
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

useFakeHub();

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
    events.length = 0;
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
