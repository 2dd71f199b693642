import { open } from 'node:fs/promises';
import type { FailureRecord } from '../cut/types.js';

/** How many failures are shown; the file has all. */
const MOST = 3;
/** Failures are lines of a few hundred bytes; the first of each reason mostly stand at the beginning. */
const READ_BYTES = 1 << 18;

/** The first failures of a run in words, one of each reason, with their places and hints. */
export async function listFirstFailures(failuresPath: string): Promise<string[]> {
  const seen = new Set<string>();
  const lines: string[] = [];
  for (const { kind, reason, file, line, column, message, hint } of await readFirst(failuresPath)) {
    if (kind === 'segment' || seen.has(reason)) continue;
    seen.add(reason);
    // A snippet's file is its recording, of which the line of the manifest says nothing.
    const place = kind === 'row' ? `${file}:${line}${column === undefined ? '' : `:${column}`}: ` : '';
    lines.push(`${place}${message}`);
    if (hint !== undefined) lines.push(`  hint: ${hint}`);
    if (seen.size === MOST) break;
  }
  return lines;
}

async function readFirst(failuresPath: string): Promise<FailureRecord[]> {
  const handle = await open(failuresPath);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, 0);
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n').slice(0, -1);
    return lines.map((text) => JSON.parse(text) as FailureRecord);
  } finally {
    await handle.close();
  }
}
