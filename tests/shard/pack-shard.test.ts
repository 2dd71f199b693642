import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TestContext } from 'vitest';
import { packShard } from '#cutroom/shard/pack-shard.js';
import type { PackShardJob } from '#cutroom/shard/pack-shard.js';
import type { AudioTarget, PlannedItem } from '#cutroom/shard/plan.js';
import { END_OF_ARCHIVE } from '#cutroom/tar/header.js';
import { readTarIndex } from '#cutroom/tar/reader.js';
import { TarAppender } from '#cutroom/tar/writer.js';
import { makeFolder } from '../support/cut-runs.js';
import { truncated } from '../support/broken-files.js';
import { itemOf, jobOf, makePlan, makeShard, outcomeOf, readRows, writeNoise } from '../support/pack-runs.js';
import type { PackPlaces } from '../support/pack-runs.js';
import { interleaveChannels, makeNoise } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';

interface Setup {
  folder: string;
  places: PackPlaces;
  tar: string;
  manifest: string;
  job: (changes?: Partial<PackShardJob>) => PackShardJob;
}

/** One shard of these items, and the folders that it needs. */
async function setUp(
  context: TestContext,
  items: readonly PlannedItem[],
  audio: Partial<AudioTarget> = {},
  folder?: string,
): Promise<Setup> {
  const at = folder ?? (await makeFolder(context));
  const places = await makePlan(at, [items], audio);
  for (const name of ['audios', 'manifests', '.work']) await mkdir(path.join(places.out, name), { recursive: true });
  return {
    folder: at,
    places,
    tar: path.join(places.out, 'audios', '0.tar.partial'),
    manifest: path.join(places.out, 'manifests', '0.jsonl.partial'),
    job: (changes) => jobOf(places, 0, changes),
  };
}

async function payloads(tar: string): Promise<Map<string, Buffer>> {
  const bytes = readFileSync(tar);
  const { members, isComplete } = await readTarIndex(tar);
  expect(isComplete).toBe(true);
  return new Map(
    members.map(({ name, offsetBytes, sizeBytes }) => [name, bytes.subarray(offsetBytes, offsetBytes + sizeBytes)]),
  );
}

const LONG_NAME = `${'long/'.repeat(40)}${'n'.repeat(150)}.wav`;

describe('packShard() that copies', () => {
  test('reports the audio that it wrote where the plan does not know how long it is', async (context) => {
    const folder = await makeFolder(context);
    await writeNoise(path.join(folder, 'a.wav'), 0.25);
    const item = itemOf('a', 'a.wav', { how: 'encode' });
    delete item.duration;
    const { job } = await setUp(context, [item], {}, folder);
    const reports: unknown[] = [];
    await packShard(job(), (report) => {
      reports.push(report);
      return Promise.resolve();
    });
    expect(reports[0]).toMatchObject({ micros: 250_000 });
  });

  test('writes the tar that an appender writes, and a row for each member', async (context) => {
    const folder = await makeFolder(context);
    const names = ['a.wav', 'b.c/d.wav', LONG_NAME];
    for (const [k] of names.entries())
      await writeFile(path.join(folder, `${k}.wav`), `${'bytes of '.repeat(k * 100_000)}${k}`);
    const items = names.map((member, k) => itemOf(`id${k}`, `${k}.wav`, { member, duration: '1.250' }));
    const { job, tar, manifest } = await setUp(context, items, {}, folder);
    const outcome = await makeShard(job());
    const expected = await TarAppender.open(path.join(folder, 'expected.tar'));
    for (const [k, name] of names.entries())
      await expected.appendBytes(name, readFileSync(path.join(folder, `${k}.wav`)));
    const tarBytes = await expected.finish();
    await expected.close();
    expect(readFileSync(tar).equals(readFileSync(path.join(folder, 'expected.tar')))).toBe(true);
    expect(readFileSync(manifest, 'utf8').split('\n')[0]).toBe(
      '{"audio_filepath":"a.wav","text":"words of id0","duration":1.250,"lang":"de"}',
    );
    expect(outcome).toEqual({
      plan: job().planHash,
      shard: 0,
      tarBytes,
      manifestBytes: statSync(manifest).size,
      members: 3,
      rows: 3,
      durationMicros: 3_750_000,
      copied: 3,
      clippedSamples: 0,
      invalidSamples: 0,
      failures: [],
      warnings: [],
    });
  });

  test('fails alone what is missing, empty, no file or badly named', async (context) => {
    const folder = await makeFolder(context);
    await writeFile(path.join(folder, 'a.wav'), 'bytes');
    await writeFile(path.join(folder, 'empty.wav'), '');
    const duration = '2';
    const { job, tar, manifest } = await setUp(
      context,
      [
        itemOf('gone', 'gone.wav', { line: 7, duration }),
        itemOf('a', 'a.wav', { duration }),
        itemOf('empty', 'empty.wav', { duration }),
        itemOf('folder', '.', { member: 'folder.wav', duration }),
        itemOf('name', 'a.wav', { member: '../a.wav', duration }),
        itemOf('b', 'a.wav', { member: 'b.wav', duration }),
      ],
      {},
      folder,
    );
    const { failures, members, rows } = await makeShard(job());
    expect([members, rows]).toEqual([2, 2]);
    expect(failures.map(({ id, reason }) => [id, reason])).toEqual([
      ['gone', 'missing_recording'],
      ['empty', 'empty_recording'],
      ['folder', 'unreadable_recording'],
      ['name', 'bad_member_name'],
    ]);
    expect(failures[0]).toEqual({
      kind: 'member',
      reason: 'missing_recording',
      message: `Cannot read "${path.join(folder, 'gone.wav')}": there is no such file`,
      file: 'input.tsv',
      line: 7,
      id: 'gone',
      member: 'gone.wav',
      shard: 0,
      duration: 2,
    });
    expect([...(await payloads(tar)).keys()]).toEqual(['a.wav', 'b.wav']);
    expect(readRows(manifest).map((row) => row['audio_filepath'])).toEqual(['a.wav', 'b.wav']);
  });

  test('takes members of other tars, as long as they are there', async (context) => {
    const folder = await makeFolder(context);
    const source = path.join(folder, 'source.tar');
    const appender = await TarAppender.open(source);
    await appender.appendBytes('x.wav', Buffer.from('first'));
    await appender.appendBytes(LONG_NAME, Buffer.from('second'));
    await appender.finish();
    await appender.close();
    const [first, second] = (await readTarIndex(source)).members;
    const insideOf = (member: typeof first, changes = {}) => ({
      inside: { offset: member?.offsetBytes ?? 0, size: member?.sizeBytes ?? 0, name: member?.name ?? '', ...changes },
      duration: '1',
    });
    const { job, tar } = await setUp(
      context,
      [
        itemOf('b', 'source.tar', { member: 'b.wav', ...insideOf(second) }),
        itemOf('a', 'source.tar', { member: 'a.wav', ...insideOf(first) }),
        itemOf('other', 'source.tar', { member: 'other.wav', ...insideOf(first, { name: 'y.wav' }) }),
        itemOf('past', 'source.tar', { member: 'past.wav', ...insideOf(first, { offset: 1 << 20 }) }),
        itemOf('gone', 'gone.tar', { member: 'gone.wav', ...insideOf(first) }),
      ],
      {},
      folder,
    );
    const { failures } = await makeShard(job());
    const made = await payloads(tar);
    expect(made.get('a.wav')?.toString()).toBe('first');
    expect(made.get('b.wav')?.toString()).toBe('second');
    expect(failures.map(({ id, reason }) => [id, reason])).toEqual([
      ['other', 'changed_tar'],
      ['past', 'changed_tar'],
      ['gone', 'missing_recording'],
    ]);
    expect(failures[0]?.message).toBe(`Cannot read "y.wav" in "${source}": the tar does not hold it at byte 512`);
    expect(failures[0]?.hint).toBe('The tar changed since the plan was made: plan anew.');
  });

  test('gives rows that share a member its fate', async (context) => {
    const folder = await makeFolder(context);
    await writeNoise(path.join(folder, 'a.wav'), 1.5);
    const shared = { how: 'share', member: 'a.wav' } as const;
    const { job, manifest } = await setUp(
      context,
      [
        itemOf('a', 'a.wav', { how: 'encode' }),
        itemOf('a-sub1', 'a.wav', { ...shared, duration: '0.5', span: { start: 0, end: 500_000 } }),
        itemOf('a-sub2', 'a.wav', shared),
        itemOf('a-sub3', 'a.wav', { ...shared, duration: '1.4' }),
        itemOf('gone', 'gone.wav'),
        itemOf('gone-sub1', 'gone.wav', { how: 'share', member: 'gone.wav', line: 9 }),
        itemOf('nothing', 'nothing.wav', { how: 'share' }),
      ],
      {},
      folder,
    );
    const { failures, members, rows, durationMicros } = await makeShard(job());
    expect([members, rows, durationMicros]).toEqual([1, 4, 5_000_000]);
    expect(readRows(manifest).map((row) => row['duration'])).toEqual([1.5, 0.5, 1.5, 1.5]);
    expect(failures.map(({ id, line, reason }) => [id, line, reason])).toEqual([
      ['gone', 1, 'missing_recording'],
      ['gone-sub1', 9, 'missing_recording'],
      ['nothing', 1, 'missing_member'],
    ]);
  });
});

describe('packShard() that decodes', () => {
  test('writes the exact duration, and keeps a spelling that says the same', async (context) => {
    const folder = await makeFolder(context);
    await writeNoise(path.join(folder, 'a.wav'), 1.5);
    const encode = (id: string, changes: Partial<PlannedItem>): PlannedItem =>
      itemOf(id, 'a.wav', { member: `${id}.flac`, how: 'encode', ...changes });
    const { job, manifest, tar } = await setUp(
      context,
      [
        encode('all', {}),
        encode('spelled', { duration: '1.500' }),
        encode('wrong', { duration: '9' }),
        encode('span', { span: { start: 250_000, end: 1_000_000 }, duration: '0.75' }),
        encode('open', { span: { start: 1_000_000, end: null } }),
        encode('wav', { as: 'wav', member: 'wav.wav' }),
      ],
      { format: 'flac', sampleRate: 8000 },
      folder,
    );
    const outcome = await makeShard(job());
    expect(outcome).toMatchObject({ members: 6, copied: 0, failures: [], warnings: [] });
    const durations = readFileSync(manifest, 'utf8').match(/(?<="duration":)[^,]*/gu);
    expect(durations).toEqual(['1.5', '1.500', '1.5', '0.75', '0.5', '1.5']);
    const made = await payloads(tar);
    expect(made.get('all.flac')?.toString('latin1', 0, 4)).toBe('fLaC');
    expect(made.get('wav.wav')?.length).toBe(44 + 1.5 * 8000 * 2);
  });

  test('copies what fits, and encodes the rest', async (context) => {
    const folder = await makeFolder(context);
    await writeNoise(path.join(folder, 'fits.wav'), 0.5);
    const stereo = makeNoise(8_000, 2);
    await writeFile(path.join(folder, 'stereo.wav'), buildWav(stereo, { channels: 2 }));
    await writeFile(path.join(folder, 'rate.wav'), buildWav(makeNoise(4_000), { sampleRate: 8_000 }));
    await writeFile(path.join(folder, 'float.wav'), buildWav(makeNoise(8_000), { encoding: 'f32' }));
    const fit = (name: string, changes: Partial<PlannedItem> = {}): PlannedItem =>
      itemOf(name, `${name}.wav`, { how: 'fit', ...changes });
    const { job, tar, manifest } = await setUp(
      context,
      [
        fit('fits'),
        fit('stereo'),
        fit('rate'),
        fit('float'),
        itemOf('part', 'fits.wav', { how: 'fit', member: 'part.wav', span: { start: 0, end: 250_000 } }),
        itemOf('measured', 'rate.wav', { member: 'measured.wav' }),
      ],
      { format: 'wav', sampleRate: 16_000 },
      folder,
    );
    const outcome = await makeShard(job());
    expect(outcome).toMatchObject({ members: 6, copied: 2, failures: [] });
    expect(readRows(manifest).map((row) => row['duration'])).toEqual([0.5, 0.5, 0.5, 0.5, 0.25, 0.5]);
    const made = await payloads(tar);
    expect(made.get('fits.wav')?.equals(readFileSync(path.join(folder, 'fits.wav')))).toBe(true);
    for (const name of ['stereo.wav', 'rate.wav', 'float.wav']) expect(made.get(name)?.length, name).toBe(16_044);
  });

  test('decodes what a tar holds, and leaves no copy of it', async (context) => {
    const folder = await makeFolder(context);
    await writeNoise(path.join(folder, 'a.wav'), 0.5);
    const source = path.join(folder, 'source.tar');
    const appender = await TarAppender.open(source);
    await appender.appendBytes('in.wav', readFileSync(path.join(folder, 'a.wav')));
    await appender.appendBytes('no-audio.wav', Buffer.from('This is no audio. '.repeat(100)));
    await appender.finish();
    await appender.close();
    const insides = (await readTarIndex(source)).members.map(({ offsetBytes, sizeBytes, name }) => ({
      offset: offsetBytes,
      size: sizeBytes,
      name,
    }));
    const items = (['encode', 'fit'] as const).flatMap((how) =>
      insides.map((inside) =>
        itemOf(`${how}-${inside.name}`, source, { how, inside, member: `${how}-${inside.name}` }),
      ),
    );
    const { job, tar, places } = await setUp(context, items, {}, folder);
    const { failures } = await makeShard(job());
    const made = await payloads(tar);
    expect(made.get('fit-in.wav')?.equals(readFileSync(path.join(folder, 'a.wav')))).toBe(true);
    expect(made.get('encode-in.wav')?.length).toBe(16_044);
    expect(failures.map(({ id, reason }) => [id, reason])).toEqual([
      ['encode-no-audio.wav', 'not_audio'],
      ['fit-no-audio.wav', 'not_audio'],
    ]);
    expect(failures[0]?.message).toContain(`"no-audio.wav" in "${source}"`);
    expect(readdirSync(places.workFolder).toSorted()).toEqual(['000000.at', '000000.journal']);
  });

  test('keeps a segment that ends after its audio, with a word where that is much, and fails one that starts there', async (context) => {
    const folder = await makeFolder(context);
    await writeNoise(path.join(folder, 'a.wav'), 1);
    const span = (id: string, start: number, end: number): PlannedItem =>
      itemOf(id, 'a.wav', {
        member: `${id}.wav`,
        how: 'encode',
        line: 3,
        span: { start: start * 1e6, end: end * 1e6 },
      });
    const { job, manifest } = await setUp(
      context,
      [span('little', 0.5, 1.05), span('much', 0.5, 1.5), span('past', 1, 1.5), span('far', 7, 8)],
      {},
      folder,
    );
    const { failures, warnings } = await makeShard(job());
    expect(readRows(manifest).map((row) => row['duration'])).toEqual([0.5, 0.5]);
    expect(warnings).toEqual([
      { id: 'much', message: 'line 3: the segment ends at 1.5 s, and the audio at 1 s already' },
    ]);
    expect(failures.map(({ id, reason }) => [id, reason])).toEqual([
      ['past', 'past_end'],
      ['far', 'past_end'],
    ]);
    expect(failures[1]?.message).toBe(
      `The segment begins at 7 s, and the audio of "${path.join(folder, 'a.wav')}" ends at 1 s`,
    );
  });

  test('fails damaged audio alone, and cuts its member away', async (context) => {
    const folder = await makeFolder(context);
    const long = buildWav(makeNoise(2 * 16_000), { sampleRate: 16_000 });
    await writeFile(path.join(folder, 'torn.wav'), truncated(long, 0.8));
    await writeNoise(path.join(folder, 'good.wav'), 0.5);
    const nan = makeNoise(16_000);
    nan[100] = NaN;
    nan[101] = 3;
    await writeFile(path.join(folder, 'nan.wav'), buildWav(nan, { encoding: 'f32' }));
    const speech = makeNoise(16_000);
    const opposite = interleaveChannels(
      speech,
      speech.map((sample) => -sample),
    );
    await writeFile(path.join(folder, 'opposite.wav'), buildWav(opposite, { channels: 2 }));
    const { job, tar } = await setUp(
      context,
      ['torn', 'nan', 'opposite', 'good'].map((id) => itemOf(id, `${id}.wav`, { how: 'encode' })),
      {},
      folder,
    );
    const { failures, warnings, clippedSamples, invalidSamples } = await makeShard(job());
    expect([...(await payloads(tar)).keys()]).toEqual(['nan.wav', 'opposite.wav', 'good.wav']);
    expect(failures.map(({ id, reason }) => [id, reason])).toEqual([['torn', 'truncated_recording']]);
    expect([clippedSamples, invalidSamples]).toEqual([1, 1]);
    expect(warnings.map(({ id }) => id)).toEqual(['nan', 'opposite']);
    expect(warnings[1]?.message).toMatch(/^averaging its 2 channels cancels \d+ dB of them/);
  });

  test('leaves out items that processes died at', async (context) => {
    const folder = await makeFolder(context);
    await writeNoise(path.join(folder, 'a.wav'), 0.1);
    const items = ['a', 'b', 'c'].map((id) => itemOf(id, 'a.wav', { member: `${id}.wav`, how: 'encode' }));
    const { job } = await setUp(context, items, {}, folder);
    const { failures, members } = await makeShard(
      job({
        dead: [
          { item: 0, reason: 'decoder_crashed', how: 'process died 2 times (SIGSEGV)' },
          { item: 2, reason: 'decoder_hung', how: 'said nothing for 7 s' },
        ],
      }),
    );
    expect(members).toBe(1);
    expect(failures.map(({ reason, message }) => [reason, message])).toEqual([
      ['decoder_crashed', `Cannot read "${path.join(folder, 'a.wav')}": its decoder process died 2 times (SIGSEGV)`],
      ['decoder_hung', `Cannot read "${path.join(folder, 'a.wav')}": its decoder said nothing for 7 s`],
    ]);
  });
});

describe('packShard() that goes on', () => {
  /** Items of all kinds: what is made, what fails, what is warned of, what shares. */
  async function setUpMixed(context: TestContext): Promise<Setup> {
    const folder = await makeFolder(context);
    await writeNoise(path.join(folder, 'a.wav'), 0.5);
    const encode = { how: 'encode', member: 'short.wav', span: { start: 0, end: 900_000 } } as const;
    const items = [
      itemOf('a', 'a.wav', { duration: '0.5' }),
      itemOf('gone', 'gone.wav', { duration: '1' }),
      itemOf('short', 'a.wav', encode),
      itemOf('b', 'a.wav', { member: 'b.wav', duration: '0.5' }),
      itemOf('short-sub1', 'a.wav', { ...encode, how: 'share' }),
      itemOf('gone-sub1', 'gone.wav', { how: 'share', member: 'gone.wav' }),
      itemOf('c', 'a.wav', { member: 'c.wav', how: 'encode' }),
    ];
    return await setUp(context, items, {}, folder);
  }

  test('from any item, whatever stands behind the last checkpoint', async (context) => {
    const { job, tar, manifest, places } = await setUpMixed(context);
    const journal = path.join(places.workFolder, '000000.journal');
    const whole = await makeShard(job({ checkpointMs: 0 }));
    const expected = { tar: readFileSync(tar), manifest: readFileSync(manifest) };
    const records = readFileSync(journal, 'utf8').split('\n').slice(0, -1);
    expect(records).toHaveLength(1 + 7 + 1 + 1);
    for (let count = 0; count < records.length; count += 1) {
      const kept = records.slice(0, count).map((record) => `${record}\n`);
      const torn = ['', 'torn', records[count]?.slice(0, 20)][count % 3] ?? '';
      await writeFile(journal, kept.join('') + torn);
      await appendFile(tar, 'torn member');
      await appendFile(manifest, '{"torn');
      const reports: unknown[] = [];
      const report = (what: unknown): Promise<void> => Promise.resolve(void (what !== undefined && reports.push(what)));
      expect(outcomeOf(await packShard(job(), report)), `after ${count} records`).toEqual(whole);
      const resumedItems = Math.max(0, Math.min(count - 1, 7));
      if (resumedItems < 7) expect(reports[0]).toMatchObject({ resumedItems });
      expect(readFileSync(tar).equals(expected.tar), `tar after ${count} records`).toBe(true);
      expect(readFileSync(manifest).equals(expected.manifest)).toBe(true);
    }
  });

  test('does nothing again where all is noted as whole, and all where that is gone', async (context) => {
    const { job, tar, manifest } = await setUpMixed(context);
    const whole = await makeShard(job());
    const bytes = readFileSync(tar);
    const { mtimeMs } = statSync(tar);
    expect(await makeShard(job())).toEqual(whole);
    expect(statSync(tar).mtimeMs).toBe(mtimeMs);
    // Only the tar has its name already.
    writeFileSync(tar.replace(/\.partial$/u, ''), bytes);
    await rm(tar);
    expect(await makeShard(job())).toEqual(whole);
    expect(existsSync(tar)).toBe(false);
    await rm(tar.replace(/\.partial$/u, ''));
    expect(await makeShard(job())).toEqual(whole);
    expect(readFileSync(tar)).toEqual(bytes);
    expect(statSync(manifest).size).toBe(whole.manifestBytes);
  });

  test('from nothing where a file is shorter than it was, or the journal is of another plan or damaged', async (context) => {
    const { job, tar, manifest, places } = await setUpMixed(context);
    const journal = path.join(places.workFolder, '000000.journal');
    const whole = await makeShard(job({ checkpointMs: 0 }));
    const bytes = readFileSync(tar);
    const noted = readFileSync(journal, 'utf8');
    const stopped = noted.split('\n').slice(0, 5).join('\n');
    const harms: [string, () => void][] = [
      ['short tar', () => truncateSync(tar, 512)],
      ['short manifest', () => truncateSync(manifest, 1)],
      ['no tar', () => truncateSync(tar, 0)],
      ['other plan', () => writeFileSync(journal, '')],
      ['damaged', () => writeFileSync(journal, `${stopped.replace('checkpoint', 'chequepoint')}\n`)],
    ];
    for (const [label, harm] of harms) {
      writeFileSync(journal, `${stopped}\n`);
      harm();
      expect(await makeShard(job()), label).toEqual(whole);
      expect(readFileSync(tar).equals(bytes), label).toBe(true);
    }
  });

  test('refuses a plan that is another one by now', async (context) => {
    const { job, folder } = await setUpMixed(context);
    expect(await packShard(job({ planHash: 'other' }), () => Promise.resolve())).toMatchObject({
      kind: 'fault',
      code: 'input',
      message: `Cannot carry out the plan "${path.join(folder, 'plan')}": it is another one by now`,
    });
  });
});

test('an empty shard is a tar without members', async (context) => {
  const { job, tar, manifest } = await setUp(context, []);
  expect(await makeShard(job())).toMatchObject({ members: 0, rows: 0, tarBytes: 1024, manifestBytes: 0 });
  expect(readFileSync(tar)).toEqual(Buffer.from(END_OF_ARCHIVE));
  expect(readFileSync(manifest, 'utf8')).toBe('');
});
