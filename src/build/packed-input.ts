import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { errorMessage, InputError } from '../errors.js';
import type { OwnShard } from '../shard/own-shards.js';
import { packedRows, type PackedShard } from '../shard/packed-rows.js';
import { sampleKey } from '../shard/sample-key.js';
import type { ReadLine } from '../shard/utterance-row.js';
import { idOfPath } from '../shard/member-id.js';
import { spanOfObject } from '../shard/object-rows.js';

/** A row of a packed dataset, or what does not fit in it; the line is 0 where the tar is at fault. */
export type PackedRead = ReadLine & { input: number };

/** The manifests of shards, with a hash of their bytes and the sizes of the tars: a shard that changed is another one. */
export async function hashShards(shards: readonly PackedShard[]): Promise<{ path: string; sha256: string }[]> {
  const hashed: { path: string; sha256: string }[] = [];
  for (const { manifestPath, tarPath } of shards) {
    const hash = createHash('sha256');
    try {
      for await (const chunk of createReadStream(manifestPath)) hash.update(chunk as Uint8Array);
      hash.update(`${(await stat(tarPath)).size}`);
    } catch (error) {
      throw new InputError(`Cannot read "${manifestPath}" and its tar: ${errorMessage(error)}`, {
        path: manifestPath,
        cause: error,
      });
    }
    hashed.push({ path: manifestPath, sha256: hash.digest('hex') });
  }
  return hashed;
}

/**
 * The utterances of packed shards: their ids are the names of their members.
 *
 * @param own those that cutroom made, by their place among the shards
 */
export async function* readPackedRows(
  shards: readonly PackedShard[],
  own: ReadonlyMap<number, OwnShard>,
  signal: AbortSignal | undefined,
): AsyncGenerator<PackedRead> {
  const problems: PackedRead[] = [];
  const inputs = new Map(
    shards.flatMap(({ manifestPath, tarPath }, index) => [
      [manifestPath, index],
      [tarPath, index],
    ]),
  );
  const rows = packedRows(shards, {
    signal,
    onProblem: ({ file, line = 0, reason, message, hint }) =>
      problems.push({ input: inputs.get(file) ?? 0, line, refusal: { reason, message, hint, file } }),
  });
  for await (const { input, line, row, audio } of rows) {
    yield* problems.splice(0);
    const span = spanOfObject(row);
    if ('reason' in span) {
      yield { input, line, refusal: span };
      continue;
    }
    const { tarPath, offset, size, name } = audio;
    const text = row.value('text') ?? '';
    if (typeof text !== 'string') {
      yield { input, line, refusal: { reason: 'bad_type', message: '"text" is no text', id: sampleKey(name) } };
      continue;
    }
    // Rows that take later parts of a member have ids of their own.
    const isPart = span.span !== undefined && span.span.start > 0;
    const id = isPart ? idOfPath({ path: name, span: span.span }) : sampleKey(name);
    const inside = { offset, size, name };
    yield { input, line, row: { id, path: tarPath, text, ...span, extras: row, inside, own: own.get(input) } };
  }
  yield* problems.splice(0);
}
