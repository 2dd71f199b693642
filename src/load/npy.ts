import { endianness } from 'node:os';

const MAGIC = Buffer.from('\u0093NUMPY\u0001\u0000', 'latin1');
const ALIGNMENT_BYTES = 64;
const ORDER = endianness() === 'LE' ? '<' : '>';

/**
 * An array as a file of NumPy, version 1.0, in the byte order of this machine. Source: numpy.lib.format, "Format Version 1.0": the header is
 * filled up so that the data begins at a multiple of 64 bytes.
 *
 * @returns header and data, which are one behind the other; the data is the array's own memory.
 */
export function toNpy(array: Float32Array | Int32Array, shape: readonly number[]): [header: Buffer, data: Uint8Array] {
  const type = array instanceof Float32Array ? 'f4' : 'i4';
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const fields = `{'descr': '${ORDER}${type}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const headBytes = MAGIC.length + 2;
  const rest = (headBytes + fields.length + 1) % ALIGNMENT_BYTES;
  const text = `${fields}${' '.repeat((ALIGNMENT_BYTES - rest) % ALIGNMENT_BYTES)}\n`;
  const header = Buffer.alloc(headBytes + text.length);
  MAGIC.copy(header);
  header.writeUInt16LE(text.length, MAGIC.length);
  header.write(text, headBytes, 'latin1');
  return [header, new Uint8Array(array.buffer, array.byteOffset, array.byteLength)];
}
