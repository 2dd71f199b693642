import { hash } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputError, UsageError } from '#cutroom/errors.js';
import type { Batch } from '#cutroom/load/batch.js';
import { createLoader } from '#cutroom/load/create-loader.js';
import type { LoaderOptions, LoaderWarning } from '#cutroom/load/loader-options.js';
import { createWindowedDataset } from '#cutroom/sample/windowed-dataset.js';
import { jsonLines } from '../support/shard-files.js';
import { levelOf, nameOf, smallItems, wavOf, writeDataset } from './loader-shards.js';

let folder: string;
let list: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-loader-'));
  list = writeDataset(path.join(folder, 'plain'), smallItems(40), 3);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Options that decode in this process, at the rate of the audio. */
const HERE = { sampleRate: 8000, jobs: 0 } as const;

async function collect(batches: AsyncIterable<Batch>): Promise<Batch[]> {
  const all: Batch[] = [];
  for await (const batch of batches) all.push(batch);
  return all;
}

/** All batches of the first epoch, or what is left of it. */
async function collectAll(options: LoaderOptions, from?: Batch['state']): Promise<Batch[]> {
  await using loader = await createLoader(options);
  return await collect(loader.batches(from));
}

function numbersOf(batches: readonly Batch[]): number[] {
  return batches.flatMap(({ rows }) => rows.map((row) => Number(row['n']))).sort((a, b) => a - b);
}

function firstNumbers(count: number): number[] {
  return Array.from({ length: count }, (_, number) => number);
}

describe('createLoader()', () => {
  it('gives each row of a dataset once, as batches of its audio with all fields', async () => {
    await using loader = await createLoader({ source: list, maxDuration: 0.5, ...HERE });
    const batches = await collect(loader.batches());
    for (const { audio, shape, audioLengths, rows, ids, text, source } of batches) {
      expect((shape[0] * shape[1]) / 8000).toBeLessThanOrEqual(0.5);
      for (const [at, row] of rows.entries()) {
        const number = Number(row['n']);
        const keys = ['audio_filepath', 'duration', 'text', 'n', 'nested'];
        expect(Object.keys(row)).toEqual(keys);
        expect(row['nested']).toEqual({ a: [1, null] });
        expect([ids[at], text[at], source[at]]).toEqual([nameOf(number), `text ${number}`, list]);
        const samples = audio.subarray(at * shape[1], (at + 1) * shape[1]);
        const length = audioLengths[at]!;
        expect(length).toBe(400 + (number % 5) * 160);
        expect(samples.subarray(0, length).every((sample) => sample === levelOf(number))).toBe(true);
        expect(samples.subarray(length).every((sample) => sample === 0)).toBe(true);
      }
    }
    expect(numbersOf(batches)).toEqual(firstNumbers(40));
    expect(loader.failures).toEqual({ count: 0, reasons: {}, replaced: 0, dropped: 0, first: [] });
    expect(loader.warnings).toEqual([]);
    expect(loader.stepCount(0)).toBe(batches.length);
    expect(loader.report(0)).toMatchObject({ items: 40, distinctItems: 40, stepCount: batches.length });
    expect(loader.table.rowCount).toBe(40);
  });

  it.each([
    [1, 1, 1],
    [2, 2, 3],
    [3, 1, 2],
    [5, 2, 1],
  ])(
    'deals each row out once over %i ranks of %i workers, however many it decodes ahead (%i)',
    async (worldSize, workers, prefetch) => {
      const batches: Batch[] = [];
      const steps = new Set<number>();
      for (let rank = 0; rank < worldSize; rank += 1) {
        let ofRank = 0;
        for (let worker = 0; worker < workers; worker += 1) {
          const shares = { rank, worldSize, worker, workers, prefetch };
          const own = await collectAll({ source: list, maxDuration: 0.4, ...shares, ...HERE });
          expect(own.every(({ step }) => step % workers === worker)).toBe(true);
          ofRank += own.length;
          batches.push(...own);
        }
        steps.add(ofRank);
      }
      expect(steps.size).toBe(1);
      expect(numbersOf(batches)).toEqual(firstNumbers(40));
    },
  );

  it('goes on at any batch with the same bytes, in other loaders of more workers, too', async () => {
    const options = { source: list, batchSize: 3, bucketCount: 3, seed: 5, speeds: [0.9, 1, 1.1], ...HERE };
    const augment = { volume: { gainDb: [-3, 3] as const } };
    const whole = await collectAll({ ...options, augment });
    for (const step of [0, 1, 6, whole.length - 2]) {
      const { state } = whole[step]!;
      const saved = JSON.parse(JSON.stringify(state)) as Batch['state'];
      const rest: Batch[] = [];
      for (const worker of [0, 1]) {
        const own = await collectAll({ ...options, augment, worker, workers: 2, prefetch: 1 }, saved);
        for (const [at, batch] of own.entries()) rest[2 * at + worker] = batch;
      }
      const facts = ({ audio, ...others }: Batch): object => {
        const { ids, augmentations, shape, bucket, rows } = others;
        return { ids, augmentations, shape, bucket, rows, audio: hash('sha256', audio) };
      };
      expect(rest.map(facts)).toEqual(whole.slice(step + 1).map(facts));
    }
  });

  it('goes on with another number of ranks, each row once', async () => {
    const options = { source: list, batchSize: 3, ...HERE };
    const taken = await Promise.all(
      [0, 1].map(async (rank) => {
        await using loader = await createLoader({ ...options, rank, worldSize: 2 });
        const batches: Batch[] = [];
        for await (const batch of loader.batches()) if (batches.push(batch) === 3) break;
        return { batches, state: loader.state };
      }),
    );
    expect(taken[0]?.state).toEqual(taken[1]?.state);
    const rest = await Promise.all(
      [0, 1, 2].map(async (rank) => await collectAll({ ...options, rank, worldSize: 3 }, taken[0]?.state)),
    );
    expect(new Set(rest.map(({ length }) => length)).size).toBe(1);
    expect(numbersOf([...taken.flatMap(({ batches }) => batches), ...rest.flat()])).toEqual(firstNumbers(40));
  });

  it('averages channels and brings all to one rate', async () => {
    const items = smallItems(4).map((item, at) =>
      at % 2 === 0 ? { ...item, wav: { channels: 2, sampleRate: 16_000 } } : { ...item, wav: { sampleRate: 16_000 } },
    );
    const mixed = writeDataset(path.join(folder, 'mixed'), items, 1);
    for (const { audio, shape, audioLengths, rows, sampleRate } of await collectAll({
      source: mixed,
      batchSize: 2,
      ...HERE,
    })) {
      expect(sampleRate).toBe(8000);
      for (const [at, row] of rows.entries()) {
        const length = audioLengths[at]!;
        expect(length).toBe(400 + (Number(row['n']) % 5) * 160);
        // The filter meets silence at both ends.
        expect(audio[at * shape[1] + Math.floor(length / 2)]).toBeCloseTo(levelOf(Number(row['n'])), 3);
      }
    }
  });

  it('keeps the rates of items that are alone in their batches, and refuses them otherwise', async () => {
    const items = smallItems(3).map((item) => ({ ...item, wav: { sampleRate: 8000 * (item.number + 1) } }));
    const mixed = writeDataset(path.join(folder, 'rates'), items, 1);
    const batches = await collectAll({ source: mixed, batchSize: 1, sampleRate: null, jobs: 0 });
    expect(batches.map(({ sampleRate }) => sampleRate).sort((a, b) => a - b)).toEqual([8000, 16_000, 24_000]);
    const refused = createLoader({ source: mixed, batchSize: 2, sampleRate: null });
    await expect(refused).rejects.toThrow('Items that keep their own rates do not go into one batch');
  });

  it('gives the encoded bytes of what is not changed', async () => {
    const options = { source: list, batchSize: 8, rawBytes: true, shuffle: false, ...HERE };
    const [batch] = await collectAll(options);
    const [first] = batch?.rows ?? [];
    const item = smallItems(40)[Number(first?.['n'])]!;
    expect(Buffer.from(batch?.bytes?.[0] ?? []).equals(wavOf(item))).toBe(true);
    const [changed] = await collectAll({ ...options, speeds: [1.1] });
    expect(changed?.bytes).toEqual(Array.from({ length: 8 }));
    const [without] = await collectAll({ ...options, rawBytes: false });
    expect(without?.bytes).toBeUndefined();
  });

  it('shortens what is sped up, within the limit', async () => {
    const batches = await collectAll({ source: list, maxDuration: 0.4, speeds: [0.5, 2], ...HERE });
    expect(numbersOf(batches)).toEqual(firstNumbers(40));
    for (const { shape, audioLengths, rows, augmentations } of batches) {
      expect((shape[0] * shape[1]) / 8000).toBeLessThanOrEqual(0.4);
      for (const [at, row] of rows.entries()) {
        const samples = 400 + (Number(row['n']) % 5) * 160;
        expect(audioLengths[at]).toBe(samples / (augmentations?.[at]?.speed ?? 1));
      }
    }
  });

  it('refuses options that do not go together', async () => {
    await expect(createLoader({ source: list, batchSize: 2, rank: 2, worldSize: 2, ...HERE })).rejects.toThrow(
      'no rank 2 of 2',
    );
    await expect(createLoader({ source: list, batchSize: 2, prefetch: 0, ...HERE })).rejects.toThrow(
      'prefetch must be',
    );
    await expect(createLoader({ source: [], batchSize: 2, ...HERE })).rejects.toThrow('There is no source');
    await expect(createLoader({ source: list, ...HERE })).rejects.toThrow(UsageError);
    await expect(createLoader({ source: path.join(folder, 'none.lst'), batchSize: 1, ...HERE })).rejects.toThrow(
      InputError,
    );
  });

  it.each<[string, object, string]>([
    ['no source', { source: undefined }, 'A source is a path, or an object with a "type", and not undefined'],
    ['a type that does not exist', { source: { type: 'nemoo' } }, 'There is no type "nemoo" of sources'],
    ['a text for a list', { source: { type: 'nemo', manifests: 'a.json' } }, '"manifests" of a source of type nemo'],
    ['one of many', { source: { type: 'group', sources: [list, null] } }, 'A source is a path'],
    ['no dataset', { source: { type: 'excerpts' } }, '"dataset" of a source of type excerpts must be a dataset'],
    ['indexes anywhere', { indexes: 'besides' }, 'indexes must be memory, beside or { folder }, not "besides"'],
    ['no folder of indexes', { indexes: {} }, 'indexes must be memory, beside or { folder }, not {}'],
    ['one gain', { augment: { volume: { gainDb: 5 } } }, 'augment.volume.gainDb must be two numbers of dB'],
    [
      'no ratio',
      { augment: { noise: { snrDb: [5], files: ['a'] } } },
      'augment.noise.snrsDb must be a list of numbers',
    ],
  ])('names what programs without types give: %s', async (_, options, message) => {
    const given: LoaderOptions = { source: list, batchSize: 2, ...HERE, ...options };
    await expect(createLoader(given)).rejects.toThrow(message);
  });

  it('warns of an epoch without steps, which its loop does not show', async () => {
    const told: LoaderWarning[] = [];
    await using loader = await createLoader({
      source: list,
      ...{ batchSize: 8, worldSize: 6, lastBatch: 'drop', onWarning: (warning) => told.push(warning), ...HERE },
    });
    expect(await collect(loader.batches())).toEqual([]);
    expect(told).toEqual([
      {
        code: 'no_steps',
        message: 'Epoch 0 has no steps: items are left out (last_batch: 40)',
        hint: 'Take fewer ranks or smaller batches, or another lastBatch.',
      },
    ]);
    expect(loader.warnings).toEqual(told);
    await using whole = await createLoader({ source: list, batchSize: 8, worldSize: 5, lastBatch: 'drop', ...HERE });
    expect(await collect(whole.batches())).toHaveLength(1);
    expect(whole.warnings).toEqual([]);
  });

  it('tells of faulty rows at once', async () => {
    const manifest = path.join(folder, 'faulty.json');
    writeFileSync(path.join(folder, 'a.wav'), wavOf({ number: 0, samples: 400 }));
    writeFileSync(manifest, jsonLines([{ audio_filepath: 'a.wav', duration: 0.05 }, { audio_filepath: 'a.wav' }, '{']));
    const told: LoaderWarning[] = [];
    const source = { type: 'nemo', manifests: [manifest] } as const;
    await using loader = await createLoader({
      source,
      batchSize: 1,
      onWarning: (warning) => told.push(warning),
      ...HERE,
    });
    expect(told).toEqual(loader.warnings);
    const lines = told.map(({ message }) => message.replaceAll(folder, ''));
    expect(lines[0]).toBe(
      '1 row is left out (no_duration): the first, line 2 of "/faulty.json": the row has no "duration"',
    );
    expect(told.map(({ code }) => code)).toEqual(['rows_left_out', 'rows_left_out']);
    expect((await collect(loader.batches())).flatMap(({ ids }) => ids)).toEqual(['a']);
  });
});

describe('a loader of damaged shards', () => {
  it('puts the same item in the place of one that cannot be read, on any number of ranks, and names it', async () => {
    const items = smallItems(20).map((item) => {
      if (item.number === 6) return { ...item, bytes: Buffer.from('no audio at all') };
      return item.number === 13 ? { ...item, isMissing: true } : item;
    });
    const source = writeDataset(path.join(folder, 'bad'), items, 2);
    const options = { source, batchSize: 4, ...HERE };
    const failures = (await collectAll(options)).flatMap((batch) => batch.failures);
    expect(failures.map(({ id }) => id).sort()).toEqual(['utt-0006', 'utt-0013']);
    const [missing, corrupt] = [...failures].sort((a, b) => b.id.localeCompare(a.id));
    expect(missing).toMatchObject({ reason: 'missing_member', source, lineNumber: 7 });
    expect(missing?.message).toBe(`Cannot read "utt-0013.wav" in "${missing?.path}": there is no such member`);
    expect(missing?.manifestPath).toMatch(/s\.1\.jsonl$/u);
    expect(corrupt?.reason).not.toBe('missing_member');
    const split = await Promise.all(
      [0, 1, 2].map(async (rank) => await collectAll({ ...options, rank, worldSize: 3, prefetch: 1, batchSize: 3 })),
    );
    const others = split.flat().flatMap((batch) => batch.failures);
    const replacements = (all: typeof failures): string[] =>
      all.map(({ id, replacedBy }) => `${id} ${replacedBy}`).sort();
    expect(replacements(others)).toEqual(replacements(failures));
    for (const { id, replacedBy } of failures) {
      const [failed, standing] = [id, replacedBy ?? ''].map((name) => items[Number(name.slice(4))]!.samples);
      expect(standing).toBe(failed);
    }
  });

  it('does not let a row that says too little make a batch that is too large', async () => {
    const items = smallItems(12).map((item) =>
      item.number === 4 ? { ...item, samples: 8000, row: { duration: 0.1 } } : item,
    );
    const source = writeDataset(path.join(folder, 'long'), items, 1);
    const batches = await collectAll({ source, maxDuration: 0.4, ...HERE });
    for (const { shape } of batches) expect((shape[0] * shape[1]) / 8000).toBeLessThanOrEqual(0.4);
    const [failure] = batches.flatMap(({ failures }) => failures);
    expect(failure).toMatchObject({ id: 'utt-0004', reason: 'longer_than_row' });
    expect(failure?.message).toBe(
      'Cannot use "utt-0004": its audio has 1.00 s, its row says 0.10 s, and its batch has no room for more',
    );
    const counted = await collectAll({ source, batchSize: 4, ...HERE });
    expect(numbersOf(counted)).toEqual(firstNumbers(12));
  });

  it('goes on without a shard that has gone, and says which', async () => {
    const source = writeDataset(path.join(folder, 'gone'), smallItems(12), 3);
    await using loader = await createLoader({ source, batchSize: 4, onItemError: 'drop', ...HERE });
    rmSync(path.join(folder, 'gone/s.1.tar'));
    const batches = await collect(loader.batches());
    expect(numbersOf(batches)).toEqual(firstNumbers(12).filter((number) => number % 3 !== 1));
    expect(loader.failures).toMatchObject({ count: 4, dropped: 4, reasons: { missing_tar: 4 } });
    expect(loader.failures.first[0]?.message).toContain('s.1.tar');
  });

  it('reads what a torn tar still has, and warns', async () => {
    const source = writeDataset(path.join(folder, 'torn'), smallItems(6), 1);
    const tar = path.join(folder, 'torn/s.0.tar');
    await using whole = await createLoader({ source, batchSize: 6, ...HERE });
    expect(whole.warnings).toEqual([]);
    truncateSync(tar, 512 + 1024 + 512 + 700);
    await using loader = await createLoader({ source, batchSize: 6, onItemError: 'drop', ...HERE });
    const batches = await collect(loader.batches());
    expect(numbersOf(batches)).toEqual([0]);
    expect(loader.warnings.map(({ code }) => code)).toEqual(['unreadable_tar']);
    expect(loader.failures.count).toBe(5);
  });

  it('ends where a manifest is another one than was read', async () => {
    const source = writeDataset(path.join(folder, 'changed'), smallItems(6), 1);
    await using loader = await createLoader({ source, batchSize: 6, ...HERE });
    writeFileSync(path.join(folder, 'changed/s.0.jsonl'), jsonLines([{ audio_filepath: 'x.wav', duration: 1 }]));
    appendFileSync(path.join(folder, 'changed/s.0.jsonl'), ' '.repeat(2000));
    await expect(collect(loader.batches())).rejects.toThrow('changed_manifest');
  });
});

describe('a loader of windows', () => {
  it('gives each window of an epoch once, mixed to mono', async () => {
    const audio = path.join(folder, 'recordings');
    writeDataset(audio, [], 0);
    const wav = { channels: 2, sampleRate: 8000 };
    writeFileSync(path.join(audio, 'long.wav'), wavOf({ number: 511, samples: 8000, wav }));
    const dataset = await createWindowedDataset({
      sources: audio,
      durationSeconds: 0.1,
      sampleRate: 8000,
      mono: false,
      numEpochs: 1,
    });
    try {
      const source = { type: 'excerpts', dataset, name: 'windows', tags: { lang: 'de' } } as const;
      const batches = await collectAll({ source, batchSize: 4, ...HERE });
      const ids = batches.flatMap((batch) => batch.ids);
      expect(ids.sort()).toEqual(Array.from({ length: 10 }, (_, index) => `windows/${index}`));
      for (const batch of batches) {
        expect(batch.shape[1]).toBe(800);
        expect(batch.audio.every((sample) => sample === 0.5)).toBe(true);
        expect(batch.rows[0]).toMatchObject({
          audio_filepath: path.join(audio, 'long.wav'),
          duration: 0.1,
          lang: 'de',
        });
      }
      const otherRate = collectAll({ source, batchSize: 4, jobs: 0, sampleRate: 16_000 });
      await expect(otherRate).rejects.toThrow('Excerpts of 8000 Hz do not go into batches of 16000 Hz');
      const sped = createLoader({ source, batchSize: 4, speeds: [1.1], ...HERE });
      await expect(sped).rejects.toThrow('Excerpts have one duration');
    } finally {
      await dataset[Symbol.asyncDispose]();
    }
  });
});

describe('noise', () => {
  it.each(['files', 'source'] as const)('comes from %s, decoded by the same road', async (kind) => {
    const noise = path.join(folder, 'noise.wav');
    writeFileSync(noise, wavOf({ number: 255, samples: 8000 }));
    const manifest = path.join(folder, 'noise.json');
    writeFileSync(manifest, jsonLines([{ audio_filepath: 'noise.wav', duration: 1 }]));
    const from = kind === 'files' ? { files: [noise] } : { source: { type: 'nemo', manifests: [manifest] } as const };
    const options = { source: list, batchSize: 4, augment: { noise: { snrsDb: [0, 10], ...from } }, ...HERE };
    const batches = await collectAll(options);
    for (const { audio, shape, rows, augmentations } of batches) {
      for (const [at, row] of rows.entries()) {
        const { path: file, snrDb } = augmentations![at]!.noise!;
        expect(file).toBe(noise);
        expect(audio[at * shape[1] + 7]).toBeCloseTo(levelOf(Number(row['n'])) * (1 + 10 ** (-snrDb / 20)), 5);
      }
    }
  });

  it('tells of faulty rows of its source', async () => {
    const manifest = path.join(folder, 'faulty-noise.json');
    writeFileSync(manifest, jsonLines([{ audio_filepath: 'noise.wav', duration: 1 }, { audio_filepath: 'noise.wav' }]));
    const augment = { noise: { snrsDb: [0], source: manifest } };
    await using loader = await createLoader({ source: list, batchSize: 4, augment, ...HERE });
    expect(loader.warnings).toMatchObject([
      { code: 'rows_left_out', message: expect.stringMatching(/1 row .*faulty-noise/u) as string },
    ]);
  });
});
