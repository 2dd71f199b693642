import { open } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { countWords } from '../count-words.js';
import { errorMessage, InputError, systemCode } from '../errors.js';
import { JsonObject } from '../manifest/json-object.js';
import { manifestLines } from '../manifest/lines.js';
import { parseRowLine } from '../manifest/row-line.js';
import type { GrownDataset } from './dataset-plan.js';
import { readMetadata, type BaseMetadata } from './metadata.js';
import type { TarOptions } from './options.js';
import { TextColumn } from './text-column.js';

/** A dataset that gains rows. */
export interface BaseDataset extends GrownDataset {
  metadata: BaseMetadata;
  /** Its full manifest. */
  manifestPath: string;
  rows: number;
  /** Stems of its members. */
  stems: TextColumn;
  sha256: string;
}

/** Options as the dataset's metadata has them, where they are not given. */
export function inheritOptions(options: TarOptions, base: BaseMetadata): TarOptions {
  return {
    ...options,
    maxDurationSeconds: options.maxDurationSeconds ?? base.maxDurationSeconds,
    minDurationSeconds: options.minDurationSeconds ?? base.minDurationSeconds,
    shuffle: options.shuffle ?? base.shuffle,
    shuffleSeed: options.shuffleSeed ?? base.shuffleSeed,
    sortInShards: options.sortInShards ?? base.sortInShards,
    shardManifests: options.shardManifests ?? base.shardManifests,
    sliceWithOffset: options.sliceWithOffset ?? base.sliceWithOffset,
    keepFilesTogether: options.keepFilesTogether ?? base.keepFilesTogether,
    forceCodec: options.forceCodec ?? (base.forceCodec as TarOptions['forceCodec']),
    forceSamplingRate: options.forceSamplingRate ?? base.forceSamplingRate,
  };
}

/**
 * Reads what is there of a dataset that gains rows. Its manifest is looked at row by row, and not changed.
 *
 * @throws InputError when manifest or metadata cannot be read, or do not belong together
 */
export async function readBaseDataset(manifestPath: string, metadataPath: string): Promise<BaseDataset> {
  const metadata = await readMetadata(metadataPath);
  const { numShards, samplesPerShard } = metadata;
  const hash = createHash('sha256');
  const stems = new TextColumn();
  const handle = await open(manifestPath).catch((error: unknown) => {
    const reason = systemCode(error) === 'ENOENT' ? 'there is no such file' : errorMessage(error);
    throw new InputError(`Cannot read "${manifestPath}": ${reason}`, { path: manifestPath, cause: error });
  });
  try {
    for await (const line of manifestLines(handle, manifestPath, { hash })) {
      const row = parseRowLine(line);
      const fault = row instanceof JsonObject ? faultOf(row, numShards) : row.message;
      if (fault !== undefined) {
        throw new InputError(`Cannot add rows to "${manifestPath}": line ${line.number}: ${fault}`, {
          path: manifestPath,
          line: line.number,
          hint: 'The first path of --concat-manifest-paths is the full manifest of the dataset that --metadata-path describes.',
        });
      }
      const name = (row as JsonObject).value('audio_filepath') as string;
      stems.push(name.replace(/\.[^.]*$/u, ''));
    }
  } finally {
    await handle.close();
  }
  return { metadata, numShards, samplesPerShard, manifestPath, rows: stems.length, stems, sha256: hash.digest('hex') };
}

function faultOf(row: JsonObject, numShards: number): string | undefined {
  if (row.kind('audio_filepath') !== 'string') return 'the row has no "audio_filepath"';
  const id = row.value('shard_id');
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return 'the row has no "shard_id"';
  if (id >= 0 && id < numShards) return undefined;
  return `its "shard_id" is ${id}, and the metadata tells of ${countWords(numShards, 'shard')}`;
}
