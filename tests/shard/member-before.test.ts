import { describe, expect, test } from 'vitest';
import { isMemberAt } from '#cutroom/shard/member-before.js';
import { headerChecksum, paddingBytes, tarHeader } from '#cutroom/tar/header.js';

const LONG = `${'folder/'.repeat(30)}${'n'.repeat(120)}.wav`;

/** A header of GNU's type L, and the name that follows it. */
function longName(name: string): Buffer {
  const payload = Buffer.from(`${name}\0`);
  const header = tarHeader({ name: 'LongLink', sizeBytes: payload.length });
  header.write('L', 156, 'latin1');
  header.write(`${headerChecksum(header).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return Buffer.concat([header, payload, Buffer.alloc(paddingBytes(payload.length))]);
}

/** A tar whose second member is looked for. */
function tarWith(headers: Buffer): { read: (offset: number, length: number) => Buffer; offset: number } {
  const first = Buffer.concat([tarHeader({ name: 'first.wav', sizeBytes: 700 }), Buffer.alloc(1024, 1)]);
  const tar = Buffer.concat([first, headers, Buffer.alloc(512, 2)]);
  return { read: (offset, length) => tar.subarray(offset, offset + length), offset: first.length + headers.length };
}

describe('isMemberAt()', () => {
  test.for([
    ['a plain name', 'a.wav', tarHeader({ name: 'a.wav', sizeBytes: 5 })],
    ['a name in two fields', `${'f'.repeat(90)}/${'n'.repeat(90)}`, undefined],
    ['a name in a pax header', LONG, undefined],
    ['a name of GNU tar', LONG, Buffer.concat([longName(LONG), tarHeader({ name: LONG.slice(0, 99), sizeBytes: 5 })])],
  ] as const)('knows a member by %s', ([, name, headers]) => {
    const { read, offset } = tarWith(headers ?? tarHeader({ name, sizeBytes: 5 }));
    expect(isMemberAt(read, { name, offset, size: 5 })).toBe(true);
    expect(isMemberAt(read, { name, offset, size: 6 })).toBe(false);
    expect(isMemberAt(read, { name: `${name}x`, offset, size: 5 })).toBe(false);
    expect(isMemberAt(read, { name, offset: offset + 512, size: 5 })).toBe(false);
    expect(isMemberAt(read, { name: 'first.wav', offset, size: 700 })).toBe(false);
    expect(isMemberAt(read, { name: 'first.wav', offset: 512, size: 700 })).toBe(true);
  });
});
