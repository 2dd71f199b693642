import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { END_OF_ARCHIVE, paddingBytes, tarHeader } from '#cutroom/tar/header.js';

/** A row of an ATdataset manifest. */
export interface ShardRow {
  audio_filepath: string;
  text: string;
  duration: number;
}

/** The bytes of a tar with a payload of `sizeBytes` for each name. */
export function tarBytes(names: readonly string[], sizeBytes = 100): Buffer {
  const payload = Buffer.alloc(sizeBytes + paddingBytes(sizeBytes), 7);
  payload.fill(0, sizeBytes);
  return Buffer.concat([...names.flatMap((name) => [tarHeader({ name, sizeBytes }), payload]), END_OF_ARCHIVE]);
}

/** The row that fits a member. */
export function rowOf(name: string, duration = 1.5): ShardRow {
  return { audio_filepath: name, text: `text of ${name}`, duration };
}

/** Rows as JSONL; strings stand as they are. */
export function jsonLines(rows: readonly (object | string)[]): string {
  return rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');
}

/** A folder laid out as `atdataset build` does it: `audios/<key>.tar` and `manifests/<key>.jsonl`. */
export class ShardFolder {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(this.audios, { recursive: true });
    mkdirSync(this.manifests, { recursive: true });
  }

  get audios(): string {
    return path.join(this.folder, 'audios');
  }

  get manifests(): string {
    return path.join(this.folder, 'manifests');
  }

  /** Pattern of all tars. */
  get pattern(): string {
    return path.join(this.audios, '*.tar');
  }

  get list(): string {
    return path.join(this.folder, 'data.lst');
  }

  tar(key: string): string {
    return path.join(this.audios, `${key}.tar`);
  }

  manifest(key: string): string {
    return path.join(this.manifests, `${key}.jsonl`);
  }

  /** Writes a shard; the rows are those that fit the names, unless others are given. */
  add(
    key: string,
    names: readonly string[],
    rows: readonly (object | string)[] = names.map((name) => rowOf(name)),
  ): this {
    writeFileSync(this.tar(key), tarBytes(names));
    writeFileSync(this.manifest(key), jsonLines(rows));
    return this;
  }
}
