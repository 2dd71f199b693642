import { BLOCK_BYTES, paddingBytes } from '../tar/header.js';
import { parseHeader, type TarHeaderBlock } from '../tar/header-parser.js';
import { parsePaxRecords, paxSizeBytes } from '../tar/pax.js';

/** Extended headers that lie farther before a payload are not looked for: names longer than this are no names of files. */
const MAX_EXTENSION_BYTES = 1 << 15;

/** Reads bytes of a tar; fewer where it ends. */
export type ReadTar = (offsetBytes: number, lengthBytes: number) => Buffer;

/**
 * Whether a tar holds the payload of that member at that place, by the headers before it: ustar, pax and GNU long names.
 *
 * @param offsetBytes where the payload begins.
 */
export function isMemberAt(
  read: ReadTar,
  { name, offset, size }: { name: string; offset: number; size: number },
): boolean {
  const start = Math.max(0, offset - BLOCK_BYTES - MAX_EXTENSION_BYTES);
  const header = headerIn(read(offset - BLOCK_BYTES, BLOCK_BYTES), 0);
  if (header === undefined) return false;
  if (header.name === name && header.sizeBytes === size) return true;
  const found = applyExtensions(header, read(start, offset - BLOCK_BYTES - start));
  return found.name === name && found.sizeBytes === size;
}

/** What the extended headers make of a header that follows them. The nearest counts. */
function applyExtensions(header: TarHeaderBlock, before: Buffer): { name: string; sizeBytes: number } {
  let paxName: string | undefined;
  let longName: string | undefined;
  let sizeBytes: number | undefined;
  for (let end = before.length, at = end - BLOCK_BYTES; at >= 0; at -= BLOCK_BYTES) {
    const extension = headerIn(before, at);
    if (extension === undefined || !'xgLK'.includes(extension.type)) continue;
    const payloadEnd = at + BLOCK_BYTES + extension.sizeBytes;
    if (payloadEnd + paddingBytes(extension.sizeBytes) !== end) continue;
    const payload = before.subarray(at + BLOCK_BYTES, payloadEnd);
    if (extension.type === 'L') longName ??= payload.toString('utf8').split('\0', 1)[0];
    const records = 'xg'.includes(extension.type) ? parsePaxRecords(payload) : undefined;
    paxName ??= records?.get('path');
    sizeBytes ??= records === undefined ? undefined : paxSizeBytes(records);
    end = at;
  }
  return { name: paxName || longName || header.name, sizeBytes: sizeBytes ?? header.sizeBytes };
}

function headerIn(bytes: Buffer, at: number): TarHeaderBlock | undefined {
  if (at < 0 || at + BLOCK_BYTES > bytes.length) return undefined;
  const header = parseHeader(bytes.subarray(at, at + BLOCK_BYTES));
  return typeof header === 'string' ? undefined : header;
}
