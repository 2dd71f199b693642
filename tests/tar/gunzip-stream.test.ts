import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InputError } from '#cutroom/errors.js';
import { END_OF_ARCHIVE, paddingBytes, tarHeader } from '#cutroom/tar/header.js';
import { members, type TarEnd, type TarMember } from '#cutroom/tar/reader.js';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'cutroom-gunzip-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Members around the sizes of pages and of the pieces that come from the decompressor. */
const SIZES = [0, 1, 511, 512, 4096, 16_384, 65_537, 1_000_000];

/** Bytes that do not get smaller. */
function payload(sizeBytes: number): Buffer {
  let state = sizeBytes + 1;
  return Buffer.from(
    Uint8Array.from({ length: sizeBytes }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    }),
  );
}

const tar = Buffer.concat([
  ...SIZES.flatMap((sizeBytes) => {
    const name = sizeBytes === 4096 ? `${'n'.repeat(150)}.bin` : `${sizeBytes}.bin`;
    return [tarHeader({ name, sizeBytes }), payload(sizeBytes), Buffer.alloc(paddingBytes(sizeBytes))];
  }),
  END_OF_ARCHIVE,
]);

async function list(bytes: Buffer): Promise<{ found: TarMember[]; end?: TarEnd; error?: unknown }> {
  const file = path.join(folder, 'x.tar.gz');
  await writeFile(file, bytes);
  const found: TarMember[] = [];
  const listing = members(file, { isGunzipped: true });
  try {
    for (;;) {
      const step = await listing.next();
      if (step.done === true) return { found, end: step.value };
      found.push(step.value);
    }
  } catch (error) {
    return { found, error };
  }
}

describe('members() with isGunzipped', () => {
  test('finds in a compressed tar what is in the tar, at the places of the tar', async () => {
    const plain = await list(tar);
    expect(plain.found).toHaveLength(SIZES.length);
    expect(plain.end).toEqual({ isComplete: true, endOffsetBytes: tar.length - 1024 });
    expect(await list(gzipSync(tar))).toEqual(plain);
  });

  test('reads one that is joined of several, as gzip allows', async () => {
    const halves = [tar.subarray(0, 70_000), tar.subarray(70_000)].map((half) => gzipSync(half));
    expect((await list(Buffer.concat(halves))).found).toHaveLength(SIZES.length);
  });

  test('gives out the members before the place where it is cut or damaged', async () => {
    const compressed = gzipSync(tar);
    for (const fraction of [0.02, 0.3, 0.9]) {
      const { found, error } = await list(compressed.subarray(0, Math.floor(compressed.length * fraction)));
      expect(error).toBeInstanceOf(InputError);
      expect((error as InputError).message).toContain('of the tar in it: ');
      expect(found.length).toBeLessThan(SIZES.length);
    }
    const damaged = Buffer.from(compressed);
    damaged.fill(0xff, 1_000_000, 1_000_100);
    const { found, error } = await list(damaged);
    expect(error).toBeInstanceOf(InputError);
    expect(found.map(({ sizeBytes }) => sizeBytes)).toEqual(SIZES.slice(0, found.length));
  });

  test('tells of a tar that was cut before it was compressed', async () => {
    const { error, found } = await list(gzipSync(tar.subarray(0, 60_000)));
    expect((error as InputError).message).toContain('the payload of "65537.bin" is truncated');
    expect(found).toHaveLength(6);
  });

  test('is left early without an error', async () => {
    const file = path.join(folder, 'early.tar.gz');
    await writeFile(file, gzipSync(tar));
    for await (const { name } of members(file, { isGunzipped: true })) if (name === '1.bin') break;
    const names: string[] = [];
    for await (const { name } of members(file, { isGunzipped: true })) names.push(name);
    expect(names).toHaveLength(SIZES.length);
  });
});
