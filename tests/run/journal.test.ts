import { spawnSync } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { InputError, OutputError } from '#cutroom/errors.js';
import { Journal } from '#cutroom/run/journal.js';
import { formatJournalLine } from '#cutroom/run/journal-reader.js';
import { mountSmallDisk } from '../support/small-disk.js';

const RECORDS = [{ kind: 'start', options: { jobs: 2 } }, 'é\u{1F600}\n', null, { kind: 'done', offset: 1536 }];

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'cutroom-journal-'));
  file = path.join(folder, 'journal');
});
afterEach(() => rm(folder, { recursive: true }));

async function appendAll(records: readonly unknown[]): Promise<void> {
  const journal = await Journal.open(file);
  for (const record of records) await journal.append(record);
  await journal.close();
}

async function readAll(): Promise<unknown[]> {
  const records: unknown[] = [];
  const journal = await Journal.open(file, { onRecord: (record) => records.push(record) });
  expect(journal.recordCount).toBe(records.length);
  await journal.close();
  return records;
}

describe('Journal', () => {
  test('gives back any JSON values in order, over any number of openings', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(fc.jsonValue(), { maxLength: 5 }), { maxLength: 4 }), async (sittings) => {
        await rm(file, { force: true });
        for (const records of sittings) await appendAll(records);
        expect(await readAll()).toEqual(JSON.parse(JSON.stringify(sittings.flat())));
      }),
      { numRuns: 40 },
    );
  });

  // The sums are those of Python's zlib.
  test('writes one line a record, with the CRC-32 of its JSON', async () => {
    await appendAll([{ a: [1, null] }, 62]);
    expect(await readFile(file, 'utf8')).toBe('16358103\t{"a":[1,null]}\n0012d20a\t62\n');
  });

  test('keeps the order of appends that are not awaited one by one', async () => {
    const journal = await Journal.open(file);
    const appended = Array.from({ length: 500 }, (_, index) => journal.append(index));
    await journal.sync();
    expect((await readFile(file, 'utf8')).split('\n')).toHaveLength(501);
    await Promise.all(appended);
    await journal.close();
    expect(await readAll()).toEqual(Array.from({ length: 500 }, (_, index) => index));
  });

  test('holds an awaited record although the process is killed', async () => {
    const program = `
      import { Journal } from '#cutroom/run/journal.js';
      const journal = await Journal.open(process.argv[1]);
      for (let index = 0; index < 5; index++) await journal.append(index);
      process.kill(process.pid, 'SIGKILL');
    `;
    const child = spawnSync(process.execPath, ['--input-type=module', '--eval', program, file]);
    expect(child.signal).toBe('SIGKILL');
    expect(await readAll()).toEqual([0, 1, 2, 3, 4]);
  });

  test('cut at every byte of its last record, gives all before it and goes on', async () => {
    await appendAll(RECORDS);
    const whole = await readFile(file);
    const lastStart = whole.lastIndexOf('\n', -2) + 1;
    for (let sizeBytes = lastStart; sizeBytes < whole.length; sizeBytes++) {
      await writeFile(file, whole.subarray(0, sizeBytes));
      expect(await readAll()).toEqual(RECORDS.slice(0, -1));
      expect((await stat(file)).size).toBe(lastStart);
      await appendAll(['again']);
      expect(await readAll()).toEqual([...RECORDS.slice(0, -1), 'again']);
    }
  });

  test('with any bit of its last record flipped, gives all before it and goes on', async () => {
    await appendAll(RECORDS);
    const whole = await readFile(file);
    const lastStart = whole.lastIndexOf('\n', -2) + 1;
    for (let byte = lastStart; byte < whole.length; byte++) {
      for (const mask of [0x01, 0x20, 0xff]) {
        const damaged = Buffer.from(whole);
        damaged[byte] = (damaged[byte] ?? 0) ^ mask;
        await writeFile(file, damaged);
        expect(await readAll()).toEqual(RECORDS.slice(0, -1));
        await appendAll(['again']);
        expect(await readAll()).toEqual([...RECORDS.slice(0, -1), 'again']);
      }
    }
  });

  test.each([
    ['zeros', Buffer.alloc(5000)],
    ['lines', Buffer.from('a\nb\n\nc\n')],
    ['an unfinished line', Buffer.from('0000')],
    ['more than it reads at once', Buffer.alloc(200_000, 'x')],
  ])('cuts off %s at its end', async (_, garbage) => {
    await appendAll(RECORDS);
    const { size } = await stat(file);
    await appendFile(file, garbage);
    expect(await readAll()).toEqual(RECORDS);
    expect((await stat(file)).size).toBe(size);
  });

  test('refuses a damaged record before whole ones, and changes nothing', async () => {
    await appendAll(RECORDS);
    const damaged = await readFile(file);
    const second = damaged.indexOf('\n') + 1;
    damaged[second + 12] = (damaged[second + 12] ?? 0) ^ 1;
    await writeFile(file, damaged);
    const failure = Journal.open(file);
    await expect(failure).rejects.toThrow(InputError);
    await expect(failure).rejects.toMatchObject({ path: file, line: 2, offsetBytes: second });
    await expect(failure).rejects.toThrow('line 2 is damaged, and whole records follow it');
    expect((await readFile(file)).equals(damaged)).toBe(true);
  });

  test('reads records longer than it reads at once', async () => {
    const records = ['x'.repeat(65_530), 'y'.repeat(300_000), 'z'];
    await appendAll(records);
    expect(await readAll()).toEqual(records);
  });

  test('refuses what is no JSON value, and calls after its end', async () => {
    const journal = await Journal.open(file);
    await expect(journal.append(undefined)).rejects.toThrow(TypeError);
    await journal.append(1);
    await journal.close();
    await journal.close();
    await expect(journal.append(2)).rejects.toThrow(TypeError);
    expect(await readAll()).toEqual([1]);
  });

  test('passes on what the reader of its records throws', async () => {
    await appendAll(RECORDS);
    const failure = new InputError('another run');
    const opened = Journal.open(file, {
      onRecord: () => {
        throw failure;
      },
    });
    await expect(opened).rejects.toBe(failure);
  });

  test('names a path that cannot be opened', async () => {
    await mkdir(file);
    await expect(Journal.open(file)).rejects.toThrow(OutputError);
    await expect(Journal.open(file)).rejects.toThrow('it is a folder');
    await expect(Journal.open(path.join(folder, 'none', 'journal'))).rejects.toThrow('its folder does not exist');
  });

  test('on a full disk keeps the whole records, and fails from then on', async (context) => {
    file = path.join(mountSmallDisk(context, 32 * 1024), 'journal');
    const journal = await Journal.open(file);
    await journal.append('first');
    const failure = journal.append('x'.repeat(40_000));
    await expect(failure).rejects.toMatchObject({
      code: 'output',
      path: file,
      message: `Cannot write the journal "${file}": no space left on the disk`,
      hint: 'Free at least 40,012 bytes there and run the same command again.',
    });
    await expect(journal.append('second')).rejects.toThrow('no space left on the disk');
    await expect(journal.sync()).rejects.toThrow('no space left on the disk');
    await journal.close();
    expect((await stat(file)).size).toBe(formatJournalLine('first').length);
    expect(await readAll()).toEqual(['first']);
  });
});
