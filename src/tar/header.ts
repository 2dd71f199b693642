import { memberNameFault, truncateToBytes } from './member-name.js';

/** Size of a header, and the unit that payloads are padded to. */
export const BLOCK_BYTES = 512;

/** A size field holds 11 octal digits, so members from 8 GiB on need an extended header. */
export const MAX_USTAR_SIZE_BYTES = 0o77777777777;

const NAME_FIELD_BYTES = 100;
const PREFIX_FIELD_BYTES = 155;

/**
 * What ends an archive: two blocks of zeros (POSIX.1-2024, pax, "ustar Interchange Format").
 *
 * GNU tar fills up its last record of 10,240 bytes besides. Nobody needs that: GNU tar lists and extracts an archive without the filling
 * silently at every verbosity, as do Python's `tarfile` and what builds on it, so it is left out.
 */
export const END_OF_ARCHIVE: Readonly<Uint8Array> = new Uint8Array(2 * BLOCK_BYTES);

export interface TarHeaderFields {
  /** Relative path of the member, with `/` between its parts. */
  name: string;
  /** Size of the payload. */
  sizeBytes: number;
  /** Type flag: `0` is a regular file (the default). */
  type?: '0' | 'x';
}

/**
 * The header blocks of a member: plain POSIX ustar, the same bytes for the same name and size, on every machine and day.
 *
 * - mtime 0, mode 0644, uid and gid 0, no owner names.
 * - The name goes into the name field as UTF-8 where it has at most 100 bytes; else it is split at a slash into prefix and name.
 *   Bytes above 127 stay as they are: GNU tar takes names as bytes, and Python's `tarfile` (hence webdataset, lhotse, NeMo) decodes them as
 *   UTF-8. A pax header for each such name would cost two blocks a member, and some readers do not know it.
 * - A name that fits neither way, or a size from 8 GiB on, is put into a pax extended header before it, which is read by GNU tar, bsdtar
 *   and Python.
 *
 * @throws {RangeError} when the name is unfit for a member, or the size is no whole number of bytes.
 */
export function tarHeader(fields: TarHeaderFields): Buffer {
  const { name, sizeBytes, type = '0' } = fields;
  const fault = memberNameFault(name);
  if (fault !== undefined) throw new RangeError(`Cannot name a member ${JSON.stringify(name)}: ${fault}`);
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) {
    throw new RangeError(`Cannot write a member of ${sizeBytes} bytes: the size must be a whole number`);
  }
  const place = placeName(name);
  const records: string[] = [];
  if (place === undefined) records.push(paxRecord('path', name));
  if (sizeBytes > MAX_USTAR_SIZE_BYTES) records.push(paxRecord('size', String(sizeBytes)));
  const main = ustarBlock(
    place ?? { prefix: '', name: shortName(name, NAME_FIELD_BYTES) },
    sizeBytes > MAX_USTAR_SIZE_BYTES ? 0 : sizeBytes,
    type,
  );
  return records.length === 0 ? main : Buffer.concat([paxBlocks(name, records.join('')), main]);
}

/** How many zero bytes follow a payload of `sizeBytes` bytes, up to the next block. */
export function paddingBytes(sizeBytes: number): number {
  return (BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES;
}

/** The sum of a header's bytes with the checksum's own field taken as blanks. */
export function headerChecksum(block: Uint8Array): number {
  let sum = 8 * 0x20;
  for (let index = 0; index < BLOCK_BYTES; index++) {
    if (index < 148 || index >= 156) sum += block[index] ?? 0;
  }
  return sum;
}

interface NamePlace {
  prefix: string;
  name: string;
}

function placeName(name: string): NamePlace | undefined {
  if (Buffer.byteLength(name) <= NAME_FIELD_BYTES) return { prefix: '', name };
  // The first slash that leaves a short enough rest keeps the prefix shortest. Readers join the two with one slash again.
  for (let slash = name.indexOf('/'); slash >= 0; slash = name.indexOf('/', slash + 1)) {
    const prefix = name.slice(0, slash);
    const rest = name.slice(slash + 1);
    if (Buffer.byteLength(prefix) > PREFIX_FIELD_BYTES) return undefined;
    if (Buffer.byteLength(rest) <= NAME_FIELD_BYTES) return { prefix, name: rest };
  }
  return undefined;
}

function ustarBlock(place: NamePlace, sizeBytes: number, type: string): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.write(place.name, 0);
  block.write('0000644\0', 100, 'latin1');
  block.write('0000000\0', 108, 'latin1');
  block.write('0000000\0', 116, 'latin1');
  block.write(`${sizeBytes.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  block.write('00000000000\0', 136, 'latin1');
  block.write(type, 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  block.write('0000000\0', 329, 'latin1');
  block.write('0000000\0', 337, 'latin1');
  block.write(place.prefix, 345);
  block.write(`${headerChecksum(block).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

function paxBlocks(name: string, records: string): Buffer {
  const payload = Buffer.from(records);
  const folder = 'PaxHeaders/';
  const headerName = folder + shortName(name, NAME_FIELD_BYTES - folder.length);
  return Buffer.concat([
    ustarBlock({ prefix: '', name: headerName }, payload.length, 'x'),
    payload,
    Buffer.alloc(paddingBytes(payload.length)),
  ]);
}

/** A cut name must not end in a slash: it would make the member a folder for readers that do not know pax. */
function shortName(name: string, maxBytes: number): string {
  return truncateToBytes(name, maxBytes).replace(/\/+$/, '');
}

/** `<length> <key>=<value>\n`, where the length counts all of the record, itself included (POSIX, "pax Extended Header"). */
function paxRecord(key: string, value: string): string {
  const restBytes = Buffer.byteLength(` ${key}=${value}\n`);
  let lengthBytes = restBytes + String(restBytes).length;
  if (String(lengthBytes).length > String(restBytes).length) lengthBytes++;
  return `${lengthBytes} ${key}=${value}\n`;
}
