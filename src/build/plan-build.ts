import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { audioArchitecture } from '../audio/architecture.js';
import { CanceledError, InputError } from '../errors.js';
import { ensureFolder, sizeOf, writeFileAtomic } from '../run/atomic-file.js';
import { PLAN_FORMAT, type PlanHeader, type PlannedItem } from '../shard/plan.js';
import { writePlan, type ShardToWrite } from '../shard/plan-file.js';
import type { OnPackProgress } from '../shard/progress.js';
import { VERSION } from '../version.js';
import { RowAccepter } from './accept-row.js';
import type { InputFile } from './input-file.js';
import { measureFiles } from './measure.js';
import { describePlanOptions, type BuildOutputs, type PlanOptions } from './options.js';
import { hashShards, readPackedRows } from './packed-input.js';
import { readRows } from './read-rows.js';
import { RowTable } from './row-table.js';
import { countShards, splitRows, type Split } from './split.js';
import { findOwnShards } from '../shard/own-shards.js';
import type { PackedShard } from '../shard/packed-rows.js';

/** What is planned: a manifest, or shards that are packed already. */
export type BuildInput = { kind: 'manifest'; file: InputFile } | { kind: 'packed'; shards: readonly PackedShard[] };

/** What the plan's header keeps for the end of the run. */
export interface BuildFacts {
  /** Lines that hold something; rows that became items, and those that failed. */
  rowsRead: number;
  rowsKept: number;
  /** Failures of rows by reason. */
  failedRows: Record<string, number>;
  /** Well-formed rows without a text. */
  emptyTexts: number;
  /** Ids that were made fit for names. */
  flattenedIds: number;
}

export interface PlanParts {
  input: BuildInput;
  options: PlanOptions;
  outputs: BuildOutputs;
  jobs: number;
  silenceSeconds: number;
  signal: AbortSignal | undefined;
  onProgress: OnPackProgress;
  /** Called when nothing is left to be done but to give the plan its name. */
  beforePublish: () => Promise<void>;
}

/** Rows between two looks at the signal. */
const ROWS_A_LOOK = 5_000;

/**
 * Plans a dataset: reads all rows, looks for their files, spreads them over shards, and writes the plan.
 *
 * @throws InputError when no row is left, or fewer than shards; CanceledError when the signal is aborted
 */
export async function writeBuildPlan(parts: PlanParts): Promise<void> {
  const { input, options, outputs } = parts;
  await ensureFolder(outputs.workFolder);
  const inputs = await inputsOf(input);
  const accepter = new RowAccepter(options);
  const table = new RowTable(
    outputs.workFolder,
    inputs.map(({ path: name }) => name),
  );
  try {
    const refusedCount = await readAll(parts, table, accepter);
    await measureFiles({
      table,
      base: options.base,
      needsLengths: options.balanceBy === 'duration',
      jobs: parts.jobs,
      silenceSeconds: parts.silenceSeconds,
      signal: parts.signal,
      onFiles: (files, totalFiles) => parts.onProgress({ stage: 'measure', files, totalFiles }),
    });
    const failedRows = countFailures(table);
    await requireRows(table, outputs, inputs[0]?.path ?? '');
    const rows = table.keptRows();
    const micros = (at: number): number => table.microsOf(rows[at] ?? 0);
    const shards = countShards(options.sizing, rows.length, () => {
      let sum = 0;
      for (let at = 0; at < rows.length; at += 1) sum += micros(at);
      return sum;
    });
    const split = splitRows(rows.length, shards, options, micros);
    const facts: BuildFacts = {
      rowsRead: table.count + refusedCount,
      rowsKept: rows.length,
      failedRows,
      ...accepter.notes,
    };
    const header: PlanHeader = {
      format: PLAN_FORMAT,
      cutroom_version: VERSION,
      audio_architecture: audioArchitecture(),
      command: 'build',
      inputs,
      options: describePlanOptions(options),
      base: options.base,
      audio: {
        format: options.format,
        sampleRate: options.sampleRate,
        channel: options.channel,
        compressionLevel: options.compressionLevel,
      },
      facts: { ...facts },
    };
    await writePlan(outputs.plan, header, table.failures(), plannedShards(split, shards, rows, table, parts));
  } finally {
    table.close();
  }
}

/** What a plan's header says of its inputs. */
export async function inputsOf(input: BuildInput): Promise<PlanHeader['inputs']> {
  if (input.kind === 'packed') return await hashShards(input.shards);
  return [{ path: input.file.name, sha256: input.file.sha256 }];
}

/** Takes the rows in. Returns how many were refused. */
async function readAll(parts: PlanParts, table: RowTable, accepter: RowAccepter): Promise<number> {
  const { input, options, signal, onProgress } = parts;
  let rows = 0;
  let refused = 0;
  const lines =
    input.kind === 'manifest'
      ? readRows(input.file, options.inputFormat)
      : readPackedRows(input.shards, options.copy ? await findOwnShards(input.shards) : new Map(), signal);
  for await (const read of lines) {
    const number = read.input ?? 0;
    const item = 'refusal' in read ? read.refusal : accepter.accept(read.row, number, read.line);
    if ('reason' in item) {
      refused += 1;
      table.refuse(number, read.line, item);
    } else if (!table.add(item)) {
      refused += 1;
    }
    rows += 1;
    if (rows % ROWS_A_LOOK !== 0) continue;
    if (signal?.aborted === true) {
      throw new CanceledError('The run was stopped before its plan was made', { cause: signal.reason });
    }
    onProgress({ stage: 'plan', rows });
    await setImmediate();
  }
  return refused;
}

function countFailures(table: RowTable): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason } of table.failures()) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}

/** Without any row there is no plan; what is wrong with each is written down all the same. */
async function requireRows(table: RowTable, { failures, metrics }: BuildOutputs, input: string): Promise<void> {
  if (table.keptCount > 0) return;
  const first = table.failures().next().value;
  if (first === undefined) throw new InputError(`There is no row in "${input}"`, { path: input });
  // Those of an earlier dataset stay as long as it does.
  const isFree = (await sizeOf(metrics)) === undefined;
  if (isFree) {
    await writeFileAtomic(failures, async (write) => {
      for (const failure of table.failures()) await write(`${JSON.stringify(failure)}\n`);
    });
  }
  const { file, line, message, hint } = first;
  throw new InputError(`No row of "${input}" can be packed; the first failure: ${file}:${line}: ${message}`, {
    path: file,
    line,
    hint: [hint, isFree ? `all failures are in "${failures}"` : undefined]
      .filter((part) => part !== undefined)
      .join('; '),
  });
}

async function* plannedShards(
  { order, starts }: Split,
  shards: number,
  rows: Uint32Array,
  table: RowTable,
  { options, signal, beforePublish }: PlanParts,
): AsyncGenerator<ShardToWrite> {
  for (let shard = 0; shard < shards; shard += 1) {
    const name = `${options.tarPrefix}.${String(shard).padStart(options.splitBits, '0')}`;
    const places = order.subarray(starts[shard], starts[shard + 1]);
    let micros = 0;
    for (const place of places) micros += Math.max(0, table.microsOf(rows[place] ?? 0));
    const items = function* (): Generator<PlannedItem> {
      for (const place of places) {
        if (signal?.aborted === true) {
          throw new CanceledError('The run was stopped before its plan was made', { cause: signal.reason });
        }
        yield table.item(rows[place] ?? 0);
      }
    };
    yield {
      tar: path.posix.join('audios', `${name}.tar`),
      manifest: path.posix.join('manifests', `${name}.jsonl`),
      items: items(),
      micros,
    };
  }
  await beforePublish();
}
