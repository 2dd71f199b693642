import path from 'node:path';
import { findAudioFiles } from './find-audio.js';
import { readPathList } from './path-list.js';
import type { ScanIdentity } from './scan-metrics.js';
import type { ResolvedScanOptions } from './scan-options.js';

/** The files that are to be scanned, as the scan holds them; in no particular order, one may stand there twice. */
export async function findNames(
  { base, filepaths, sources, extensions }: ResolvedScanOptions,
  { signal, onFiles }: { signal?: AbortSignal | undefined; onFiles?: ((files: number) => void) | undefined },
): Promise<string[]> {
  const found = await findAudioFiles({
    sources,
    extensions,
    signal,
    onFiles,
  });
  const listed = filepaths === undefined ? [] : await readPathList(filepaths, base ?? path.dirname(filepaths));
  return [...found, ...listed].map((file) => (base === undefined ? file : relativeTo(base, file)));
}

/** What a scan is made of. */
export function identityOf({ sources, filepaths, extensions, base, loudness, out }: ResolvedScanOptions): ScanIdentity {
  return {
    sources: sources.map((source) => path.resolve(source)),
    filepaths: filepaths ?? null,
    extensions,
    base: base === undefined ? null : relativeTo(out, base),
    loudness: loudness ?? null,
  };
}

function relativeTo(folder: string, file: string): string {
  return path.relative(folder, file).replaceAll(path.sep, '/');
}
