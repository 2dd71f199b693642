const IDENTIFICATION = 1;
const SETUP = 5;
const MIN_IDENTIFICATION_BYTES = 30;
/** Exponents of both block sizes (Vorbis I, section 4.2.2). */
const BLOCK_SIZES_AT = 28;
const MAX_MODES = 64;
const MAX_MAPPINGS = 64;

/**
 * The block size of each packet of Vorbis, as its first byte tells it (Vorbis I, section 4.3.1): of two blocks one after the other a quarter
 * of each is audio that the second one completes.
 */
export class VorbisBlocks {
  /** Of each mode, in samples. */
  readonly #sizes: readonly number[];
  readonly #modeMask: number;

  /**
   * @param headers the three header packets.
   * @returns undefined where they are not what they should be.
   */
  static open(headers: readonly (Buffer | undefined)[]): VorbisBlocks | undefined {
    const [identification, , setup] = headers;
    if (!isHeader(identification, IDENTIFICATION) || identification.length < MIN_IDENTIFICATION_BYTES) return undefined;
    if (!isHeader(setup, SETUP)) return undefined;
    const exponents = identification.readUInt8(BLOCK_SIZES_AT);
    const [short, long] = [2 ** (exponents & 15), 2 ** (exponents >> 4)];
    const flags = readModes(setup);
    return flags && new VorbisBlocks(flags.map((isLong) => (isLong ? long : short)));
  }

  private constructor(sizes: readonly number[]) {
    this.#sizes = sizes;
    this.#modeMask = 2 ** Math.ceil(Math.log2(sizes.length)) - 1;
  }

  /** Samples of a packet's block; undefined for a packet that is no audio. */
  sizeOf(packet: Buffer): number | undefined {
    const first = packet[0] ?? 1;
    return (first & 1) === 1 ? undefined : this.#sizes[(first >> 1) & this.#modeMask];
  }
}

function isHeader(packet: Buffer | undefined, type: number): packet is Buffer {
  return packet !== undefined && packet[0] === type && packet.toString('latin1', 1, 7) === 'vorbis';
}

/**
 * Which modes have long blocks. They stand at the end of the setup (section 4.2.4), behind tables whose length only reading them tells, so
 * they are read from the end:
 *
 * ```
 * …tables | modes − 1: 6 bits | long: 1, window: 16 × 0, transform: 16 × 0, mapping: 8 | … | 1 | 0 …
 * ```
 *
 * What stands before may look like more modes; the caller sees by the pages whether lengths of blocks add up.
 */
function readModes(setup: Buffer): boolean[] | undefined {
  const bits = new BackwardBits(setup);
  if (!bits.passEnd()) return undefined;
  const flags: boolean[] = [];
  let modes: boolean[] | undefined;
  while (flags.length < MAX_MODES && bits.read(8) < MAX_MAPPINGS && bits.read(16) === 0 && bits.read(16) === 0) {
    flags.unshift(bits.read(1) === 1);
    if (bits.peek(6) === flags.length - 1) modes = [...flags];
  }
  return modes;
}

/** Numbers of a packet, whose first bit is the lowest of the first byte, from its end to its start. */
class BackwardBits {
  readonly #bytes: Buffer;
  /** The bit behind the next one. */
  #end: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#end = 8 * bytes.length;
  }

  /** Passes over zeros and the one bit that ends a header; false where there is none. */
  passEnd(): boolean {
    while (this.#end > 0) if (this.read(1) === 1) return true;
    return false;
  }

  read(count: number): number {
    const value = this.peek(count);
    this.#end -= count;
    return value;
  }

  /** NaN where there are not so many bits. */
  peek(count: number): number {
    if (count > this.#end) return Number.NaN;
    let value = 0;
    for (let bit = this.#end - 1; bit >= this.#end - count; bit -= 1) {
      value = 2 * value + (((this.#bytes[bit >> 3] ?? 0) >> (bit & 7)) & 1);
    }
    return value;
  }
}
