import { encodeWavSamples } from '../audio/wav-samples.js';
import { flattenId } from '../shard/member-id.js';
import type { Batch } from './batch.js';
import { toNpy } from './npy.js';
import { readAudioPath } from './row-facts.js';
import { SpelledRow, joinFields, toJson } from './spelled-row.js';

/** What single samples are written as: `raw` is the encoded bytes as they are. */
export type StreamFormat = 'wav' | 'flac' | 'raw';

/** A member before it is written. */
export interface StreamMember {
  name: string;
  /** The payload, in pieces. */
  chunks: readonly Uint8Array[];
}

const EPOCH_DIGITS = 6;
const STEP_DIGITS = 9;

/** Makes the members of single samples: `KEY.wav` and `KEY.json` of each. */
export class SampleMembers {
  readonly #format: StreamFormat;
  readonly #copies: number;
  #lastKey = '';

  /** @param copies of each item in a batch: all of the first, then all of the second … */
  constructor(format: StreamFormat, copies: number) {
    this.#format = format;
    this.#copies = copies;
  }

  /** In the order of the batch. */
  async *of(batch: Batch): AsyncGenerator<StreamMember, void, undefined> {
    for (let item = 0; item < batch.ids.length; item += 1) {
      const key = this.#keyOf(batch.ids[item]!);
      const audio = await this.#audioOf(batch, item, key);
      yield audio;
      yield { name: `${key}.json`, chunks: [Buffer.from(this.#rowOf(batch, item, audio.name))] };
    }
  }

  /** WebDataset takes neighbours of one key for one sample, and everything behind a dot for a field. */
  #keyOf(id: string): string {
    const key = flattenId(id);
    this.#lastKey = key === this.#lastKey ? `${key}-again` : key;
    return this.#lastKey;
  }

  async #audioOf(batch: Batch, item: number, key: string): Promise<StreamMember> {
    if (this.#format === 'raw') return rawMember(batch, item, key);
    const { audio, audioLengths, sampleRate, shape, bytes } = batch;
    const name = `${key}.${this.#format}`;
    const encoded = bytes?.[item];
    if (encoded !== undefined) return { name, chunks: [encoded] };
    const start = item * shape[1];
    const samples = audio.subarray(start, start + audioLengths[item]!);
    if (this.#format === 'wav') return { name, chunks: encodeWavSamples(samples, sampleRate) };
    // It needs the codec library, which this process has not loaded where others decode.
    const { encodeFlacSamples } = await import('../audio/flac-samples.js');
    return { name, chunks: [encodeFlacSamples(samples, sampleRate)] };
  }

  /** The row, which speaks of the member in place of what the member was made of. */
  #rowOf(batch: Batch, item: number, member: string): string {
    const row = new SpelledRow(batch.rows[item]!, batch.rowLines?.[item]);
    const { offset, ...fields } = row.fields();
    const source = readAudioPath({ ...batch.rows[item]! });
    const count = batch.ids.length;
    const duration = this.#format === 'raw' ? {} : { duration: toJson(batch.audioLengths[item]! / batch.sampleRate) };
    return joinFields({
      source_audio_filepath: typeof source === 'string' ? toJson(source) : undefined,
      source_audio_offset: offset === 'null' ? undefined : offset,
      id: toJson(batch.ids[item]),
      text: toJson(batch.text[item]),
      ...fields,
      audio_filepath: toJson(member),
      ...duration,
      cutroom: toJson({
        source: batch.source[item],
        epoch: batch.epoch,
        step: batch.step,
        rank: batch.rank,
        bucket: batch.bucket,
        isPad: this.#isPad(batch, item),
        augmentation: batch.augmentations?.[item],
        // Whoever has taken the last sample of a step has taken the step.
        state: item === count - 1 ? batch.state : undefined,
      }),
    });
  }

  /** Items that are repeated stand at the end of each copy. */
  #isPad({ padCount, ids }: Batch, item: number): boolean | undefined {
    const count = ids.length / this.#copies;
    return padCount > 0 && item % count >= count - padCount ? true : undefined;
  }
}

function rawMember({ bytes, rows, ids }: Batch, item: number, key: string): StreamMember {
  const encoded = bytes?.[item];
  if (encoded === undefined) throw new Error(`Item "${ids[item]}" was read without its bytes`);
  const source = readAudioPath({ ...rows[item]! });
  return { name: `${key}.${extensionOf(typeof source === 'string' ? source : '')}`, chunks: [encoded] };
}

function extensionOf(path: string): string {
  return /\.([^./]+)$/u.exec(path)?.[1]?.toLowerCase() ?? 'audio';
}

/** The members of a whole batch: `EPOCH-STEP.audio.npy` [count, samples], `EPOCH-STEP.lengths.npy` [count], `EPOCH-STEP.json`. */
export function batchMembers(batch: Batch): StreamMember[] {
  const { audio, shape, audioLengths, epoch, step, rank, bucket, padCount, failures, state } = batch;
  const key = `${String(epoch).padStart(EPOCH_DIGITS, '0')}-${String(step).padStart(STEP_DIGITS, '0')}`;
  const { ids, text, source, rows, rowLines, augmentations, sampleRate } = batch;
  const spelled = rows.map((row, item) => joinFields(new SpelledRow(row, rowLines?.[item]).fields()));
  const facts = { epoch, step, rank, bucket, shape, sampleRate, padCount, state, ids, text, source };
  const json = joinFields({
    ...new SpelledRow(facts, undefined).fields(),
    rows: `[${spelled.join(',')}]`,
    ...new SpelledRow({ augmentations, failures }, undefined).fields(),
  });
  return [
    { name: `${key}.audio.npy`, chunks: toNpy(audio, shape) },
    { name: `${key}.lengths.npy`, chunks: toNpy(audioLengths, [shape[0]]) },
    { name: `${key}.json`, chunks: [Buffer.from(json)] },
  ];
}
