import { errorMessage, InputError, systemCode } from '../errors.js';
import { paddingBytes } from './header.js';

/** The error for bytes that make no sense at an offset. */
export function damagedTar(path: string, what: string, offsetBytes: number): InputError {
  return new InputError(`Cannot read "${path}" at byte ${grouped(offsetBytes)}: ${what}`, {
    path,
    offsetBytes,
    hint: 'The file is damaged here; fetch it or make it again.',
  });
}

/** The error for a member that is whole, and stored in a way that is not read here. */
export function unsupportedTar(path: string, what: string, offsetBytes: number): InputError {
  return new InputError(`Cannot read "${path}" at byte ${grouped(offsetBytes)}: ${what}`, {
    path,
    offsetBytes,
    hint: 'Unpack it and pack it again with "tar --format=ustar", without --sparse and --multi-volume.',
  });
}

/** The error for headers or a payload of `sizeBytes` bytes, of which the file holds a part. */
export function tornTar(
  path: string,
  what: string,
  { offsetBytes, sizeBytes, fileBytes }: { offsetBytes: number; sizeBytes: number; fileBytes: number },
): InputError {
  const endBytes = offsetBytes + sizeBytes + paddingBytes(sizeBytes);
  return new InputError(
    `Cannot read "${path}" at byte ${grouped(offsetBytes)}: ${what} is truncated, ` +
      `it ends at byte ${grouped(endBytes)} with its padding and the file at byte ${grouped(fileBytes)}`,
    { path, offsetBytes, hint: 'The file was not written or transferred to its end; fetch it or make it again.' },
  );
}

/** The error for a file that does not begin with a header. */
export function noTar(path: string, what: string, block: Uint8Array): InputError {
  return new InputError(`Cannot read "${path}" as a tar: ${what}`, { path, offsetBytes: 0, hint: describeKind(block) });
}

/** The error for what the system says when a file is opened or read. */
export function unreadableTar(path: string, offsetBytes: number, cause: unknown): InputError {
  const reason = systemCode(cause) === 'ENOENT' ? 'there is no such file' : errorMessage(cause);
  return new InputError(`Cannot read "${path}": ${reason}`, { path, offsetBytes, cause });
}

/** Whether a file begins as gzip does. */
export function isGzip(start: Uint8Array): boolean {
  return start[0] === 0x1f && start[1] === 0x8b;
}

function describeKind(block: Uint8Array): string {
  const magic = Buffer.from(block.subarray(0, 4)).toString('hex');
  if (isGzip(block)) return 'It is compressed with gzip: decompress it with "gunzip" first.';
  if (magic === '28b52ffd') return 'It is compressed with Zstandard: decompress it with "zstd -d" first.';
  if (magic.startsWith('425a68')) return 'It is compressed with bzip2: decompress it with "bunzip2" first.';
  if (magic === 'fd377a58') return 'It is compressed with xz: decompress it with "unxz" first.';
  return 'The file is not a tar, or its start is damaged.';
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
