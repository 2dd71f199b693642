import { createHash } from 'node:crypto';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputError } from '#cutroom/errors.js';
import { manifestLines, readLineAt, type LineReaderOptions } from '#cutroom/manifest/lines.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'cutroom-lines-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function withFile<T>(
  content: string | Buffer,
  work: (handle: Awaited<ReturnType<typeof open>>, file: string) => Promise<T>,
): Promise<T> {
  const file = path.join(folder, 'manifest.jsonl');
  await writeFile(file, content);
  const handle = await open(file);
  try {
    return await work(handle, file);
  } finally {
    await handle.close();
  }
}

function listLines(content: string | Buffer, options?: LineReaderOptions): Promise<[number, string | undefined][]> {
  return withFile(content, async (handle, file) => {
    const lines: [number, string | undefined][] = [];
    for await (const line of manifestLines(handle, file, options)) {
      lines.push([line.number, line.bytes?.toString()]);
      if (line.bytes !== undefined) {
        const again = await readLineAt(handle, file, line.offsetBytes, line.lengthBytes);
        expect(again.equals(line.bytes)).toBe(true);
      }
    }
    return lines;
  });
}

describe('manifestLines()', () => {
  it('counts blank lines and passes over them', async () => {
    expect(await listLines('a\n\n \t\r\nb')).toEqual([
      [1, 'a'],
      [4, 'b'],
    ]);
  });

  it('strips a byte order mark at the start of the file alone', async () => {
    expect(await listLines('\ufeffa\n\ufeffb\n')).toEqual([
      [1, 'a'],
      [2, '\ufeffb'],
    ]);
  });

  it('strips one carriage return before the line break', async () => {
    expect(await listLines('a\r\nb\r\r\nc\rd\r')).toEqual([
      [1, 'a'],
      [2, 'b\r'],
      [3, 'c\rd'],
    ]);
  });

  it('does not split at other line separators', async () => {
    expect(await listLines('a\u2028b\u0085c\n')).toEqual([[1, 'a\u2028b\u0085c']]);
  });

  it('finds nothing in an empty file', async () => {
    expect(await listLines('')).toEqual([]);
    expect(await listLines('\ufeff')).toEqual([]);
  });

  it('passes over a line that is too long without losing count', async () => {
    const content = `a\n${'x'.repeat(50)}\nb\n${'y'.repeat(11)}`;
    for (const chunkBytes of [7, 1000]) {
      expect(await listLines(content, { maxLineBytes: 10, chunkBytes })).toEqual([
        [1, 'a'],
        [2, undefined],
        [3, 'b'],
        [4, undefined],
      ]);
    }
  });

  it('hashes every byte of the file', async () => {
    const content = '\ufeffa\r\n\n\nb';
    const hash = createHash('sha256');
    await listLines(content, { hash, chunkBytes: 4 });
    expect(hash.digest('hex')).toBe(createHash('sha256').update(content).digest('hex'));
  });

  it('gives the same lines whatever the size of its chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'binary', maxLength: 30 }).map((text) => text.replaceAll(/[\r\n]/g, 'é'))),
        fc.integer({ min: 3, max: 40 }),
        async (texts, chunkBytes) => {
          const whole = await listLines(texts.join('\n'));
          expect(await listLines(texts.join('\n'), { chunkBytes })).toEqual(whole);
          expect(whole.every(([number, text]) => number <= texts.length && text !== '')).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('readLineAt()', () => {
  it('throws when the file has become shorter', async () => {
    await withFile('abc', async (handle, file) => {
      await expect(readLineAt(handle, file, 1, 5)).rejects.toThrow(InputError);
      await expect(readLineAt(handle, file, 1, 5)).rejects.toThrow('it is shorter than it was');
    });
  });
});
