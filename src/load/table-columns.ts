const FIRST_CAPACITY = 1024;

/** One row's place in the columns of a table. */
export interface TableEntry {
  durationMicros: number;
  tokenCount: number;
  part: number;
  lineOffsetBytes: number;
  lineLengthBytes: number;
  lineNumber: number;
}

/** The columns of a table while rows come: 32 bytes a row, up to twice of it held. */
export class TableColumns {
  #length = 0;
  #durationsMicros = new Float64Array(FIRST_CAPACITY);
  #tokenCounts: Uint32Array | undefined;
  #parts = new Uint32Array(FIRST_CAPACITY);
  #lineOffsetsBytes = new Float64Array(FIRST_CAPACITY);
  #lineLengthsBytes = new Uint32Array(FIRST_CAPACITY);
  #lineNumbers = new Uint32Array(FIRST_CAPACITY);

  constructor(hasTokens: boolean) {
    this.#tokenCounts = hasTokens ? new Uint32Array(FIRST_CAPACITY) : undefined;
  }

  get length(): number {
    return this.#length;
  }

  push(entry: TableEntry): void {
    const at = this.#length;
    if (at === this.#parts.length) this.#grow();
    this.#durationsMicros[at] = entry.durationMicros;
    if (this.#tokenCounts !== undefined) this.#tokenCounts[at] = entry.tokenCount;
    this.#parts[at] = entry.part;
    this.#lineOffsetsBytes[at] = entry.lineOffsetBytes;
    this.#lineLengthsBytes[at] = entry.lineLengthBytes;
    this.#lineNumbers[at] = entry.lineNumber;
    this.#length = at + 1;
  }

  /** The columns as far as they are filled, as views. */
  take() {
    const end = this.#length;
    return {
      rowCount: end,
      durationsMicros: this.#durationsMicros.subarray(0, end),
      tokenCounts: this.#tokenCounts?.subarray(0, end),
      rowParts: this.#parts.subarray(0, end),
      lineOffsetsBytes: this.#lineOffsetsBytes.subarray(0, end),
      lineLengthsBytes: this.#lineLengthsBytes.subarray(0, end),
      lineNumbers: this.#lineNumbers.subarray(0, end),
    };
  }

  #grow(): void {
    this.#durationsMicros = grownDoubles(this.#durationsMicros);
    this.#tokenCounts = this.#tokenCounts === undefined ? undefined : grownWords(this.#tokenCounts);
    this.#parts = grownWords(this.#parts);
    this.#lineOffsetsBytes = grownDoubles(this.#lineOffsetsBytes);
    this.#lineLengthsBytes = grownWords(this.#lineLengthsBytes);
    this.#lineNumbers = grownWords(this.#lineNumbers);
  }
}

function grownDoubles(column: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(column.length * 2);
  grown.set(column);
  return grown;
}

function grownWords(column: Uint32Array): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(column.length * 2);
  grown.set(column);
  return grown;
}
