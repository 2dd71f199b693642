import { openSync, readFileSync, readSync, closeSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OutputError } from '#cutroom/errors.js';
import { MemberStream } from '#cutroom/shard/member-stream.js';
import { TarAppender } from '#cutroom/tar/writer.js';
import { makeFolder } from '../support/cut-runs.js';
import { hashUniform } from '../support/signals.js';

/** A member that is written in pieces, patched, and cut away again where it is not kept. */
interface Step {
  name: string;
  pieces: number[];
  patches: { at: number; size: number }[];
  isKept: boolean;
}

const MIB = 1 << 20;

const step: fc.Arbitrary<Step> = fc.record({
  name: fc.oneof(
    fc.constantFrom('a.wav', 'b/c.flac'),
    fc.string({ unit: fc.constantFrom('ä', 'b', '/'), maxLength: 300 }),
  ),
  pieces: fc.array(
    fc.oneof(fc.nat(2000), fc.integer({ min: MIB - 2000, max: MIB + 2000 }), fc.constantFrom(0, 511, 512, MIB)),
    { maxLength: 3 },
  ),
  patches: fc.array(fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), size: fc.nat(1000) }), {
    maxLength: 3,
  }),
  isKept: fc.boolean(),
});

function payloadOf(size: number, seed: number): Buffer {
  return Buffer.alloc(size, Math.floor(hashUniform(size, seed) * 255) + 1);
}

describe('MemberStream', () => {
  test('writes what a tar of known sizes would be, whatever is patched and cut away', async (context) => {
    const folder = await makeFolder(context);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
        run += 1;
        const file = path.join(folder, `${run}.tar`);
        const stream = new MemberStream(file, 0);
        const expected = await TarAppender.open(`${file}.expected`);
        for (const [k, { name, pieces, patches, isKept }] of steps.entries()) {
          const member = `m${name}m`;
          const payload = Buffer.concat(pieces.map((size, n) => payloadOf(size, k + n)));
          stream.begin(member);
          let written = 0;
          for (const size of pieces) {
            stream.write(payload.subarray(written, written + size));
            written += size;
          }
          for (const { at, size } of patches) {
            const offset = Math.floor(at * payload.length);
            const patch = Buffer.alloc(Math.min(size, payload.length - offset), 0xee);
            stream.patch(offset, patch);
            patch.copy(payload, offset);
          }
          if (isKept) {
            stream.end();
            await expected.appendBytes(member, payload);
          } else {
            stream.drop();
          }
          expect(stream.offsetBytes).toBe(expected.offsetBytes);
        }
        expect(stream.finish()).toBe(await expected.finish());
        stream.close();
        await expected.close();
        expect(readFileSync(file).equals(readFileSync(`${file}.expected`))).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  test('takes bytes from a reader, and tells where it ended', async (context) => {
    const folder = await makeFolder(context);
    const file = path.join(folder, 'a.tar');
    const source = openSync(new URL(import.meta.url), 'r');
    const stream = new MemberStream(file, 0);
    stream.begin('a');
    const size = readFileSync(source).length;
    let position = 0;
    const taken = stream.take(size + 10, (buffer, offset, length) => {
      const read = readSync(source, buffer, offset, Math.min(length, 100), position);
      position += read;
      return read;
    });
    closeSync(source);
    stream.end();
    stream.finish();
    stream.close();
    expect(taken).toBe(size);
    expect(readFileSync(file).subarray(512, 512 + size)).toEqual(readFileSync(new URL(import.meta.url)));
  });

  test('goes on from a size', async (context) => {
    const file = path.join(await makeFolder(context), 'a.tar');
    const write = (names: string[], from: number, isLast: boolean): number => {
      const stream = new MemberStream(file, from);
      for (const name of names) {
        stream.begin(name);
        stream.write(Buffer.from(`payload of ${name}`));
        stream.end();
      }
      stream.sync();
      const { offsetBytes } = stream;
      if (isLast) stream.finish();
      stream.close();
      return offsetBytes;
    };
    write(['a', 'b', 'c'], 0, true);
    const whole = readFileSync(file);
    const half = write(['a'], 0, true);
    write(['b', 'c'], half, true);
    expect(readFileSync(file)).toEqual(whole);
  });

  test('names a tar that cannot be opened', () => {
    expect(() => new MemberStream('/nowhere/a.tar', 0)).toThrow(OutputError);
    expect(() => new MemberStream('/nowhere/a.tar', 0)).toThrow(
      'Cannot open "/nowhere/a.tar": its folder does not exist',
    );
  });
});
