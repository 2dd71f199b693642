// `cutroom stream` behind `pipe:` URLs, as WebDataset, torch and NeMo read it. scripts/make-venv.sh makes the Python environment.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Batch } from '#cutroom/load/batch.js';
import { createLoader } from '#cutroom/load/create-loader.js';
import type { LoaderOptions } from '#cutroom/load/loader-options.js';
import { createWindowedDataset } from '#cutroom/sample/windowed-dataset.js';
import { nameOf, writeDataset, type SmallItem } from '../load/loader-shards.js';
import { writeRamp } from '../sample/sampled-wavs.js';
import { jsonLines } from '../support/shard-files.js';
import { HAS_PYTHON, PYTHON, sha256 } from '../support/python-readers.js';

if (!HAS_PYTHON) console.warn('Skipped: .venv is missing; sh scripts/make-venv.sh makes it');

/** What a reader saw of one sample. */
interface Seen {
  key: string;
  suffix: string;
  row: { id: string; text: string; duration: number; source_audio_offset?: number; source_audio_filepath: string };
  rate: number;
  samples: number;
  sha256: string;
}

interface SeenBatch {
  key: string;
  shape: number[];
  kinds: string[];
  lengths: number[];
  sum: number;
  sha256: string;
  facts: { ids: string[]; text: string[]; state: object };
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const main = path.join(root, 'dist/cli/main.js');
const ITEMS = 60;
const RATE = 16_000;

describe.skipIf(!HAS_PYTHON)('a stream behind a pipe', () => {
  let folder = '';
  let list = '';
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cutroom-stream-'));
    const items = Array.from({ length: ITEMS }, (_, number): SmallItem => {
      return { number, samples: 4000 + ((number * 7919) % 8000), wav: { sampleRate: number % 3 === 0 ? RATE : 8000 } };
    });
    list = writeDataset(path.join(folder, 'data'), items, 4);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const commandOf = (flags: string, source = list): string =>
    `"${process.execPath}" "${main}" stream ${source === '' ? '' : `--source "${source}"`} --jobs 1 ${flags}`;

  async function batchesOf(options: Partial<LoaderOptions>): Promise<Batch[]> {
    await using loader = await createLoader({ source: list, jobs: 1, ...options });
    const batches: Batch[] = [];
    for await (const batch of loader.batches(0)) batches.push(batch);
    return batches;
  }

  it('gives two ranks each row once, in the order of the plan, with its audio', async () => {
    const flags = (rank: number): string => `--max-duration 4 --buckets 3 --rank ${rank} --world-size 2`;
    const seen = readStreams<Seen[]>([0, 1].map((rank) => ({ reader: 'samples', commands: [commandOf(flags(rank))] })));
    for (const rank of [0, 1]) {
      const batches = await batchesOf({ maxDuration: 4, bucketCount: 3, rank, worldSize: 2 });
      const planned = batches.flatMap((batch) => samplesOf(batch));
      expect(seen[rank]!.map(({ key, sha256: hash }) => ({ key, hash }))).toEqual(planned);
    }
    const all = seen.flat();
    expect(all.map(({ key }) => key).sort()).toEqual(Array.from({ length: ITEMS }, (_, number) => nameOf(number)));
    expect(new Set(all.map(({ rate, suffix }) => `${rate} ${suffix}`))).toEqual(new Set([`${RATE} wav`]));
    for (const { row, samples } of all) expect(row.duration).toBe(samples / RATE);
  });

  it('gives batches as the library does', async () => {
    const [seen] = readStreams<SeenBatch[]>([{ reader: 'batches', commands: [commandOf('--batches --batch-size 8')] }]);
    const batches = await batchesOf({ batchSize: 8 });
    expect(seen!.map(({ shape, kinds, lengths, facts }) => ({ shape, kinds, lengths, ids: facts.ids }))).toEqual(
      batches.map(({ shape, audioLengths, ids }) => ({
        shape,
        kinds: ['float32', 'int32'],
        lengths: [...audioLengths],
        ids,
      })),
    );
    for (const [at, { audio, state, text }] of batches.entries()) {
      expect(seen![at]!.sum).toBeCloseTo(
        audio.reduce((sum, value) => sum + value, 0),
        3,
      );
      expect(seen![at]!.sha256).toBe(sha256(bytesOf(audio)));
      expect(seen![at]!.facts).toMatchObject({ state, text });
    }
  });

  it('gives members as they are, and FLAC', () => {
    const [raw, flac] = readStreams<Seen[]>(
      ['raw', 'flac'].map((format) => {
        return { reader: 'as-nemo', commands: [commandOf(`--format ${format} --sample-rate native`)] };
      }),
    );
    expect(raw).toHaveLength(ITEMS);
    const hashes = (seen: readonly Seen[]): string[] =>
      seen.map(({ key, rate, sha256: hash }) => `${key} ${rate} ${hash}`).sort();
    expect(hashes(flac!)).toEqual(hashes(raw!));
  });

  it('gives windows of files, and groups of them by weight', async () => {
    const [a, b] = ['a', 'b'].map((name, at) => writeRamp(path.join(folder, name, 'x.wav'), 8 - 4 * at, RATE));
    const windows = `--duration 0.5 --alpha 0.5 --sample-rate ${RATE}`;
    const groups = `--group a="${path.dirname(a!)}":0.75 --group b="${path.dirname(b!)}":0.25 --epoch-items 40`;
    const [plain, mixed] = readStreams<Seen[]>([
      { reader: 'samples', commands: [commandOf(`--windows "${path.dirname(a!)}" ${windows}`, '')] },
      { reader: 'samples', commands: [commandOf(`${groups} ${windows}`, '')] },
    ]);
    await using dataset = await createWindowedDataset({
      sources: path.dirname(a!),
      durationSeconds: 0.5,
      alpha: 0.5,
      sampleRate: RATE,
    });
    const expected: string[] = [];
    for (let index = 0; index < dataset.length; index += 1) {
      const { waveform, offsetSeconds } = await dataset.get(index);
      expected.push(`${offsetSeconds} ${sha256(bytesOf(waveform))}`);
    }
    expect(plain!.map(({ row, sha256: hash }) => `${row.source_audio_offset} ${hash}`)).toEqual(expected);
    expect(mixed!.map(({ row }) => row.source_audio_filepath).filter((file) => file === a)).toHaveLength(30);
    expect(mixed).toHaveLength(40);
  });

  it('ends quietly when it is closed early, and a state tells where', () => {
    const state = path.join(folder, 'state.json');
    const errors = path.join(folder, 'errors.txt');
    const flags = `--epochs forever --batch-size 4 --state "${state}" 2>"${errors}"`;
    const [seen] = readStreams<Seen[]>([{ reader: 'samples', commands: [commandOf(flags)], first: 200 }]);
    expect(seen).toHaveLength(200);
    expect(readFileSync(errors, 'utf8')).toBe('');
  });

  it('gives the workers of a torch DataLoader each row once', () => {
    const commands = [0, 1].map((worker) => commandOf(`--worker ${worker} --workers 2 --batch-size 4`));
    const [seen] = readStreams<Seen[]>([{ reader: 'torch', commands }]);
    expect(seen!.map(({ key }) => key).sort()).toEqual(Array.from({ length: ITEMS }, (_, number) => nameOf(number)));
  });

  it("is one of NeMo's tarred datasets, by a manifest of its members", () => {
    const rows = Array.from({ length: ITEMS }, (_, number) => {
      return { audio_filepath: `${nameOf(number)}.wav`, duration: 0.2, text: `text ${number}`, shard_id: 0 };
    });
    const manifest = path.join(folder, 'manifest_0.json');
    writeFileSync(manifest, jsonLines(rows));
    // NeMo looks for the number of a shard in the URL; the shell passes over it.
    const commands = [commandOf('--sample-rate 16000 # audio_0.tar')];
    const [seen] = readStreams<(Seen & { text: string })[]>([{ reader: 'nemo', commands, manifest }]);
    expect(seen!.map(({ text }) => Number(text.slice(5))).sort((x, y) => x - y)).toEqual(
      rows.map((_, number) => number),
    );
    expect(new Set(seen!.map(({ rate }) => rate))).toEqual(new Set([RATE]));
  });
});

/** What readers take of streams, all in one process. */
function readStreams<Result>(requests: readonly object[]): Result[] {
  const script = path.join(root, 'tests/interop/read-stream.py');
  const argv = [script, ...requests.map((request) => JSON.stringify(request))];
  return JSON.parse(execFileSync(PYTHON, argv, { encoding: 'utf8', stdio: 'pipe', maxBuffer: 1 << 28 })) as Result[];
}

/** Keys and audio of a batch, sample by sample. */
function samplesOf({ ids, audio, audioLengths, shape }: Batch): { key: string; hash: string }[] {
  return ids.map((key, item) => {
    const start = item * shape[1];
    return { key, hash: sha256(bytesOf(audio.subarray(start, start + audioLengths[item]!))) };
  });
}

function bytesOf(array: Float32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
