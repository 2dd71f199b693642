// `cutroom stream`: samples and batches as a tar, by ranks and epochs, and command lines that are wrong.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLoader } from '#cutroom/load/create-loader.js';
import type { Batch } from '#cutroom/load/batch.js';
import { readTar } from '../support/tar-members.js';
import { levelOf, nameOf, smallItems, wavOf, writeDataset } from '../load/loader-shards.js';
import { writeRamp } from '../sample/sampled-wavs.js';
import { runCli, type CliOutcome, type CliSetting } from './run-cli.js';

const ITEMS = 40;
const RATE = '8000';

let folder = '';
let list = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-cli-stream-'));
  list = writeDataset(path.join(folder, 'data'), smallItems(ITEMS), 3);
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Streamed extends CliOutcome {
  bytes: Buffer;
  /** By name, in order. */
  members: Map<string, Buffer>;
  /** Of the JSON members, in order. */
  rows: Row[];
}

interface Row extends Record<string, unknown> {
  id: string;
  audio_filepath: string;
  duration: number;
  cutroom: {
    epoch: number;
    step: number;
    rank: number;
    isPad?: true;
    state?: Record<string, number>;
    augmentation?: object;
  };
}

async function stream(argv: readonly string[], setting: CliSetting = {}): Promise<Streamed> {
  const chunks: Buffer[] = [];
  const stdoutBytes = new Writable({
    write: (chunk: Buffer, _, done) => {
      // As of any stream, memory of what was taken is written to again.
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  const outcome = await runCli(['stream', '--jobs', '0', ...argv], { stdoutBytes, ...setting });
  const bytes = Buffer.concat(chunks);
  const members = readTar(bytes);
  const rows = [...members]
    .filter(([name]) => name.endsWith('.json'))
    .map(([, json]) => JSON.parse(String(json)) as Row);
  return { ...outcome, bytes, members, rows };
}

async function streamList(...argv: string[]): Promise<Streamed> {
  const streamed = await stream([list, '--sample-rate', RATE, ...argv]);
  expect([streamed.exitCode, streamed.stderr]).toEqual([0, '']);
  return streamed;
}

async function batchesOf(options: object, epoch = 0): Promise<Batch[]> {
  await using loader = await createLoader({ source: list, sampleRate: 8000, jobs: 0, ...options });
  const batches: Batch[] = [];
  for await (const batch of loader.batches(epoch)) batches.push(batch);
  return batches;
}

const sorted = (ids: Iterable<string>): string[] => [...ids].sort();
const ALL_IDS = Array.from({ length: ITEMS }, (_, number) => nameOf(number));

describe('cutroom stream', () => {
  it('writes each item of an epoch once, audio first, in the order of the plan', async () => {
    const { members, rows } = await streamList('--epoch', '1');
    const planned = (await batchesOf({ batchSize: 32 }, 1)).flatMap(({ ids }) => ids);
    expect([...members.keys()]).toEqual(planned.flatMap((id) => [`${id}.wav`, `${id}.json`]));
    expect(sorted(rows.map(({ id }) => id))).toEqual(ALL_IDS);
    const numbers = rows.map(({ n }) => n as number);
    expect(numbers).not.toEqual(numbers.toSorted((a, b) => a - b));
    for (const row of rows) {
      const number = row['n'] as number;
      // A WAV of 16 bits comes out as it was, header included.
      expect(members.get(row.audio_filepath)).toEqual(wavOf(smallItems(ITEMS)[number]!));
      expect(row).toMatchObject({ text: `text ${number}`, nested: { a: [1, null] }, cutroom: { epoch: 1, rank: 0 } });
      expect(row.duration).toBe(smallItems(ITEMS)[number]!.samples / 8000);
    }
  });

  it('gives ranks and workers disjoint shares, and the same bytes each time', async () => {
    const parts = ['0/0', '0/1', '1/0', '1/1'].map(async (part) => {
      const [rank = '', worker = ''] = part.split('/');
      const share = ['--rank', rank, '--world-size', '2', '--worker', worker, '--workers', '2', '--batch-size', '3'];
      const first = await streamList(...share);
      expect((await streamList(...share)).bytes.equals(first.bytes)).toBe(true);
      return first.rows.map(({ id }) => id);
    });
    expect(sorted((await Promise.all(parts)).flat())).toEqual(ALL_IDS);
  });

  it.each([
    ['samples', []],
    ['batches', ['--batches', '--batch-size', '2']],
  ] as const)('writes values of rows in %s as the manifest spells them', async (unit, flags) => {
    writeFileSync(path.join(folder, 'spelled.wav'), wavOf({ number: 1, samples: 8000 }));
    const values = {
      id: '9007199254740993',
      speaker: '12345678901234567890',
      score: '1.0',
      tiny: '1E-7',
      word: '"caf\\u00e9 \\/"',
      deep: '{"n": [10000000000000000001, 0.10]}',
      'a.b': 'null',
    };
    const spelled = Object.entries(values).map(([name, raw]) => `"${name}": ${raw}`);
    const manifest = path.join(folder, 'spelled.json');
    const row = (more: string): string =>
      `{"audio_filepath": "spelled.wav", "duration": 0.500, "offset": 0.250, ${[...spelled, more].join(', ')}}\n`;
    writeFileSync(manifest, row('"lang": "en"') + row('"not": NaN, "list": [Infinity, 3.0]'));
    const args = ['--manifest', manifest, '--sample-rate', RATE, '--no-shuffle', ...flags];
    const { members, exitCode, stderr } = await stream(args);
    expect([exitCode, stderr]).toEqual([0, '']);
    const json = [...members].filter(([name]) => name.endsWith('.json')).map(([, bytes]) => String(bytes));
    expect(json.length).toBe(unit === 'samples' ? 2 : 1);
    for (const text of json) {
      expect(() => JSON.parse(text) as unknown).not.toThrow();
      for (const [name, raw] of Object.entries(values)) expect(text).toContain(`"${name}":${raw}`);
      expect(text).toContain(unit === 'samples' ? '"source_audio_offset":0.250' : '"duration":0.500');
    }
    expect(json.join('')).toContain('"not":null,"list":[null, 3.0]');
    const names = unit === 'samples' ? ['9007199254740993.wav', '9007199254740993-again.wav'] : [];
    expect([...members.keys()]).toEqual(expect.arrayContaining(names));
  });

  it('takes fewer items at once where they are long', async () => {
    writeFileSync(path.join(folder, 'short.wav'), wavOf({ number: 1, samples: 800 }));
    const manifest = path.join(folder, 'long.json');
    const batchesOfRows = async (seconds: number, ...flags: string[]): Promise<[number, number]> => {
      const rows = Array.from({ length: 40 }, (_, at) => {
        return `{"audio_filepath": "short.wav", "duration": ${at === 20 ? seconds : 1}, "id": "r${at}"}\n`;
      });
      writeFileSync(manifest, rows.join(''));
      const { exitCode, stderr } = await stream(['--manifest', manifest, '--json', ...flags]);
      expect(exitCode).toBe(0);
      const { items, batches } = JSON.parse(stderr) as { items: number; batches: number };
      return [items, batches];
    };
    expect(await batchesOfRows(30)).toEqual([40, 2]);
    expect(await batchesOfRows(240)).toEqual([40, 8]);
    expect(await batchesOfRows(240, '--num-copies', '2')).toEqual([80, 20]);
    expect(await batchesOfRows(3600)).toEqual([40, 40]);
    expect(await batchesOfRows(3600, '--batch-size', '20')).toEqual([40, 2]);
    expect(await batchesOfRows(30, '--sample-rate', 'native')).toEqual([40, 40]);
  });

  it('fails where nothing of it can be read, and says what', async () => {
    const manifest = path.join(folder, 'gone.json');
    const rows = ['a', 'b', 'c'].map((name) => `{"audio_filepath": "gone/${name}.wav", "duration": 1}\n`);
    writeFileSync(manifest, rows.join(''));
    const { exitCode, stderr, members } = await stream(['--manifest', manifest, '--json']);
    expect([exitCode, members.size]).toEqual([1, 0]);
    expect(stderr).toContain('error: The stream is empty: none of its items could be read');
    expect(stderr).toContain('gone.json:1: gone/a: Cannot read');
    const forever = await stream(['--manifest', manifest, '--epochs', 'forever', '--quiet']);
    expect([forever.exitCode, forever.members.size]).toEqual([1, 0]);
    expect(forever.stderr).toMatch(
      /^error: .*Cannot go on: the last 10[0-9]{2} attempts to read an item failed: the first, /u,
    );
  });

  it('writes batches as arrays of NumPy', async () => {
    const { members } = await streamList('--batches', '--batch-size', '7', '--epochs', '2');
    const batches = [...(await batchesOf({ batchSize: 7 }, 0)), ...(await batchesOf({ batchSize: 7 }, 1))];
    const keys = batches.map(({ epoch, step }) => `00000${epoch}-00000000${step}`);
    const kinds = ['audio.npy', 'lengths.npy', 'json'];
    expect([...members.keys()]).toEqual(keys.flatMap((key) => kinds.map((kind) => `${key}.${kind}`)));
    for (const [at, batch] of batches.entries()) {
      const { audio, audioLengths, shape, ids, text, rows, state } = batch;
      const [head, samples] = fromNpy(members.get(`${keys[at]}.audio.npy`)!);
      expect(head).toBe(`{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')}), }`);
      expect(samples.equals(Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength))).toBe(true);
      const [lengthsHead, lengths] = fromNpy(members.get(`${keys[at]}.lengths.npy`)!);
      expect(lengthsHead).toContain(`'<i4', 'fortran_order': False, 'shape': (${shape[0]},)`);
      expect(lengths.equals(Buffer.from(audioLengths.buffer))).toBe(true);
      const facts: unknown = JSON.parse(String(members.get(`${keys[at]}.json`)));
      expect(facts).toMatchObject({ ids, text, rows, state, shape, padCount: 0, failures: [] });
    }
  });

  it('hands on members as they are, also such as cannot be decoded, and names those that are not there', async () => {
    const items = smallItems(6).map((item) => (item.number === 2 ? { ...item, bytes: Buffer.from('no audio') } : item));
    items[4] = { ...items[4]!, isMissing: true };
    const raw = writeDataset(path.join(folder, 'raw'), items, 2);
    const { members, exitCode, stderr } = await stream([raw, '--format', 'raw', '--on-item-error', 'drop']);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(
      /^warning: 1 item could not be read \(missing_member: 1\), of which 0 replaced:\n.*utt-0004/u,
    );
    expect([...members.keys()].filter((name) => name.endsWith('.wav')).sort()).toEqual(
      [0, 1, 2, 3, 5].map((number) => `${nameOf(number)}.wav`),
    );
    expect(members.get(`${nameOf(2)}.wav`)).toEqual(Buffer.from('no audio'));
    expect(members.get(`${nameOf(3)}.wav`)).toEqual(wavOf(items[3]!));
    const raised = await stream([raw, '--format', 'raw', '--on-item-error', 'raise']);
    expect([raised.exitCode, raised.stderr]).toEqual([
      1,
      expect.stringMatching(/^error: .*"utt-0004\.wav" in ".*there is no such member/u),
    ]);
  });

  it('writes floats where samples are not of 16 bits, and FLAC', async () => {
    const { members, rows } = await stream([list, '--sample-rate', '4000']);
    const wav = members.get(rows[0]!.audio_filepath)!;
    expect([wav.readUInt16LE(20), wav.readUInt32LE(24), wav.readUInt16LE(34)]).toEqual([3, 4000, 32]);
    expect(wav.readFloatLE(wav.length - 400)).toBeCloseTo(levelOf(rows[0]!['n'] as number), 4);
    const flac = await streamList('--format', 'flac');
    expect(flac.members.get(flac.rows[0]!.audio_filepath)!.toString('latin1', 0, 4)).toBe('fLaC');
  });

  it('gives neighbours different keys, without dots, and keeps ids and places', async () => {
    writeRamp(path.join(folder, 'ramp.wav'), 1, 8000);
    const row = { audio_filepath: 'ramp.wav', duration: 0.25, offset: 0.5, text: 'a', id: 'spk.1' };
    const manifest = path.join(folder, 'spans.jsonl');
    writeFileSync(manifest, `${JSON.stringify(row)}\n${JSON.stringify({ ...row, offset: 0 })}\n`);
    const { members, rows } = await stream([manifest, '--sample-rate', RATE, '--no-shuffle', '--num-copies', '2']);
    const names = [...members.keys()].map((name) => name.replace(/^\d+:/u, ''));
    expect(names.filter((name) => name.endsWith('.wav'))).toEqual(
      ['spk_1', 'spk_1-again', 'spk_1', 'spk_1-again'].map((key) => `${key}.wav`),
    );
    expect(rows[0]).toMatchObject({
      id: 'spk.1',
      duration: 0.25,
      source_audio_filepath: 'ramp.wav',
      source_audio_offset: 0.5,
    });
    expect(rows[0]).not.toHaveProperty('offset');
    expect(members.get('spk_1.wav')!.readInt16LE(44)).toBe(4000);
    const raw = await stream([manifest, '--format', 'raw']);
    expect([raw.exitCode, raw.stderr]).toEqual([
      2,
      expect.stringMatching(/ramp\.wav" as it is: the row has an "offset"\nhint: Give --format wav/u),
    ]);
  });

  it('marks items that are repeated, and the state at the end of a step', async () => {
    const { rows } = await streamList('--last-batch', 'pad', '--batch-size', '16', '--world-size', '2', '--rank', '1');
    expect(rows.filter(({ cutroom }) => cutroom.isPad)).toHaveLength(32 - (ITEMS - 16 - 8));
    const states = rows.flatMap(({ cutroom }, at) =>
      cutroom.state === undefined ? [] : [[at, cutroom.state['batch']]],
    );
    expect(states).toEqual([
      [15, 2],
      [31, 0],
    ]);
  });

  it('takes copies of a configuration for copies', async () => {
    const source = JSON.stringify({ type: 'path', path: list });
    const config = path.join(folder, 'copies.yaml');
    writeFileSync(config, `input_cfg: [${source}]\nnum_copies: 2\nlast_batch: pad\nbatch_size: 32\n`);
    const ranks = ['--sample-rate', RATE, '--world-size', '2', '--rank', '1'];
    const configured = await stream(['--config', config, ...ranks]);
    const flags = ['--num-copies', '2', '--last-batch', 'pad', '--batch-size', '32'];
    const { rows } = await stream([list, ...ranks, ...flags]);
    const marksOf = (all: readonly Row[]): unknown[] => all.map(({ id, cutroom }) => [id, cutroom.isPad]);
    expect(marksOf(configured.rows)).toEqual(marksOf(rows));
    expect(rows.filter(({ cutroom }) => cutroom.isPad)).toHaveLength(2 * (32 - (ITEMS - 16 - 8)));
  });

  it('mixes noise into each copy and turns it up or down, as the library does', async () => {
    const noises = ['b', 'a'].map((name) => writeRamp(path.join(folder, `noise/${name}.wav`), 0.1, 8000));
    const augment = {
      noise: { snrsDb: [-5, 10], files: noises.toSorted(), probability: 0.5 },
      volume: { gainDb: [-6, 12] as const, probability: 0.5 },
      clipGuard: true,
    };
    const batches = await batchesOf({ batchSize: 64, numCopies: 2, augment });
    const [noise, gain] = [
      ['--noise-probability', '0.5'],
      ['--gain-probability', '0.5', '--clip-guard'],
    ] as const;
    const { members, rows } = await streamList(
      ...['--num-copies', '2', '--noise', path.join(folder, 'noise'), '--snrs', '-5,10', ...noise],
      ...['--gain', '-6,12', ...gain],
    );
    const expected = batches.flatMap(({ augmentations }) => augmentations ?? []);
    const told = rows.map(({ cutroom }) => cutroom.augmentation);
    expect(told).toEqual(JSON.parse(JSON.stringify(expected)));
    expect(new Set(expected.map(({ noise: mixed }) => mixed?.path))).toEqual(new Set([...noises, undefined]));
    const at = expected.findIndex(({ noise: mixed, gainDb }) => mixed !== undefined && gainDb !== undefined);
    const { audio, audioLengths, shape } = batches[0]!;
    const wav = members.get(rows[at]!.audio_filepath)!;
    const samples = new Float32Array(Uint8Array.from(wav.subarray(wav.length - 4 * audioLengths[at]!)).buffer);
    expect(samples).toEqual(audio.subarray(at * shape[1], at * shape[1] + audioLengths[at]!));
    const { rows: ofSource } = await streamList('--noise-source', list, '--snrs', '0');
    expect(JSON.stringify(ofSource[0]!.cutroom)).toMatch(/"noise":\{"path":".*\.tar","offsetSamples":\d+,"snrDb":0\}/u);
  });

  it('draws windows of files and of groups', async () => {
    for (const [name, seconds] of [
      ['a/long', 4],
      ['b/short', 2],
    ] as const)
      writeRamp(path.join(folder, `w/${name}.wav`), seconds, 8000);
    const windows = await stream([
      '--windows',
      path.join(folder, 'w'),
      '--duration',
      '0.5',
      '--sample-rate',
      RATE,
      '--epochs',
      '2',
    ]);
    expect([windows.exitCode, windows.stderr]).toEqual([0, '']);
    expect(windows.rows).toHaveLength(2 * 12);
    expect(new Set(windows.rows.map(({ id }) => id)).size).toBe(24);
    for (const { audio_filepath: name, duration, source_audio_offset: offset } of windows.rows) {
      expect(duration).toBe(0.5);
      const first = Math.round((offset as number) * 8000) % 20_000;
      expect(windows.members.get(name)!.readInt16LE(44)).toBe(first);
    }
    const groups = ['a', 'b'].flatMap((name) => [
      '--group',
      `${name}=${path.join(folder, 'w', name)}:${name === 'a' ? 0.75 : 0.25}`,
    ]);
    const mixed = await stream([
      ...groups,
      '--duration',
      '0.5',
      '--sample-rate',
      RATE,
      '--epoch-items',
      '8',
      '--batch-size',
      '4',
    ]);
    expect(mixed.rows.filter(({ source_audio_filepath: file }) => String(file).includes('/a/'))).toHaveLength(6);
  });

  it('goes on where a state says, and keeps it', async () => {
    const state = path.join(folder, 'state.json');
    const whole = await streamList('--batch-size', '4', '--epochs', '2');
    const taken = whole.rows.find(({ cutroom }) => cutroom.step === 6)!;
    const at = whole.rows.findIndex(({ cutroom }) => cutroom.step === 7);
    expect(taken.cutroom.epoch).toBe(0);
    writeFileSync(state, JSON.stringify(whole.rows[at - 1]!.cutroom.state));
    const rest = await streamList('--batch-size', '4', '--epoch', '0', '--epochs', '2', '--state', state);
    expect(rest.rows.map(({ id }) => id)).toEqual(whole.rows.slice(at).map(({ id }) => id));
    expect(JSON.parse(readFileSync(state, 'utf8'))).toMatchObject({ epoch: 2, batch: 0, ranks: 1 });
    expect((await streamList('--batch-size', '4', '--epoch', '1', '--state', state)).rows).toEqual([]);
    expect((await streamList('--batch-size', '4', '--state', state)).rows[0]!.cutroom.epoch).toBe(2);
    const other = path.join(folder, 'other.json');
    const part = await stream([list, '--state', other, '--world-size', '2']);
    expect([part.exitCode, part.stderr]).toEqual([
      0,
      expect.stringMatching(/^note: ".*other\.json" is read and not written/u),
    ]);
    expect(existsSync(other)).toBe(false);
    writeFileSync(other, '{"epoch":1}');
    const nowhere = await stream([list, '--state', path.join(folder, 'nowhere', 'state.json')]);
    expect([nowhere.exitCode, nowhere.bytes.length]).toEqual([2, 0]);
    expect(nowhere.stderr).toContain('its folder does not exist');
    const bad = await stream([list, '--state', other]);
    expect([bad.exitCode, bad.stderr]).toEqual([1, expect.stringContaining('it is no state')]);
  });

  it('tells figures where they are asked for, on stderr', async () => {
    const { stderr } = await stream([list, '--sample-rate', RATE, '--json']);
    expect(JSON.parse(stderr)).toMatchObject({
      whole: true,
      items: ITEMS,
      batches: 2,
      failures: { count: 0 },
      state: { epoch: 1 },
    });
    const verbose = await stream([list, '--sample-rate', RATE, '--verbose']);
    expect(verbose.stderr).toMatch(/^40 items in 2 batches, 0\.001 h, 0\.\d MB in .* items a second\n$/u);
  });

  it('ends quietly when its reader does, or when it is stopped', async () => {
    const closing = new Writable({
      highWaterMark: 1,
      write: (_, __, done) => done(Object.assign(new Error('gone'), { code: 'EPIPE' })),
    });
    const closed = await stream([list, '--sample-rate', RATE, '--epochs', 'forever'], { stdoutBytes: closing });
    expect([closed.exitCode, closed.stderr]).toEqual([0, '']);
    const stop = new AbortController();
    const stopping = new Writable({
      write: (_, __, done) => {
        stop.abort(new Error('SIGTERM'));
        done();
      },
    });
    const stopped = await stream([list, '--epochs', 'forever'], { stdoutBytes: stopping, signal: stop.signal });
    expect([stopped.exitCode, stopped.stderr]).toEqual([130, '']);
    const full = new Writable({
      write: (_, __, done) => done(Object.assign(new Error('no space left'), { code: 'ENOSPC' })),
    });
    const failed = await stream([list], { stdoutBytes: full });
    expect([failed.exitCode, failed.stderr]).toEqual([2, 'error: Cannot write the stream: no space left\n']);
  });

  it.each([
    [['--format', 'wav', '--batches'], 2, '--format is of single samples'],
    [['--batches'], 2, 'Nothing says how large a batch may be'],
    [['--format', 'raw', '--sample-rate', '8000'], 2, 'does not go with --sample-rate'],
    [['--format', 'raw', '--speeds', '0.9,1'], 2, 'does not go with --speeds'],
    [['--format', 'raw', '--gain', '-6,6'], 2, 'does not go with noise or gain'],
    [['--noise', 'a.wav'], 2, 'Noise is given, and not how loud it is to be'],
    [['--noise', 'a.wav', '--noise-source', 'a.lst', '--snrs', '5'], 2, '--noise and --noise-source exclude'],
    [['--noise', 'nowhere', '--snrs', '5'], 1, '"nowhere" is not there'],
    [['--snrs', '5'], 2, '--snrs is given without --noise'],
    [['--noise-probability', '0.5'], 2, '--noise-probability is given without --noise'],
    [['--gain-probability', '0.5'], 2, '--gain-probability is given without --gain'],
    [['--clip-guard'], 2, '--clip-guard is given without --noise or --gain'],
    [['--alpha', '0.5'], 2, '--alpha is of windows, and there are none'],
    [['--rank', '2', '--world-size', '2'], 2, 'There is no rank 2 of 2'],
    [['--quiet', '--verbose'], 2, 'exclude each other'],
  ] as const)('refuses %j', async (flags, code, message) => {
    const { exitCode, stderr, bytes } = await stream([list, ...flags]);
    expect([exitCode, bytes.length]).toEqual([code, 0]);
    expect(stderr).toContain(message);
  });

  it('refuses a terminal, and faulty rows before anything is written', async () => {
    const shown = await stream([list], { isTerminal: true });
    expect([shown.exitCode, shown.bytes.length]).toEqual([2, 0]);
    expect(shown.stderr).toContain('hint: Pipe it into a reader');
    const manifest = path.join(folder, 'faulty.jsonl');
    writeFileSync(manifest, '{"audio_filepath":"ramp.wav","duration":1}\n{"audio_filepath":"b.wav"}\n');
    const faulty = await stream([manifest]);
    expect([faulty.exitCode, faulty.bytes.length]).toEqual([1, 0]);
    expect(faulty.stderr).toContain('hint: Mend them, or leave them out with --on-error skip.');
  });
});

/** The header's fields, and the data. */
function fromNpy(bytes: Buffer): [fields: string, data: Buffer] {
  expect(bytes.subarray(0, 8)).toEqual(Buffer.from('\u0093NUMPY\u0001\u0000', 'latin1'));
  const end = 10 + bytes.readUInt16LE(8);
  expect(end % 64).toBe(0);
  return [bytes.toString('latin1', 10, end).trimEnd(), bytes.subarray(end)];
}
