import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '#cutroom/errors.js';
import { fetchHubTokenizer } from '#cutroom/text/hub.js';
import { Secret, scrubError } from '#cutroom/text/secret.js';
import { resolveToken } from '#cutroom/text/token.js';
import { type FakeAnswer, FakeHub, isTransfer, redirect, refuse } from './fake-hub.js';
import { makeTokenizerJson } from './small-tokenizer.js';

const TOKEN = 'hf_Sup3r/Secret+Token=';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'cutroom-token-'));
});
afterEach(() => rm(home, { recursive: true }));

async function write(path: string, content: string): Promise<string> {
  const full = join(home, path);
  await mkdir(dirname(full), { recursive: true });
  await writeFile(full, content);
  return full;
}

describe('resolveToken()', () => {
  it('resolveToken() takes the first source that has one', async () => {
    const tokenFile = await write('given', ' hf_given \n');
    const HF_TOKEN_PATH = await write('path', 'hf_path\n');
    const HF_HOME = dirname(await write('home/token', 'hf_home'));
    const XDG_CACHE_HOME = join(home, 'xdg');
    await write('xdg/huggingface/token', 'hf_xdg');
    await write('.cache/huggingface/token', 'hf_default');
    const all = { HF_TOKEN: ' hf_env\n', HUGGING_FACE_HUB_TOKEN: 'hf_old', HF_TOKEN_PATH, HF_HOME, XDG_CACHE_HOME };
    const steps: [string, object, string[]][] = [
      ['hf_flag', { token: 'hf_flag', tokenFile }, []],
      ['hf_given', { tokenFile }, []],
      ['hf_given', { tokenFile: '~/given' }, []],
      ['hf_env', {}, []],
      ['hf_old', {}, ['HF_TOKEN']],
      ['hf_path', {}, ['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN']],
      ['hf_home', {}, ['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN', 'HF_TOKEN_PATH']],
      ['hf_xdg', {}, ['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN', 'HF_TOKEN_PATH', 'HF_HOME']],
      ['hf_default', {}, Object.keys(all)],
    ];
    for (const [expected, given, without] of steps) {
      const environment = Object.fromEntries(
        Object.entries(all).map(([key, value]) => [key, without.includes(key) ? '' : value]),
      );
      expect((await resolveToken({ homeDir: home, environment, ...given }))?.reveal()).toBe(expected);
    }
  });

  it('resolveToken() does without a token where there is none', async () => {
    expect(await resolveToken({ homeDir: home, environment: {} })).toBeUndefined();
    await write('.cache/huggingface/token', '\n');
    expect(await resolveToken({ homeDir: home, environment: { HF_TOKEN: '  ' } })).toBeUndefined();
  });

  it.each([
    ['a missing file', { tokenFile: 'missing' }, /missing": there is no such file/],
    ['an empty file', { tokenFile: 'empty' }, /empty" as an access token: it is empty/],
    ['a folder', { tokenFile: 'folder' }, /folder": illegal operation on a directory/],
    ['a file with more than a token', { tokenFile: 'two' }, /two" as an access token: it holds spaces/],
    ['a token with a line break', { token: 'hf_a\nhf_b' }, /it holds spaces, line breaks/],
    ['a token that is not ASCII', { token: 'hf_ä' }, /non-ASCII/],
    ['an empty token', { token: '' }, /it is empty/],
  ])('resolveToken() refuses %s', async (_, given, message) => {
    await write('empty', ' \n');
    await write('two', 'user: hf_secret\n');
    await write('folder/file', '');
    const tokenFile = 'tokenFile' in given ? join(home, given.tokenFile) : undefined;
    const error: unknown = await resolveToken({ homeDir: home, environment: {}, ...given, tokenFile }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).message).toMatch(message);
    expect(inspect(error)).not.toMatch(/hf_/);
  });
});

describe('Secret', () => {
  it('Secret is printed as a mask in every way', () => {
    const secret = new Secret(TOKEN, 'HF_TOKEN');
    const printed = [String(secret), JSON.stringify({ secret }), inspect({ secret }, { showHidden: true, depth: 9 })];
    for (const text of printed) expect(text).not.toContain('Sup3r');
    expect(secret.reveal()).toBe(TOKEN);
  });

  it('Secret masks the value as it is, percent-encoded, and in base64 at every place', () => {
    const secret = new Secret(TOKEN, 'HF_TOKEN');
    expect(secret.scrub(`a ${TOKEN} b ${encodeURIComponent(TOKEN)} c`)).toBe('a [secret] b [secret] c');
    for (const before of ['', 'u', 'us', 'usr', 'user:']) {
      const scrubbed = secret.scrub(Buffer.from(`${before}${TOKEN}:x`).toString('base64'));
      expect(scrubbed).toContain('[secret]');
      expect(Buffer.from(scrubbed.replace('[secret]', ''), 'base64').toString('latin1')).not.toContain('Sup3r');
    }
  });

  it('scrubError() masks the messages, stacks and causes and leaves other fields behind', () => {
    const secret = new Secret(TOKEN, 'HF_TOKEN');
    const inner = Object.assign(new Error(`inner ${TOKEN}`), { request: { authorization: TOKEN } });
    const copy = scrubError(new TypeError(`outer ${TOKEN}`, { cause: inner }), secret);
    expect(copy.message).toBe('outer [secret]');
    expect(copy.name).toBe('TypeError');
    expect(inspect(copy, { showHidden: true, depth: 9 })).not.toContain(TOKEN);
    expect(scrubError(`thrown ${TOKEN}`, secret).message).toBe('thrown [secret]');
  });
});

/** Everything that can be read from an error: fields of it and of its causes, own and inherited, and what prints of it. */
function readAll(value: unknown, seen = new Set<unknown>()): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (seen.has(value)) return '';
  seen.add(value);
  const fields = Reflect.ownKeys(value).map((key) => `${String(key)}=${readAll(Reflect.get(value, key), seen)}`);
  return [inspect(value, { showHidden: true, depth: 20, getters: true }), ...fields].join('\n');
}

describe('fetchHubTokenizer() keeps the token to itself', () => {
  let hub: FakeHub;
  beforeEach(async () => {
    hub = await FakeHub.start();
    const files = { 'tokenizer.json': Buffer.from(makeTokenizerJson()) };
    hub.repositories['team/model'] = { commit: 'c'.repeat(40), files };
  });
  afterEach(() => hub.stop());

  const echo: FakeAnswer = (response, request) => {
    const echoed = `you sent ${request.headers.authorization}`;
    response.setHeader('x-request-id', echoed);
    response.setHeader('etag', echoed);
    refuse(response, response.statusCode, echoed, echoed);
  };
  const withStatus =
    (status: number): FakeAnswer =>
    (response, request) => {
      response.statusCode = status;
      echo(response, request);
    };

  const dangers: [string, FakeAnswer][] = [
    ...[400, 401, 403, 404, 429, 500].map((status): [string, FakeAnswer] => [
      `a body with status ${status}`,
      withStatus(status),
    ]),
    ['a redirect to a refusal', (response) => redirect(response, 302, `/denied?token=${encodeURIComponent(TOKEN)}`)],
    ['a redirect to no server', (response) => redirect(response, 302, `http://127.0.0.1:1/${TOKEN}`)],
    ['a redirect to no host', (response) => redirect(response, 302, `http://${TOKEN.replaceAll(/\W/g, '')}.invalid/`)],
    ['a redirect out of HTTP', (response) => redirect(response, 302, `ftp://x:${encodeURIComponent(TOKEN)}@host/`)],
    [
      'a redirect with credentials',
      (response) => redirect(response, 302, `http://x:${encodeURIComponent(TOKEN)}@127.0.0.1:1/`),
    ],
    [
      'a commit',
      (response) => {
        response.writeHead(206, { 'x-repo-commit': TOKEN, etag: TOKEN, 'content-range': 'bytes 0-0/5' }).end('{');
      },
    ],
    ['a page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(TOKEN)],
  ];

  it.each(dangers)('fetchHubTokenizer() does not repeat the token from %s', async (_, answer) => {
    hub.override(99, ({ url }) => url.startsWith('/team'), answer);
    hub.override(99, ({ url }) => url.startsWith('/denied'), withStatus(500));
    const events: unknown[] = [];
    const error: unknown = await fetchHubTokenizer(
      { name: 'team/model', revision: 'main' },
      {
        token: TOKEN,
        homeDir: home,
        environment: { HF_ENDPOINT: hub.url },
        onEvent: (event) => events.push(event),
        wait: () => Promise.resolve(),
      },
    ).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect(hub.requests[0]?.authorization).toBe(`Bearer ${TOKEN}`);
    const all = readAll(error) + JSON.stringify(events) + inspect(events, { depth: 9 });
    for (const form of [TOKEN, encodeURIComponent(TOKEN), 'Sup3r/', 'Sup3r%2F']) expect(all).not.toContain(form);
  });

  it('fetchHubTokenizer() does not repeat the token from the middle of a transfer', async () => {
    hub.override(99, isTransfer, (response) => {
      response.write(`"${TOKEN}"`, () => response.socket?.destroy(new Error(TOKEN)));
    });
    const options = {
      token: TOKEN,
      homeDir: home,
      environment: { HF_ENDPOINT: hub.url },
      wait: () => Promise.resolve(),
    };
    const error: unknown = await fetchHubTokenizer({ name: 'team/model', revision: 'main' }, options).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(UsageError);
    expect(readAll(error)).not.toContain('Sup3r');
  });
});
