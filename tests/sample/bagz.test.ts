import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputError } from '#cutroom/errors.js';
import { BagReader, BagWriter } from '#cutroom/sample/bagz.js';
import { readZstd, storeAsZstd } from '#cutroom/sample/zstd.js';

let folder: string;
let file: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-bagz-'));
  file = path.join(folder, 'a.bagz');
});
afterAll(() => rmSync(folder, { recursive: true }));

async function bagOf(records: readonly Uint8Array[]): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const writer = new BagWriter(async (bytes) => void parts.push(Uint8Array.from(bytes)));
  for (const record of records) await writer.add(record);
  await writer.finish();
  return Buffer.concat(parts);
}

describe('BagWriter', () => {
  it('writes records, then where each ends', async () => {
    const bag = await bagOf([Buffer.from('abcd'), Buffer.alloc(0), Buffer.from('efgh')]);
    const frame = (text: string): string => `28b52ffd2004210000${Buffer.from(text).toString('hex')}`;
    expect(bag.toString('hex')).toBe(
      `${frame('abcd')}${frame('efgh')}0d000000000000000d000000000000001a00000000000000`,
    );
  });
});

describe('BagReader', () => {
  it('reads back what was written', async () => {
    const records = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(records, async (given) => {
        writeFileSync(file, await bagOf(given));
        using bag = new BagReader(file);
        expect(bag.count).toBe(given.length);
        expect(given.map((_, index) => Buffer.from(bag.read(index)))).toEqual(given.map((bytes) => Buffer.from(bytes)));
      }),
      { numRuns: 30 },
    );
  });

  it('refuses a record that is not there', async () => {
    writeFileSync(file, await bagOf([Buffer.from('abcd')]));
    using bag = new BagReader(file);
    expect(() => bag.read(1)).toThrow(RangeError);
  });

  it('refuses a file that is cut off or no bag, wherever it is cut', async () => {
    const bag = await bagOf([Buffer.alloc(40, 1), Buffer.alloc(40, 2)]);
    for (let length = 1; length < bag.length; length += 1) {
      writeFileSync(file, bag.subarray(0, length));
      expect(() => {
        using reader = new BagReader(file);
        for (let index = 0; index < 2; index += 1) reader.read(index);
      }).toThrow();
    }
  });

  it('refuses a record that is damaged, with its number', async () => {
    const bag = await bagOf([Buffer.alloc(40, 1)]);
    bag[0] = 0;
    writeFileSync(file, bag);
    using reader = new BagReader(file);
    expect(() => reader.read(0)).toThrow(InputError);
    expect(() => reader.read(0)).toThrow(/record 0 cannot be decompressed/u);
  });
});

describe('storeAsZstd()', () => {
  it('keeps bytes of every length at which its header changes', () => {
    for (const length of [0, 1, 255, 256, 65_791, 65_792, (1 << 17) - 1, 1 << 17, (1 << 17) + 1, 300_000]) {
      const bytes = Uint8Array.from({ length }, (_, k) => (k * 31 + (k >> 8)) & 0xff);
      expect(Buffer.from(readZstd(storeAsZstd(bytes))).equals(bytes)).toBe(true);
    }
  });
});
