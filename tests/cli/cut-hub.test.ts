import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeHub } from '../text/fake-hub.js';
import { makeTokenizerJson } from '../text/small-tokenizer.js';
import { runCli } from './run-cli.js';

const samples = fileURLToPath(new URL('../../samples', import.meta.url));
const TOKEN = 'hf_aVerySecretToken';

let folder: string;
let hub: FakeHub;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-cli-hub-'));
  hub = await FakeHub.start();
  hub.repositories['team/model'] = {
    commit: 'c'.repeat(40),
    files: { 'tokenizer.json': Buffer.from(makeTokenizerJson()), 'model.safetensors': Buffer.alloc(1 << 16) },
  };
});
afterEach(async () => {
  await hub.stop();
  rmSync(folder, { recursive: true, force: true });
});

const preview = (out: string, ...more: string[]): string[] => [
  ...['cut', '--input-manifest', path.join(samples, 'conversation.jsonl'), '--audio-dir', samples, '--dry-run'],
  ...['--output-dir', path.join(folder, out), '--max-duration-sec', '30', '--tokenizer-path', 'team/model', ...more],
];

describe('cutroom cut with a tokenizer of the Hub', () => {
  it('fetches the tokenizer once, with the token of a file, and works offline from then on', async () => {
    const tokenFile = path.join(folder, 'token');
    writeFileSync(tokenFile, `${TOKEN}\n`);
    const env = { HF_ENDPOINT: hub.url };
    const cache = ['--tokenizer-cache-dir', path.join(folder, 'cache'), '--hf-token-file', tokenFile];
    const first = await runCli(preview('a', '--json', '--verbose', ...cache), { env });
    expect(first.exitCode).toBe(0);
    expect(hub.requests.some(({ authorization }) => authorization === `Bearer ${TOKEN}`)).toBe(true);
    expect(hub.requests.every(({ url }) => !url.includes('safetensors'))).toBe(true);
    await hub.stop();
    const second = await runCli(preview('b', '--json', ...cache), { env });
    expect(second.exitCode).toBe(0);
    for (const name of ['snippets.jsonl', 'metrics.json']) {
      const [a, b] = ['a', 'b'].map((out) => readFileSync(path.join(folder, out, name), 'utf8'));
      expect(a).toBe(b);
      expect(a).not.toContain(TOKEN);
    }
    expect(first.stdout + first.stderr).not.toContain(TOKEN);
  });

  it('ends with 2 where the repository is refused, and says what to do', async () => {
    const env = { HF_ENDPOINT: hub.url, HF_HUB_CACHE: path.join(folder, 'cache'), HF_TOKEN: TOKEN };
    delete hub.repositories['team/model'];
    const { exitCode, stderr } = await runCli(preview('a'), { env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('team/model');
    expect(stderr).toContain('hint: ');
    expect(stderr).not.toContain(TOKEN);
  });
});
