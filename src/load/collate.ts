/** One item of a batch, decoded. */
export interface CollatedItem {
  samples: Float32Array;
  /** How long it is: `samples` are none where they were encoded. */
  sampleCount: number;
  text: string;
  id: string;
  row: Readonly<Record<string, unknown>>;
  rowLine: string | undefined;
  source: string;
  bytes: Uint8Array | undefined;
}

/** The part of a batch that its items decide. */
export interface Collated {
  audio: Float32Array<ArrayBuffer>;
  shape: [count: number, samples: number];
  audioLengths: Int32Array;
  text: string[];
  ids: string[];
  rows: Readonly<Record<string, unknown>>[];
  rowLines: (string | undefined)[] | undefined;
  source: string[];
  bytes: (Uint8Array | undefined)[] | undefined;
}

/**
 * Lays items behind one another in one array, each filled up by zeros to the longest:
 *
 * ```
 * two items, two copies    a a a a        copy 1 of all,
 *                          b b 0 0
 *                          a a a a        copy 2 of all
 *                          b b 0 0
 * ```
 *
 * @param wants whether `bytes` and `rowLines` are there at all
 * @param takeRoom gives the memory of `audio`, which may hold anything, and items at their places
 */
export function collate(
  items: readonly CollatedItem[],
  copies: number,
  wants: { bytes: boolean; lines: boolean },
  takeRoom: (count: number, longest: number) => Float32Array<ArrayBuffer>,
): Collated {
  const count = items.length * copies;
  const longest = items.reduce((most, { samples }) => Math.max(most, samples.length), 0);
  const audio = takeRoom(count, longest);
  const audioLengths = new Int32Array(count);
  for (let place = 0; place < count; place += 1) {
    const { samples, sampleCount } = items[place % items.length]!;
    const start = place * longest;
    const room = audio.subarray(start, start + samples.length);
    if (samples.buffer !== room.buffer || samples.byteOffset !== room.byteOffset) room.set(samples);
    audio.fill(0, start + samples.length, start + longest);
    audioLengths[place] = sampleCount;
  }
  const ofAll = <T>(field: (item: CollatedItem) => T): T[] => {
    const values = items.map((item) => field(item));
    return Array.from({ length: copies }, () => values).flat();
  };
  return {
    audio,
    shape: [count, longest],
    audioLengths,
    text: ofAll(({ text }) => text),
    ids: ofAll(({ id }) => id),
    rows: ofAll(({ row }) => row),
    rowLines: wants.lines ? ofAll(({ rowLine }) => rowLine) : undefined,
    source: ofAll(({ source }) => source),
    bytes: wants.bytes ? ofAll(({ bytes }) => bytes) : undefined,
  };
}
