import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CanceledError, InputError } from '#cutroom/errors.js';
import type { Batch } from '#cutroom/load/batch.js';
import { FakeDecoder, fakeLoader, tableOf } from './fake-parts.js';

const table = tableOf(Array.from({ length: 20 }, (_, item) => 1 + (item % 5)));

async function collect(batches: AsyncIterable<Batch>): Promise<Batch[]> {
  const all: Batch[] = [];
  for await (const batch of batches) all.push(batch);
  return all;
}

describe('Loader', () => {
  it('hands out the batches of an epoch in order, padded and with all fields', async () => {
    await using loader = fakeLoader(table, new FakeDecoder(), { wantsBytes: true });
    const batches = await collect(loader.batches());
    expect(batches.flatMap(({ ids }) => ids)).toEqual(Array.from({ length: 20 }, (_, item) => `item-${item}`));
    expect(batches.map(({ step }) => step)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    const [first] = batches;
    expect(first?.shape).toEqual([3, 3]);
    expect([...(first?.audio ?? [])].map((sample) => sample * 1024)).toEqual([1, 0, 0, 2, 2, 0, 3, 3, 3]);
    expect([...(first?.audioLengths ?? [])]).toEqual([1, 2, 3]);
    expect(first).toMatchObject({
      text: ['text 0', 'text 1', 'text 2'],
      rows: [{ item: 0 }, { item: 1 }, { item: 2 }],
    });
    expect(first).toMatchObject({ source: ['rows', 'rows', 'rows'], sampleRate: 1000, epoch: 0, failures: [] });
    expect(first?.bytes).toEqual([Uint8Array.of(0), Uint8Array.of(1), Uint8Array.of(2)]);
  });

  it('goes on at any batch as if it had never stopped, however far it decodes ahead', async () => {
    const whole = await collect(fakeLoader(table, new FakeDecoder(), { prefetch: 1 }).batches());
    for (const [step, { state }] of whole.entries()) {
      await using loader = fakeLoader(table, new FakeDecoder(), { prefetch: 5 });
      const rest = await collect(loader.batches(state));
      const expected =
        step === whole.length - 1 ? whole.map((batch) => batch.ids) : whole.slice(step + 1).map(({ ids }) => ids);
      expect(rest.map(({ ids }) => ids)).toEqual(expected);
    }
  });

  it('goes on where a loop was left, and then with the next epoch', async () => {
    await using loader = fakeLoader(table, new FakeDecoder());
    expect(loader.state).toEqual({ seed: 0, epoch: 0, batch: 0, ranks: 1 });
    for await (const { step } of loader.batches()) if (step === 2) break;
    expect(loader.state).toEqual({ seed: 0, epoch: 0, batch: 3, ranks: 1 });
    expect((await collect(loader.batches()))[0]?.ids).toEqual(['item-9', 'item-10', 'item-11']);
    expect(loader.state).toEqual({ seed: 0, epoch: 1, batch: 0, ranks: 1 });
    expect((await collect(loader.batches())).map(({ epoch }) => epoch)).toEqual([1, 1, 1, 1, 1, 1, 1]);
  });

  it('deals steps out to workers in turn, over epochs, too', async () => {
    const whole: string[] = [];
    await using alone = fakeLoader(table, new FakeDecoder());
    for await (const { epoch, step } of alone.stream()) if (whole.push(`${epoch}/${step}`) === 24) break;
    const workers = [0, 1, 2, 3].map((worker) => fakeLoader(table, new FakeDecoder(), { worker, workers: 4 }).stream());
    const taken: string[] = [];
    for (let turn = 0; turn < 24; turn += 1) {
      const { value } = (await workers[turn % 4]!.next()) as { value: Batch };
      taken.push(`${value.epoch}/${value.step}`);
    }
    for (const worker of workers) await worker.return?.();
    expect(taken).toEqual(whole);
  });

  it('decodes no more ahead than it may, and nothing after the loop was left', async () => {
    const decoder = new FakeDecoder();
    await using loader = fakeLoader(table, decoder, { prefetch: 3 });
    for await (const { step } of loader.batches()) {
      await setTimeout(20);
      expect(decoder.requests.length).toBe(Math.min(20, 3 * (step + 1 + 3)));
      if (step === 1) break;
    }
    expect(decoder.mostRunning).toBeLessThanOrEqual(3);
    expect(decoder.running).toBe(0);
    const asked = decoder.requests.length;
    await setTimeout(20);
    expect(decoder.requests.length).toBe(asked);
  });

  it('gives everything back when it is closed in the middle of a loop, and says so to the loop', async () => {
    const decoder = new FakeDecoder();
    const loader = fakeLoader(table, decoder);
    const batches = loader.batches();
    await batches.next();
    await loader.close();
    expect(decoder).toMatchObject({ running: 0, isClosed: true });
    await expect(batches.next()).rejects.toThrow(CanceledError);
    expect(() => loader.batches()).toThrow('The loader was closed');
    await loader.close();
  });

  it('ends by the reason of its signal', async () => {
    const controller = new AbortController();
    await using loader = fakeLoader(table, new FakeDecoder(), { signal: controller.signal });
    const batches = loader.batches();
    await batches.next();
    controller.abort(new CanceledError('Stopped by the test'));
    await expect(batches.next()).rejects.toThrow('Stopped by the test');
  });

  it('puts an item that is no longer in the place of one that cannot be read, and names it', async () => {
    await using loader = fakeLoader(table, new FakeDecoder([7]));
    const [, , third] = await collect(loader.batches());
    expect(third?.ids).toHaveLength(3);
    const [failure] = third?.failures ?? [];
    expect(failure).toMatchObject({ id: 'item-7', reason: 'corrupt_recording', message: 'torn', hint: 'mend it' });
    expect(failure).toMatchObject({ source: 'rows', manifestPath: 'rows.jsonl', lineNumber: 8, path: '7.wav' });
    expect(third?.ids[1]).toBe(failure?.replacedBy);
    const replacedBy = Number(failure?.replacedBy?.slice('item-'.length));
    expect(table.durationsMicros[replacedBy]).toBe(table.durationsMicros[7]);
    expect(loader.failures).toMatchObject({ count: 1, replaced: 1, dropped: 0, reasons: { corrupt_recording: 1 } });
    await using other = fakeLoader(table, new FakeDecoder([7]), { size: 5, prefetch: 1 });
    const [, second] = await collect(other.batches());
    expect(second?.failures[0]?.replacedBy).toBe(failure?.replacedBy);
  });

  it('drops an item for which nothing can be read after some tries', async () => {
    const decoder = new FakeDecoder(Array.from({ length: 20 }, (_, item) => item).filter((item) => item !== 3));
    await using loader = fakeLoader(table, decoder, { size: 4 });
    const batches = await collect(loader.batches());
    expect(batches).toHaveLength(5);
    const [first, second] = batches;
    expect(first?.ids).toEqual(['item-3']);
    expect(second?.shape[0]).toBe(second?.ids.length);
    expect(loader.failures.replaced + loader.failures.dropped).toBe(loader.failures.count);
    expect(decoder.requests.length).toBeLessThanOrEqual(20 + 19 * 4);
  });

  it('drops or raises where it is told to', async () => {
    await using dropping = fakeLoader(table, new FakeDecoder([0, 1, 2]), { onItemError: 'drop' });
    const [first, second] = await collect(dropping.batches());
    expect(first).toMatchObject({ shape: [0, 0], ids: [], sampleRate: 1000 });
    expect(first?.failures.map(({ replacedBy }) => replacedBy)).toEqual([undefined, undefined, undefined]);
    expect(second?.ids).toHaveLength(3);
    await using raising = fakeLoader(table, new FakeDecoder([4]), { onItemError: 'raise' });
    const error = await collect(raising.batches()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(InputError);
    expect(error).toMatchObject({ message: 'torn (item "item-4" of "rows")', line: 5, hint: 'mend it' });
  });

  it('ends when more items fail than it may', async () => {
    await using loader = fakeLoader(table, new FakeDecoder([1, 8]), { maxFailures: 1, onItemError: 'drop' });
    const seen: number[] = [];
    const run = async (): Promise<void> => {
      for await (const { step } of loader.batches()) seen.push(step);
    };
    await expect(run()).rejects.toThrow('Cannot go on: 2 items could not be read, and maxFailures is 1');
    expect(seen).toEqual([0, 1]);
  });

  it.each([
    ['dropped', 'drop'],
    ['not to be replaced', 'replace'],
  ] as const)('ends a loop over epochs of which nothing can be read, where items are %s', async (_, onItemError) => {
    const all = Array.from({ length: table.rowCount }, (__, item) => item);
    await using loader = fakeLoader(table, new FakeDecoder(all), { onItemError });
    let batches = 0;
    const run = async (): Promise<void> => {
      for await (const batch of loader.stream()) batches += batch.ids.length === 0 ? 1 : NaN;
    };
    await expect(run()).rejects.toMatchObject({
      message: expect.stringMatching(
        /^Cannot go on: the last 1[0-9]{3} attempts to read an item failed: the first, "item-0" of "rows": torn$/u,
      ) as string,
      hint: 'mend it',
    });
    expect(batches).toBeGreaterThan(50);
    // One that can be read now and then is enough.
    await using going = fakeLoader(table, new FakeDecoder(all.slice(1)), { onItemError: 'drop' });
    let read = 0;
    for await (const { ids } of going.stream()) if ((read += ids.length) === 200) break;
    expect(going.failures.count).toBeGreaterThan(3000);
  });

  it('lays copies behind one another, of one speed and changed each for itself', async () => {
    await using loader = fakeLoader(table, new FakeDecoder([], () => 100), {
      copies: 2,
      speeds: [0.5, 2],
      augment: { volume: { gainDb: [-20, 20] } },
    });
    for (const { ids, shape, audio, audioLengths, augmentations, rows } of await collect(loader.batches())) {
      const items = shape[0] / 2;
      for (let at = 0; at < items; at += 1) {
        expect(ids[at + items]).toBe(ids[at]);
        expect(audioLengths[at + items]).toBe(audioLengths[at]);
        const [one, two] = [augmentations![at]!, augmentations![at + items]!];
        expect(one.speed).toBe(two.speed);
        expect(audioLengths[at]).toBe(100 / one.speed);
        expect(one.gainDb).not.toBe(two.gainDb);
        const level = (Number(rows[at]?.['item']) + 1) / 1024;
        expect(audio[at * shape[1]]).toBeCloseTo(level * 10 ** ((one.gainDb ?? 0) / 20), 5);
        expect(audio[(at + items) * shape[1]]).toBeCloseTo(level * 10 ** ((two.gainDb ?? 0) / 20), 5);
      }
    }
  });
});
