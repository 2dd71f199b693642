import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TarOptions } from '#cutroom/tarred/options.js';
import { tarDataset, type TarResult } from '#cutroom/tarred/tar-dataset.js';

export type Json = Record<string, unknown>;

/** A folder with manifests and files that pass for audio, and a dataset that is made of them. */
export class TarFolder {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'cutroom-tarred-'));

  get target(): string {
    return path.join(this.folder, 'tarred');
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  /** Makes a file; its bytes are its own name unless others are given. */
  addFile(name: string, bytes: string | Buffer = name): void {
    const file = path.join(this.folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }

  /** Writes a manifest, objects as JSON and strings as they stand, and the files that its rows name. */
  addManifest(name: string, rows: readonly (Json | string)[], files: readonly string[] = namedIn(rows)): string {
    for (const file of files) this.addFile(path.join(path.dirname(name), file));
    const lines = rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`);
    this.addFile(name, lines.join(''));
    return path.join(this.folder, name);
  }

  /** Runs without packing audio, unless the options say otherwise. */
  async run(manifest: string | readonly string[], options: TarOptions = {}): Promise<TarResult> {
    return await tarDataset({
      manifestPaths: typeof manifest === 'string' ? [manifest] : manifest,
      targetDir: this.target,
      numShards: 1,
      onlyManifests: true,
      jobs: 1,
      ...options,
    });
  }

  /** Rows of a JSONL file of the dataset. */
  rows(name = 'tarred_audio_manifest.json'): Json[] {
    return readRows(path.join(this.target, name));
  }

  read(name: string): string {
    return readFileSync(path.join(this.target, name), 'utf8');
  }

  /** All files of the dataset, with `/` between folders, sorted. */
  listing(): string[] {
    const entries = readdirSync(this.target, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => path.relative(this.target, path.join(parentPath, name)))
      .sort();
  }
}

/** Rows of a JSONL file. */
export function readRows(file: string): Json[] {
  const text = readFileSync(file, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Json);
}

/** A row of a file with a text of its name. */
export function rowOf(name: string, duration: number | null = 1.5, more: Json = {}): Json {
  return { audio_filepath: name, duration, text: `text of ${name}`, ...more };
}

function namedIn(rows: readonly (Json | string)[]): string[] {
  const names = rows.flatMap((row) => (typeof row === 'string' ? [] : [row['audio_filepath']]));
  return [...new Set(names.filter((name) => typeof name === 'string'))];
}
