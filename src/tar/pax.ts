/**
 * Reads the records of a pax extended header, `<length> <key>=<value>\n` each (POSIX, "pax Extended Header"), or undefined when they are
 * malformed. A later record of one key counts; an empty value takes back what an earlier header said.
 */
export function parsePaxRecords(payload: Buffer): Map<string, string> | undefined {
  const records = new Map<string, string>();
  let start = 0;
  while (start < payload.length && payload[start] !== 0) {
    const blank = payload.indexOf(0x20, start);
    const digits = payload.toString('latin1', start, Math.max(blank, start));
    const end = start + Number(digits);
    if (!/^[1-9][0-9]{0,8}$/.test(digits) || end > payload.length || payload[end - 1] !== 0x0a) return undefined;
    const equals = payload.indexOf(0x3d, blank);
    if (equals < 0 || equals >= end) return undefined;
    records.set(payload.toString('utf8', blank + 1, equals), payload.toString('utf8', equals + 1, end - 1));
    start = end;
  }
  return records;
}

/** The size that pax records give a member: undefined when they say nothing of it, NaN when it is no size. */
export function paxSizeBytes(records: ReadonlyMap<string, string>): number | undefined {
  const value = records.get('size');
  if (value === undefined || value === '') return undefined;
  const sizeBytes = /^[0-9]+$/.test(value) ? Number(value) : Number.NaN;
  return Number.isSafeInteger(sizeBytes) ? sizeBytes : Number.NaN;
}
