import { isAudioName, sampleKey, withoutSubNumber } from './sample-key.js';

/** A file in a tar: where its payload lies. */
export interface MemberPlace {
  name: string;
  offsetBytes: number;
  sizeBytes: number;
}

/** What a table is made of: plain arrays, as they are kept in a file. Payloads begin at whole blocks of 512 bytes. */
export interface MemberArrays {
  sizesBytes: Float64Array;
  offsetBlocks: Uint32Array;
  /** Where each name ends among the names. */
  nameEnds: Uint32Array;
  /** Members by the hashes of their names: 1 and the member's number, 0 where there is none; collisions stand in the next free place. */
  slots: Uint32Array;
  /** All names, one behind the other. */
  names: Uint8Array;
}

const BLOCK_BYTES = 512;

/** The files of one tar by their names, some 25 bytes and the name for each. */
export class MemberTable {
  readonly arrays: MemberArrays;
  readonly #names: Buffer;
  /** As `slots`, by ids; made as soon as a name is not found. */
  #idSlots: Uint32Array | undefined;

  constructor(arrays: MemberArrays) {
    this.arrays = arrays;
    this.#names = Buffer.from(arrays.names.buffer, arrays.names.byteOffset, arrays.names.byteLength);
  }

  get count(): number {
    return this.arrays.nameEnds.length;
  }

  /** The member that a row names: by its very name, without the "-subN" of NeMo's repeated files, or by its id as ATdataset finds it. */
  find(name: string): MemberPlace | undefined {
    const member = this.#findName(name) ?? this.#findName(withoutSubNumber(name)) ?? this.#findId(sampleKey(name));
    if (member === undefined) return undefined;
    return {
      name: this.#nameOf(member),
      offsetBytes: (this.arrays.offsetBlocks[member] ?? 0) * BLOCK_BYTES,
      sizeBytes: this.arrays.sizesBytes[member] ?? 0,
    };
  }

  #findName(name: string): number | undefined {
    return findIn(this.arrays.slots, Buffer.from(name), (member) => this.#nameBytes(member));
  }

  /** Of several audio files with one id none is meant for sure. */
  #findId(id: string): number | undefined {
    this.#idSlots ??= this.#indexIds();
    const bytes = Buffer.from(id);
    const slots = this.#idSlots;
    let found: number | undefined;
    for (let at = slotOf(bytes, slots); slots[at] !== 0; at = (at + 1) & (slots.length - 1)) {
      const member = (slots[at] ?? 0) - 1;
      if (sampleKey(this.#nameOf(member)) !== id) continue;
      if (found !== undefined) return undefined;
      found = member;
    }
    return found;
  }

  #indexIds(): Uint32Array {
    const slots = new Uint32Array(this.arrays.slots.length);
    for (let member = 0; member < this.count; member += 1) {
      const name = this.#nameOf(member);
      if (!isAudioName(name)) continue;
      let at = slotOf(Buffer.from(sampleKey(name)), slots);
      while (slots[at] !== 0) at = (at + 1) & (slots.length - 1);
      slots[at] = member + 1;
    }
    return slots;
  }

  #nameOf(member: number): string {
    return this.#nameBytes(member).toString('utf8');
  }

  #nameBytes(member: number): Buffer {
    const { nameEnds } = this.arrays;
    return this.#names.subarray(member === 0 ? 0 : nameEnds[member - 1], nameEnds[member]);
  }
}

/** Takes members one after the other. */
export class MemberTableBuilder {
  #count = 0;
  #sizesBytes = new Float64Array(1024);
  #offsetBlocks = new Uint32Array(1024);
  #nameEnds = new Uint32Array(1024);
  #slots = new Uint32Array(2048);
  #names = Buffer.alloc(1 << 15);

  /**
   * Takes one more.
   *
   * @returns false where the name is taken.
   */
  add({ name, offsetBytes, sizeBytes }: MemberPlace): boolean {
    const bytes = Buffer.from(name);
    if (findIn(this.#slots, bytes, (member) => this.#nameBytes(member)) !== undefined) return false;
    const member = this.#count;
    if (member === this.#sizesBytes.length) this.#grow();
    const start = this.#endOf(member);
    if (start + bytes.length > this.#names.length) {
      const larger = Buffer.alloc(Math.max(start + bytes.length, Math.ceil(this.#names.length * 1.5)));
      this.#names.copy(larger, 0, 0, start);
      this.#names = larger;
    }
    bytes.copy(this.#names, start);
    this.#nameEnds[member] = start + bytes.length;
    this.#offsetBlocks[member] = offsetBytes / BLOCK_BYTES;
    this.#sizesBytes[member] = sizeBytes;
    this.#put(bytes, member);
    this.#count += 1;
    return true;
  }

  finish(): MemberTable {
    const count = this.#count;
    return new MemberTable({
      sizesBytes: this.#sizesBytes.slice(0, count),
      offsetBlocks: this.#offsetBlocks.slice(0, count),
      nameEnds: this.#nameEnds.slice(0, count),
      slots: this.#slots,
      names: new Uint8Array(this.#names.subarray(0, this.#endOf(count))),
    });
  }

  #grow(): void {
    const room = this.#sizesBytes.length * 2;
    this.#sizesBytes = copyInto(new Float64Array(room), this.#sizesBytes);
    this.#offsetBlocks = copyInto(new Uint32Array(room), this.#offsetBlocks);
    this.#nameEnds = copyInto(new Uint32Array(room), this.#nameEnds);
    this.#slots = new Uint32Array(room * 2);
    for (let member = 0; member < this.#count; member += 1) this.#put(this.#nameBytes(member), member);
  }

  #put(bytes: Buffer, member: number): void {
    let at = slotOf(bytes, this.#slots);
    while (this.#slots[at] !== 0) at = (at + 1) & (this.#slots.length - 1);
    this.#slots[at] = member + 1;
  }

  #endOf(members: number): number {
    return members === 0 ? 0 : (this.#nameEnds[members - 1] ?? 0);
  }

  #nameBytes(member: number): Buffer {
    return this.#names.subarray(this.#endOf(member), this.#nameEnds[member]);
  }
}

function findIn(slots: Uint32Array, bytes: Buffer, nameOf: (member: number) => Buffer): number | undefined {
  for (let at = slotOf(bytes, slots); slots[at] !== 0; at = (at + 1) & (slots.length - 1)) {
    const member = (slots[at] ?? 0) - 1;
    if (nameOf(member).equals(bytes)) return member;
  }
  return undefined;
}

/** FNV-1a of the bytes, its upper half mixed in. */
function slotOf(bytes: Buffer, slots: Uint32Array): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < bytes.length; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return (hash ^ (hash >>> 15)) & (slots.length - 1);
}

function copyInto<T extends Float64Array | Uint32Array>(target: T, source: T): T {
  target.set(source);
  return target;
}
