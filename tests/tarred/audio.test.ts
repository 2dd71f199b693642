import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTarIndex } from '#cutroom/tar/reader.js';
import { jsonLines, tarBytes } from '../support/shard-files.js';
import { makeNoise, toInt16 } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';
import { rowOf, TarFolder } from './tar-runs.js';

let place: TarFolder;
beforeEach(() => {
  place = new TarFolder();
});
afterEach(() => place.remove());

async function membersOf(tar: string): Promise<[string, Buffer][]> {
  const bytes = readFileSync(path.join(place.target, tar));
  const { members } = await readTarIndex(path.join(place.target, tar));
  return members.map(({ name, offsetBytes, sizeBytes }) => [
    name,
    bytes.subarray(offsetBytes, offsetBytes + sizeBytes),
  ]);
}

describe('members of tarDataset()', () => {
  it('are the bytes of their files, or exact spans of them, and shared with --sub-rows', async () => {
    const frames = 8000;
    const noise = makeNoise(frames);
    place.addFile('a.wav', buildWav(noise, { sampleRate: 8000 }));
    const rows = [
      rowOf('a.wav', 0.25, { offset: 0.1 }),
      rowOf('a.wav', 0.3, { offset: 0.3333331 }),
      rowOf('b.mp3', 3),
      rowOf('a.wav', null),
    ];
    const manifest = place.addManifest('m.json', rows, ['b.mp3']);
    const { kind, summary } = await place.run(manifest, { onlyManifests: false });
    expect(kind).toBe('packed');
    expect(summary).toMatchObject({ members: 4, copied: 2, written: { rows: 4 } });
    const members = await membersOf('audio_0.tar');
    expect(members.map(([name]) => name)).toEqual(['a_0_1_0_25.wav', 'a_0_3333331_0_3.wav', 'b.mp3', 'a.wav']);
    const samples = Buffer.from(toInt16(noise).buffer);
    // Frames from floor(offset · rate) to ceil(end · rate).
    expect(members[0]?.[1].subarray(44).equals(samples.subarray(800 * 2, 2800 * 2))).toBe(true);
    expect(members[1]?.[1].subarray(44).equals(samples.subarray(2666 * 2, 5067 * 2))).toBe(true);
    expect(members[2]?.[1].toString()).toBe('b.mp3');
    expect(members[3]?.[1].equals(readFileSync(path.join(place.folder, 'a.wav')))).toBe(true);
    // What is copied without being looked at keeps its duration; an unknown one is measured; a span has that of its samples.
    expect(place.rows().map(({ duration }) => duration)).toEqual([0.25, 2401 / 8000, 3, 1]);

    const unknown = place.run(manifest, { onlyManifests: false, subRows: true, overwrite: true });
    await expect(unknown).rejects.toThrow(/Cannot share a file with line 4 of/u);
    place.addManifest('m.json', [...rows.slice(0, 3), rowOf('a.wav', 1)], []);
    await place.run(manifest, { onlyManifests: false, subRows: true, overwrite: true });
    expect((await membersOf('audio_0.tar')).map(([name]) => name)).toEqual(['a.wav', 'b.mp3']);
    expect(place.rows().map(({ audio_filepath: name, duration }) => [name, duration])).toEqual([
      ['a.wav', 0.25],
      ['a-sub1.wav', 0.3],
      ['b.mp3', 3],
      ['a-sub2.wav', 1],
    ]);
  });

  it('are of the forced codec and mono: files that are so keep their bytes, whatever their extension says', async () => {
    const noise = makeNoise(1600);
    const mono = buildWav(noise, { sampleRate: 8000 });
    place.addFile('mono.wav', mono);
    place.addFile('stereo.wav', buildWav(noise, { sampleRate: 8000, channels: 2 }));
    const rows = [rowOf('mono.wav', 0.2), rowOf('stereo.wav', 0.1)];
    const manifest = place.addManifest('m.json', rows, []);
    const options = { onlyManifests: false, forceCodec: 'wav' } as const;
    const { summary } = await place.run(manifest, options);
    expect(summary).toMatchObject({ members: 2, copied: 1, failedMembers: {} });
    const members = await membersOf('audio_0.tar');
    expect(members.map(([name]) => name)).toEqual(['mono.wav', 'stereo.wav']);
    expect(members[0]?.[1].equals(mono)).toBe(true);
    expect(members[1]?.[1].readUInt16LE(22)).toBe(1);
    expect(members[1]?.[1]).toHaveLength(44 + 800 * 2);
    place.addFile('false.flac', mono);
    place.addManifest('m.json', [rowOf('false.flac', 0.2)], []);
    const repaired = await place.run(manifest, { ...options, forceCodec: 'flac', overwrite: true });
    expect(repaired.summary).toMatchObject({ members: 1, copied: 0, failedMembers: {} });
    expect((await membersOf('audio_0.tar'))[0]?.[1].toString('latin1', 0, 4)).toBe('fLaC');
  });

  it('are taken out of tars that are packed already', async () => {
    place.addFile('in/data.tar', tarBytes(['x.1.flac', 'y.flac'], 300));
    place.addFile(
      'in/data.jsonl',
      jsonLines([rowOf('x.1.flac', 2, { shard_id: 7, lang: 'en' }), rowOf('y.flac', 1), rowOf('gone.flac', 1)]),
    );
    const input = path.join(place.folder, 'in/data.jsonl');
    const { summary, isWithinLimit } = await place.run(input, { onlyManifests: false });
    expect(isWithinLimit).toBe(false);
    expect(summary?.failedRows).toEqual({ row_without_member: 1 });
    expect(summary).toMatchObject({ read: { rows: 3 }, written: { rows: 2 }, copied: 2 });
    expect(await membersOf('audio_0.tar')).toEqual([
      ['x_1.flac', Buffer.alloc(300, 7)],
      ['y.flac', Buffer.alloc(300, 7)],
    ]);
    expect(JSON.stringify(place.rows()[0])).toBe(
      '{"audio_filepath":"x_1.flac","duration":2,"text":"text of x.1.flac","lang":"en","shard_id":0}',
    );
    await expect(place.run(input)).rejects.toThrow('--only-manifests tells where files lie');
  });
});
