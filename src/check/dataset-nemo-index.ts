import { open } from 'node:fs/promises';
import { manifestLines } from '../manifest/lines.js';
import { parseRowLine } from '../manifest/row-line.js';
import type { DatasetFinding } from './dataset-kinds.js';
import { hasByteOrderMark, type RowRun } from './dataset-nemo-lines.js';

/** Where the rows of a shard stand in the manifest of all. */
export interface ShardRuns {
  rowCount: number;
  runs: RowRun[];
}

const KEY = Buffer.from('"shard_id"');
const BLANK = 0x20;
const COLON = 0x3a;

/**
 * Finds the rows of each shard in a full manifest by their `shard_id`. Where the rows of a shard stand together, as converters write them, that
 * takes one run a shard.
 *
 * @throws {InputError} when it cannot be read, or what the system says.
 */
export async function indexByShard(
  file: string,
  note: (finding: DatasetFinding) => void,
  onRows: (count: number) => void,
): Promise<Map<number, ShardRuns>> {
  const shards = new Map<number, ShardRuns>();
  if (await hasByteOrderMark(file)) note(describeByteOrderMark(file));
  const handle = await open(file, 'r');
  try {
    let run: RowRun | undefined;
    let last: number | undefined;
    let count = 0;
    for await (const { bytes, number: line, offsetBytes, lengthBytes } of manifestLines(handle, file)) {
      count += 1;
      if (count % ROWS_A_REPORT === 0) onRows(count);
      const found = bytes === undefined ? undefined : (findShardId(bytes) ?? parseShardId(bytes));
      if (typeof found !== 'number') {
        note({ kind: 'bad_row', message: 'the line is too long for a row', ...found, file, line });
        run = undefined;
        continue;
      }
      let shard = shards.get(found);
      if (shard === undefined) {
        shard = { rowCount: 0, runs: [] };
        shards.set(found, shard);
      }
      shard.rowCount += 1;
      if (run !== undefined && last === found) {
        run.endBytes = offsetBytes + lengthBytes;
        continue;
      }
      run = { offsetBytes, endBytes: offsetBytes + lengthBytes, line };
      shard.runs.push(run);
      last = found;
    }
    return shards;
  } finally {
    await handle.close();
  }
}

/** The finding about a manifest that begins with a byte order mark. */
export function describeByteOrderMark(file: string): DatasetFinding {
  const message = 'a byte order mark stands before the first row, which is no JSON then for Python';
  return { kind: 'byte_order_mark', message, file, line: 1 };
}

const ROWS_A_REPORT = 50_000;

/** The number behind the only `"shard_id":` of a line: inside a string the quotes would be escaped. Undefined where it is not that simple. */
function findShardId(bytes: Buffer): number | undefined {
  const at = bytes.indexOf(KEY);
  if (at < 0 || bytes.indexOf(KEY, at + KEY.length) >= 0) return undefined;
  let next = at + KEY.length;
  while (bytes[next] === BLANK) next += 1;
  if (bytes[next] !== COLON) return undefined;
  next += 1;
  while (bytes[next] === BLANK) next += 1;
  const start = next;
  let id = 0;
  for (; next < start + MAX_DIGITS; next += 1) {
    const digit = (bytes[next] ?? 0) - 0x30;
    if (!(digit >= 0 && digit <= 9)) break;
    id = id * 10 + digit;
  }
  const behind = bytes[next];
  const isEnd = behind === BLANK || behind === 0x2c || behind === 0x7d;
  return next > start && isEnd ? id : undefined;
}

const MAX_DIGITS = 9;

function parseShardId(bytes: Buffer): number | Pick<DatasetFinding, 'kind' | 'message' | 'hint' | 'column'> {
  const row = parseRowLine({ bytes });
  if ('reason' in row) return { kind: 'bad_row', message: row.message, hint: row.hint, column: row.column };
  const raw = row.raw('shard_id');
  if (raw === undefined) {
    return {
      kind: 'missing_shard_id',
      message: 'the row has no "shard_id": loaders cannot tell which tar holds its audio',
    };
  }
  const id = row.kind('shard_id') === 'number' ? Number(raw) : Number.NaN;
  if (Number.isSafeInteger(id) && id >= 0) return id;
  return { kind: 'missing_shard_id', message: `the "shard_id" ${raw.slice(0, 40)} is no number of a shard` };
}
