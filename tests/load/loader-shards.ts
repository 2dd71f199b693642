import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { END_OF_ARCHIVE, paddingBytes, tarHeader } from '#cutroom/tar/header.js';
import { jsonLines } from '../support/shard-files.js';
import { buildWav } from '../support/wav-files.js';
import type { WavOptions } from '../support/wav-files.js';

/** An utterance of a dataset: item k is a constant of (k + 1) / 1024, so that audio tells which item it is. */
export interface SmallItem {
  number: number;
  /** Of 8,000 Hz. */
  samples: number;
  wav?: WavOptions;
  /** In place of the WAV. */
  bytes?: Buffer;
  /** Has a row, and no member. */
  isMissing?: boolean;
  row?: Record<string, unknown>;
}

/** Items of 50 to 130 ms. */
export function smallItems(count: number): SmallItem[] {
  return Array.from({ length: count }, (_, number) => ({ number, samples: 400 + (number % 5) * 160 }));
}

export function levelOf(number: number): number {
  return (number + 1) / 1024;
}

export function nameOf(number: number): string {
  return `utt-${String(number).padStart(4, '0')}`;
}

/** Writes items as a dataset of tars, manifests and a list, dealt out to the shards in turn; the path of the list. */
export function writeDataset(folder: string, items: readonly SmallItem[], shardCount: number): string {
  mkdirSync(folder, { recursive: true });
  const lines: string[] = [];
  for (let shard = 0; shard < shardCount; shard += 1) {
    const own = items.filter((_, at) => at % shardCount === shard);
    const tar = path.join(folder, `s.${shard}.tar`);
    const manifest = path.join(folder, `s.${shard}.jsonl`);
    writeFileSync(tar, tarOf(own));
    writeFileSync(manifest, jsonLines(own.map((item) => rowOfItem(item))));
    const hours = own.reduce((sum, { samples }) => sum + samples / 8000 / 3600, 0);
    lines.push(`${tar} ${manifest} ${hours.toFixed(6)} ${own.length}\n`);
  }
  const list = path.join(folder, 'data.lst');
  writeFileSync(list, lines.join(''));
  return list;
}

export function tarOf(items: readonly SmallItem[]): Buffer {
  const members = items
    .filter(({ isMissing }) => isMissing !== true)
    .flatMap((item) => {
      const payload = item.bytes ?? wavOf(item);
      const header = tarHeader({ name: `${nameOf(item.number)}.wav`, sizeBytes: payload.length });
      return [header, payload, Buffer.alloc(paddingBytes(payload.length))];
    });
  return Buffer.concat([...members, END_OF_ARCHIVE]);
}

export function wavOf({ number, samples, wav = {} }: SmallItem): Buffer {
  const { channels = 1, sampleRate = 8000 } = wav;
  const frames = (samples * sampleRate) / 8000;
  const signal = new Float64Array(frames * channels).fill(levelOf(number));
  return buildWav(signal, { ...wav, channels, sampleRate });
}

function rowOfItem({ number, samples, row = {} }: SmallItem): object {
  const audio_filepath = `${nameOf(number)}.wav`;
  return {
    audio_filepath,
    duration: samples / 8000,
    text: `text ${number}`,
    n: number,
    nested: { a: [1, null] },
    ...row,
  };
}
