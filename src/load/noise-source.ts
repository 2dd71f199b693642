import type { DescribedItem, ItemDescriber } from './described-item.js';
import type { ItemTable } from './item-table.js';

/** Noises to choose from. */
export interface NoiseSource {
  readonly count: number;
  describe(places: readonly number[]): Promise<DescribedItem[]>;
  /** Undefined where only decoding tells. */
  durationMicrosOf(place: number): number | undefined;
}

/** The items of a table as noises. */
export function noisesOfTable(table: ItemTable, describer: ItemDescriber): NoiseSource {
  return {
    count: table.rowCount,
    describe: async (places) => await describer.describe(places),
    durationMicrosOf: (place) => table.durationsMicros[place],
  };
}
