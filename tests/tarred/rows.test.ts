import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rowOf, TarFolder } from './tar-runs.js';

let place: TarFolder;
beforeEach(() => {
  place = new TarFolder();
});
afterEach(() => place.remove());

describe('rows of tarDataset()', () => {
  it('keep their keys, order and spelling, and get name, path and shard', async () => {
    const manifest = place.addManifest(
      'm.json',
      [
        '{"text": "ünï \\u00e9", "audio_filepath": "a/b.c.wav", "duration": 1.50, "id": 9007199254740993, "x": {"n": [1.0, NaN]}, "offset": null}',
      ],
      ['a/b.c.wav'],
    );
    await place.run(manifest);
    const absolute = JSON.stringify(path.join(place.folder, 'a/b.c.wav'));
    expect(place.read('tarred_audio_manifest.json')).toBe(
      `{"text":"ünï \\u00e9","audio_filepath":"a_b_c.wav","duration":1.50,"id":9007199254740993,"x":{"n": [1.0, null]},"offset":null,"abs_audio_filepath":${absolute},"shard_id":0}\n`,
    );
    expect(place.read('sharded_manifests/manifest_0.json')).toBe(place.read('tarred_audio_manifest.json'));
  });

  it.each(['audio_filename', 'audio_file', 'context'])('may name their audio by %s', async (key) => {
    const manifest = place.addManifest('m.json', [{ id: 1, [key]: 'a.wav', duration: 2 }], ['a.wav']);
    await place.run(manifest);
    expect(Object.entries(place.rows()[0] ?? {}).slice(0, 3)).toEqual([
      ['id', 1],
      ['audio_filepath', 'a.wav'],
      ['duration', 2],
    ]);
  });

  it('are kept from the minimum on and below the maximum, in whole microseconds, and always without a duration', async () => {
    const durations = [0.1, 0.0999999, 0.3, 0.1 + 0.2, 0.2999999, 0.299999, null, 5];
    const manifest = place.addManifest(
      'm.json',
      durations.map((duration, index) => rowOf(`${index}.wav`, duration)),
    );
    const { summary } = await place.run(manifest, { minDurationSeconds: 0.1, maxDurationSeconds: 0.3 });
    expect(place.rows().map(({ duration }) => duration)).toEqual([0.1, 0.0999999, 0.299999, null]);
    expect(summary).toMatchObject({
      read: { rows: 8 },
      tooShort: { rows: 0 },
      tooLong: { rows: 4 },
      planned: { rows: 4 },
    });
    expect(summary).toMatchObject({ shortestSeconds: 0.0999999, longestSeconds: 5 });
  });

  it('are read from gzip, and from several manifests, each from its own folder', async () => {
    const first = place.addManifest('x/m.json', [rowOf('a.wav')]);
    const second = place.addManifest('y/m.json', [rowOf('b.wav'), '', rowOf('c.wav')]);
    writeFileSync(`${second}.gz`, gzipSync(readFileSync(second)));
    await place.run([first, `${second}.gz`]);
    expect(place.rows().map((row) => row['abs_audio_filepath'])).toEqual(
      ['x/a.wav', 'y/b.wav', 'y/c.wav'].map((name) => path.join(place.folder, name)),
    );
    const joined = await place.run(`${first},${second}`, { dryRun: true });
    expect(joined.summary?.read.rows).toBe(3);
  });

  it('may follow a byte order mark and end in carriage returns', async () => {
    const manifest = place.addManifest('m.json', [rowOf('a.wav')]);
    writeFileSync(manifest, `\ufeff${readFileSync(manifest, 'utf8').trim()}\r\n\r\n`);
    await place.run(manifest);
    expect(place.rows()).toHaveLength(1);
  });

  it('name files from --base alone where it is given', async () => {
    const manifest = place.addManifest('m.json', [rowOf('a.wav')], []);
    place.addFile('elsewhere/a.wav');
    await expect(place.run(manifest)).rejects.toThrow('No row of');
    await place.run(manifest, { base: path.join(place.folder, 'elsewhere') });
    expect(place.rows()[0]?.['abs_audio_filepath']).toBe(path.join(place.folder, 'elsewhere/a.wav'));
  });

  it('name files from the current folder where that of the manifest has none', async () => {
    const manifest = place.addManifest(
      'm.json',
      [rowOf('package.json'), rowOf('./package.json', 2, { offset: 1 })],
      [],
    );
    const { kind } = await place.run(manifest);
    expect(kind).toBe('manifests');
    expect(place.rows()[0]?.['abs_audio_filepath']).toBe(path.resolve('package.json'));
    place.addFile('package.json');
    const { summary } = await place.run(manifest, { overwrite: true });
    expect(place.rows()[0]?.['abs_audio_filepath']).toBe(path.join(place.folder, 'package.json'));
    expect(summary?.warnings.join()).toMatch(
      /relative paths, the first "package.json", lead to a file from the manifest's folder/u,
    );
  });
});

describe('names of tarDataset()', () => {
  const namesOf = (): unknown[] => place.rows().map((row) => row['audio_filepath']);

  it('tell apart files that flatten to one name, whatever their order', async () => {
    const rows = [rowOf('a/b_c.wav'), rowOf('a_b/c.wav'), rowOf('x.y.wav'), rowOf('x_y.flac'), rowOf('z.wav')];
    const manifest = place.addManifest('m.json', rows);
    const { summary } = await place.run(manifest);
    const names = namesOf();
    expect(names[4]).toBe('z.wav');
    for (const [index, start] of ['a_b_c-x', 'a_b_c-x', 'x_y-x', 'x_y-x'].entries()) {
      expect(String(names[index])).toMatch(new RegExp(`^${start}[0-9a-f]{8}\\.(?:wav|flac)$`, 'u'));
    }
    expect(new Set(names).size).toBe(5);
    expect(summary?.warnings.join()).toContain('2 names, the first "a_b_c", are those of several files');
    const reversed = place.addManifest('m.json', rows.toReversed());
    await place.run(reversed, { overwrite: true });
    expect(namesOf().toReversed()).toEqual(names);
  });

  it('are those of spans where a file is repeated, and of the file where it is not', async () => {
    const manifest = place.addManifest('m.json', [
      rowOf('a.mp3', 2, { offset: 0 }),
      rowOf('a.mp3', 3.5, { offset: 12 }),
      rowOf('a.mp3', 60),
      rowOf('b.mp3', 3, { offset: 5 }),
    ]);
    await place.run(manifest);
    // FLAC holds what is cut out of MP3 without another loss.
    expect(namesOf()).toEqual(['a_0_0_2_0.flac', 'a_12_0_3_5.flac', 'a.mp3', 'b.mp3']);
    expect(place.rows()[1]).not.toHaveProperty('offset');
    expect(place.rows()[1]).toMatchObject({ source_audio_offset: 12, duration: 3.5 });
    expect(place.rows()[3]).toMatchObject({ offset: 5, duration: 3 });
  });

  it('differ where rows mean the very same audio', async () => {
    const rows = [
      rowOf('a.wav', 2, { lang: 'en' }),
      rowOf('a.wav', 2, { lang: 'de' }),
      rowOf('a.wav', 1, { offset: 1 }),
      rowOf('a.wav', 1, { offset: 1 }),
      rowOf('d/b.wav'),
      rowOf('d_b.wav'),
      rowOf('d_b.wav'),
    ];
    await place.run(place.addManifest('m.json', rows));
    const names = namesOf().map(String);
    expect(names[0]).toBe('a.wav');
    expect(names[1]).toMatch(/^a-x[0-9a-f]{8}\.wav$/u);
    expect(names[2]).toBe('a_1_0_1_0.wav');
    expect(names[3]).toMatch(/^a_1_0_1_0-x[0-9a-f]{8}\.wav$/u);
    expect(new Set(names).size).toBe(names.length);
  });

  it('may meet those of other files when they are of spans', async () => {
    const rows = [rowOf('a.wav', 2, { offset: 1 }), rowOf('a.wav', 3, { offset: 3 }), rowOf('a_1.0_2.0.wav')];
    await place.run(place.addManifest('m.json', rows));
    const names = namesOf().map(String);
    expect(names[0]).toMatch(/^a_1_0_2_0-x/u);
    expect(names[2]).toMatch(/^a_1_0_2_0-x/u);
    expect(names[0]).not.toBe(names[2]);
  });

  it('hold no mark of a repeated file', async () => {
    const { summary } = await place.run(place.addManifest('m.json', [rowOf('talk-sub1.wav'), rowOf('bare', 1)]));
    expect(namesOf()).toEqual(['talk_sub1.wav', 'bare']);
    expect(summary?.warnings).toEqual([
      '1 name has "-sub" before a number, which loaders cut off: it is written as "_sub"',
      '1 file has no extension: WebDataset passes over such members',
    ]);
  });

  it('are as NeMo has them with --sub-rows: counted in each shard', async () => {
    const rows = [
      rowOf('a.wav', 2, { offset: 0 }),
      rowOf('a.wav', 2, { offset: 2 }),
      rowOf('b.wav'),
      rowOf('a.wav', 2, { offset: 4 }),
      rowOf('a.wav', 2, { offset: 6 }),
      rowOf('c.wav'),
    ];
    await place.run(place.addManifest('m.json', rows), { numShards: 2, subRows: true });
    expect(namesOf()).toEqual(['a.wav', 'a-sub1.wav', 'b.wav', 'a.wav', 'a-sub1.wav', 'c.wav']);
    expect(place.rows()[1]).toMatchObject({ offset: 2 });
  });

  it('end in the codec, and are spans wherever audio is encoded', async () => {
    const rows = [rowOf('a.wav'), rowOf('b.flac'), rowOf('c.FLAC', 1, { offset: 3 })];
    await place.run(place.addManifest('m.json', rows), { forceCodec: 'flac' });
    expect(namesOf()).toEqual(['a.flac', 'b.flac', 'c_3_0_1_0.FLAC']);
    await place.run(place.addManifest('m.json', rows), { forceCodec: 'opus', overwrite: true });
    expect(namesOf()).toEqual(['a.opus', 'b.opus', 'c_3_0_1_0.opus']);
  });
});
