import path from 'node:path';
import { removeFile, writeFileAtomic, type ChunkWriter } from '../run/atomic-file.js';
import { RowsByShard, shardsWithRows } from './index-rows.js';
import type { IndexedDataset } from './index-types.js';
import type { IndexWarnings } from './index-warnings.js';
import type { PackedRow } from './packed-rows.js';

/** The metadataset that gives each row its audio. */
const METADATASET_FILE = 'energon.yaml';
const ROWS_FILE = 'energon-rows.jsonl';
const OFFSETS_FILE = 'energon-rows.jsonl.idx';

/** Opening this file, not the folder, gives rows as samples; their audio is read from the tars by name. */
const METADATASET = `__module__: megatron.energon
__class__: MetadatasetV2
splits:
  train:
    path: ${ROWS_FILE}
    aux:
      audio: .
`;

/**
 * Writes the rows for Energon: all of them in one JSONL file with the offsets of its lines, and a metadataset that sets the tars beside them, so
 * that a cooker finds `audio[row["audio_filepath"]]`. Nothing is written, and an earlier one removed, where a shard has no rows.
 *
 * @returns the names of the files
 */
export async function writeEnergonRows(
  dataset: IndexedDataset,
  warnings: IndexWarnings,
  signal: AbortSignal | undefined,
  onShard: () => void,
): Promise<string[]> {
  const place = (name: string): string => path.join(dataset.folder, name);
  const shards = shardsWithRows(dataset);
  if (shards === undefined) {
    for (const name of [METADATASET_FILE, ROWS_FILE, OFFSETS_FILE]) await removeFile(place(name));
    return [];
  }
  const offsets = new OffsetList();
  const rows = new RowsByShard(shards, warnings, signal);
  try {
    await writeFileAtomic(place(ROWS_FILE), async (write) => {
      for (const shard of shards.keys()) {
        for await (const row of rows.of(shard)) offsets.add(await writeRow(write, row));
        onShard();
      }
    });
  } finally {
    await rows.close();
  }
  await writeFileAtomic(place(OFFSETS_FILE), (write) => write(offsets.bytes()));
  await writeFileAtomic(place(METADATASET_FILE), (write) => write(METADATASET));
  return [ROWS_FILE, OFFSETS_FILE, METADATASET_FILE];
}

/** Returns the size of the line. */
async function writeRow(write: ChunkWriter, { row, audio }: PackedRow): Promise<number> {
  // A row of NeMo's "-subN", or one that spells the member otherwise, must name the member itself.
  if (row.value('audio_filepath') !== audio.name) row.set('audio_filepath', JSON.stringify(audio.name));
  const line = Buffer.from(`${row.stringify()}\n`);
  await write(line);
  return line.length;
}

/** Where lines begin, and the last one ends: little-endian `uint64`. */
class OffsetList {
  #offsets = new BigUint64Array(256);
  #count = 0;
  #endBytes = 0n;

  /** Adds a line of so many bytes. */
  add(sizeBytes: number): void {
    if (this.#count + 1 === this.#offsets.length) {
      const grown = new BigUint64Array(this.#offsets.length * 2);
      grown.set(this.#offsets);
      this.#offsets = grown;
    }
    this.#endBytes += BigInt(sizeBytes);
    this.#count += 1;
    this.#offsets[this.#count] = this.#endBytes;
  }

  bytes(): Buffer {
    const bytes = Buffer.alloc(8 * (this.#count + 1));
    for (let index = 0; index <= this.#count; index += 1) {
      bytes.writeBigUInt64LE(this.#offsets[index] ?? 0n, 8 * index);
    }
    return bytes;
  }
}
