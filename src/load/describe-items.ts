import type { DescribedAudio, DescribedItem, ItemDescriber } from './described-item.js';
import { ItemLookup } from './item-pools.js';
import type { ItemRow, ItemRows } from './item-rows.js';
import type { ItemTable } from './item-table.js';
import type { ShardIndexes } from './shard-indexes.js';
import type { ExcerptDataset } from './sources.js';

/** Describes the items of a table from their rows, their tars' indexes, and the datasets of excerpts. */
export class TableDescriber implements ItemDescriber {
  readonly #table: ItemTable;
  readonly #lookup: ItemLookup;
  readonly #rows: ItemRows;
  readonly #shards: ShardIndexes;
  /** By the number of the leaf. */
  readonly #datasets: readonly (ExcerptDataset | undefined)[];

  constructor(
    table: ItemTable,
    rows: ItemRows,
    shards: ShardIndexes,
    datasets: readonly (ExcerptDataset | undefined)[],
  ) {
    this.#table = table;
    this.#lookup = new ItemLookup(table);
    this.#rows = rows;
    this.#shards = shards;
    this.#datasets = datasets;
  }

  async describe(items: readonly number[]): Promise<DescribedItem[]> {
    const { rowCount } = this.#table;
    const rows = await this.#rows.read(items.filter((item) => item < rowCount));
    let next = 0;
    return await Promise.all(
      items.map(async (item) => {
        if (item >= rowCount) return this.#describeExcerpt(item);
        next += 1;
        return await this.#describeRow(rows[next - 1]!);
      }),
    );
  }

  async #describeRow(itemRow: ItemRow): Promise<DescribedItem> {
    const { item, id, text, row, line, leaf, part, lineNumber, audio, span } = itemRow;
    const { manifestPath, tarPath } = this.#table.parts[part]!;
    const path = tarPath ?? audio.resolvedPath ?? audio.audioFilepath;
    let described: DescribedAudio;
    if (tarPath === undefined) described = { kind: 'encoded', place: { path, inside: undefined, span } };
    else {
      const found = await this.#shards.find(tarPath, audio.memberName ?? audio.audioFilepath);
      described = found.kind === 'failed' ? found : { kind: 'encoded', place: { path, inside: found.place, span } };
    }
    const source = this.#table.leaves[leaf]!.name;
    return { item, id, text, row, rowLine: line, source, path, manifestPath, lineNumber, audio: described };
  }

  #describeExcerpt(item: number): DescribedItem {
    const number = this.#lookup.leafOf(item);
    const { name, firstItem, tags } = this.#table.leaves[number]!;
    const index = item - firstItem;
    const dataset = this.#datasets[number];
    if (dataset === undefined) throw new TypeError(`The source "${name}" has no dataset`);
    return {
      ...{ item, id: `${name}/${index}`, text: '', row: tags, source: name },
      ...{ path: '', manifestPath: '', lineNumber: 0, audio: { kind: 'excerpt', dataset, index } },
    };
  }
}
