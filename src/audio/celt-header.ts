/** What a frame of Opus in CELT says before its audio of how it hangs on the frames before it. */
export interface CeltHeader {
  /** At 48 kHz. */
  frames: number;
  /** Whether the energies of its bands are told anew, and not relative to the frame before. */
  isIntra: boolean;
  /** Whether it is cut into short blocks. */
  isTransient: boolean;
  /** How much of the output of `periodFrames` before is added to it; 0 for none. */
  gain: number;
  periodFrames: number;
}

/** Configurations from this one on are in CELT alone; four lengths of frames each (RFC 6716, section 3.1, table 2). */
const FIRST_CELT = 16;
const SHORTEST_FRAMES = 120;
/** Gains are told in eighths of three quarters (section 4.3.7.1). */
const GAIN_STEP = 3 / 32;
const TAPSETS = [2, 1, 0] as const;

/**
 * Reads the beginning of a packet of Opus (RFC 6716, section 4.3).
 *
 * @returns undefined where it holds several frames, or is not in CELT alone.
 */
export function readCeltHeader(packet: Buffer): CeltHeader | undefined {
  const toc = packet[0] ?? 0;
  const configuration = toc >> 3;
  if (packet.length === 0 || configuration < FIRST_CELT || (toc & 3) !== 0) return undefined;
  const frames = SHORTEST_FRAMES << (configuration & 3);
  // A frame of a byte or less, or one that says so, is silence: its energies are known.
  const silent = { frames, isIntra: true, isTransient: false, gain: 0, periodFrames: 0 };
  if (packet.length <= 2) return silent;
  const coder = new RangeDecoder(packet, 1);
  if (coder.bit(15)) return silent;
  let [gain, periodFrames] = [0, 0];
  if (coder.bitsLeft >= 16 && coder.bit(1)) {
    const octave = coder.uniform(6);
    periodFrames = (16 << octave) + coder.raw(4 + octave) - 1;
    gain = GAIN_STEP * (coder.raw(3) + 1);
    if (coder.bitsLeft >= 2) coder.passOver(TAPSETS, 2);
  }
  const isTransient = frames > SHORTEST_FRAMES && coder.bitsLeft >= 3 && coder.bit(3);
  const isIntra = coder.bitsLeft >= 3 && coder.bit(3);
  return { frames, isIntra, isTransient, gain, periodFrames };
}

const CODE_BITS = 32;
const BOTTOM = 2 ** 23;
const TOP = 2 ** 31;

/** The range decoder of Opus (section 4.1), as far as headers need it. */
class RangeDecoder {
  readonly #bytes: Buffer;
  #at: number;
  #back: number;
  #range = 128;
  #value: number;
  #last: number;
  readonly #bits: number;
  #bitsRead = 9;
  /** Raw bits, which come from the end of the frame on. */
  #window = 0;
  #windowBits = 0;

  constructor(bytes: Buffer, from: number) {
    this.#bytes = bytes;
    this.#bits = 8 * (bytes.length - from);
    this.#back = bytes.length;
    this.#last = bytes[from] ?? 0;
    this.#at = from + 1;
    this.#value = this.#range - 1 - (this.#last >> 1);
    this.#normalize();
  }

  /** Bits of the frame that were not used yet (section 4.1.6.1). */
  get bitsLeft(): number {
    return this.#bits - (this.#bitsRead - (CODE_BITS - Math.clz32(this.#range)));
  }

  /** Decodes a bit that is set once in 2^`logProbability`. */
  bit(logProbability: number): boolean {
    const part = this.#range >>> logProbability;
    const isSet = this.#value < part;
    if (isSet) this.#range = part;
    else this.#take(part, this.#range - part);
    this.#normalize();
    return isSet;
  }

  /** Decodes one of so many numbers that are equally likely. */
  uniform(count: number): number {
    const part = Math.floor(this.#range / count);
    const above = Math.min(Math.floor(this.#value / part) + 1, count);
    const number = count - above;
    this.#take(part * (above - 1), number > 0 ? part : this.#range - part * (above - 1));
    this.#normalize();
    return number;
  }

  /** Passes over a symbol of a table of 2^`logTotal` in all: what is left behind each. */
  passOver(table: readonly number[], logTotal: number): void {
    const part = this.#range >>> logTotal;
    let above = this.#range;
    for (const left of table) {
      const below = part * left;
      if (this.#value >= below) {
        this.#take(below, above - below);
        break;
      }
      above = below;
    }
    this.#normalize();
  }

  raw(count: number): number {
    while (this.#windowBits < count) {
      this.#back -= 1;
      this.#window |= (this.#bytes[this.#back] ?? 0) << this.#windowBits;
      this.#windowBits += 8;
    }
    const value = this.#window & ((1 << count) - 1);
    this.#window >>>= count;
    this.#windowBits -= count;
    this.#bitsRead += count;
    return value;
  }

  #take(below: number, range: number): void {
    this.#value -= below;
    this.#range = range;
  }

  #normalize(): void {
    while (this.#range <= BOTTOM) {
      this.#range *= 256;
      this.#bitsRead += 8;
      const before = this.#last;
      this.#last = this.#bytes[this.#at] ?? 0;
      this.#at += 1;
      const symbol = ((before << 8) | this.#last) >> 1;
      this.#value = (this.#value * 256 + (255 & ~symbol)) % TOP;
    }
  }
}
