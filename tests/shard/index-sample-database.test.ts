import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import sqlite from 'node-sqlite3-wasm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SampleDatabase, type IndexedSample } from '#cutroom/shard/index-sample-database.js';
import { mountSmallDisk } from '../support/small-disk.js';

describe('SampleDatabase', () => {
  let folder: string;
  let place: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cutroom-sample-database-'));
    place = path.join(folder, 'index.sqlite');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A sample of one part, at a place beyond 4 GiB. */
  function sampleOf(key: string, number: number, shard = 0): IndexedSample {
    const offsetBytes = 2 ** 33 + number * 1024;
    const parts = [{ name: 'flac', offsetBytes: offsetBytes + 512, sizeBytes: 100 + number }];
    return { key, shard, number, offsetBytes, sizeBytes: 1024, parts };
  }

  const samplesOf = (count: number) =>
    Array.from({ length: count }, (_, at) => sampleOf(`u${(at * 7919) % 99991}`, at));

  async function write(samples: readonly IndexedSample[]): Promise<void> {
    const database = await SampleDatabase.open(place);
    expect(await database.add(samples, undefined)).toEqual([]);
    await database.publish();
    await database.discard();
  }

  function read(sql: string): unknown[][] {
    const database = new sqlite.Database(place, { readOnly: true });
    try {
      return database.all(sql).map((row) => Object.values(row));
    } finally {
      database.close();
    }
  }

  it('keeps samples and parts as they are given', async () => {
    const key = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 300 })
      .filter((text) => !/[\0\ud800-\udfff]/u.test(text));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(key, { maxLength: 20 }), async (keys) => {
        const samples = keys.map((name, at) => sampleOf(name, at, at % 3));
        await write(samples);
        expect(read('SELECT * FROM samples ORDER BY rowid')).toEqual(
          samples.map(({ shard, key: name, number, offsetBytes, sizeBytes }) => [
            ...[shard, name, number, offsetBytes, sizeBytes],
          ]),
        );
        expect(read('SELECT * FROM sample_parts ORDER BY rowid')).toEqual(
          samples.flatMap(({ shard, number, parts }) =>
            parts.map(({ name, offsetBytes, sizeBytes }) => [shard, number, name, offsetBytes, sizeBytes]),
          ),
        );
        expect(read('PRAGMA integrity_check')).toEqual([['ok']]);
      }),
      { numRuns: 10 },
    );
  });

  it('writes the same bytes again, also in one go and in several', async () => {
    const samples = samplesOf(5000);
    await write(samples);
    const first = readFileSync(place);
    const database = await SampleDatabase.open(place);
    for (let start = 0; start < samples.length; start += 700) {
      await database.add(samples.slice(start, start + 700), undefined);
    }
    await database.publish();
    expect(readFileSync(place).equals(first)).toBe(true);
    expect(readdirSync(folder)).toEqual(['index.sqlite']);
  });

  it('leaves out samples whose names are taken, and tells by which shard', async () => {
    const database = await SampleDatabase.open(place);
    await database.add([sampleOf('a', 0, 3), sampleOf('b', 1, 3)], undefined);
    const taken = await database.add([sampleOf('b', 0, 4), sampleOf('c', 1, 4), sampleOf('c', 2, 4)], undefined);
    expect(taken).toEqual([
      { key: 'b', shard: 3 },
      { key: 'c', shard: 4 },
    ]);
    await database.publish();
    expect(read('SELECT count(*) FROM sample_parts')).toEqual([[3]]);
  });

  it('leaves an earlier database as it is until it is published, and nothing else behind', async () => {
    await write(samplesOf(1));
    const earlier = readFileSync(place);
    const database = await SampleDatabase.open(place);
    await database.add(samplesOf(2), undefined);
    expect(readFileSync(place).equals(earlier)).toBe(true);
    await database.discard();
    expect(readdirSync(folder)).toEqual(['index.sqlite']);
    expect(readFileSync(place).equals(earlier)).toBe(true);
  });

  it('begins anew where a killed process left a database', async () => {
    const killed = [
      `const { SampleDatabase } = await import('#cutroom/shard/index-sample-database.js');`,
      `await (await SampleDatabase.open(${JSON.stringify(place)})).add([], undefined);`,
      `process.kill(process.pid, 'SIGKILL');`,
    ];
    const cwd = fileURLToPath(new URL('../../', import.meta.url));
    const flags = ['--input-type=module', '--eval', killed.join('\n')];
    expect(() => execFileSync(process.execPath, flags, { cwd, stdio: 'pipe' })).toThrow(/failed/u);
    expect(readdirSync(folder)).toEqual(['index.sqlite.partial', 'index.sqlite.partial.lock']);
    writeFileSync(path.join(folder, 'index.sqlite.partial'), 'half a page');
    await write(samplesOf(10));
    expect(read('SELECT count(*) FROM samples')).toEqual([[10]]);
    expect(readdirSync(folder)).toEqual(['index.sqlite']);
  });

  it('says why it cannot write, and leaves nothing behind', async (context) => {
    await expect(SampleDatabase.open(path.join(folder, 'gone/index.sqlite'))).rejects.toThrow(
      /^Cannot make ".*gone\/index\.sqlite\.partial": its folder does not exist$/u,
    );
    const disk = mountSmallDisk(context, 200_000);
    const database = await SampleDatabase.open(path.join(disk, 'index.sqlite'));
    await database.add(samplesOf(3000), undefined);
    await expect(database.publish()).rejects.toThrow(/^Cannot write ".*index\.sqlite\.partial": no space left/u);
    await database.discard();
    expect(readdirSync(disk)).toEqual([]);
  });

  it('stops when it is told to', async () => {
    const database = await SampleDatabase.open(place);
    const controller = new AbortController();
    const reason = new Error('stopped');
    controller.abort(reason);
    await expect(database.add(samplesOf(5000), controller.signal)).rejects.toBe(reason);
    await database.discard();
    expect(readdirSync(folder)).toEqual([]);
  });
});
