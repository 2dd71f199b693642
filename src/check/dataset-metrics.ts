import { open } from 'node:fs/promises';
import { manifestLines } from '../manifest/lines.js';

/** What stands in the metrics of `cutroom cut`; entries a recording are summed as they are read. */
export interface CutMetricsFile {
  /** All but `per_original`. */
  values: Readonly<Record<string, unknown>>;
  perOriginal: {
    count: number;
    inSegments: number;
    outSnippets: number;
    outSegments: number;
    dropped: Readonly<Record<string, number>>;
    failedSnippets: Readonly<Record<string, number>>;
  };
}

/**
 * Reads a metrics file line by line, as it is written with two spaces of indentation; millions of entries need no memory.
 *
 * @throws {SyntaxError} when it is no JSON, {InputError} or what the system says when it cannot be read.
 */
export async function readMetricsFile(file: string): Promise<CutMetricsFile> {
  const sums = { count: 0, inSegments: 0, outSnippets: 0, outSegments: 0 };
  const dropped: Record<string, number> = {};
  const failedSnippets: Record<string, number> = {};
  const rest: string[] = [];
  let entry: string[] | undefined;
  let isInList = false;
  const handle = await open(file, 'r');
  try {
    for await (const { bytes } of manifestLines(handle, file)) {
      const line = (bytes ?? Buffer.alloc(0)).toString('utf8');
      if (entry !== undefined) {
        if (line !== '    }' && line !== '    },') {
          entry.push(line);
          continue;
        }
        const value = JSON.parse(`${entry.join('\n')}}`) as Record<string, unknown>;
        entry = undefined;
        sums.count += 1;
        sums.inSegments += countOf(value['in_segments']);
        sums.outSnippets += countOf(value['out_snippets']);
        sums.outSegments += countOf(value['out_segments']);
        addCounts(dropped, value['dropped']);
        addCounts(failedSnippets, value['failed_snippets']);
      } else if (isInList && line === '    {') {
        entry = ['{'];
      } else {
        if (line === '  "per_original": [') isInList = true;
        else if (line.startsWith('  ]')) isInList = false;
        rest.push(line);
      }
    }
  } finally {
    await handle.close();
  }
  const values = JSON.parse(rest.join('\n')) as Record<string, unknown>;
  return { values, perOriginal: { ...sums, dropped, failedSnippets } };
}

/** A count of the metrics; NaN where it is none, which equals nothing. */
export function countOf(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}

/** The sum of counts by reason; 0 where there are none. */
export function sumCounts(counts: unknown): number {
  if (typeof counts !== 'object' || counts === null) return 0;
  return Object.values(counts).reduce<number>((sum, count) => sum + countOf(count), 0);
}

function addCounts(into: Record<string, number>, counts: unknown): void {
  if (typeof counts !== 'object' || counts === null) return;
  for (const [reason, count] of Object.entries(counts)) into[reason] = (into[reason] ?? 0) + countOf(count);
}
