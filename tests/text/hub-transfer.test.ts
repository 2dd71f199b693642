import { beforeEach, describe, expect, it } from 'vitest';
import { CanceledError } from '#cutroom/errors.js';
import { cutAfter, isTransfer, refuse, sha256Of } from './fake-hub.js';
import {
  COMMIT,
  events,
  failureOf,
  fetchTokenizer,
  hashOf,
  hub,
  listBlobs,
  retries,
  waits,
  useFakeHub,
} from './hub-session.js';
import { makeLongTokenizer } from './small-tokenizer.js';

const LONG = makeLongTokenizer();

useFakeHub();

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
