import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { UsageError } from '#cutroom/errors.js';
import { parseHubId } from '#cutroom/text/hub-id.js';
import { type HubOptions, fetchHubTokenizer } from '#cutroom/text/hub.js';
import type { TokenizerEvent } from '#cutroom/text/types.js';
import { FakeHub, sha256Of } from './fake-hub.js';

export const COMMIT = 'c0ffee'.padEnd(40, '0');

export let hub: FakeHub;
/** A home folder without anything in it. */
export let home: string;
export let events: TokenizerEvent[];
/** Seconds waited between tries, which take no time here. */
export let waits: number[];

/** Gives each test of the file a Hub and a home of its own. */
export function useFakeHub(): void {
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
}

export function fetchTokenizer(id: string, changes: Partial<HubOptions> = {}) {
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

export async function failureOf(promise: Promise<unknown>): Promise<UsageError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UsageError);
  return error as UsageError;
}

/** Contents are compared by their hash: comparing long ones byte by byte takes seconds. */
export const hashOf = async (path: string): Promise<string> => sha256Of(await readFile(path));

export const cacheOf = (name: string): string =>
  join(home, '.cache/huggingface/hub', `models--${name.replace('/', '--')}`);

/** Every file in the cache of a repository that is not a link, with the SHA-256 of its content. */
export async function listBlobs(name: string): Promise<Record<string, string>> {
  const blobs: Record<string, string> = {};
  if (!existsSync(cacheOf(name))) return blobs;
  const entries = await readdir(cacheOf(name), { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !entry.parentPath.includes('refs')) blobs[entry.name] = await hashOf(path);
  }
  return blobs;
}

export const retries = (): string[] => events.flatMap((event) => (event.kind === 'retry' ? [event.reason] : []));
