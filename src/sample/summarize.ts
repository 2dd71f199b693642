import type { ScanSummary } from './scan-metrics.js';
import type { ScanTable } from './scan-table.js';

/** What a scan found, in figures. */
export function summarize(table: ScanTable, hasLoudness: boolean): ScanSummary {
  const counts = {
    codecs: new Map<string, number>(),
    sampleRates: new Map<string, number>(),
    channels: new Map<string, number>(),
  };
  const summary = { files: 0, seconds: 0, sizeBytes: 0, windows: 0, silentFiles: 0 };
  for (let index = 0; index < table.count; index += 1) {
    const facts = table.factsOf(index);
    if (facts === undefined) continue;
    summary.files += 1;
    summary.seconds += facts.frames / facts.sampleRate;
    summary.sizeBytes += facts.sizeBytes;
    summary.windows += table.spoolPlaceOf(index)?.count ?? 0;
    if (table.loudnessOf(index)?.integratedLufs === -Infinity) summary.silentFiles += 1;
    countOne(counts.codecs, `${facts.container} ${facts.codec}`);
    countOne(counts.sampleRates, String(facts.sampleRate));
    countOne(counts.channels, String(facts.channels));
  }
  const failed = new Map<string, number>();
  for (const { reason } of table.failures.values()) countOne(failed, reason);
  return {
    ...summary,
    windows: hasLoudness ? summary.windows : undefined,
    silentFiles: hasLoudness ? summary.silentFiles : undefined,
    failed: inOrder(failed),
    codecs: inOrder(counts.codecs),
    sampleRates: inOrder(counts.sampleRates),
    channels: inOrder(counts.channels),
  };
}

function countOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function inOrder(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
