import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { writeSqliteFile, type SqliteObject } from '#cutroom/shard/index-sqlite-file.js';
import { MAX_RECORD_BYTES, putVarint, varintBytes } from '#cutroom/shard/index-sqlite-record.js';

type Value = number | string | null;

const PAGE_BYTES = 4096;

/** A database, read page by page as https://www.sqlite.org/fileformat2.html has it. */
class Database {
  readonly #bytes: Buffer;

  constructor(filePath: string) {
    this.#bytes = readFileSync(filePath);
    expect(this.#bytes.readUInt32BE(28)).toBe(this.#bytes.length / PAGE_BYTES);
  }

  /** Every page but the first belongs to one tree. */
  pagesOf(roots: readonly number[]): number[] {
    return roots.flatMap((root) => [...this.#walk(root, true)].flatMap((step) => ('page' in step ? [step.page] : [])));
  }

  entries(root: number): Value[][] {
    return [...this.#walk(root, true)].flatMap((step) => ('entry' in step ? [step.entry] : []));
  }

  *#walk(page: number, isRoot: boolean): Generator<{ page: number } | { entry: Value[] }> {
    yield { page };
    const start = (page - 1) * PAGE_BYTES;
    const header = page === 1 ? start + 100 : start;
    const type = this.#bytes[header]!;
    const isInterior = type === 0x02 || type === 0x05;
    const count = this.#bytes.readUInt16BE(header + 3);
    if (!isRoot) expect(count).toBeGreaterThan(0);
    for (let index = 0; index < count; index += 1) {
      let at = start + this.#bytes.readUInt16BE(header + (isInterior ? 12 : 8) + 2 * index);
      if (isInterior) {
        yield* this.#walk(this.#bytes.readUInt32BE(at), false);
        at += 4;
      }
      if (type === 0x05) continue;
      const [, record] = this.#varint(at);
      yield { entry: this.#record(type === 0x0d ? this.#varint(record)[1] : record) };
    }
    if (isInterior) yield* this.#walk(this.#bytes.readUInt32BE(header + 8), false);
  }

  #record(start: number): Value[] {
    const values: Value[] = [];
    const [headerBytes, first] = this.#varint(start);
    let body = start + headerBytes;
    for (let at = first; at < start + headerBytes;) {
      const [type, next] = this.#varint(at);
      at = next;
      const size = type >= 12 ? Math.floor((type - 12) / 2) : [0, 1, 2, 3, 4, 6, 8, 0, 0, 0][type]!;
      if (type === 0) values.push(null);
      else if (type >= 12) values.push(this.#bytes.toString('utf8', body, body + size));
      else if (type >= 8) values.push(type - 8);
      else values.push(size === 8 ? Number(this.#bytes.readBigInt64BE(body)) : this.#bytes.readIntBE(body, size));
      body += size;
    }
    return values;
  }

  #varint(at: number): [value: number, next: number] {
    let value = 0;
    for (;;) {
      const byte = this.#bytes[at]!;
      at += 1;
      value = value * 128 + (byte & 0x7f);
      if (byte < 0x80) return [value, at];
    }
  }
}

describe('writeSqliteFile()', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'cutroom-sqlite-'));
  const file = path.join(folder, 'a.sqlite');
  afterAll(() => rmSync(folder, { recursive: true }));

  function tableOf(rows: readonly Value[][], index: readonly Value[][]): SqliteObject[] {
    return [
      { kind: 'table', name: 't', table: 't', sql: 'CREATE TABLE t (a, b)', rows },
      { kind: 'index', name: 'i', table: 't', sql: 'CREATE INDEX i ON t(a)', rows: index },
    ];
  }

  it('keeps all rows and entries, in trees of any height without empty pages', async () => {
    const sizes = fc.array(fc.integer({ min: 0, max: MAX_RECORD_BYTES - 20 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 400 }), sizes, async (count, keySizes) => {
        const rows = Array.from({ length: count }, (_, at) => [at, 'k'.repeat(keySizes[at % keySizes.length]!)]);
        const index = rows.map(([at, key]) => [key!, Number(at) + 1]);
        await writeSqliteFile(file, tableOf(rows, index), undefined);
        const database = new Database(file);
        const schema = database.entries(1);
        expect(schema.map(([kind, name]) => [kind, name])).toEqual([
          ['table', 't'],
          ['index', 'i'],
        ]);
        const roots = schema.map((entry) => Number(entry[3]));
        expect(database.entries(roots[0]!)).toEqual(rows);
        expect(database.entries(roots[1]!)).toEqual(index);
        const pages = database.pagesOf([1, ...roots]).toSorted((a, b) => a - b);
        expect(pages).toEqual(pages.map((_, at) => at + 1));
      }),
      { numRuns: 60 },
    );
  });

  it('keeps whole numbers up to 2^53, and null', async () => {
    const numbers = [
      0,
      1,
      2,
      127,
      128,
      32_767,
      32_768,
      2 ** 23,
      2 ** 31 - 1,
      2 ** 31,
      2 ** 47 - 1,
      2 ** 47,
      2 ** 53 - 1,
    ];
    const rows = numbers.map((value) => [value, null]);
    await writeSqliteFile(file, tableOf(rows, []), undefined);
    const database = new Database(file);
    expect(database.entries(Number(database.entries(1)[0]![3]))).toEqual(rows);
  });

  it('refuses a row that is too long, and leaves nothing behind', async () => {
    rmSync(file, { force: true });
    const rows = [['x'.repeat(MAX_RECORD_BYTES)]];
    await expect(writeSqliteFile(file, tableOf(rows, []), undefined)).rejects.toThrow(/too long for a page/u);
    expect(() => readFileSync(file)).toThrow(/ENOENT/u);
    expect(() => readFileSync(`${file}.partial`)).toThrow(/ENOENT/u);
  });
});

describe('putVarint()', () => {
  it('writes seven bits a byte, high ones first', () => {
    const bytes = Buffer.alloc(9);
    for (const [value, hex] of [
      [0, '00'],
      [127, '7f'],
      [128, '8100'],
      [16_384, '818000'],
    ] as const) {
      expect(bytes.toString('hex', 0, putVarint(bytes, 0, value))).toBe(hex);
      expect(varintBytes(value)).toBe(hex.length / 2);
    }
  });
});
