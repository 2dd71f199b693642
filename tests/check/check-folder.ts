import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { check, type CheckOptions, type PathResult } from '#cutroom/check/check.js';
import type { Finding } from '#cutroom/check/finding.js';
import { buildWav } from '../support/wav-files.js';

export type Row = Record<string, unknown>;

/** A folder with manifests and audio, and what a check says of them. */
export class CheckFolder {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'cutroom-check-'));

  path(name: string): string {
    return path.join(this.folder, name);
  }

  write(name: string, content: string | Buffer): string {
    mkdirSync(path.dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), content);
    return this.path(name);
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8');
  }

  /** Silence as WAV, 8 kHz. */
  wav(name: string, seconds = 1): string {
    return this.write(name, buildWav(new Float64Array(Math.round(seconds * 8000)), { sampleRate: 8000 }));
  }

  /** A manifest of rows: objects, or lines as they are. */
  rows(name: string, rows: readonly (Row | string)[]): string {
    return this.write(name, rows.map((row) => `${lineOf(row)}\n`).join(''));
  }

  /** What is found of one path. */
  async check(target: string, options: Partial<CheckOptions> = {}): Promise<PathResult> {
    const { paths } = await check({ paths: [target], jobs: 1, ...options });
    const [only] = paths;
    if (only === undefined) throw new Error('no path was checked');
    return only;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

function lineOf(row: Row | string): string {
  return typeof row === 'string' ? row : JSON.stringify(row);
}

/** How many findings of each kind there are. */
export function countsOf({ findings }: Pick<PathResult, 'findings'>): Record<string, number> {
  return Object.fromEntries(findings.map(({ kind, count }) => [kind, count]));
}

/** The places of one kind. */
export function findingsOf({ findings }: PathResult, kind: string): readonly Finding[] {
  return findings.find((group) => group.kind === kind)?.kept ?? [];
}
