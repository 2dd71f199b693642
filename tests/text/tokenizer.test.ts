import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { InputError, UsageError } from '#cutroom/errors.js';
import { parseHubId } from '#cutroom/text/hub-id.js';
import { loadTokenizer } from '#cutroom/text/tokenizer.js';
import { FakeHub, sha256Of } from './fake-hub.js';
import { makeTokenizerJson } from './small-tokenizer.js';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const SMALL = Buffer.from(makeTokenizerJson());

let home: string;
let hub: FakeHub;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'cutroom-tokenizer-'));
  await mkdir(join(home, 'fast'));
  await writeFile(join(home, 'fast/tokenizer.json'), SMALL);
  await writeFile(join(home, 'renamed.json'), SMALL);
  for (const name of ['slow', 'empty', 'bare']) await mkdir(join(home, name));
  await writeFile(join(home, 'slow/spiece.model'), 'x');
  await writeFile(join(home, 'slow/tokenizer_config.json'), '{}');
  await writeFile(join(home, 'bare/vocab.json'), '{}');
  await writeFile(join(home, 'bare/merges.txt'), '');
});
afterAll(() => rm(home, { recursive: true }));
beforeEach(async () => {
  hub = await FakeHub.start();
});
afterEach(() => hub.stop());

const load = (path: string | undefined) =>
  loadTokenizer({ path, homeDir: home, environment: { HF_ENDPOINT: hub.url }, wait: () => Promise.resolve() });

describe('loadTokenizer()', () => {
  it('loadTokenizer() gives the built-in tokenizer where none is named', async () => {
    expect((await load(undefined)).fingerprint).toBe('words@1');
  });

  it('loadTokenizer() reads a folder and a file', async () => {
    for (const path of [
      join(home, 'fast'),
      join(home, 'fast/tokenizer.json'),
      join(home, 'renamed.json'),
      '~/fast',
      '~/fast/',
    ]) {
      const tokenizer = await load(path);
      expect(tokenizer.fingerprint).toBe(`sha256:${sha256Of(SMALL)}`);
      expect(Array.from(await tokenizer.encode('hello there'))).toEqual([1, 3]);
    }
    expect(hub.requests).toEqual([]);
  });

  it('loadTokenizer() reads a repository on the Hub', async () => {
    hub.repositories['team/model'] = { commit: 'd'.repeat(40), files: { 'tokenizer.json': SMALL } };
    const tokenizer = await load('team/model');
    expect(tokenizer.fingerprint).toBe(`sha256:${sha256Of(SMALL)}`);
    await hub.stop();
    expect(Array.from(await (await load('team/model')).encode('hello'))).toEqual([1]);
  });

  it.each([
    ['./none', UsageError, /"\.\/none": no such file or folder/],
    ['~/none', UsageError, /none": no such file or folder/],
    ['none/tokenizer.json', UsageError, /"none\/tokenizer\.json": no such file or folder/],
    ['/none/at/all', UsageError, /"\/none\/at\/all": no such file or folder/],
    ['', UsageError, /its path is empty/],
    ['~/slow', InputError, /slow": the folder has no tokenizer\.json, only a slow tokenizer \(spiece\.model\)/],
    ['~/bare', InputError, /only a slow tokenizer \(merges\.txt, vocab\.json\)/],
    ['~/empty', InputError, /empty": the folder has no tokenizer\.json$/],
    ['~/slow/spiece.model', InputError, /spiece\.model": it is not a tokenizer\.json/],
    ['~/bare/vocab.json', InputError, /vocab\.json": it is not a tokenizer\.json/],
    ['a/b/c', UsageError, /"a\/b\/c": no such file or folder, and as a Hub repository its id has more than one slash/],
  ])('loadTokenizer() refuses %j without asking the Hub', async (path, kind, message) => {
    const error: unknown = await load(path).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(kind);
    expect((error as Error).message).toMatch(message);
    expect(hub.requests).toEqual([]);
  });

  it('loadTokenizer() loads neither the native library nor the client of the Hub before they are needed', async () => {
    const script = `import { register } from 'node:module';
      const hooks = 'export const resolve = (name, context, next) => {' +
        'if (name === "@huggingface/hub") throw new Error("loaded"); return next(name, context); };';
      register('data:text/javascript,' + encodeURIComponent(hooks));
      const { loadTokenizer } = await import('#cutroom/text/tokenizer.js');
      const load = (path) => loadTokenizer({ path, homeDir: '/nowhere', environment: {} });
      const hasNative = () => process.report.getReport().sharedObjects.some((path) => path.includes('tokenizers'));
      await load(undefined);
      const before = hasNative();
      await load(${JSON.stringify(join(home, 'fast'))});
      const after = hasNative();
      const hub = await load('team/model').catch((error) => error.message);
      console.log(JSON.stringify({ before, after, hub }));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: REPOSITORY,
    });
    expect(JSON.parse(stdout)).toEqual({ before: false, after: true, hub: 'loaded' });
  });
});

describe('parseHubId()', () => {
  it.each([
    ['gpt2', 'gpt2', 'main'],
    ['openai-community/gpt2', 'openai-community/gpt2', 'main'],
    ['a/b_c.d-e', 'a/b_c.d-e', 'main'],
    ['_a/_b_', '_a/_b_', 'main'],
    ['a/b@v1.0', 'a/b', 'v1.0'],
    ['a/b@refs/pr/3', 'a/b', 'refs/pr/3'],
    ['x'.repeat(96), 'x'.repeat(96), 'main'],
  ])('parseHubId() reads %s', (text, name, revision) => {
    expect(parseHubId(text)).toEqual({ name, revision });
  });

  it.each([
    '/a',
    'a/',
    'a//b',
    'a/b/c',
    '-a/b',
    'a/b-',
    'a/.b',
    'a..b',
    'a--b',
    'a/b.git',
    'a b',
    'a/b@',
    'a/b@../x',
    'a/b@x/../y',
    'a/b@/x',
    'a/b@x@y',
    '@x',
    'ä/b',
    'https://huggingface.co/a/b',
    'x'.repeat(97),
    'a\\b',
  ])('parseHubId() refuses %j', (text) => {
    expect(() => parseHubId(text)).toThrow(UsageError);
  });

  it('parseHubId() does not repeat a password in an address', () => {
    expect(() => parseHubId('https://user:hf_abc@huggingface.co/a/b')).toThrow(/^(?!.*hf_abc)/);
  });
});
