// What the tests of datasets share: a context that keeps what is reported, and a tarred NeMo dataset to break.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'vitest';
import type { CheckContext, CheckSettings, Finding } from '#cutroom/check/finding.js';
import { jsonLines, tarBytes } from '../support/shard-files.js';

/** A folder for one test. */
export function makeFolder(context: Pick<TestContext, 'onTestFinished'>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'cutroom-check-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A context in this process, with all that is reported to it. */
export function makeContext(settings: Partial<CheckSettings> = {}): CheckContext & { findings: Finding[] } {
  const findings: Finding[] = [];
  return {
    settings: { deep: false, worldSize: undefined, workers: 1, jobs: 1, base: undefined, ...settings },
    signal: new AbortController().signal,
    report: (finding) => void findings.push(finding),
    onProgress: () => undefined,
    findings,
  };
}

/** The kinds that were reported, each once, in order. */
export function kindsOf({ findings }: { findings: readonly Finding[] }): string[] {
  return [...new Set(findings.map(({ kind }) => kind))];
}

/** A row of a tarred NeMo manifest. */
export interface NemoRow {
  audio_filepath: string;
  text: string;
  duration: number;
  shard_id: number;
  [key: string]: unknown;
}

/** A tarred NeMo dataset, as its converter lays it out. */
export class NemoFolder {
  readonly folder: string;
  /** By shard. */
  readonly names: string[][];
  rows: NemoRow[];

  constructor(folder: string, shardCount = 3, perShard = 4) {
    this.folder = folder;
    this.names = Array.from({ length: shardCount }, (_, shard) =>
      Array.from({ length: perShard }, (_unused, index) => `utt_${shard}_${index}.wav`),
    );
    this.rows = this.names.flatMap((names, shard) =>
      names.map((name, index) => {
        return { audio_filepath: name, text: `text ${shard} ${index}`, duration: 1.25, shard_id: shard };
      }),
    );
  }

  tar(shard: number): string {
    return path.join(this.folder, `audio_${shard}.tar`);
  }

  get manifest(): string {
    return path.join(this.folder, 'tarred_audio_manifest.json');
  }

  sharded(shard: number): string {
    return path.join(this.folder, 'sharded_manifests', `manifest_${shard}.json`);
  }

  get metadata(): string {
    return path.join(this.folder, 'metadata.yaml');
  }

  /** Writes all files as names and rows say. */
  write(): this {
    mkdirSync(path.join(this.folder, 'sharded_manifests'), { recursive: true });
    for (const [shard, names] of this.names.entries()) {
      writeFileSync(this.tar(shard), tarBytes(names));
      this.writeSharded(shard);
    }
    writeFileSync(this.manifest, jsonLines(this.rows));
    const counts = this.names.map((_names, shard) => this.rows.filter(({ shard_id: id }) => id === shard).length);
    const config = `dataset_config:\n  num_shards: ${this.names.length}\n  shuffle: false\n`;
    writeFileSync(this.metadata, `version: 0\nnum_samples_per_shard: ${Math.min(...counts)}\n${config}history: []\n`);
    return this;
  }

  writeSharded(shard: number): void {
    writeFileSync(this.sharded(shard), jsonLines(this.rows.filter(({ shard_id: id }) => id === shard)));
  }
}
